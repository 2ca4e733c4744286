/**
 * What the statecharts that write an object in turns have in common: how its writes fare, and when
 * one that failed is tried again.
 */
import { backoffMs } from '../domain/backoff.ts';
import type { Identity } from '../domain/facts.ts';
import type { Revision } from '../domain/ids.ts';
import { problemOf, type WriteOutcome, type WriteVerdict } from '../domain/object-write.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import { isOlder } from '../domain/revisions.ts';

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

/** What an answer leaves of the tries, by what is made of it. */
export const afterTry = <Shown>(
  { attempt, seed }: WriteTries,
  outcome: WriteOutcome<Shown>,
  verdict: WriteVerdict,
): WriteTries => {
  const landed = verdict === 'Landed';
  return {
    verdict,
    problem: landed ? '' : problemOf(outcome),
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
export const slotGuards = {
  ...verdictGuards,
  triesSpent: ({ context }: Tried) =>
    context.verdict === 'Failed' && context.attempt >= TRIES_PER_TURN,
};
export const slotDelays = {
  writeBackoff: ({ context }: Tried) => backoffMs(IN_TURN, context.attempt, context.seed),
  slotBackoff: ({ context }: Tried) =>
    backoffMs(OUT_OF_TURN, context.attempt - TRIES_PER_TURN + 1, context.seed),
  refusalBackoff: REFUSAL_BACKOFF_MS,
};

/** What is known of an object that nobody else writes. */
export interface ShownObject<Facts extends { readonly shown: Identity | null }> {
  readonly facts: Facts;
  /** The newest revision that was seen of the object; what is not newer is an echo. */
  readonly newest: Revision | null;
}

/** What an answer leaves of the facts; a newer fact that came before it stays. */
export const afterAnswer = <Shown extends Identity, Facts extends { readonly shown: Shown | null }>(
  { facts, newest }: ShownObject<Facts>,
  outcome: WriteOutcome<Shown>,
): ShownObject<Facts> => {
  if (outcome._tag === 'Absent') return { facts: { ...facts, shown: null }, newest };
  if (outcome._tag !== 'Written') return { facts, newest };
  const { shown } = outcome;
  if (newest !== null && isOlder(shown.revision, newest)) return { facts, newest };
  return { facts: { ...facts, shown }, newest: shown.revision };
};

interface Known {
  readonly context: ShownObject<{ readonly shown: Identity | null }>;
}

/** Guards on what a cache shows of the object. */
export const shownGuards = {
  isNews: ({ context: { newest } }: Known, { revision }: Pick<Identity, 'revision'>) =>
    newest === null || (revision !== newest && !isOlder(revision, newest)),
  isShown: ({ context }: Known, uid: string) => uid === context.facts.shown?.uid,
};

/** Makes states that write: `act` is called with what `input` gives, and `answers` take it. */
export const writes =
  <Input, Answers>(input: Input, answers: Answers) =>
  <const Act extends string>(act: Act, description: string) => ({
    description,
    entry: 'noteBase' as const,
    invoke: { id: act, src: act, input, ...answers },
  });
