/**
 * One pod that must leave its node, and its eviction calls.
 *
 * Promises: one call in flight at a time, and none for a pod that is terminating, gone or released;
 * a pod that needs a budget slot calls only with one; a sent call always completes; every answer
 * leads to a state of its own. Facts replace the context and never restart a call. Nothing survives
 * the process: the obligations follow from the pod in the cluster.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { backoffMs, recheckMs, refusalBackoffMs } from '../domain/backoff.ts';
import type { EvictionOutcome } from '../domain/drain/answer.ts';
import { type PodFacts, sameNeed } from '../domain/drain/pod-facts.ts';
import type { SlotBlocker } from '../domain/drain/slots.ts';
import { nextSeed } from '../domain/random.ts';
import {
  isDecided,
  isInterrupted,
  type PodEvictionAct,
  type PodEvictionContext,
  type PodEvictionEvent,
  type PodEvictionInput,
} from './pod-eviction-context.ts';
import { required } from './required.ts';

/** API server faults and conflicts. */
const RETRY = { firstMs: 500, lastMs: 30_000 };
/** How long Services may take to stop sending clients to a pod (RS-14). */
const BACKENDS_MS = 30_000;
/** How long the cache has to show the effect of a call with a lost answer. */
const CACHE_LOOK_MS = 2000;

/**
 * Answers that affect all evictions, or calls that were not made: the circuit breaker waits
 * instead.
 */
const WAITS: ReadonlySet<EvictionOutcome['_tag']> = new Set([
  'Throttled',
  'Unauthenticated',
  'NotSent',
]);

const answered = {
  target: 'evaluating',
  actions: [
    {
      type: 'setAnswer',
      params: ({ event }: { readonly event: { readonly output: EvictionOutcome } }) => event.output,
    },
    'reportAnswer',
  ],
} as const;

const broke = {
  target: 'evaluating',
  actions: [
    {
      type: 'setAnswer',
      params: ({ event }: { readonly event: { readonly error: unknown } }) => ({
        _tag: 'Unknown' as const,
        why: String(event.error),
      }),
    },
    'reportAnswer',
  ],
} as const;

const factsIn = ({ event }: { readonly event: { readonly facts: PodFacts } }): PodFacts =>
  event.facts;
const SET_FACTS = { type: 'setFacts', params: factsIn } as const;
const NEEDS_OTHER = { type: 'needsOther', params: factsIn } as const;

/** Another budget need changes the state; other facts are only stored. */
const reconsidered = [
  { guard: NEEDS_OTHER, target: '#podEviction.deciding', actions: SET_FACTS },
  { actions: SET_FACTS },
] as const;

/** An earlier deadline ends the wait after a refusal. */
const hurried = { 'deadline.moved': '#podEviction.deciding' } as const;

const dispatched = [{ guard: 'isServing', target: 'leavingBackends' }, {
  target: 'calling',
}] as const;

