/**
 * One open EvictionRequest.
 *
 * Promises: the status follows from request, pod and time, and is written once per change and at
 * most once a second; one interceptor at a time is active; the pod is evicted by this operator only
 * while the imperative eviction is active and a requester is left, and no more once either ends.
 * Everything but the count of this process's calls, and a heartbeat that an early one replaced, is
 * in the status, so that a restart goes on at the same deadline.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { refusalsIn } from '../domain/eviction-requests/imperative-report.ts';
import { lastHeartbeat } from '../domain/eviction-requests/interceptor-deadline.ts';
import type { ObservedRequest } from '../domain/eviction-requests/observed-request.ts';
import { IMPERATIVE_EVICTION } from '../domain/eviction-requests/qualified-name.ts';
import {
  hasEnded,
  mayEvict,
  type RequestFacts,
  type RequestPhase,
  requestStep,
} from '../domain/eviction-requests/request-phase.ts';
import {
  isSameWrite,
  STATUS_SPACING_MS,
  writePlan,
} from '../domain/eviction-requests/request-writes.ts';
import { isOlder } from '../domain/resource-versions.ts';
import { answersOf } from './act-answers.ts';
import type {
  EvictionRequestAct,
  EvictionRequestAnswer,
  EvictionRequestContext,
  EvictionRequestEvent,
  EvictionRequestInput,
} from './eviction-request-context.ts';
import {
  afterWrite,
  objectWriter,
  UNTRIED,
  writerDelays,
  writerGuards,
  writing,
} from './object-writer.ts';
import { required } from './required.ts';

/** A timer beyond this is set again. */
const TIMER_MS_MAX = 86_400_000;

type Event<Type extends EvictionRequestEvent['type']> = Extract<
  EvictionRequestEvent,
  { readonly type: Type }
>;
/** What facts and time determine. */
type Derived = Pick<EvictionRequestContext, 'facts' | 'step' | 'pendingWrite' | 'checkAtMs'>;
type Basis = Pick<
  EvictionRequestContext,
  | ('facts' | 'nowMs' | 'vanished')
  | ('timing' | 'ttlMs')
  | ('progress' | 'refusedBefore' | 'reportedMs' | 'statusWrittenMs' | 'attempt')
>;

/** The facts, with what is remembered of the pod and of the active interceptor. */
const remembered = (
  facts: RequestFacts,
  at: Pick<EvictionRequestContext, 'nowMs' | 'timing'>,
): RequestFacts => ({
  ...facts,
  podSeen: facts.podSeen || facts.pod?.uid === facts.request.pod.uid,
  endedMs: hasEnded(facts) ? facts.endedMs ?? at.nowMs : null,
  heartbeat: lastHeartbeat(facts.request, facts.heartbeat, at),
});

/** The step and the pending write. */
const derived = (basis: Basis): Derived => {
  const { nowMs, vanished } = basis;
  const facts = remembered(basis.facts, basis);
  const step = requestStep(facts, basis);
  const plan = writePlan(facts, step, {
    ...basis,
    // Between tries of a write the backoff keeps the distance.
    statusWrittenMs: basis.attempt > 0 ? null : basis.statusWrittenMs,
  });
  const isTimed = plan.checkAtMs !== null && plan.checkAtMs > nowMs && !vanished;
  return {
    facts,
    step,
    pendingWrite: vanished ? null : plan.write,
    checkAtMs: isTimed ? plan.checkAtMs : null,
  };
};

const refusedBefore = ({ request, progress }: EvictionRequestInput): number => {
  const report = request.reports.find(({ name }) => name === IMPERATIVE_EVICTION);
  return Math.max(0, refusalsIn(report?.message ?? '') - progress.refusals);
};

