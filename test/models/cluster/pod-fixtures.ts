/**
 * One pod in a namespace of its own, with the budgets and the node that determine its eviction.
 *
 * Promises: skips requests for what is already so; nothing else changes these objects.
 */
import { type EvictionOutcome, evictionOutcome } from '../../../src/domain/drain/answer.ts';
import { textAt } from '../../../src/domain/json.ts';
import { eventually } from '../../support/eventually.ts';
import type { Hand } from './site.ts';

/** How the budgets over the pod stand. */
export type Budgets =
  | 'none'
  | 'open'
  | 'openOther'
  | 'full'
  | 'unsettled'
  | 'two'
  | 'broken'
  | 'never';

/** The fixtures of one path. */
export interface PodFixtures {
  readonly namespace: string;
  readonly uid: string;
  readonly nodeName: string;
  readonly budgets: (wanted: Budgets) => Promise<void>;
  readonly silence: (silent: boolean) => Promise<void>;
  /** Deletes the pod, which stays until its finalizer is removed. */
  readonly terminate: (graceSeconds: number) => Promise<void>;
  readonly remove: () => Promise<void>;
  /** Another pod takes the name. */
  readonly replace: () => Promise<void>;
  readonly endNamespace: () => Promise<void>;
  /** Whether the policy of this site refuses evictions here. */
  readonly guard: (refuses: boolean) => Promise<void>;
  /** Takes everything away. */
  readonly strike: () => Promise<void>;
}

const POD = 'p1';
const HELD = 'tidegate.dev/executed';
const CORE = '/api/v1/namespaces';
export const GUARD_LABEL = 'tidegate.dev/guard';
/** One more than a budget may list. */
const TOO_MANY = 2001;

const LISTED = Object.fromEntries(
  Array.from({ length: TOO_MANY }, (_, at) => [`p${at}`, '2026-01-01T00:00:00Z']),
);
const NO_SLOT = {
  currentHealthy: 1,
  desiredHealthy: 1,
  disruptionsAllowed: 0,
  expectedPods: 2,
  observedGeneration: 1,
};
const ONE_SLOT = { ...NO_SLOT, disruptionsAllowed: 1 };

interface Wanted {
  readonly name: string;
  readonly status: object;
  readonly spec?: object;
}

const BUDGETS: Readonly<Record<Budgets, readonly Wanted[]>> = {
  none: [],
  open: [{ name: 'db', status: ONE_SLOT }],
  openOther: [{ name: 'other', status: ONE_SLOT }],
  full: [{ name: 'db', status: NO_SLOT }],
  unsettled: [{ name: 'db', status: { ...ONE_SLOT, observedGeneration: 0 } }],
  two: [{ name: 'db', status: ONE_SLOT }, { name: 'other', status: ONE_SLOT }],
  broken: [{ name: 'db', status: { ...ONE_SLOT, disruptedPods: LISTED } }],
  never: [{ name: 'db', status: { ...NO_SLOT, expectedPods: 0 }, spec: { maxUnavailable: 1 } }],
};

const podOn = (nodeName: string): object => ({
  metadata: { name: POD, labels: { app: 'web' }, finalizers: [HELD] },
  spec: { containers: [{ name: 'c', image: 'none' }], nodeName },
});
const RUNNING = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };

/** What an eviction of a pod with another UID is answered with, just to see who refuses it. */
const probe = async (hand: Hand, namespace: string): Promise<EvictionOutcome['_tag']> =>
  evictionOutcome(
    await hand.call('POST', `${CORE}/${namespace}/pods/${POD}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: POD, namespace },
      deleteOptions: { preconditions: { uid: 'nobody' } },
    }),
  )._tag;

/** Builds it. */
export const podFixtures = async (
  hand: Hand,
  number: number,
  tag: string,
): Promise<PodFixtures> => {
  const namespace = `models-${tag}-${number}`;
  const nodeName = `models-${tag}-${number}`;
  const pods = `${CORE}/${namespace}/pods`;
  const pod = `${pods}/${POD}`;
  const budgetsPath = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  let current: Budgets = 'none';
  let node: 'absent' | 'silent' | 'heard' = 'absent';
  let guarded = false;

  const create = async (): Promise<string> => {
    const made = await hand.must('POST', pods, podOn(nodeName));
    await hand.must('PATCH', `${pod}/status`, RUNNING);
    return textAt(made, 'metadata', 'uid') ?? '';
  };
  await hand.must('POST', CORE, { metadata: { name: namespace } });
  const uid = await create();
  const remove = (): Promise<void> => hand.remove(pod);
  return {
    namespace,
    uid,
    nodeName,
    budgets: async (wanted) => {
      if (wanted === current) return;
      for (const { name } of BUDGETS[current]) {
        await hand.must('DELETE', `${budgetsPath}/${name}`);
      }
      for (const { name, status, spec = {} } of BUDGETS[wanted]) {
        const selector = { matchLabels: { app: 'web' } };
        await hand.must('POST', budgetsPath, { metadata: { name }, spec: { selector, ...spec } });
        await hand.must('PATCH', `${budgetsPath}/${name}/status`, { status });
      }
      current = wanted;
    },
    silence: async (silent) => {
      const wanted = silent ? 'silent' : 'heard';
      if (node === wanted || (node === 'absent' && !silent)) return;
      if (node === 'absent') {
        await hand.must('POST', '/api/v1/nodes', { metadata: { name: nodeName } });
      }
      const status = silent ? 'Unknown' : 'True';
      const conditions = [{ type: 'Ready', status }];
      await hand.must('PATCH', `/api/v1/nodes/${nodeName}/status`, { status: { conditions } });
      node = wanted;
    },
    terminate: async (gracePeriodSeconds) => {
      await hand.must('DELETE', pod, { gracePeriodSeconds });
    },
    remove,
    replace: async () => {
      await remove();
      await create();
    },
    endNamespace: async () => {
      await hand.must('DELETE', `${CORE}/${namespace}`);
    },
    guard: async (refuses) => {
      if (guarded === refuses) return;
      const labels = { [GUARD_LABEL]: refuses ? 'on' : null };
      await hand.must('PATCH', `${CORE}/${namespace}`, { metadata: { labels } });
      await eventually(
        async () => (await probe(hand, namespace) === 'PolicyRefused') === refuses,
        { what: 'the policy', everyMs: 20 },
      );
      guarded = refuses;
    },
    strike: async () => {
      await remove();
      if (node !== 'absent') await hand.remove(`/api/v1/nodes/${nodeName}`);
      await hand.call('DELETE', `${CORE}/${namespace}`);
    },
  };
};
