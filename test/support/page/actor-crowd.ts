/**
 * Many eviction actors in this process without a cluster, on a live page: for tests of the page,
 * its pictures and its bench.
 */
import { createActor } from 'xstate';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { liveBoard, startLivePage } from '../../../src/cli/live-page.ts';
import { MACHINE_LEVELS } from '../../../src/cli/machine-levels.ts';
import type { EvictionNeed, PodFacts } from '../../../src/domain/drain/pod-facts.ts';
import { podEviction } from '../../../src/machines/pod-eviction.ts';
import { inspectionTap } from '../../../src/observability/inspect.ts';
import { type Inspector, inspectWith } from '../../../src/observability/inspector.ts';

const NEEDS: readonly EvictionNeed[] = [
  { _tag: 'One', budget: 'default/db' },
  { _tag: 'Blocked', reason: 'TwoBudgets' },
  { _tag: 'Blocked', reason: 'BudgetNeverAllows' },
];

const factsOf = (turn: number): PodFacts => ({
  terminating: false,
  finalizers: false,
  kubeletSilent: false,
  need: NEEDS[turn % NEEDS.length] ?? { _tag: 'None' },
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
  const board = liveBoard();
  const inspect = inspectWith(tap, isWatched ? [board.observe, ...others] : others);
  const actors = Array.from({ length: count }, (_, at) => {
    const input = {
      uid: `u${at}`,
      key: `default/db-${at}`,
      node: `node-${at % 100}`,
      facts: factsOf(0),
      seed: at,
    };
    return createActor(podEviction, { id: `podEviction/${input.key}`, input, inspect }).start();
  });
  const page = isWatched
    ? await startLivePage({ address: { host: '', port: 0 }, board, title: 'Tidegate · crowd' })
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
