/** The drain of one node, walked through every configuration. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import { provideNodeDrain } from '../../src/actors/node-drains/node-drain-actor.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { annotationOf, type CordonAnnotation, printCordon } from '../../src/domain/drain/cordon.ts';
import { cancelSeen } from '../../src/domain/drain/cordon-patch.ts';
import { clockStepMs, type DrainTime, endOf } from '../../src/domain/drain/drain-state.ts';
import { type DrainedNode, projectDrainedNode } from '../../src/domain/drain/drained-node.ts';
import type { PodCounts } from '../../src/domain/drain/pod-counts.ts';
import { booleanAt, numberAt, textAt, valueAt } from '../../src/domain/json.ts';
import { isOlder } from '../../src/domain/resource-versions.ts';
import type { NodeWriteOutcome } from '../../src/domain/drain/node-write.ts';
import { cordonsLayer } from '../../src/effects/cordons.ts';
import { type KubeAnswer, type KubeCall, NotSent } from '../../src/effects/kube-api.ts';
import { Writes } from '../../src/effects/writes.ts';
import { nodeDrain } from '../../src/machines/node-drain.ts';
import type { NodeDrainContext, NodeDrainInput } from '../../src/machines/node-drain-context.ts';
import { nodeDrainHarness } from './cluster/node-drain-harness.ts';
import type { Received } from './harness/crash.ts';
import { describeModel, type InvokedActors } from './model.ts';
import { drainMoves } from './node-drain-invariants.ts';

const KEY = 'cordon.tidegate.dev/reclaim';
const DEADLINE_MS = 100_000;
const order = { id: 'i1', deadlineMs: DEADLINE_MS, graceSeconds: 100, sinceMs: 0 };
const further = { id: 'i2', deadlineMs: DEADLINE_MS, graceSeconds: 100, sinceMs: 0 };
const annotation = (more: Partial<CordonAnnotation> = {}): string =>
  printCordon({ ...order, ids: ['i1'], ended: null, ...more });

/** What the API server would answer with, by revision. */
const served = new Map<string, object>();

interface NodeTraits {
  readonly key?: string;
  readonly open?: boolean;
  readonly paused?: boolean;
}

const node = (resourceVersion: string, { key, open, paused }: NodeTraits = {}): DrainedNode => {
  const raw = {
    metadata: {
      name: 'n1',
      uid: 'u1',
      resourceVersion,
      annotations: {
        ...(key === undefined ? {} : { [KEY]: key }),
        ...(paused === true ? { 'tidegate.dev/pause': 'true' } : {}),
      },
    },
    spec: { unschedulable: key !== undefined && open !== true },
  };
  const projection = projectDrainedNode(raw);
  if (projection === undefined) throw new Error('No projection');
  served.set(resourceVersion, raw);
  return projection;
};

const BOTH = annotation({ ids: ['i1', 'i2'] });
const fresh = node('10');
const cordoned = node('20', { key: annotation() });
const joined = node('25', { key: BOTH });
const paused = node('26', { key: BOTH, paused: true });
const reopened = node('30', { key: BOTH, open: true });
const robbed = node('31');
const done = node('40', { key: annotation({ ended: 'Drained' }) });
const abandoned = node('41', { key: annotation({ ended: 'Cancelled' }), open: true });
const overdue = node('42', { key: annotation({ ended: 'Failed' }) });
const released = node('50');
const unrecognized = node('11', { key: '{"v":2}' });

const inputOf = (current: DrainedNode, more: Partial<NodeDrainInput> = {}): NodeDrainInput => ({
  node: current,
  owner: 'reclaim',
  withdrawn: false,
  orders: [order],
  leftMs: DEADLINE_MS,
  quarterMs: 25_000,
  tierWaitMs: 25_000,
  pausedAll: false,
  seed: 1,
  ...more,
});

const podCounts = (low: number, high: number) => ({
  left: low + high,
  tiers: [{ key: 0, left: low }, { key: 10, left: high }].filter(({ left }) => left > 0),
});
const pods = (low: number, high: number, more: object = {}) => ({
  podCounts: podCounts(low, high),
  moved: false,
  refusal: '',
  ...more,
});

/** Pods that are kept for their data, and nothing else. */
const KEPT = { ...pods(0, 0), podCounts: { left: 1, kept: 1, tiers: [] } };
const PODS = [pods(0, 0), pods(1, 1), pods(0, 1, { moved: true }), KEPT];

/** What outlives the process: the Node, its pods, our rights, and time. */
interface World extends DrainTime {
  readonly node: DrainedNode | null;
  readonly podCounts: PodCounts | null;
  readonly withdrawn: boolean;
  /** The UpcomingNode shows the end: pods that come later change nothing. */
  readonly endVisible: boolean;
}

