/** What can happen to the drain of a node. */
import { type CordonAnnotation, printCordon } from '../../src/domain/drain/cordon.ts';
import { type DrainedNode, projectDrainedNode } from '../../src/domain/drain/drained-node.ts';
import type { NodeWriteOutcome } from '../../src/domain/drain/node-write.ts';
import { blockedVerdict } from '../../src/domain/drain/verdict.ts';
import type { NodeDrainInput, PodsObserved } from '../../src/machines/node-drain-context.ts';
import { carries, type EventCase, fault, happens } from './event-case.ts';

const KEY = 'cordon.tidegate.dev/reclaim';
const GRACE_SECONDS = 600;
const WHY = 'planted by the playground';

/** The beginning of the sandbox. */
export const START_MS = Date.UTC(2026, 0, 1, 12);
const DEADLINE_MS = START_MS + GRACE_SECONDS * 1000;

const ORDER = {
  id: 'reclaim-1',
  deadlineMs: DEADLINE_MS,
  graceSeconds: GRACE_SECONDS,
  sinceMs: START_MS,
};

interface Traits {
  readonly annotation?: Partial<CordonAnnotation>;
  readonly isOpen?: boolean;
  readonly isPaused?: boolean;
}

/** The Node as the API server returns it. */
const nodeOf = (resourceVersion: string, { annotation, isOpen, isPaused }: Traits): DrainedNode => {
  const cordon = annotation &&
    printCordon({ ...ORDER, ids: [ORDER.id], ended: null, ...annotation });
  const node = projectDrainedNode({
    metadata: {
      name: 'node-1',
      uid: 'uid-node-1',
      resourceVersion,
      annotations: {
        ...(cordon === undefined ? {} : { [KEY]: cordon }),
        ...(isPaused === true ? { 'tidegate.dev/pause': 'true' } : {}),
      },
    },
    spec: { unschedulable: cordon !== undefined && isOpen !== true },
  });
  if (node === undefined) throw new Error('The Node of the playground cannot be read');
  return node;
};

const versionAt = (turn: number): string => String(100 + turn);

const seen = (label: string, traits: Traits): EventCase => ({
  type: 'node.observed',
  label,
  payload: ({ turn }) => ({ node: nodeOf(versionAt(turn), traits) }),
});

const written = (actor: string, label: string, traits: Traits): EventCase => ({
  type: `xstate.done.actor.${actor}`,
  label,
  payload: ({ turn }) => ({
    output: { _tag: 'Written', node: nodeOf(versionAt(turn), traits) } satisfies NodeWriteOutcome,
  }),
});

const failed = (actor: string, label: string, output: NodeWriteOutcome): EventCase =>
  fault(carries(`xstate.done.actor.${actor}`, label, { output }));

const pods = (label: string, left: number): EventCase => {
  const podCounts = { left, tiers: left === 0 ? [] : [{ key: 0, left }] };
  const observed: PodsObserved = { podCounts, moved: left < 2, refusal: '' };
  return carries('pods.observed', label, observed);
};

const BLOCKED = blockedVerdict({
  blocker: {
    reason: 'BlockedByBudget',
    subject: 'default/db',
    text: 'budget default/db allows 0 disruptions (3 healthy, 3 required)',
    change: '',
  },
  pods: ['default/db-0'],
});

/** The input of the drain. */
export const NODE_DRAIN_INPUT: NodeDrainInput = {
  node: nodeOf('10', {}),
  owner: 'reclaim',
  withdrawn: false,
  orders: [ORDER],
  leftMs: GRACE_SECONDS * 1000,
  quarterMs: GRACE_SECONDS * 250,
  tierWaitMs: GRACE_SECONDS * 250,
  pausedAll: false,
  seed: 1,
};

/** Events of `nodeDrain`. */
export const NODE_DRAIN_CASES: readonly EventCase[] = [
  happens('slot.acquired', 'It is the turn of this node'),
  written('cordonNode', 'The Node is cordoned', { annotation: {} }),
  failed('cordonNode', '409: the Node has changed', { _tag: 'Conflict' }),
  failed('cordonNode', '404: the Node is gone', { _tag: 'Gone' }),
  failed('cordonNode', '403: no permission', { _tag: 'Refused', why: WHY }),
  happens('evictions.released', 'The instruction lets the evictions begin'),
  pods('The watch shows two pods', 2),
  pods('The watch shows one pod', 1),
  pods('The watch shows no pod that must leave', 0),
  fault(carries('verdict.changed', 'A budget blocks its pods', { verdict: BLOCKED })),
  carries('verdict.changed', 'Nothing blocks its pods', { verdict: null }),
  seen('The watch shows it cordoned', { annotation: {} }),
  seen('A person pauses the drain', { annotation: {}, isPaused: true }),
  fault(seen('A person makes it schedulable', { annotation: {}, isOpen: true })),
  fault(seen('A person removes the annotation', {})),
  fault(happens('node.vanished', 'The Node is deleted')),
  carries('order.joined', 'A second instruction names the node', {
    order: { ...ORDER, id: 'reclaim-2' },
  }),
  fault(carries('deadline.moved', 'The deadline is now', {
    leftMs: 0,
    quarterMs: GRACE_SECONDS * 250,
    tierWaitMs: GRACE_SECONDS * 250,
  })),
  happens('drain.withdrawn', 'The owner gives up the drain'),
  written('writeEnd', 'The Node has the end: drained', { annotation: { ended: 'Drained' } }),
  written('writeEnd', 'The Node has the end: failed', { annotation: { ended: 'Failed' } }),
  failed('writeEnd', '409: the Node has changed', { _tag: 'Conflict' }),
  failed('writeEnd', '503: try again', { _tag: 'Fault', why: WHY }),
];
