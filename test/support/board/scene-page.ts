/** The live page of a scene: actors that do not move, so that a picture is always the same. */
import { onTestFinished } from 'vitest';
import type { ActorBoard, ActorStep } from '../../../src/api/actor-board.ts';
import { startLivePage } from '../../../src/cli/live-page.ts';
import { budgetOf, drainOf, NOW_MS, podOf, type SceneActor, sceneOf } from './board-scene.ts';

/** A whole board of these actors; each has one step in its history. */
const wholeBoard = (actors: readonly SceneActor[]): ActorBoard => {
  const { rows, context } = sceneOf(actors);
  const row = (id: string) => rows().find((one) => one.id === id);
  return {
    rows,
    context,
    row,
    detail: (id) => {
      const found = row(id);
      if (found === undefined) return undefined;
      const step: ActorStep = { atMs: found.sinceMs, state: found.state, event: 'xstate.init' };
      return { row: found, path: [step], log: [step], context: context(id) };
    },
    subscribe: () => () => {},
  };
};

/** Serves a scene until the test ends; returns its address. */
export const scenePage = async (actors: readonly SceneActor[]): Promise<string> => {
  const page = await startLivePage({
    address: { host: '', port: 0 },
    board: wholeBoard(actors),
    title: 'Tidegate · scene',
    now: () => NOW_MS,
  });
  onTestFinished(page.close);
  return page.url;
};

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

const NODE = 'ip-10-42-117-203.eu-central-1.compute.internal';

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
