/**
 * What the statecharts that write an object in turns have in common: how its writes fare, and when
 * one that failed is tried again.
 */
import { backoffMs } from '../domain/backoff.ts';
import type { WriteVerdict } from '../domain/object-write.ts';
import { nextSeed, type Seed } from '../domain/random.ts';

/** How the writes of an object fare. */
export interface WriteTries {
  /** Failures since a write last landed. */
  readonly attempt: number;
  readonly seed: Seed;
  readonly verdict: WriteVerdict;
  /** Why the last write did not land; empty when it did. */
  readonly problem: string;
}

interface Tried {
  readonly context: WriteTries;
}

/** Before the first write. */
export const UNTRIED = { attempt: 0, verdict: 'Untried', problem: '' } as const;

/** Between tries in one turn: short, because a turn is one of few. */
const IN_TURN = { firstMs: 200, lastMs: 2000 };
/** Between turns, once a turn was given up. */
const OUT_OF_TURN = { firstMs: 2000, lastMs: 30_000 };
/** Failures in a row after which an object makes room for others. */
const TRIES_PER_TURN = 5;
/** What the API server will not take is no better in a moment. */
export const REFUSAL_BACKOFF_MS = 60_000;

/** What an answer leaves of the tries. */
export const afterTry = (
  { attempt, seed }: WriteTries,
  verdict: WriteVerdict,
  problem: string,
): WriteTries => {
  const landed = verdict === 'Landed';
  return {
    verdict,
    problem: landed ? '' : problem,
    attempt: landed ? 0 : attempt + 1,
    seed: landed ? seed : nextSeed(seed),
  };
};

/** Guards that read how the last write ended. */
export const verdictGuards = {
  refused: ({ context }: Tried) => context.verdict === 'Refused',
  failed: ({ context }: Tried) => context.verdict === 'Failed',
};

/** Guards and delays of an object that gives its turn back only after some tries. */
export const turnGuards = {
  ...verdictGuards,
  turnSpent: ({ context }: Tried) =>
    context.verdict === 'Failed' && context.attempt >= TRIES_PER_TURN,
};
export const turnDelays = {
  writeBackoff: ({ context }: Tried) => backoffMs(IN_TURN, context.attempt, context.seed),
  turnBackoff: ({ context }: Tried) =>
    backoffMs(OUT_OF_TURN, context.attempt - TRIES_PER_TURN + 1, context.seed),
  refusalBackoff: REFUSAL_BACKOFF_MS,
};

/** Makes states that write: `act` is called with what `input` gives, and `answers` take it. */
export const writes =
  <Input, Answers>(input: Input, answers: Answers) =>
  <const Act extends string>(act: Act, description: string) => ({
    description,
    entry: 'noteBase' as const,
    invoke: { id: act, src: act, input, ...answers },
  });
