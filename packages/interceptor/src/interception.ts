/**
 * One interception: an interceptor and one EvictionRequest.
 *
 * Promises: the interceptor acts only while it is the active one and the pod is the one that the
 * request names; its first heartbeat is written before it acts, so that a restart knows that it may
 * have begun; one that has completed never acts again; cancellation, hand-over and the end of the
 * request stop it in every state.
 */
import { assign, setup } from 'xstate';
import { backoffMs, failedOnce, noFailures } from './backoff.ts';
import type {
  InterceptInput,
  InterceptionContext,
  InterceptionEvent,
  InterceptionInput,
  InterceptOutcome,
  PodOutcome,
  ProgressOutcome,
  ReportInput,
  ReportOutcome,
} from './interception-context.ts';
import { type AbortReason, abortReasonOf, type ObservedRequest } from './observed-request.ts';
import { isReportDue, mergedReport } from './report.ts';
import { required } from './required.ts';

type Outcome = PodOutcome | ReportOutcome;
type WithContext = { readonly context: InterceptionContext };

const initial = ({ request, timing, seed }: InterceptionInput): InterceptionContext => ({
  request,
  timing,
  report: request.report,
  progress: {},
  isReportDue: false,
  resumed: false,
  result: null,
  outcome: null,
  problem: null,
  attempts: noFailures(seed),
  reason: null,
});

/** A heartbeat, if one may be sent, with what the interceptor has answered. */
const aliveReport = ({ context }: WithContext): ReportInput => ({
  request: context.request,
  last: context.report,
  change: { ...context.progress, isAlive: true, isComplete: false },
});

/** The last report. */
const finalReport = ({ context }: WithContext): ReportInput => {
  const { request, report, result } = context;
  const message = result?.message ?? context.progress.message ?? report.message;
  return { request, last: report, change: { message, isAlive: true, isComplete: true } };
};

const requestOf = ({ context }: WithContext) => ({ request: context.request });

/** What an answer of the API server changes. */
const answered = (
  { request, report, attempts }: InterceptionContext,
  outcome: Outcome,
): Partial<InterceptionContext> => {
  const sent = 'report' in outcome ? outcome.report : report;
  const isFailed = outcome._tag === 'Failed';
  return {
    outcome: outcome._tag,
    report: mergedReport(sent, request.report),
    problem: isFailed ? outcome.problem : null,
    attempts: isFailed
      ? failedOnce(attempts, outcome.problem.retryAfterMs)
      : noFailures(attempts.seed),
  };
};

const interceptionSetup = setup({
  types: {
    context: {} as InterceptionContext,
    events: {} as InterceptionEvent,
    input: {} as InterceptionInput,
    tags: {} as 'settled' | 'acting',
  },
  actors: {
    readPod: required<PodOutcome, { readonly request: ObservedRequest }>('readPod'),
    applyReport: required<ReportOutcome, ReportInput>('applyReport'),
    readProgress: required<ProgressOutcome, { readonly request: ObservedRequest }>('readProgress'),
    intercept: required<InterceptOutcome, InterceptInput>('intercept'),
  },
  delays: {
    backoff: ({ context }) => backoffMs(context.attempts),
    progressPeriod: ({ context }) => context.timing.progressPeriodMs,
  },
  guards: {
    isActive: ({ context }) => context.request.isActive,
    isInactive: ({ event }) => event.type === 'request.observed' && !event.request.isActive,
    hasCompleted: ({ context }) => context.report.completionMs !== null,
    hasResult: ({ context }) => context.result !== null,
    outcomeIs: ({ context }, outcome: Outcome['_tag']) => context.outcome === outcome,
    reportDue: ({ context }) => context.isReportDue,
    isOver: ({ context }) => !context.request.isPending,
  },
  actions: {
    setRequest: assign(({ context, event }) =>
      event.type === 'request.observed'
        ? { request: event.request, report: mergedReport(context.report, event.request.report) }
        : {}
    ),
    setReason: assign(({ context }) => ({ reason: abortReasonOf(context.request) })),
    setAborted: assign((_, reason: AbortReason) => ({ reason })),
    setResumed: assign(({ context }) => ({ resumed: context.report.heartbeatMs !== null })),
    setAnswer: assign(({ context }, outcome: Outcome) => answered(context, outcome)),
    setProgress: assign(({ context }, { progress, nowMs }: ProgressOutcome) => {
      const { report, timing } = context;
      const times = { nowMs, periodMs: timing.heartbeatPeriodMs };
      return progress === null
        ? { isReportDue: false }
        : { progress, isReportDue: isReportDue(report, progress, times) };
    }),
    setResult: assign((_, result: InterceptOutcome) => ({ result })),
    /** Provided where the interceptor runs. */
    logProblem: () => {},
  },
});

const setAnswer = {
  type: 'setAnswer' as const,
  params: ({ event }: { readonly event: { readonly output: Outcome } }) => event.output,
};

const outcomeIs = <const Tag extends Outcome['_tag']>(params: Tag) => ({
  type: 'outcomeIs' as const,
  params,
});

const abort = (reason: AbortReason) => ({
  target: '#interception.aborted',
  actions: { type: 'setAborted' as const, params: reason },
});

/** The request is followed while the interceptor is the active one. */
const WHILE_ACTIVE = {
  'request.observed': [
    { guard: 'isInactive', target: '#interception.aborted', actions: ['setRequest', 'setReason'] },
    { actions: 'setRequest' },
  ],
  'request.vanished': abort('RequestDeleted'),
} as const;

