/**
 * The removal of one pod: it is deleted as soon as it may be.
 *
 * Promises: nothing is deleted while the last verdict forbids it; a deletion that fails is tried
 * again, if the verdict still allows it; a pod is deleted once.
 */
import { assign, setup } from 'xstate';
import { type Attempts, backoffMs, failedOnce, noFailures, type Seed } from '../backoff.ts';
import { required } from '../required.ts';

/** Whether a pod may be removed now. */
export interface RemovalVerdict {
  readonly may: boolean;
  /** Why, or what it waits for; for people. */
  readonly message: string;
  /** How long the pod gets to stop, in seconds. */
  readonly graceSeconds: number;
}

/** What a request to the API server has given. */
export type RemovalOutcome =
  | { readonly _tag: 'Found'; readonly verdict: RemovalVerdict }
  | { readonly _tag: 'Deleted' }
  /** It is gone, or another pod has its name. */
  | { readonly _tag: 'Absent' }
  | { readonly _tag: 'Failed'; readonly problem: string; readonly retryAfterMs: number };

/** What a removal knows. */
export interface PodRemovalContext {
  /** Null until the pod is read. */
  readonly verdict: RemovalVerdict | null;
  readonly outcome: RemovalOutcome['_tag'] | null;
  /** Why the last request failed. */
  readonly problem: string | null;
  readonly attempts: Attempts;
}

/** What a removal is told. */
export interface PodRemovalEvent {
  readonly type: 'verdict.changed';
  readonly verdict: RemovalVerdict;
}

const answered = (
  { attempts, verdict }: PodRemovalContext,
  outcome: RemovalOutcome,
): Partial<PodRemovalContext> => {
  const isFailed = outcome._tag === 'Failed';
  return {
    outcome: outcome._tag,
    verdict: outcome._tag === 'Found' ? outcome.verdict : verdict,
    problem: isFailed ? outcome.problem : null,
    attempts: isFailed ? failedOnce(attempts, outcome.retryAfterMs) : noFailures(attempts.seed),
  };
};

const setAnswer = {
  type: 'setAnswer' as const,
  params: ({ event }: { readonly event: { readonly output: RemovalOutcome } }) => event.output,
};

const outcomeIs = <const Tag extends RemovalOutcome['_tag']>(params: Tag) => ({
  type: 'outcomeIs' as const,
  params,
});

/** The statechart; `removal.ts` provides its requests. */
export const podRemoval = setup({
  types: {
    context: {} as PodRemovalContext,
    events: {} as PodRemovalEvent,
    input: {} as { readonly seed: Seed },
    tags: {} as 'settled',
  },
  actors: {
    readPod: required<RemovalOutcome, Record<never, never>>('readPod'),
    deletePod: required<RemovalOutcome, { readonly graceSeconds: number }>('deletePod'),
  },
  delays: { backoff: ({ context }) => backoffMs(context.attempts) },
  guards: {
    outcomeIs: ({ context }, tag: RemovalOutcome['_tag']) => context.outcome === tag,
    mayRemove: ({ context }) => context.verdict?.may === true,
  },
  actions: {
    setAnswer: assign(({ context }, outcome: RemovalOutcome) => answered(context, outcome)),
    setVerdict: assign((_, verdict: RemovalVerdict) => ({ verdict })),
  },
}).createMachine({
  id: 'podRemoval',
  context: ({ input: { seed } }) => ({
    verdict: null,
    outcome: null,
    problem: null,
    attempts: noFailures(seed),
  }),
  initial: 'reading',
  on: {
    'verdict.changed': {
      actions: { type: 'setVerdict', params: ({ event }) => event.verdict },
    },
  },
  states: {
    reading: {
      description: 'Reading the pod.',
      invoke: {
        id: 'readPod',
        src: 'readPod',
        input: {},
        onDone: { target: 'read', actions: setAnswer },
      },
    },
    read: {
      description: 'Deciding by the answer.',
      always: [
        { guard: outcomeIs('Found'), target: 'waiting' },
        { guard: outcomeIs('Absent'), target: 'gone' },
        { target: 'unread' },
      ],
    },
    unread: {
      description: 'The pod could not be read; waiting for the next attempt.',
      after: { backoff: 'reading' },
    },
    waiting: {
      description: 'The pod stays until it may be removed.',
      always: { guard: 'mayRemove', target: 'deleting' },
    },
    deleting: {
      description: 'Deleting the pod.',
      invoke: {
        id: 'deletePod',
        src: 'deletePod',
        input: ({ context }) => ({ graceSeconds: context.verdict?.graceSeconds ?? 0 }),
        onDone: { target: 'answered', actions: setAnswer },
      },
    },
    answered: {
      description: 'Deciding by the answer.',
      always: [
        { guard: outcomeIs('Deleted'), target: 'stopping' },
        { guard: outcomeIs('Absent'), target: 'gone' },
        { target: 'undeleted' },
      ],
    },
    undeleted: {
      description: 'The pod could not be deleted; waiting for the next attempt.',
      after: { backoff: 'waiting' },
    },
    stopping: {
      description: 'The pod is deleted, and stops in its grace.',
      tags: 'settled',
    },
    gone: {
      description: 'The pod is gone.',
      tags: 'settled',
    },
  },
});