const NOWHERE: World = {
  node: null,
  podCounts: null,
  leftMs: DEADLINE_MS,
  quarterMs: 25_000,
  tierWaitMs: 25_000,
  withdrawn: false,
  endVisible: false,
};

/** What is served, read once. */
const stored = new Map([...served].map(([version, raw]) => [version, projectDrainedNode(raw)]));

/** The Node that is written about: as served, not as the machine remembers it. */
const nodeIn = (value: unknown): DrainedNode | undefined =>
  stored.get(textAt(value, 'resourceVersion') ?? '');

/** An older Node says nothing, and a deleted one does not come back under its UID. */
const withNode = (world: World, seen: DrainedNode | undefined): World =>
  seen === undefined || world.node === null ||
    isOlder(seen.resourceVersion, world.node.resourceVersion)
    ? world
    : { ...world, node: seen };

const begun = (world: World, input: unknown): World => ({
  ...world,
  node: nodeIn(valueAt(input, 'node')) ?? null,
  leftMs: numberAt(input, 'leftMs') ?? null,
  withdrawn: booleanAt(input, 'withdrawn') === true,
});

const afterReceiving = (world: World, { event }: Pick<Received, 'event'>): World => {
  switch (event.type) {
    case 'xstate.init':
      return begun(world, event['input']);
    case 'node.observed':
      return withNode(world, nodeIn(event['node']));
    case 'node.vanished':
      return { ...world, node: null };
    case 'drain.withdrawn':
      return { ...world, withdrawn: true };
    case 'deadline.moved':
      return { ...world, leftMs: numberAt(event, 'leftMs') ?? null };
    case 'pods.observed': {
      const counts = PODS.find(({ podCounts: one }) => one === event['podCounts'])?.podCounts;
      return counts === undefined || world.endVisible ? world : { ...world, podCounts: counts };
    }
  }
  if (event.type.startsWith('xstate.after.clockStep.') && world.leftMs !== null) {
    return { ...world, leftMs: world.leftMs - clockStepMs(world) };
  }
  if (textAt(event['output'], '_tag') === 'Gone') return { ...world, node: null };
  return withNode(world, nodeIn(valueAt(event['output'], 'node')));
};

const recorded = (world: World, received: Received): World => {
  const now = afterReceiving(world, received);
  return received.actions.includes('invoke:showEnd') ? { ...now, endVisible: true } : now;
};

const answerOf = (outcome: NodeWriteOutcome): Effect.Effect<KubeAnswer, NotSent> => {
  switch (outcome._tag) {
    case 'Written':
      return Effect.succeed({ status: 200, body: served.get(outcome.node.resourceVersion) });
    case 'Conflict':
      return Effect.succeed({ status: 409, body: {} });
    case 'Gone':
      return Effect.succeed({ status: 404, body: {} });
    case 'Refused':
      return Effect.succeed({ status: 403, body: { message: outcome.why } });
    case 'Fault':
      return Effect.fail(new NotSent({ why: outcome.why }));
  }
};

/** The statechart with its real effects, down to its patches. */
const wire = (invoked: InvokedActors) => {
  const actIn = ({ body }: KubeCall): string =>
    JSON.stringify(body).includes('"unschedulable":true') ? 'cordonNode' : 'writeEnd';
  const layer = cordonsLayer(silentTelemetry).pipe(
    Layer.provide(Layer.succeed(Writes, {
      send: (_writeClass, call) =>
        Effect.flatMap(
          Effect.promise(() => invoked.perform<NodeWriteOutcome>(actIn(call), call)),
          answerOf,
        ),
    })),
  );
  const ignore = (): void => {};
  return provideNodeDrain(ManagedRuntime.make(layer), {
    requestSlot: ignore,
    recordStarted: ignore,
    showDraining: ignore,
    recordCordonFailing: ignore,
    recordLeftAlone: ignore,
    evictPods: ignore,
    countPods: ignore,
    releasePods: ignore,
    conditionAtEnd: () => undefined,
    showEnd: (end) => invoked.perform('showEnd', end),
  });
};

/** State that no longer matters once the owner has left, or the end is decided. */
const undecided = (context: NodeDrainContext) => ({
  orders: context.orders.map(({ id }) => id),
  cordonObserved: context.cordonObserved,
  landedAt: context.landedAt,
  released: context.released,
  podCounts: context.podCounts?.tiers,
  kept: context.podCounts?.kept,
  startedTo: context.startedTo,
  settled: context.settled,
  leftMs: context.leftMs,
});

