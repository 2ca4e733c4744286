/**
 * The states, guards and delays of statecharts that are the only writer of an object.
 *
 * Promises: one write is in flight at a time and only with a slot; facts replace what is wanted and
 * never restart a write in flight; what is pending is computed once when a fact or an answer comes
 * (`pendingWrite` in the context) and only read after that; a write that fails is tried again until
 * it lands or is no longer pending; an object that keeps failing gives its slot to others. What a
 * kind has of its own (writes, further states and events) is data.
 */
import type { ReasonName } from '../api/reasons.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { Identity } from '../domain/facts.ts';
import type { ResourceVersion } from '../domain/ids.ts';
import { problemOf, type WriteOutcome, type WriteVerdict } from '../domain/object-write.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import { isOlder } from '../domain/resource-versions.ts';

/** How the writes of an object fare. */
export interface WriteTries {
  /** Failures since a write last landed. */
  readonly attempt: number;
  readonly seed: Seed;
  readonly verdict: WriteVerdict;
  /** Why the last write did not land; empty when it did. */
  readonly problem: string;
}

/** What every object writer knows; `Pending` may say more about a write than its name. */
export interface ObjectWriterContext<Pending extends { readonly write: string }>
  extends WriteTries {
  /** The next write that brings the object nearer to what it is to show. */
  readonly pendingWrite: Pending | null;
}

interface Writing {
  readonly context: ObjectWriterContext<{ readonly write: string }>;
}

/** Before the first write. */
export const UNTRIED = { attempt: 0, verdict: 'Untried', problem: '' } as const;

/** Between tries with a slot: short, because there are few slots. */
const IN_SLOT = { firstMs: 200, lastMs: 2000 };
/** Between slots, when one was given up. */
const BETWEEN_SLOTS = { firstMs: 2000, lastMs: 30_000 };
/** Failures in a row after which an object gives its slot to others. */
const TRIES_PER_SLOT = 5;
/** What the API server will not take is no better in a moment. */
const REFUSAL_BACKOFF_MS = 60_000;

/** Guards of every object writer. */
export const writerGuards = {
  writePending: ({ context }: Writing) => context.pendingWrite !== null,
  nothingPending: ({ context }: Writing) => context.pendingWrite === null,
  writeIs: ({ context }: Writing, write: string) => context.pendingWrite?.write === write,
  refused: ({ context }: Writing) => context.verdict === 'Refused',
  failed: ({ context }: Writing) => context.verdict === 'Failed',
  triesSpent: ({ context }: Writing) =>
    context.verdict === 'Failed' && context.attempt >= TRIES_PER_SLOT,
};

/** Delays of every object writer. */
export const writerDelays = {
  writeBackoff: ({ context }: Writing) => backoffMs(IN_SLOT, context.attempt, context.seed),
  slotBackoff: ({ context }: Writing) =>
    backoffMs(BETWEEN_SLOTS, context.attempt - TRIES_PER_SLOT + 1, context.seed),
  refusalBackoff: REFUSAL_BACKOFF_MS,
};

/** A write: its name in `pendingWrite`, and the state that makes it. */
interface WriterBranch<State> {
  readonly write: string;
  readonly state: State;
}

/** A state in which an object waits for better times. */
interface Postponed<On> {
  readonly reason: ReasonName;
  /** What makes it request a slot at once. */
  readonly on: On;
}

/** What one kind of object writer has of its own. */
export interface ObjectWriterOptions<Id, Settled, Further, Writes, OnAside, OnRefused> {
  readonly id: Id;
  /** What `settled` means, and where it goes when a fact says so. */
  readonly settled: Settled;
  /** Further states, such as `gone`. */
  readonly further: Further;
  /** States that write, each made by `writing`. */
  readonly writes: Writes;
  /** Which of them makes which write. */
  readonly branches: readonly WriterBranch<keyof Writes & string>[];
  /** Whether a write that failed is tried again with the slot, or first gives it to others. */
  readonly retries: 'WithSlot' | 'WithoutSlot';
  readonly setAside: Postponed<OnAside>;
  readonly refused: Postponed<OnRefused>;
}

const waiting = {
  description: 'A write is pending; waiting for a slot.',
  meta: { reason: 'WriteQueued' },
  tags: 'waiting',
  entry: 'requestSlot',
  always: { guard: 'nothingPending', target: 'settled' },
  on: { 'slot.acquired': 'acting' },
} as const;

