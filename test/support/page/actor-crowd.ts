/**
 * Many eviction actors in this process without a cluster, on a live page beside the drains of their
 * nodes, which stand still: for tests of the page, its pictures and its bench.
 */
import { createActor } from 'xstate';
import type { ActorBoard } from '../../../src/api/actor-board.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { liveBoard, startLivePage } from '../../../src/cli/operator/live-page.ts';
import { MACHINE_LEVELS } from '../../../src/cli/operator/machine-levels.ts';
import type { EvictionNeed, PodFacts } from '../../../src/domain/drain/pod-facts.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { podEviction } from '../../../src/machines/pod-eviction.ts';
import { inspectionTap } from '../../../src/observability/inspect.ts';
import { type Inspector, inspectWith } from '../../../src/observability/inspector.ts';
import { budgetOf, drainOf } from '../board/board-scene.ts';
import { wholeBoard } from '../board/scene-page.ts';
import { FACTS } from '../board/eviction-facts.ts';

const NEEDS: readonly EvictionNeed[] = [
  { _tag: 'One', budget: 'default/db' },
  { _tag: 'Blocked', reason: 'TwoBudgets' },
  { _tag: 'Blocked', reason: 'BudgetNeverAllows' },
];

const factsOf = (turn: number): PodFacts => ({
  ...FACTS,
  need: NEEDS[turn % NEEDS.length] ?? { _tag: 'None' },
});

const NODES = 100;
const DRAIN_MS = 600_000;

/** The drains of the crowd's nodes, and the budget of its pods. */
const drainsOf = (count: number): ActorBoard => {
  const sinceMs = realTime.now();
  const annotation = { ids: ['reclaim-1'], sinceMs, deadlineMs: sinceMs + DRAIN_MS };
  const left = Math.ceil(count / NODES);
  const drains = Array.from(
    { length: Math.min(NODES, count) },
    (_, at) => drainOf(`node-${at}`, left, { sinceMs, bornMs: sinceMs, with: { annotation } }),
  );
  return wholeBoard([...drains, budgetOf([])]);
};

/** Two boards as one. */
const beside = (still: ActorBoard, moving: ActorBoard): ActorBoard => ({
  rows: () => [...still.rows(), ...moving.rows()],
  row: (id) => still.row(id) ?? moving.row(id),
  detail: (id) => still.detail(id) ?? moving.detail(id),
  context: (id) => still.context(id) ?? moving.context(id),
  subscribe: moving.subscribe,
});

/** A prime, so that changes are spread over all of them. */
const STRIDE = 7919;

/** A crowd and its page. */
export interface ActorCrowd {
  readonly url: string;
  /** Moves so many of them, each to another state; round and round. */
  readonly move: (count: number) => void;
  readonly close: () => Promise<void>;
}

/** As in every process: metrics count each transition, and logs check their level. */
const tap = inspectionTap({
  telemetry: silentTelemetry,
  enabled: () => false,
  levels: MACHINE_LEVELS,
});

/**
 * Creates `count` evictions `podEviction/default/db-0…`; with `isWatched` false there is no page.
 * Further inspectors are possible.
 */
export const actorCrowd = async (
  count: number,
  isWatched = true,
  others: readonly Inspector[] = [],
): Promise<ActorCrowd> => {
  const board = liveBoard(realTime);
  const drains = drainsOf(count);
  const inspect = inspectWith(tap, isWatched ? [board.observe, ...others] : others);
  const actors = Array.from({ length: count }, (_, at) => {
    const input = {
      uid: `u${at}`,
      key: `default/db-${at}`,
      node: `node-${at % NODES}`,
      facts: factsOf(0),
      seed: at,
    };
    return createActor(podEviction, { id: `podEviction/${input.key}`, input, inspect }).start();
  });
  const page = isWatched
    ? await startLivePage({
      address: { host: '', port: 0 },
      board: beside(drains, board),
      title: 'Tidegate · crowd',
    })
    : undefined;
  let turn = 0;
  return {
    url: page?.url ?? '',
    move: (moved) => {
      for (let at = 0; at < moved; at += 1) {
        turn += 1;
        actors[turn * STRIDE % count]?.send({
          type: 'pod.observed',
          facts: factsOf(1 + Math.floor(turn / count)),
        });
      }
    },
    close: async () => {
      for (const actor of actors) actor.stop();
      await page?.close();
    },
  };
};
