/**
 * The run of one Job: created once, followed to its end.
 *
 * Promises: a Job that exists already for the request is followed, so a restarted process runs no
 * second one; one that was deleted by somebody is not created again; a Job that is known is
 * followed until it has ended or is gone, whatever refuses to show it.
 */
import { assign, setup } from 'xstate';
import { type Attempts, backoffMs, failedOnce, noFailures, type Seed } from '../backoff.ts';
import { required } from '../required.ts';
import type { JobFacts } from './job.ts';

/** The Job after it was read: no refusal ends what runs. */
export type ReadOutcome =
  | { readonly _tag: 'Found'; readonly job: JobFacts }
  | { readonly _tag: 'Absent' }
  | { readonly _tag: 'Failed'; readonly problem: string; readonly retryAfterMs: number };

/** The Job after any request. */
export type JobOutcome =
  | ReadOutcome
  /** Refused for good: the Job is not valid. */
  | { readonly _tag: 'Refused'; readonly problem: string }
  /** It may not be created, if that lasts. */
  | { readonly _tag: 'Denied'; readonly problem: string; readonly retryAfterMs: number };

/** An API server that has just started denies for some seconds what it permits. */
const DENIALS_MAX = 4;

/** What a run knows. */
export interface JobRunContext {
  readonly pollMs: number;
  readonly job: JobFacts | null;
  /** Why it failed, or why the last request did. */
  readonly problem: string | null;
  readonly outcome: JobOutcome['_tag'] | null;
  /** Denied in a row. */
  readonly denials: number;
  readonly attempts: Attempts;
}

const answered = (
  { attempts, denials }: JobRunContext,
  outcome: JobOutcome,
): Partial<JobRunContext> => {
  const { _tag } = outcome;
  switch (_tag) {
    case 'Found':
      return {
        outcome: _tag,
        denials: 0,
        job: outcome.job,
        problem: outcome.job.state === 'Failed' ? outcome.job.message : null,
        attempts: noFailures(attempts.seed),
      };
    case 'Absent':
      return { outcome: _tag, problem: 'it was deleted' };
    case 'Refused':
      return { outcome: _tag, problem: outcome.problem };
    case 'Denied':
    case 'Failed':
      return {
        outcome: _tag,
        denials: _tag === 'Denied' ? denials + 1 : 0,
        problem: outcome.problem,
        attempts: failedOnce(attempts, outcome.retryAfterMs),
      };
  }
};

const setAnswer = {
  type: 'setAnswer' as const,
  params: ({ event }: { readonly event: { readonly output: JobOutcome } }) => event.output,
};

const outcomeIs = <const Tag extends JobOutcome['_tag']>(params: Tag) => ({
  type: 'outcomeIs' as const,
  params,
});

const jobIs = <const State extends JobFacts['state']>(params: State) => ({
  type: 'jobIs' as const,
  params,
});

/** The statechart; `command.ts` provides its requests. */
export const jobRun = setup({
  types: {
    context: {} as JobRunContext,
    input: {} as { readonly pollMs: number; readonly seed: Seed },
    tags: {} as 'settled',
  },
  actors: {
    createJob: required<JobOutcome, Record<never, never>>('createJob'),
    readJob: required<ReadOutcome, Record<never, never>>('readJob'),
  },
  delays: {
    backoff: ({ context }) => backoffMs(context.attempts),
    poll: ({ context }) => context.pollMs,
  },
  guards: {
    outcomeIs: ({ context }, tag: JobOutcome['_tag']) => context.outcome === tag,
    jobIs: ({ context }, state: JobFacts['state']) => context.job?.state === state,
    deniedForGood: ({ context }) => context.denials >= DENIALS_MAX,
    hasJob: ({ context }) => context.job !== null,
  },
  actions: {
    setAnswer: assign(({ context }, outcome: JobOutcome) => answered(context, outcome)),
  },
}).createMachine({
  id: 'jobRun',
  context: ({ input: { pollMs, seed } }) => ({
    pollMs,
    job: null,
    problem: null,
    outcome: null,
    denials: 0,
    attempts: noFailures(seed),
  }),
  initial: 'creating',
  states: {
    creating: {
      description: 'Creating the Job; one that exists is followed.',
      invoke: {
        id: 'createJob',
        src: 'createJob',
        input: {},
        onDone: { target: 'deciding', actions: setAnswer },
      },
    },
    deciding: {
      description: 'Deciding by the answer.',
      always: [
        { guard: outcomeIs('Failed'), target: 'backingOff' },
        { guard: 'deniedForGood', target: 'failed' },
        { guard: outcomeIs('Denied'), target: 'backingOff' },
        { guard: outcomeIs('Refused'), target: 'failed' },
        { guard: outcomeIs('Absent'), target: 'failed' },
        { guard: jobIs('Succeeded'), target: 'succeeded' },
        { guard: jobIs('Failed'), target: 'failed' },
        { target: 'following' },
      ],
    },
    following: {
      description: 'The Job runs.',
      after: { poll: 'reading' },
    },
    reading: {
      description: 'Reading the Job.',
      invoke: {
        id: 'readJob',
        src: 'readJob',
        input: {},
        onDone: { target: 'deciding', actions: setAnswer },
      },
    },
    backingOff: {
      description: 'The API server did not answer, or denied it; waiting for the next attempt.',
      after: { backoff: [{ guard: 'hasJob', target: 'reading' }, { target: 'creating' }] },
    },
    succeeded: { description: 'The Job is complete.', tags: 'settled', type: 'final' },
    failed: { description: 'The Job failed.', tags: 'settled', type: 'final' },
  },
});