/** The statechart of a pod's eviction; `src/actors/pod-evictions` provides its actions. */
export const podEviction = setup({
  types: {
    context: {} as PodEvictionContext,
    events: {} as PodEvictionEvent,
    input: {} as PodEvictionInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actors: {
    evictPod: required<EvictionOutcome, PodEvictionAct>('evictPod'),
  },
  actions: {
    /** Answered by `eviction.dispatched`. */
    awaitDispatch: () => {},
    cancelDispatch: () => {},
    /** Its Services are to stop sending clients to it; ends with `serving` false. */
    leaveBackends: () => {},
    /** It keeps its place in its Services, and gives back what it was dispatched with. */
    stayInBackends: () => {},
    reportAnswer: () => {},
    /** Final for any pod that is terminating. */
    setFacts: assign(({ context }, facts: PodFacts) => ({
      facts: { ...facts, terminating: facts.terminating || context.facts.terminating },
    })),
    setAnswer: assign(({ context }, outcome: EvictionOutcome) => ({
      outcome,
      asked: true,
      accepted: context.accepted || outcome._tag === 'Accepted',
      attempt: WAITS.has(outcome._tag) ? context.attempt : context.attempt + 1,
      seed: nextSeed(context.seed),
    })),
    setReleased: assign({ released: true }),
    setWanted: assign({ released: false }),
    setVanished: assign({ vanished: true }),
  },
  guards: {
    vanished: ({ context }) => context.vanished,
    leaving: ({ context }) => context.facts.terminating || context.accepted,
    released: ({ context }) => context.released,
    isServing: ({ context }) => context.facts.serving,
    outOfBackends: ({ context }) => !context.facts.serving,
    staysInBackends: ({ context }) =>
      isInterrupted(context) || context.facts.need._tag === 'Blocked',
    wanted: ({ context }) => !context.released,
    leavesOrStays: ({ context }) => isDecided(context),
    decisionChanged: ({ context }) => isInterrupted(context),
    intercepted: ({ context }) => context.facts.intercepted,
    interceptionOver: ({ context }) => isDecided(context) || !context.facts.intercepted,
    kubeletSilent: ({ context }) => context.asked && context.facts.kubeletSilent,
    kubeletBack: ({ context }) => !context.facts.kubeletSilent,
    blockedBy: ({ context: { facts: { need } } }, reason: SlotBlocker) =>
      need._tag === 'Blocked' && need.reason === reason,
    needsSlot: ({ context }) => context.facts.need._tag === 'One',
    needsOther: ({ context: { facts } }, next: PodFacts) => !sameNeed(facts.need, next.need),
    heldByKubelet: ({ context }) => context.facts.kubeletSilent,
    heldByFinalizer: ({ context }) => context.facts.finalizers,
    notHeldByFinalizer: ({ context }) => !context.facts.finalizers,
    became: ({ context }, tag: EvictionOutcome['_tag']) => context.outcome?._tag === tag,
    budgetRefused: ({ context: { outcome } }) =>
      outcome?._tag === 'BudgetExhausted' || outcome?._tag === 'BudgetUnsettled',
    slotRefused: ({ context: { outcome, facts } }) =>
      (outcome?._tag === 'BudgetExhausted' || outcome?._tag === 'BudgetUnsettled') &&
      facts.need._tag === 'One',
    nobodyRefused: ({ context: { outcome } }) => outcome !== null && WAITS.has(outcome._tag),
    podGone: ({ context: { outcome } }) => outcome?._tag === 'Gone' || outcome?._tag === 'OtherPod',
  },
  delays: {
    retryBackoff: ({ context }) => backoffMs(RETRY, context.attempt, context.seed),
    /** `src/actors/pod-evictions` cuts it short for the last tries before the deadline. */
    refusalBackoff: ({ context }) => refusalBackoffMs(context.attempt),
    recheckDelay: ({ context }) => recheckMs(context.attempt),
    cacheLook: CACHE_LOOK_MS,
    backendsLimit: BACKENDS_MS,
  },
}).createMachine({
  id: 'podEviction',
  description: 'One pod that must leave its node.',
  context: ({ input }) => ({
    ...input,
    released: false,
    vanished: false,
    accepted: false,
    asked: false,
    attempt: 0,
    outcome: null,
  }),
  initial: 'deciding',
  on: {
    'pod.observed': { actions: SET_FACTS },
    'pod.vanished': { actions: 'setVanished' },
    'eviction.wanted': { actions: 'setWanted' },
    'eviction.released': { actions: 'setReleased' },
  },
  states: {
    deciding: {
      description: 'Decides what to do from the observed facts.',
      always: [
        { guard: 'vanished', target: 'gone' },
        { guard: 'leaving', target: 'leaving' },
        { guard: 'released', target: 'released' },
        { guard: 'kubeletSilent', target: 'stranded' },
        { guard: 'intercepted', target: 'intercepted' },
        { guard: { type: 'blockedBy', params: 'TwoBudgets' }, target: 'heldUp.twoBudgets' },
        { guard: { type: 'blockedBy', params: 'BudgetBroken' }, target: 'heldUp.budgetBroken' },
        {
          guard: { type: 'blockedBy', params: 'BudgetNeverAllows' },
          target: 'heldUp.neverAllowed',
        },
        { guard: 'needsSlot', target: 'queued' },
        { target: 'asking' },
      ],
    },
    queued: {
      description: 'Waiting for a slot of its budget.',
      meta: { reason: 'BlockedByBudget' },
      tags: 'waiting',
      entry: 'awaitDispatch',
      exit: 'cancelDispatch',
      always: { guard: 'decisionChanged', target: 'deciding' },
      on: {
        'eviction.dispatched': dispatched,
        'pod.observed': reconsidered,
      },
    },
    asking: {
      description: 'Needs no slot; waiting until the dispatcher sends its eviction.',
      meta: { reason: 'WaitingForTurn' },
      tags: 'waiting',
      entry: 'awaitDispatch',
      exit: 'cancelDispatch',
      always: { guard: 'decisionChanged', target: 'deciding' },
      on: {
        'eviction.dispatched': dispatched,
        'pod.observed': reconsidered,
      },
    },
    intercepted: {
      description: 'An EvictionRequest asks its interceptors; no eviction is sent meanwhile.',
      meta: { reason: 'WaitingForInterceptor' },
      tags: 'waiting',
      always: { guard: 'interceptionOver', target: 'deciding' },
    },
    leavingBackends: {
      description: 'Not serving any more; waiting until no EndpointSlice lists the pod as ready.',
      meta: { reason: 'LeavingBackends' },
      tags: 'waiting',
      entry: 'leaveBackends',
      always: [
        { guard: 'staysInBackends', target: 'deciding', actions: 'stayInBackends' },
        { guard: 'outOfBackends', target: 'calling' },
      ],
      after: { backendsLimit: 'calling' },
    },
    calling: {
      description: 'Waiting for the API server to answer the eviction.',
      tags: 'acting',
      invoke: {
        id: 'evictPod',
        src: 'evictPod',
        input: ({ context }) => ({ uid: context.uid, key: context.key }),
        onDone: answered,
        onError: broke,
      },
    },
    evaluating: {
      description: 'Decides what the answer means.',
      always: [
        { guard: 'vanished', target: 'gone' },
        { guard: 'podGone', target: 'gone' },
        { guard: 'leaving', target: 'leaving' },
        { guard: 'nobodyRefused', target: 'deciding' },
        { guard: 'slotRefused', target: 'deciding' },
        { guard: 'budgetRefused', target: 'heldUp.unsettled' },
        { guard: { type: 'became', params: 'Unknown' }, target: 'heldUp.awaitingCache' },
        { guard: { type: 'became', params: 'Transient' }, target: 'heldUp.backingOff' },
        { guard: { type: 'became', params: 'PolicyRefused' }, target: 'heldUp.refusedByPolicy' },
        { guard: { type: 'became', params: 'TwoBudgets' }, target: 'heldUp.twoBudgets' },
        { guard: { type: 'became', params: 'BudgetBroken' }, target: 'heldUp.budgetBroken' },
        {
          guard: { type: 'became', params: 'NamespaceTerminating' },
          target: 'heldUp.namespaceTerminating',
        },
        { guard: { type: 'became', params: 'Forbidden' }, target: 'heldUp.forbidden' },
        { target: 'heldUp.refused' },
      ],
    },
    heldUp: {
      description: 'Something prevents the eviction, or its retry.',
      tags: 'waiting',
      always: { guard: 'decisionChanged', target: 'deciding' },
      initial: 'refused',
      states: {
        unsettled: {
          description:
            'The pod or its budget changed during the request; retried when the pod changes, or ' +
            'with backoff.',
          meta: { reason: 'BudgetUnsettled' },
          on: {
            'pod.observed': {
              target: '#podEviction.deciding',
              actions: SET_FACTS,
            },
          },
          after: { recheckDelay: '#podEviction.deciding' },
        },
        awaitingCache: {
          description: 'The outcome of the request is unknown; waiting for the watch to show it.',
          meta: { reason: 'EvictionUnanswered' },
          after: { cacheLook: '#podEviction.deciding' },
        },
        backingOff: {
          description: 'The API server failed to serve the request; retries with backoff.',
          meta: { reason: 'EvictionFailing' },
          after: { retryBackoff: '#podEviction.deciding' },
        },
        refusedByPolicy: {
          description: 'An admission webhook or policy refuses; retries with growing backoff.',
          meta: { reason: 'PolicyRefused' },
          on: hurried,
          after: { refusalBackoff: '#podEviction.deciding' },
        },
        twoBudgets: {
          description: 'More than one budget covers the pod; Kubernetes does not evict it.',
          meta: { reason: 'TwoBudgets' },
          on: { 'pod.observed': reconsidered, ...hurried },
          after: { refusalBackoff: '#podEviction.deciding' },
        },
        budgetBroken: {
          description: 'The status of the budget is invalid.',
          meta: { reason: 'BudgetBroken' },
          on: { 'pod.observed': reconsidered, ...hurried },
          after: { refusalBackoff: '#podEviction.deciding' },
        },
        neverAllowed: {
          description: 'The budget counts controllers, and its pods have none.',
          meta: { reason: 'BudgetNeverAllows' },
          on: { 'pod.observed': reconsidered },
        },
        namespaceTerminating: {
          description: 'The namespace is being deleted, and the pod with it.',
          meta: { reason: 'NamespaceTerminating' },
          on: hurried,
          after: { refusalBackoff: '#podEviction.deciding' },
        },
        forbidden: {
          description: 'The operator lacks the permission to evict; retries with growing backoff.',
          meta: { reason: 'EvictionForbidden' },
          on: hurried,
          after: { refusalBackoff: '#podEviction.deciding' },
        },
        refused: {
          description: 'The API server refused for an unknown reason.',
          meta: { reason: 'EvictionRefused' },
          on: hurried,
          after: { refusalBackoff: '#podEviction.deciding' },
        },
      },
    },
    stranded: {
      description: 'The kubelet does not respond; no second eviction is sent until it does.',
      meta: { reason: 'KubeletSilent' },
      tags: 'waiting',
      always: [
        { guard: 'leavesOrStays', target: 'deciding' },
        { guard: 'kubeletBack', target: 'deciding' },
      ],
    },
    leaving: {
      description: 'The pod is terminating; no eviction is sent any more.',
      tags: ['waiting'],
      always: { guard: 'vanished', target: 'gone' },
      initial: 'terminating',
      states: {
        terminating: {
          description: 'Its containers are stopping within their grace period.',
          meta: { reason: 'Terminating' },
          always: [
            { guard: 'heldByKubelet', target: 'withoutKubelet' },
            { guard: 'heldByFinalizer', target: 'heldByFinalizer' },
          ],
        },
        heldByFinalizer: {
          description: 'A finalizer keeps the pod.',
          meta: { reason: 'Finalizer' },
          always: [
            { guard: 'heldByKubelet', target: 'withoutKubelet' },
            { guard: 'notHeldByFinalizer', target: 'terminating' },
          ],
        },
        withoutKubelet: {
          description: 'The kubelet does not respond, so its containers are not stopped.',
          meta: { reason: 'KubeletSilent' },
          always: { guard: 'kubeletBack', target: 'terminating' },
        },
      },
    },
    released: {
      description: 'No requester remains; no eviction is sent.',
      tags: 'settled',
      always: [
        { guard: 'vanished', target: 'gone' },
        { guard: 'wanted', target: 'deciding' },
      ],
    },
    gone: {
      description: 'The pod is gone.',
      type: 'final',
      tags: 'settled',
    },
  },
});
