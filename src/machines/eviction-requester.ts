/**
 * A drain as requester of the EvictionRequest of one pod.
 *
 * Promises: while the drain wants the pod to leave, its entry is in an open request, which is made
 * anew when it was canceled (ER-75); the entry leaves with the drain's interest (ER-76), and the
 * last interested requester deletes the request (ER-78); when nobody serves the request, or it is
 * refused or cannot be written, the drain asks no more. Nothing survives the process: the
 * obligations follow from the request, its pod and the drain.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import type { ObservedRequest } from '../domain/eviction-requests/observed-request.ts';
import {
  fallbackIn,
  isAsking,
  type PodLife,
  refusedRequest,
  type RequesterBasis,
  type RequesterFacts,
  type RequesterPhase,
  type RequesterStep,
  requesterStep,
  type RequesterWrite,
  unanswered,
  unwritten,
} from '../domain/eviction-requests/drain-requester.ts';
import type { ResourceVersion } from '../domain/ids.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import type { Seed } from '../domain/random.ts';
import { isOlder } from '../domain/resource-versions.ts';
import { answersOf } from './act-answers.ts';
import {
  afterWrite,
  objectWriter,
  type ObjectWriterContext,
  UNTRIED,
  writerDelays,
  writerGuards,
  writing,
} from './object-writer.ts';
import { required } from './required.ts';

/** How long a controller may take to observe an entry (ADR 0017). */
const ANSWER_MS = 60_000;
/** How long writes of the entry may fail. */
const FAILING_MS = 60_000;
/** How long a request may take to become final after its pod or its requesters are gone. */
const END_MS = 60_000;

type Outcome = WriteOutcome<ObservedRequest>;

export interface EvictionRequesterInput
  extends Pick<RequesterFacts, 'requester' | 'pod' | 'request' | 'wanted' | 'life'> {
  readonly seed: Seed;
}

export interface EvictionRequesterContext
  extends RequesterFacts, ObjectWriterContext<RequesterWrite> {
  readonly phase: RequesterPhase;
  /** The UID of a request that was deleted: the cache may still show it. */
  readonly removed: string | null;
  /** The request of the write in flight, as it was at its start. */
  readonly base: ResourceVersion | null;
}

/** A write: what was known when it began. */
export interface EvictionRequesterAct {
  readonly facts: RequesterBasis;
  readonly write: RequesterWrite;
}

export type EvictionRequesterEvent =
  | { readonly type: 'request.observed'; readonly request: ObservedRequest }
  | { readonly type: 'request.vanished'; readonly uid: string }
  | { readonly type: 'pod.observed'; readonly life: PodLife }
  /** The drain wants the pod to leave. */
  | { readonly type: 'eviction.wanted' }
  /** The drain was cancelled or paused, or has ended. */
  | { readonly type: 'eviction.released' }
  | { readonly type: 'slot.acquired' };

/** What follows from the facts. */
const derived = (context: EvictionRequesterContext): EvictionRequesterContext => {
  const fallback = fallbackIn(context);
  const step: RequesterStep = requesterStep({ ...context, fallback });
  return { ...context, fallback, phase: step.phase, pendingWrite: step.write };
};

/** The context after an observation; the write in flight may not be the wanted one any more. */
const observed = (
  context: EvictionRequesterContext,
  change: Partial<EvictionRequesterContext>,
): EvictionRequesterContext => ({ ...derived({ ...context, ...change }), sent: null });

const withRequest = (context: EvictionRequesterContext, request: ObservedRequest) => {
  const known = context.request;
  const isOld = request.uid === context.removed || (known !== null &&
    isOlder(request.resourceVersion, known.resourceVersion));
  return isOld ? {} : observed(context, { request });
};

const afterAnswer = (context: EvictionRequesterContext, outcome: Outcome) => {
  const { request, renewals, removed } = context;
  if (outcome._tag === 'Written') {
    const { current } = outcome;
    // An observation of the same version may have more of the request than the write knew.
    const isKnown = request !== null && (current.resourceVersion === request.resourceVersion ||
      isOlder(current.resourceVersion, request.resourceVersion));
    return isKnown ? {} : { request: current, removed: null };
  }
  if (outcome._tag === 'Refused') {
    return isAsking(context) ? { fallback: refusedRequest(outcome.why) } : {};
  }
  if (outcome._tag === 'Fault') return {};
  return {
    request: null,
    removed: request?.uid ?? removed,
    renewals: isAsking(context) ? renewals + 1 : renewals,
  };
};