const initial = (input: EvictionRequestInput): EvictionRequestContext => {
  const { request, pod, ...rest } = input;
  const basis = {
    ...rest,
    facts: { request, pod, podSeen: false, endedMs: null, heartbeat: null },
    refusedBefore: refusedBefore(input),
    reportedMs: null,
    statusWrittenMs: null,
    vanished: false,
    ...UNTRIED,
  };
  return { ...basis, ...derived(basis), timer: null, base: null, sentWrite: null };
};

/** The context after an observation; the write in flight may not be the wanted one any more. */
const observed = (
  context: EvictionRequestContext,
  change: Partial<Pick<EvictionRequestContext, 'facts' | 'progress' | 'nowMs' | 'vanished'>>,
) => {
  const next = {
    ...context,
    ...change,
    nowMs: Math.max(context.nowMs, change.nowMs ?? 0),
  };
  return { ...next, ...derived(next), sent: null };
};

/**
 * The request after an answer; one that was observed later stays. So does one of the same version:
 * of a request that consists of several objects, the write knew only those of its beginning.
 */
const answeredRequest = (
  { facts: { request } }: EvictionRequestContext,
  outcome: EvictionRequestAnswer,
): ObservedRequest => {
  if (outcome._tag !== 'Written') return request;
  const { current } = outcome;
  const [answer, observed] = [current.resourceVersion, request.resourceVersion];
  return answer === observed || isOlder(answer, observed) ? request : current;
};

/** The times of our writes after an answer. */
const writeTimes = (
  { sentWrite, reportedMs, statusWrittenMs }: EvictionRequestContext,
  outcome: EvictionRequestAnswer,
  nowMs: number,
): Pick<EvictionRequestContext, 'reportedMs' | 'statusWrittenMs'> => {
  const written = outcome._tag === 'Written' ? sentWrite?.write : undefined;
  const isStatus = written === 'setStatus' || written === 'report';
  return {
    reportedMs: written === 'report' ? nowMs : reportedMs,
    statusWrittenMs: isStatus ? nowMs : statusWrittenMs,
  };
};

const answered = (
  context: EvictionRequestContext,
  outcome: EvictionRequestAnswer,
): EvictionRequestContext => {
  const { facts, base, sentWrite } = context;
  const nowMs = Math.max(context.nowMs, outcome.nowMs ?? 0);
  const next = {
    ...context,
    nowMs,
    facts: { ...facts, request: answeredRequest(context, outcome) },
    vanished: context.vanished || outcome._tag === 'Absent',
    ...writeTimes(context, outcome, nowMs),
  };
  // A write that is wanted again at once had no effect, however far apart writes have to be.
  const after = derived({ ...next, statusWrittenMs: null });
  const isSame = isSameWrite(after.pendingWrite, sentWrite);
  const tries = afterWrite(
    { ...context, sent: isSame ? context.sent : null, version: base },
    outcome,
    after.pendingWrite,
  );
  const tried = { ...next, ...tries };
  return { ...tried, ...(after.pendingWrite === null ? after : derived(tried)) };
};

/** How long the status is left alone after its last write. */
const spacingLeftMs = ({ statusWrittenMs, nowMs }: EvictionRequestContext): number =>
  statusWrittenMs === null ? 0 : statusWrittenMs + STATUS_SPACING_MS - nowMs;

const actOf = ({ context }: { readonly context: EvictionRequestContext }): EvictionRequestAct => ({
  request: context.facts.request,
  write: context.pendingWrite ?? { write: 'remove' },
});

const writes = writing(actOf, answersOf<EvictionRequestAnswer>()('deciding', 'setAnswer'));

/** A state in which the request waits for something else than its own writes. */
const phase = <const Phase extends RequestPhase, const Reason extends ReasonName>(
  params: Phase,
  reason: Reason,
  description: string,
) => ({
  description,
  meta: { reason },
  tags: 'waiting' as const,
  always: { guard: { type: 'outdated' as const, params }, target: 'settled' },
});

const branch = <const State extends string>(params: RequestPhase, target: State) => ({
  guard: { type: 'phaseIs' as const, params },
  target,
});

