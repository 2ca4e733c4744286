/** Scenes of the drain board: what a newcomer may find on it. */
import { budgetOf, drainOf, machineIn, NOW_MS, podOf, type SceneActor } from './board-scene.ts';

const POD = 'checkout-api-7f9c6d5b4-';
const pods = Array.from({ length: 12 }, (_, at) => `${POD}x${at}`);

const HEALTH: readonly SceneActor[] = [
  { id: 'leadership', state: 'leading.holding', context: { problem: '' } },
  {
    id: 'fleetSession/eu-1',
    state: 'connected.streaming.rollup.idle connected.streaming.resync.resynced',
    context: { ending: null },
  },
];

/** The node that is stuck. */
export const NODE = 'ip-10-42-117-203.eu-central-1.compute.internal';

/** A drain behind a budget that never opens, beside one that goes on. */
export const STUCK: readonly SceneActor[] = [
  ...HEALTH,
  drainOf(NODE, 6),
  ...pods.slice(0, 4).map((name) => podOf(name, NODE, { budget: 'default/db' })),
  podOf(`${POD}t1`, NODE, { state: 'leaving.terminating', reason: 'Terminating' }),
  podOf(`${POD}t2`, NODE, { state: 'leaving.terminating', reason: 'Terminating' }),
  podOf(`${POD}g1`, NODE, { state: 'gone', reason: null, status: 'done' }),
  budgetOf(pods.slice(0, 4), { maxUnavailable: 0 }),
  drainOf('node-2', 3),
  ...['u1', 'u2', 'u3'].map((name) => podOf(`${POD}${name}`, 'node-2')),
  ...[NODE, 'node-2'].map((name) => machineIn(name, 'Draining')),
  ...['node-3', 'node-4', 'node-5'].map((name) => machineIn(name, 'Ready')),
  machineIn('node-6', 'Provisioning'),
];

/** The session of a process that has never reached its shard. */
export const UNREACHABLE: readonly SceneActor[] = [
  ...HEALTH.slice(0, 1),
  {
    id: 'fleetSession/eu-1',
    state: 'unreachable',
    reason: 'ShardUnreachable',
    context: {
      ending: {
        why: 'Unreachable',
        detail: 'Cannot connect to "shard.example.com:443": connect ECONNREFUSED 10.0.0.1:443',
      },
    },
  },
];

/** Many drains, each with pods. */
export const MANY: readonly SceneActor[] = [
  ...HEALTH,
  ...Array.from({ length: 30 }, (_, at) => drainOf(`${NODE.slice(0, 12)}-${at}`, 40)),
  ...Array.from(
    { length: 1200 },
    (_, at) => podOf(`${POD}${at}`, `${NODE.slice(0, 12)}-${at % 30}`),
  ),
];

/** A drain whose deadline passed, and another that has ended well. */
export const FAILED: readonly SceneActor[] = [
  ...HEALTH,
  drainOf(NODE, 2, {
    state: 'clock.over bindings.complete work.failed',
    reason: null,
    status: 'stopped',
    sinceMs: NOW_MS - 20_000,
    with: { end: 'Failed' },
  }),
  podOf(`${POD}x1`, NODE, { state: 'released', status: 'done', reason: null }),
  podOf(`${POD}x2`, NODE, { state: 'released', status: 'done', reason: null }),
  machineIn(
    NODE,
    'Failed',
    `2 pods remain: default/${POD}x1 (BlockedByBudget: budget default/db allows 0 disruptions), ` +
      `default/${POD}x2 (BlockedByBudget: budget default/db allows 0 disruptions)`,
  ),
  ...['node-3', 'node-4'].map((name) => machineIn(name, 'Ready')),
  drainOf('node-1', 0, {
    state: 'clock.over bindings.complete work.drained',
    reason: null,
    status: 'stopped',
    with: { end: 'Drained' },
  }),
  machineIn('node-1', 'Drained'),
];

const CROWD_NODES = 100;
const CROWD_PODS = 10_000;
const nameAt = (at: number): string => `ip-10-42-${Math.floor(at / 50)}-${at % 50}`;