const answered = (
  context: EvictionRequesterContext,
  outcome: Outcome,
): EvictionRequesterContext => {
  const next = derived({ ...context, ...afterAnswer(context, outcome) });
  const tries = afterWrite({ ...context, version: context.base }, outcome, next.pendingWrite);
  return { ...next, ...tries };
};

/** The drain asks, and its last write did not land. */
const askFails = (context: EvictionRequesterContext): boolean =>
  isAsking(context) && context.pendingWrite !== null && context.attempt > 0;

const actOf = (
  { context: { requester, pod, request, pendingWrite } }: {
    readonly context: EvictionRequesterContext;
  },
): EvictionRequesterAct => ({
  facts: { requester, pod, request },
  write: pendingWrite ?? { write: 'leave' },
});

const writes = writing(actOf, answersOf<Outcome>()('deciding', 'setAnswer'));

const ASKED: ReadonlySet<RequesterPhase> = new Set(['Unanswered', 'Intercepted', 'Evicting']);
const CLOSING: ReadonlySet<RequesterPhase> = new Set(['Leaving', 'Ending']);

const branch = <const State extends string>(params: RequesterPhase, target: State) => ({
  guard: { type: 'phaseIs' as const, params },
  target,
});

/** A state in which the requester waits for others. */
const phase = <const Phase extends RequesterPhase, const Reason extends ReasonName>(
  params: Phase,
  reason: Reason,
  description: string,
) => ({
  description,
  meta: { reason },
  tags: 'waiting' as const,
  always: { guard: { type: 'phaseIsNot' as const, params }, target: 'deciding' },
});

/** The states while the request has the entry of the drain. */
const asked = {
  description: 'The drain is a requester of the open request and evicts nothing itself.',
  initial: 'deciding',
  always: { guard: 'askedNoMore', target: '#evictionRequester.request.settled' },
  states: {
    deciding: {
      description: 'Decides what the request waits for.',
      always: [
        branch('Unanswered', 'unanswered'),
        branch('Intercepted', 'intercepted'),
        branch('Evicting', 'evicting'),
      ],
    },
    unanswered: {
      ...phase(
        'Unanswered',
        'EvictionRequestPending',
        'Waiting for a controller to answer; without one the drain evicts by itself.',
      ),
      after: { answerBound: { target: 'deciding', actions: 'setUnanswered' } },
    },
    intercepted: phase('Intercepted', 'WaitingForInterceptor', 'The interceptors of the pod act.'),
    evicting: phase(
      'Evicting',
      'ImperativeEviction',
      'No interceptor is left; the controller of the request evicts the pod.',
    ),
  },
} as const;

/** The states until nothing of the request is left to do. */
const closing = {
  description: 'The drain needs the request no more.',
  initial: 'deciding',
  always: { guard: 'closingNoMore', target: '#evictionRequester.request.settled' },
  states: {
    deciding: {
      description: 'Decides what its end waits for.',
      always: [branch('Leaving', 'leaving'), branch('Ending', 'ending')],
    },
    leaving: phase('Leaving', 'Terminating', 'The pod is terminating.'),
    ending: {
      ...phase(
        'Ending',
        'EvictionRequestEnding',
        'Waiting until the request is final, to delete it if nobody else needs it.',
      ),
      after: { endBound: { target: 'deciding', actions: 'setOverdue' } },
    },
  },
} as const;

