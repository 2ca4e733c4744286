/**
 * The plan before a drain and the status at its deadline name the same blockers, because both use
 * the decision functions of the drain. Random small clusters of predictable facts; the real
 * registry of evictions drains them on simulated time.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Budget } from '../../../src/domain/drain/budget.ts';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import { type NodeFacts, nodeFactsOf } from '../../../src/view/drain-facts.ts';
import { drainPlan } from '../../../src/view/drain-plan.ts';
import { drainStatus } from '../../../src/view/drain-status.ts';
import { evictionRig } from '../../support/drains/eviction-rig.ts';

const GRACE_SECONDS = 600;
const KINDS = ['BlockedByBudget', 'BudgetNeverAllows', 'Finalizer', 'TwoBudgets'];
const NODE = 'n1';

/** One application: its pods here and elsewhere, and its budgets. */
interface App {
  readonly here: number;
  readonly elsewhere: number;
  readonly unreadyHere: number;
  readonly pendingHere: number;
  readonly unreadyElsewhere: number;
  readonly finalizers: number;
  readonly budgets: readonly { readonly maxUnavailable: number; readonly alwaysAllow: boolean }[];
  /** False: a bare pod without a controller. */
  readonly replaced: boolean;
}

const few = (max: number) => fc.integer({ min: 0, max });

const apps = fc.array(
  fc.record({
    here: fc.integer({ min: 1, max: 4 }),
    elsewhere: few(3),
    unreadyHere: few(2),
    pendingHere: few(1),
    unreadyElsewhere: few(2),
    finalizers: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, {
      weight: 1,
      arbitrary: few(2),
    }),
    budgets: fc.array(
      fc.record({ maxUnavailable: few(3), alwaysAllow: fc.boolean() }),
      { maxLength: 2 },
    ),
    replaced: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, {
      weight: 1,
      arbitrary: fc.constant(false),
    }),
  }),
  { minLength: 1, maxLength: 4 },
);

type Rig = ReturnType<typeof evictionRig>;

const settle = ({ cluster }: Rig, app: App, name: string): void => {
  const add = (at: number, node: string, traits: { ready?: boolean; phase?: string }): void => {
    const finalizers = node === NODE && at < app.finalizers ? ['example.com/hold'] : [];
    cluster.addPod({ name: `${name}-${node}-${at}`, node, app: name, finalizers, ...traits });
  };
  for (let at = 0; at < app.here; at += 1) {
    if (at < app.pendingHere) add(at, NODE, { ready: false, phase: 'Pending' });
    else add(at, NODE, { ready: at >= app.pendingHere + app.unreadyHere });
  }
  for (let at = 0; at < app.elsewhere; at += 1) {
    add(at, 'n2', { ready: at >= app.unreadyElsewhere });
  }
  if (app.replaced) cluster.settle(name);
  app.budgets.forEach((budget, at) =>
    cluster.addBudget({ name: `${name}-budget-${at}`, app: name, ...budget })
  );
};

const budgetsIn = ({ cluster }: Rig): readonly Budget[] => {
  let listed: readonly Budget[] = [];
  cluster.caches.budgets.facts.subscribe((fact) => {
    if (fact._tag === 'Listed') listed = fact.objects;
  }).unsubscribe();
  return listed;
};

const look = (rig: Rig, annotations: object): NodeFacts => {
  const node = projectDrainedNode({
    metadata: { name: NODE, uid: 'uid-n1', resourceVersion: '7', annotations },
    spec: { unschedulable: true },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const [facts] = nodeFactsOf({
    nodes: node === undefined ? [] : [node],
    pods: rig.cluster.onNode(NODE),
    budgets: budgetsIn(rig),
    events: [],
    machines: [],
    terminatingNamespaces: [],
    own: null,
    nowMs: rig.time.now(),
  });
  if (facts === undefined) throw new Error('the node is missing');
  return facts;
};

/** Reason and pods of each blocker, in canonical order. */
const named = (
  blockers: readonly { readonly reason: string; readonly pods: readonly string[] }[],
): readonly string[] =>
  blockers.flatMap(({ reason, pods }) => pods.map((pod) => `${pod} ${reason}`)).toSorted();

test('DR-43: drain plan names the blockers that drain status names at the deadline', async () => {
  const kinds = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(apps, async (chosen) => {
      const rig = evictionRig({ graceMs: GRACE_SECONDS * 1000 });
      chosen.forEach((app, at) => settle(rig, app, `app${at}`));
      await rig.time.advance(1000);
      const plan = drainPlan(look(rig, {}), {
        graceSeconds: GRACE_SECONDS,
        answers: undefined,
        interceptors: new Map(),
      });
      const sinceMs = rig.time.now();
      rig.drain(NODE);
      await rig.time.advance(GRACE_SECONDS * 1000);
      const status = drainStatus(look(rig, {
        'cordon.tidegate.dev/reclaim': printCordon({
          ids: ['i-1'],
          deadlineMs: sinceMs + GRACE_SECONDS * 1000,
          graceSeconds: GRACE_SECONDS,
          sinceMs,
          ended: null,
        }),
      }));
      for (const { reason, pods } of status.blockers) {
        kinds.set(reason, (kinds.get(reason) ?? 0) + pods.length);
      }
      expect(named(plan.blockers)).toEqual(named(status.blockers));
      expect(status.pods.left).toBe(status.pods.blocked);
      await rig.stop();
    }),
    { numRuns: 200, seed: 20261121 },
  );
  // Each kind of predictable fact occurred often enough.
  expect([...kinds.keys()].toSorted()).toEqual(KINDS);
  expect(Math.min(...kinds.values())).toBeGreaterThan(20);
}, 240_000);