/** The statechart of a request; `src/actors/eviction-requests` provides writes and evictions. */
export const evictionRequest = setup({
  types: {
    context: {} as EvictionRequestContext,
    events: {} as EvictionRequestEvent,
    input: {} as EvictionRequestInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actors: {
    setStatus: required<EvictionRequestAnswer, EvictionRequestAct>('setStatus'),
    setLabels: required<EvictionRequestAnswer, EvictionRequestAct>('setLabels'),
    reportProgress: required<EvictionRequestAnswer, EvictionRequestAct>('reportProgress'),
    removeRequest: required<EvictionRequestAnswer, EvictionRequestAct>('removeRequest'),
  },
  actions: {
    requestSlot: () => {},
    recordRefused: () => {},
    recordFailing: () => {},
    /** The eviction dispatcher may evict the pod, as far as its budget allows. */
    wantEviction: () => {},
    /** This request asks for no eviction any more; other requesters of the pod may. */
    releaseEviction: () => {},
    setRequest: assign(({ context }, { request, nowMs }: Event<'request.observed'>) => {
      const isOld = isOlder(request.resourceVersion, context.facts.request.resourceVersion);
      const facts = isOld ? context.facts : { ...context.facts, request };
      return observed(context, { facts, nowMs });
    }),
    setPod: assign(({ context }, { pod, nowMs }: Event<'pod.observed'>) =>
      observed(context, { facts: { ...context.facts, pod }, nowMs })
    ),
    setProgress: assign(({ context }, { progress, nowMs }: Event<'eviction.observed'>) =>
      observed(context, { progress, nowMs })
    ),
    setVanished: assign(({ context }) => observed(context, { vanished: true })),
    setTimer: assign(({ context: { nowMs, checkAtMs } }) => ({
      timer: checkAtMs === null
        ? null
        : { fromMs: nowMs, toMs: Math.min(checkAtMs, nowMs + TIMER_MS_MAX) },
    })),
    setElapsed: assign(({ context }) =>
      observed(context, { nowMs: context.timer?.toMs ?? context.nowMs })
    ),
    setAnswer: assign(({ context }, outcome: EvictionRequestAnswer) => answered(context, outcome)),
    setBase: assign(({ context: { pendingWrite, facts } }) => ({
      sent: pendingWrite?.write ?? null,
      sentWrite: pendingWrite,
      base: facts.request.resourceVersion,
    })),
    resetVerdict: assign({ verdict: 'Untried' }),
  },
  guards: {
    ...writerGuards,
    vanished: ({ context }) => context.vanished,
    phaseIs: ({ context }, wanted: RequestPhase) => context.step.phase === wanted,
    /** What follows is decided anew: another phase, a write, or the end. */
    outdated: ({ context }, current: RequestPhase) =>
      context.vanished || context.pendingWrite !== null || context.step.phase !== current,
    mayEvict: ({ context }) => !context.vanished && mayEvict(context.facts),
    mayNotEvict: ({ context }) => context.vanished || !mayEvict(context.facts),
    timed: ({ context }) => context.checkAtMs !== null,
    untimed: ({ context }) => context.checkAtMs === null,
    timeMoved: ({ context: { timer, nowMs, checkAtMs } }) =>
      checkAtMs !== null &&
      (timer?.fromMs !== nowMs || timer.toMs !== Math.min(checkAtMs, nowMs + TIMER_MS_MAX)),
  },
  delays: {
    ...writerDelays,
    /** A status that was reverted is not written again within the second. */
    writeBackoff: (args) => Math.max(writerDelays.writeBackoff(args), spacingLeftMs(args.context)),
    untilCheck: ({ context: { timer } }) => timer === null ? 0 : timer.toMs - timer.fromMs,
  },
}).createMachine({
  id: 'evictionRequest',
  description: 'One EvictionRequest: its status, its deadlines, and the eviction of its pod.',
  context: ({ input }) => initial(input),
  type: 'parallel',
  on: {
    'request.observed': { actions: { type: 'setRequest', params: ({ event }) => event } },
    'request.vanished': { actions: 'setVanished' },
    'pod.observed': { actions: { type: 'setPod', params: ({ event }) => event } },
    'eviction.observed': { actions: { type: 'setProgress', params: ({ event }) => event } },
  },
  states: {
    status: {
      description: 'What the request shows, and what it waits for.',
      initial: 'settled',
      states: objectWriter({
        id: 'evictionRequest.status',
        settled: {
          description: 'The request has the status that follows; decides what it waits for.',
          always: [
            { guard: 'vanished', target: 'absent' },
            { guard: 'writePending', target: 'waiting' },
            branch('Final', 'ended'),
            branch('Intercepting', 'intercepting'),
            branch('Silent', 'silent'),
            branch('Evicting', 'evicting'),
            branch('Leaving', 'leaving'),
            { target: 'processed' },
          ],
        },
        further: {
          intercepting: phase(
            'Intercepting',
            'InterceptorActive',
            'An interceptor is active and reports in time.',
          ),
          silent: phase(
            'Silent',
            'InterceptorSilent',
            'The active interceptor does not report; the next one takes over at its deadline.',
          ),
          evicting: phase(
            'Evicting',
            'ImperativeEviction',
            'No interceptor is left; the operator evicts the pod.',
          ),
          leaving: phase(
            'Leaving',
            'AwaitingLastReport',
            'The pod leaves or has left; its interceptor may still report.',
          ),
          processed: phase(
            'Processed',
            'InterceptorsProcessed',
            'Every interceptor has acted and the pod remains.',
          ),
          ended: {
            description: 'Canceled or Evicted; deleted after its time to live, if it has one.',
            tags: 'settled',
            always: { guard: { type: 'outdated', params: 'Final' }, target: 'settled' },
          },
          absent: {
            description: 'The request was deleted.',
            tags: 'settled',
          },
        },
        writes: {
          applyingStatus: writes('setStatus', 'Applies the part of the status that is ours.'),
          applyingLabels: writes('setLabels', 'Applies the labels of the pod.'),
          reporting: writes('reportProgress', 'Applies the report of the imperative eviction.'),
          removing: writes('removeRequest', 'Deletes the request after its time to live.'),
        },
        branches: [
          { write: 'setStatus', state: 'applyingStatus' },
          { write: 'setLabels', state: 'applyingLabels' },
          { write: 'report', state: 'reporting' },
          { write: 'remove', state: 'removing' },
        ],
        retries: 'WithSlot',
        setAside: { reason: 'EvictionRequestFailing', on: {} },
        refused: { reason: 'EvictionRequestRefused', on: {} },
      }),
    },
    eviction: {
      description: 'Whether the operator itself evicts the pod.',
      initial: 'withheld',
      states: {
        withheld: {
          description: 'An interceptor acts, or the pod must not be evicted.',
          always: { guard: 'mayEvict', target: 'wanted' },
        },
        wanted: {
          description: 'The eviction dispatcher evicts the pod as its budget allows.',
          entry: 'wantEviction',
          exit: 'releaseEviction',
          always: { guard: 'mayNotEvict', target: 'withheld' },
        },
      },
    },
    clock: {
      description: 'When the facts are looked at again although nothing was observed.',
      initial: 'still',
      states: {
        still: {
          description: 'Time alone changes nothing.',
          always: { guard: 'timed', target: 'counting' },
        },
        counting: {
          description: 'A warning, a deadline, a heartbeat or a deletion is due at a known time.',
          entry: 'setTimer',
          always: [
            { guard: 'untimed', target: 'still' },
            { guard: 'timeMoved', target: 'counting', reenter: true },
          ],
          after: { untilCheck: { target: 'counting', reenter: true, actions: 'setElapsed' } },
        },
      },
    },
  },
});