describeModel('nodeDrain', {
  machine: nodeDrain,
  wire,
  harness: nodeDrainHarness,
  inputs: [
    inputOf(fresh),
    inputOf(unrecognized),
    inputOf(done),
    inputOf(cordoned, { orders: [] }),
    inputOf(reopened, { orders: [] }),
    inputOf(cordoned, { orders: [], leftMs: 0 }),
    inputOf(cordoned, { orders: [], leftMs: null }),
  ],
  events: {
    'node.observed': [
      { node: cordoned },
      { node: paused },
      { node: reopened },
      { node: robbed },
    ],
    'pods.observed': PODS,
    'verdict.changed': [{ verdict: null }],
    'order.joined': [{ order: further }],
    'deadline.moved': [{ leftMs: 0, quarterMs: 25_000, tierWaitMs: 25_000 }],
    'xstate.done.actor.cordonNode': [
      { output: { _tag: 'Written', node: joined } },
      { output: { _tag: 'Conflict' } },
      { output: { _tag: 'Gone' } },
      { output: { _tag: 'Refused', why: 'planted' } },
    ],
    'xstate.done.actor.writeEnd': [
      { output: { _tag: 'Written', node: done } },
      { output: { _tag: 'Written', node: abandoned } },
      { output: { _tag: 'Written', node: overdue } },
      { output: { _tag: 'Written', node: released } },
      { output: { _tag: 'Conflict' } },
      { output: { _tag: 'Fault', why: 'planted' } },
    ],
  },
  project: (context: NodeDrainContext) => ({
    node: context.node?.resourceVersion,
    ...(context.withdrawn || context.end !== null ? {} : undecided(context)),
    annotation: context.annotation?.ids,
    withdrawn: context.withdrawn,
    end: context.end,
    // Only whether the Node has changed since the refused patch is asked.
    conflict: context.outcome === 'Conflict' &&
      { movedOn: context.node?.resourceVersion !== context.decidedOn },
  }),
  invariant: (snapshot, actions) => {
    const { annotation: own, released, end, node: known }: NodeDrainContext = snapshot.context;
    const begun = actions.filter((action) => action.startsWith('invoke:'));
    expect(begun.length, 'two acts of one drain at a time').toBeLessThanOrEqual(1);
    if (actions.includes('evictPods')) {
      expect(own, 'pods were evicted before the cordon').not.toBeNull();
      expect(released, 'pods were evicted before the barrier').toBe(true);
      expect(known?.paused, 'pods of a paused node were evicted').not.toBe(true);
      const cancelled = known !== null && cancelSeen(known, 'reclaim', snapshot.context);
      expect(cancelled, 'pods were evicted after a cancel').toBe(false);
    }
    if (end !== null && !actions.includes('releasePods')) {
      expect(actions, 'pods were evicted after the end').not.toContain('evictPods');
    }
    if (actions.includes('invoke:writeEnd')) expect(end).not.toBeNull();
    if (actions.includes('invoke:cordonNode')) {
      expect(end).toBeNull();
      expect(snapshot.hasTag('acting'), 'Nodes are cordoned in a turn').toBe(true);
    }
    if (snapshot.hasTag('settled') && known !== null && own !== null) {
      expect(annotationOf(known, 'reclaim')?.ended, 'an end is not on the Node').not.toBeNull();
    }
  },
  stepInvariant: drainMoves,
  crash: {
    world: NOWHERE,
    record: recorded,
    restart: ({ node: current, podCounts: left, withdrawn, leftMs }) => ({
      input: inputOf(current ?? fresh, { orders: [], withdrawn, leftMs }),
      events: [
        ...(current === null ? [{ type: 'node.vanished' }] : []),
        ...(left === null
          ? []
          : [{ type: 'pods.observed', podCounts: left, moved: false, refusal: '' }]),
        { type: 'evictions.released' },
      ],
    }),
    // The current state alone determines whether the end must be recorded, and which.
    obligations: ({ context }: { context: NodeDrainContext }) => {
      const key = context.node === null ? undefined : annotationOf(context.node, 'reclaim');
      if (key === undefined) return 'nothing';
      if (context.withdrawn) return 'a release';
      if (key.ended !== null) return 'nothing';
      const isOver = context.end !== null ||
        endOf({ ...context, annotation: key, released: true, settled: true }) !== null;
      return { ids: key.ids, deadlineMs: key.deadlineMs, pending: isOver ? 'its end' : 'a drain' };
    },
  },
  forgets: 'node.observed',
  limit: 100_000,
});