const backingOff = (id: string) => ({
  description: 'The last write failed; tries again shortly, with the same slot.',
  always: { guard: 'nothingPending' as const, target: `#${id}.settled` },
  after: { writeBackoff: { target: 'deciding', actions: 'resetVerdict' } } as const,
});

const deciding = (
  id: string,
  branches: readonly WriterBranch<string>[],
  retries: 'WithSlot' | 'WithoutSlot',
) => ({
  description: 'Looks at the last answer and at what is pending now.',
  always: [
    { guard: 'refused' as const, target: `#${id}.refused` },
    ...(retries === 'WithoutSlot' ? [{ guard: 'failed' as const, target: `#${id}.setAside` }] : [
      { guard: 'triesSpent' as const, target: `#${id}.setAside` },
      { guard: 'failed' as const, target: 'backingOff' },
    ]),
    ...branches.map(({ write, state }) => ({
      guard: { type: 'writeIs' as const, params: write },
      target: state,
    })),
    { target: `#${id}.settled` },
  ],
});

/** The states of a statechart that is the only writer of an object. */
export const objectWriter = <
  const Id extends string,
  const Settled,
  const Further,
  Writes,
  const OnAside,
  const OnRefused,
>(
  { id, settled, further, writes, branches, retries, setAside, refused }: ObjectWriterOptions<
    Id,
    Settled,
    Further,
    Writes,
    OnAside,
    OnRefused
  >,
) => ({
  settled: { tags: 'settled' as const, ...settled },
  ...further,
  waiting,
  acting: {
    description: 'Has a slot: writes until nothing is pending or others need the slot.',
    tags: 'acting' as const,
    entry: 'resetVerdict' as const,
    initial: 'deciding' as const,
    states: {
      deciding: deciding(id, branches, retries),
      ...writes,
      ...(retries === 'WithSlot' ? { backingOff: backingOff(id) } : {}),
    },
  },
  setAside: {
    description: 'Writes keep failing: others have the slot for a while.',
    meta: { reason: setAside.reason },
    tags: 'waiting' as const,
    entry: 'recordFailing' as const,
    always: { guard: 'nothingPending', target: 'settled' } as const,
    on: setAside.on,
    after: { slotBackoff: 'waiting' } as const,
  },
  refused: {
    description: 'The API server refuses the object as it is; a person must look.',
    meta: { reason: refused.reason },
    tags: 'waiting' as const,
    entry: 'recordRefused' as const,
    always: { guard: 'nothingPending', target: 'settled' } as const,
    on: refused.on,
    after: { refusalBackoff: 'waiting' } as const,
  },
});

/** What an answer leaves of the tries, by what is made of it. */
export const afterTry = <Current>(
  { attempt, seed }: WriteTries,
  outcome: WriteOutcome<Current>,
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

/** What is known of an object that has no other writer. */
export interface CurrentObject<Facts extends { readonly current: Identity | null }> {
  readonly facts: Facts;
  /** The newest revision that was observed of the object; what is not newer is an echo. */
  readonly newest: ResourceVersion | null;
}

/** What an answer leaves of the facts; a newer fact that came before it stays. */
export const afterAnswer = <
  Current extends Identity,
  Facts extends { readonly current: Current | null },
>(
  { facts, newest }: CurrentObject<Facts>,
  outcome: WriteOutcome<Current>,
): CurrentObject<Facts> => {
  if (outcome._tag === 'Absent') return { facts: { ...facts, current: null }, newest };
  if (outcome._tag !== 'Written') return { facts, newest };
  const { current } = outcome;
  if (newest !== null && isOlder(current.resourceVersion, newest)) return { facts, newest };
  return { facts: { ...facts, current }, newest: current.resourceVersion };
};

interface Known {
  readonly context: CurrentObject<{ readonly current: Identity | null }>;
}

/** Guards on what a cache shows of the object. */
export const currentGuards = {
  isNewer: (
    { context: { newest } }: Known,
    { resourceVersion }: Pick<Identity, 'resourceVersion'>,
  ) => newest === null || (resourceVersion !== newest && !isOlder(resourceVersion, newest)),
  isCurrent: ({ context }: Known, uid: string) => uid === context.facts.current?.uid,
};

/** Makes states that write: `act` is called with what `input` gives, and `answers` take it. */
export const writing =
  <Input, Answers>(input: Input, answers: Answers) =>
  <const Act extends string>(act: Act, description: string) => ({
    description,
    entry: 'setBase' as const,
    invoke: { id: act, src: act, input, ...answers },
  });