/** Ten thousand pods on a hundred nodes that drain, some of them behind a budget. */
export const CROWD: readonly SceneActor[] = [
  ...HEALTH,
  ...Array.from(
    { length: CROWD_NODES },
    (_, at) => drainOf(nameAt(at), CROWD_PODS / CROWD_NODES),
  ),
  ...Array.from({ length: CROWD_PODS }, (_, at) => {
    const node = at % CROWD_NODES;
    return podOf(`${POD}${at}`, nameAt(node), node < 2 ? { budget: 'default/db' } : {});
  }),
  budgetOf(
    Array.from({ length: 200 }, (_, at) => `${POD}${Math.floor(at / 2) * CROWD_NODES + at % 2}`),
    { maxUnavailable: 0 },
  ),
  ...Array.from({ length: CROWD_NODES }, (_, at) => machineIn(nameAt(at), 'Draining')),
];

const at = (second: number): number => NOW_MS - 60_000 + second * 1000;

const DRAINING_TIER =
  'clock.beforeLastQuarter bindings.complete work.underway.draining.waitingForTier';
const DRAINING_OPEN = 'clock.beforeLastQuarter bindings.complete work.underway.draining.open';

/** A pod whose eviction was refused, so that it waits for a delay of four seconds. */
export const RETRYING: SceneActor = podOf(`${POD}a4`, 'node-2', {
  state: 'heldUp.unsettled',
  reason: 'BudgetUnsettled',
  sinceMs: NOW_MS,
  with: { attempt: 3 },
  path: [
    { atMs: at(25), state: 'queued', event: 'xstate.init' },
    { atMs: at(58), state: 'calling', event: 'eviction.dispatched' },
    { atMs: at(60), state: 'heldUp.unsettled', event: 'xstate.done.actor.evictPod' },
  ],
});

/** The past of a reclaim of one node, up to now: its pods leave one after another. */
export const RECLAIM: readonly SceneActor[] = [
  ...HEALTH,
  {
    id: 'reclaimInstruction/reclaim-1',
    state: 'underway.answer.acked underway.nodes.draining',
    context: { entries: [{ machine: 'node-2', node: 'node-2' }] },
    path: [
      [0, 'underway.answer.cordoning underway.nodes.draining', 'xstate.init'],
      [3, 'underway.answer.acking underway.nodes.draining', 'nodes.cordoned'],
      [5, 'underway.answer.acked underway.nodes.draining', 'ack.sent'],
    ].map(([second, state, event]) => ({
      atMs: at(Number(second)),
      state: String(state),
      event: String(event),
    })),
  },
  drainOf('node-2', 3, {
    path: [
      {
        atMs: at(0),
        state: 'clock.beforeLastQuarter bindings.beforeCordon work.underway.awaitingUpdate',
        event: 'xstate.init',
      },
      { atMs: at(5), state: DRAINING_TIER, event: 'evictions.released' },
      { atMs: at(25), state: DRAINING_OPEN, event: 'xstate.after.tierWait' },
    ],
  }),
  podOf(`${POD}a1`, 'node-2', {
    state: 'gone',
    reason: null,
    status: 'done',
    sinceMs: at(24),
    path: [
      { atMs: at(6), state: 'calling', event: 'eviction.dispatched' },
      { atMs: at(7), state: 'leaving.terminating', event: 'pod.observed' },
      { atMs: at(24), state: 'gone', event: 'pod.deleted' },
    ],
  }),
  podOf(`${POD}a2`, 'node-2', {
    state: 'leaving.terminating',
    reason: 'Terminating',
    sinceMs: at(40),
    path: [
      { atMs: at(25), state: 'queued', event: 'xstate.init' },
      { atMs: at(38), state: 'calling', event: 'eviction.dispatched' },
      { atMs: at(40), state: 'leaving.terminating', event: 'pod.observed' },
    ],
  }),
  podOf(`${POD}a3`, 'node-2', {
    budget: 'default/db',
    path: [{ atMs: at(25), state: 'queued', event: 'xstate.init' }],
    sinceMs: at(25),
  }),
  RETRYING,
  budgetOf([`${POD}a3`], { maxUnavailable: 1, healthy: 9, reservations: 1 }),
  machineIn('node-2', 'Draining'),
  ...['node-3', 'node-4', 'node-5'].map((name) => machineIn(name, 'Ready')),
];
