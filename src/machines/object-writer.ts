/**
 * The states, guards and delays of statecharts that are the only writer of an object.
 *
 * Promises: one write is in flight at a time and only with a slot; facts replace the wanted object
 * and never restart a write in flight; the pending write is computed once per fact or answer
 * (`pendingWrite` in the context) and only read after that; a failed write is retried until it
 * lands or is no longer pending; a write that lands and is still pending counts as failed, so that
 * a client that reverts it causes no loop; an object that keeps failing releases its slot. What
 * differs between kinds (writes, further states and events) is data.
 */
import type { ReasonName } from '../api/reasons.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { Identity } from '../domain/facts.ts';
import type { ResourceVersion } from '../domain/ids.ts';
import {
  problemOf,
  verdictOf,
  type WriteOutcome,
  type WriteVerdict,
} from '../domain/object-write.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import { isOlder } from '../domain/resource-versions.ts';

/** The history of an object's writes. */
export interface WriteTries {
  /** Failures since a write last landed. */
  readonly attempt: number;
  readonly seed: Seed;
  readonly verdict: WriteVerdict;
  /** Why the last write did not land; empty when it did. */
  readonly problem: string;
  /** The write in flight; null when the wanted object has changed since it began. */
  readonly sent: string | null;
}

/** The context of every object writer; `Pending` may add details to the name of a write. */
export interface ObjectWriterContext<Pending extends { readonly write: string }>
  extends WriteTries {
  /** The next write towards the wanted object. */
  readonly pendingWrite: Pending | null;
}

interface Writing {
  readonly context: ObjectWriterContext<{ readonly write: string }>;
}

/** Before the first write. */
export const UNTRIED = {
  attempt: 0,
  verdict: 'Untried',
  problem: '',
  sent: null,
} as const;

/** Between tries with a slot: short, because slots are scarce. */
const IN_SLOT = { firstMs: 200, lastMs: 2000 };
/** Between slots, after one was released. */
const BETWEEN_SLOTS = { firstMs: 2000, lastMs: 30_000 };
/** Consecutive failures after which an object releases its slot. */
const TRIES_PER_SLOT = 5;
/** A refused object needs a change first, so retries are rare. */
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

/** A write: its name in `pendingWrite`, and the state that performs it. */
interface WriterBranch<State> {
  readonly write: string;
  readonly state: State;
}

/** A state in which an object waits before a retry. */
interface Postponed<On> {
  readonly reason: ReasonName;
  /** What makes it request a slot at once. */
  readonly on: On;
}

/** What differs between kinds of object writers. */
export interface ObjectWriterOptions<Id, Settled, Further, Writes, OnAside, OnRefused> {
  readonly id: Id;
  /** The description of `settled`, and its transitions on facts. */
  readonly settled: Settled;
  /** Further states, such as `gone`. */
  readonly further: Further;
  /** States that write, each made by `writing`. */
  readonly writes: Writes;
  /** Which state performs which write. */
  readonly branches: readonly WriterBranch<keyof Writes & string>[];
  /** Whether a failed write is retried with the slot, or first releases it. */
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
  description: 'The last write failed; retries shortly with the same slot.',
  always: { guard: 'nothingPending' as const, target: `#${id}.settled` },
  after: { writeBackoff: { target: 'deciding', actions: 'resetVerdict' } } as const,
});

const deciding = (
  id: string,
  branches: readonly WriterBranch<string>[],
  retries: 'WithSlot' | 'WithoutSlot',
) => ({
  description: 'Decides from the last answer and the pending write.',
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
    description: 'Holds a slot: writes until nothing is pending or the slot is released.',
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
    description: 'Writes keep failing; the slot was released until the next retry.',
    meta: { reason: setAside.reason },
    tags: 'waiting' as const,
    entry: 'recordFailing' as const,
    always: { guard: 'nothingPending', target: 'settled' } as const,
    on: setAside.on,
    after: { slotBackoff: 'waiting' } as const,
  },
  refused: {
    description: 'The API server refuses the object; a person must act.',
    meta: { reason: refused.reason },
    tags: 'waiting' as const,
    entry: 'recordRefused' as const,
    always: { guard: 'nothingPending', target: 'settled' } as const,
    on: refused.on,
    after: { refusalBackoff: 'waiting' } as const,
  },
});

/** The tries after an answer, by its verdict. */
export const afterTry = <Current>(
  { attempt, seed }: Pick<WriteTries, 'attempt' | 'seed'>,
  outcome: WriteOutcome<Current>,
  verdict: WriteVerdict,
): WriteTries => {
  const landed = verdict === 'Landed';
  return {
    verdict,
    sent: null,
    problem: landed ? '' : problemOf(outcome),
    attempt: landed ? 0 : attempt + 1,
    seed: landed ? seed : nextSeed(seed),
  };
};

/** The facts about an object without another writer. */
export interface CurrentObject<Facts extends { readonly current: Identity | null }> {
  readonly facts: Facts;
  /** The newest observed resourceVersion; anything not newer is an echo. */
  readonly newest: ResourceVersion | null;
}

/** The facts after an answer; a newer fact that arrived before it stays. */
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

type Tried = WriteTries & {
  /** The resourceVersion before the write; null for a creation. */
  readonly version: ResourceVersion | null;
};

/**
 * The tries after the answer to a write of an object; `next` is what is pending after it. The same
 * write again means that it had no effect: an admission webhook or another client reverted it, or
 * replaced the object. Unless the wanted object changed meanwhile: then a refusal is no verdict on
 * the next write, which is tried at once; not for ever, so that a person sees the refusal of an
 * object that changes all the time.
 */
export const afterWrite = <Current extends Pick<Identity, 'resourceVersion'>>(
  { attempt, seed, sent, version }: Tried,
  outcome: WriteOutcome<Current>,
  next: { readonly write: string } | null,
): WriteTries => {
  const isRepeated = outcome._tag === 'Written' && sent !== null && next?.write === sent;
  const verdict = isRepeated ? 'Failed' : verdictOf(outcome, version);
  const isOutdated = verdict === 'Refused' && sent === null && attempt < TRIES_PER_SLOT;
  return afterTry({ attempt, seed }, outcome, isOutdated ? 'Untried' : verdict);
};

interface Known {
  readonly context: CurrentObject<{ readonly current: Identity | null }>;
}

/** Guards on the cached object. */
export const currentGuards = {
  isNewer: (
    { context: { newest } }: Known,
    { resourceVersion }: Pick<Identity, 'resourceVersion'>,
  ) => newest === null || (resourceVersion !== newest && !isOlder(resourceVersion, newest)),
  isCurrent: ({ context }: Known, uid: string) => uid === context.facts.current?.uid,
};

/** Creates writing states: `act` is invoked with `input`, and `answers` handle its answer. */
export const writing =
  <Input, Answers>(input: Input, answers: Answers) =>
  <const Act extends string>(act: Act, description: string) => ({
    description,
    entry: 'setBase' as const,
    invoke: { id: act, src: act, input, ...answers },
  });