/** The next state by the answer to a report. */
const byAnswer = <const Written extends string, const Failed extends string>(
  { written, failed }: { readonly written: Written; readonly failed: Failed },
) =>
  [
    { guard: outcomeIs('Written'), target: written },
    { guard: outcomeIs('Absent'), ...abort('RequestDeleted') },
    { target: failed },
  ] as const;

/** The statechart; `interception-actor.ts` provides requests and the interceptor. */
export const interception = interceptionSetup.createMachine({
  id: 'interception',
  context: ({ input }) => initial(input),
  initial: 'watching',
  states: {
    watching: {
      description: 'Another interceptor is active, or none yet.',
      tags: 'settled',
      always: [
        { guard: 'hasCompleted', target: 'completed' },
        { guard: 'isActive', target: 'active' },
        { guard: 'isOver', target: 'aborted', actions: 'setReason' },
      ],
      on: {
        'request.observed': { target: 'watching', actions: 'setRequest', reenter: true },
        'request.vanished': abort('RequestDeleted'),
      },
    },
    active: {
      description: 'The interceptor is the active one.',
      tags: 'acting',
      initial: 'checkingPod',
      on: WHILE_ACTIVE,
      states: {
        checkingPod: {
          description: 'Reading the pod: it must be the one that the request names.',
          invoke: {
            id: 'readPod',
            src: 'readPod',
            input: requestOf,
            onDone: { target: 'podChecked', actions: setAnswer },
          },
        },
        podChecked: {
          description: 'Deciding by the pod.',
          always: [
            { guard: outcomeIs('Found'), target: 'announcing' },
            { guard: outcomeIs('Absent'), ...abort('PodLeft') },
            { target: 'podUnreadable' },
          ],
        },
        podUnreadable: {
          description: 'The pod could not be read; waiting for the next attempt.',
          entry: 'logProblem',
          after: { backoff: 'checkingPod' },
        },
        announcing: {
          description: 'Writing the first heartbeat, before anything is done.',
          entry: 'setResumed',
          invoke: {
            id: 'applyReport',
            src: 'applyReport',
            input: aliveReport,
            onDone: { target: 'announced', actions: setAnswer },
          },
        },
        announced: {
          description: 'Deciding by the answer.',
          always: byAnswer({ written: '#interception.intercepting', failed: 'unannounced' }),
        },
        unannounced: {
          description: 'The first heartbeat could not be written; waiting for the next attempt.',
          entry: 'logProblem',
          after: { backoff: 'checkingPod' },
        },
      },
    },
    intercepting: {
      description: 'The interceptor acts, and reports meanwhile.',
      tags: 'acting',
      initial: 'idle',
      invoke: {
        id: 'intercept',
        src: 'intercept',
        input: ({ context: { request, resumed } }) => ({ request, resumed }),
        onDone: {
          actions: { type: 'setResult', params: ({ event }) => event.output },
        },
      },
      on: WHILE_ACTIVE,
      states: {
        idle: {
          description: 'Nothing is to be reported.',
          always: { guard: 'hasResult', target: '#interception.reporting' },
          after: { progressPeriod: 'askingProgress' },
        },
        askingProgress: {
          description: 'The interceptor is asked how far it is; no answer, no heartbeat.',
          always: { guard: 'hasResult', target: '#interception.reporting' },
          invoke: {
            id: 'readProgress',
            src: 'readProgress',
            input: requestOf,
            onDone: {
              target: 'progressKnown',
              actions: { type: 'setProgress', params: ({ event }) => event.output },
            },
          },
        },
        progressKnown: {
          description: 'Deciding whether there is something to report.',
          always: [{ guard: 'reportDue', target: 'writing' }, { target: 'idle' }],
        },
        writing: {
          description: 'Writing a heartbeat, a message or an expected finish.',
          invoke: {
            id: 'applyReport',
            src: 'applyReport',
            input: aliveReport,
            onDone: { target: 'written', actions: setAnswer },
          },
        },
        written: {
          description: 'Deciding by the answer.',
          always: byAnswer({ written: 'idle', failed: 'unwritten' }),
        },
        unwritten: {
          description: 'The report could not be written; waiting for the next attempt.',
          entry: 'logProblem',
          always: { guard: 'hasResult', target: '#interception.reporting' },
          after: { backoff: 'writing' },
        },
      },
    },
    reporting: {
      description: 'The interceptor is done; its completion is written.',
      tags: 'acting',
      initial: 'writing',
      on: WHILE_ACTIVE,
      states: {
        writing: {
          description: 'Writing the completion.',
          invoke: {
            id: 'applyReport',
            src: 'applyReport',
            input: finalReport,
            onDone: { target: 'written', actions: setAnswer },
          },
        },
        written: {
          description: 'Deciding by the answer.',
          always: byAnswer({ written: '#interception.completed', failed: 'unwritten' }),
        },
        unwritten: {
          description: 'The completion could not be written; waiting for the next attempt.',
          entry: 'logProblem',
          after: { backoff: 'writing' },
        },
      },
    },
    completed: {
      description: 'The completion is in the status.',
      tags: 'settled',
    },
    aborted: {
      description: 'The interceptor must not act any more.',
      tags: 'settled',
    },
  },
});