/** The statechart of a requester; `src/actors/eviction-requests` provides its writes. */
export const evictionRequester = setup({
  types: {
    context: {} as EvictionRequesterContext,
    events: {} as EvictionRequesterEvent,
    input: {} as EvictionRequesterInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actors: {
    joinRequest: required<Outcome, EvictionRequesterAct>('joinRequest'),
    leaveRequest: required<Outcome, EvictionRequesterAct>('leaveRequest'),
    removeRequest: required<Outcome, EvictionRequesterAct>('removeRequest'),
  },
  actions: {
    requestSlot: () => {},
    recordRefused: () => {},
    recordFailing: () => {},
    setRequest: assign(({ context }, request: ObservedRequest) => withRequest(context, request)),
    setVanished: assign(({ context }, uid: string) =>
      context.request?.uid === uid ? observed(context, { request: null, overdue: false }) : {}
    ),
    setLife: assign(({ context }, life: PodLife) => observed(context, { life })),
    setWanted: assign(({ context }) => observed(context, { wanted: true, overdue: false })),
    setReleased: assign(({ context }) => observed(context, { wanted: false })),
    setUnanswered: assign(({ context }) =>
      observed(context, { fallback: unanswered(ANSWER_MS / 1000) })
    ),
    setUnwritten: assign(({ context }) =>
      observed(context, { fallback: unwritten(FAILING_MS / 1000, context.problem) })
    ),
    setOverdue: assign(({ context }) => observed(context, { overdue: true })),
    setAnswer: assign(({ context }, outcome: Outcome) => answered(context, outcome)),
    setBase: assign(({ context: { pendingWrite, request } }) => ({
      sent: pendingWrite?.write ?? null,
      base: request?.resourceVersion ?? null,
    })),
    resetVerdict: assign({ verdict: 'Untried' }),
  },
  guards: {
    ...writerGuards,
    phaseIs: ({ context }, wanted: RequesterPhase) => context.phase === wanted,
    phaseIsNot: ({ context }, params: RequesterPhase) => context.phase !== params,
    asked: ({ context }) => ASKED.has(context.phase),
    askedNoMore: ({ context }) => context.pendingWrite !== null || !ASKED.has(context.phase),
    closing: ({ context }) => CLOSING.has(context.phase),
    closingNoMore: ({ context }) => context.pendingWrite !== null || !CLOSING.has(context.phase),
    askFails: ({ context }) => askFails(context),
    askFailsNoMore: ({ context }) => !askFails(context),
    reopened: ({ context }) => context.pendingWrite !== null || context.phase !== 'Done',
  },
  delays: {
    ...writerDelays,
    answerBound: ANSWER_MS,
    failingBound: FAILING_MS,
    endBound: END_MS,
  },
}).createMachine({
  id: 'evictionRequester',
  description: 'A drain that asks by EvictionRequest that one pod leaves.',
  context: ({ input: { seed, ...input } }) =>
    derived({
      ...input,
      ...UNTRIED,
      seed,
      renewals: 0,
      fallback: null,
      overdue: false,
      phase: 'Done',
      pendingWrite: null,
      removed: null,
      base: null,
    }),
  type: 'parallel',
  on: {
    'request.observed': { actions: { type: 'setRequest', params: ({ event }) => event.request } },
    'request.vanished': { actions: { type: 'setVanished', params: ({ event }) => event.uid } },
    'pod.observed': { actions: { type: 'setLife', params: ({ event }) => event.life } },
    'eviction.wanted': { actions: 'setWanted' },
    'eviction.released': { actions: 'setReleased' },
  },
  states: {
    request: {
      description: 'The entry of the drain in the request, and what the request waits for.',
      initial: 'settled',
      states: objectWriter({
        id: 'evictionRequester.request',
        settled: {
          description: 'The request has the entry that it should have; decides what to wait for.',
          always: [
            { guard: 'writePending', target: 'waiting' },
            { guard: 'asked', target: 'asked' },
            { guard: 'closing', target: 'closing' },
            { target: 'done' },
          ],
        },
        further: {
          asked,
          closing,
          done: {
            description: 'The request is gone, or none of this drain.',
            tags: 'settled',
            always: { guard: 'reopened', target: 'settled' },
          },
        },
        writes: {
          joining: writes('joinRequest', 'Creates the request, or adds the entry of the drain.'),
          leaving: writes('leaveRequest', 'Removes the entry of the drain.'),
          removing: writes('removeRequest', 'Deletes the request that nobody else needs.'),
        },
        branches: [
          { write: 'join', state: 'joining' },
          { write: 'leave', state: 'leaving' },
          { write: 'remove', state: 'removing' },
        ],
        retries: 'WithSlot',
        setAside: { reason: 'EvictionRequestFailing', on: {} },
        refused: { reason: 'EvictionRequestRefused', on: {} },
      }),
    },
    asking: {
      description: 'How long the drain tries to ask although its writes fail.',
      initial: 'unhindered',
      states: {
        unhindered: {
          description: 'Nothing hinders the drain from asking.',
          always: { guard: 'askFails', target: 'failing' },
        },
        failing: {
          description: 'The entry cannot be written; after a minute the drain evicts by itself.',
          always: { guard: 'askFailsNoMore', target: 'unhindered' },
          after: { failingBound: { target: 'unhindered', actions: 'setUnwritten' } },
        },
      },
    },
  },
});
