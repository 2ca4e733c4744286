/**
 * The run of one Job: created once, followed to its end.
 *
 * Promises: a Job that exists already for the request is followed, so a restarted process runs no
 * second one; one that was deleted by somebody is not created again.
 */
import { assign, setup } from 'xstate';
import { type Attempts, backoffMs, failedOnce, noFailures, type Seed } from '../backoff.ts';
import { required } from '../required.ts';
import type { JobFacts } from './job.ts';

/** The Job after a request. */
export type JobOutcome =
  | { readonly _tag: 'Found'; readonly job: JobFacts }
  | { readonly _tag: 'Absent' }
  /** Refused for good: the Job is not valid, or may not be created. */
  | { readonly _tag: 'Refused'; readonly problem: string }
  | { readonly _tag: 'Failed'; readonly problem: string; readonly retryAfterMs: number };

/** What a run knows. */
export interface JobRunContext {
  readonly pollMs: number;
  readonly job: JobFacts | null;
  /** Why it failed, or why the last request did. */
  readonly problem: string | null;
  readonly outcome: JobOutcome['_tag'] | null;
  readonly attempts: Attempts;
}

const answered = (
  { attempts }: JobRunContext,
  outcome: JobOutcome,
): Partial<JobRunContext> => {
  const { _tag } = outcome;
  switch (_tag) {
    case 'Found':
      return {
        outcome: _tag,
        job: outcome.job,
        problem: outcome.job.state === 'Failed' ? outcome.job.message : null,
        attempts: noFailures(attempts.seed),
      };
    case 'Absent':
      return { outcome: _tag, problem: 'it was deleted' };
    case 'Refused':
      return { outcome: _tag, problem: outcome.problem };
    case 'Failed':
      return {
        outcome: _tag,
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
    readJob: required<JobOutcome, Record<never, never>>('readJob'),
  },
  delays: {
    backoff: ({ context }) => backoffMs(context.attempts),
    poll: ({ context }) => context.pollMs,
  },
  guards: {
    outcomeIs: ({ context }, tag: JobOutcome['_tag']) => context.outcome === tag,
    jobIs: ({ context }, state: JobFacts['state']) => context.job?.state === state,
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
      description: 'The API server was not reached; waiting for the next attempt.',
      after: { backoff: [{ guard: 'hasJob', target: 'reading' }, { target: 'creating' }] },
    },
    succeeded: { description: 'The Job is complete.', tags: 'settled', type: 'final' },
    failed: { description: 'The Job failed.', tags: 'settled', type: 'final' },
  },
});
