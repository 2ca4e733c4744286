/**
 * The readiness gate `tidegate.dev/serving` of one pod (RS-14): opened when its containers are
 * ready, and closed before its eviction until no EndpointSlice lists the pod as ready.
 *
 * Promises: one write is in flight at a time; a gate that this process closed is opened again when
 * its eviction does not happen; one that another process closed is opened when nothing came of it;
 * a gate that cannot be written holds no eviction up.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { ServingGate } from '../domain/drain/serving-gate.ts';
import { nextSeed, type Seed } from '../domain/random.ts';

const RETRY = { firstMs: 500, lastMs: 30_000 };
/** EndpointSlices follow the readiness of a pod within about a second. */
const LOOK_MS = 1000;
/**
 * An eviction keeps a gate closed for its limit of 30 s and its request of 35 s; after this time
 * the process that closed it has ended.
 */
const ELSEWHERE_MS = 120_000;
/** Rights are seldom granted later. */
const REFUSED_MS = 300_000;

/** How a write of the gate ended. */
export type GateOutcome =
  | 'Written'
  /** The pod is gone, or another one has its name. */
  | 'Gone'
  /** The API server does not accept the write. */
  | 'Refused'
  | 'Fault';

export interface ServingGateInput {
  readonly uid: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly gate: ServingGate;
  /** This process opens the gates of all pods. */
  readonly isOpener: boolean;
  readonly seed: Seed;
}

export interface ServingGateContext extends ServingGateInput {
  /** An eviction of this process keeps it closed. */
  readonly isHeld: boolean;
  /** This process closed it, or tried. */
  readonly isOurs: boolean;
  /** The pod is terminating or gone. */
  readonly hasLeft: boolean;
  readonly attempt: number;
}

export type ServingGateEvent =
  | { readonly type: 'pod.observed'; readonly gate: ServingGate }
  | { readonly type: 'pod.left' }
  /** The pod is to be evicted now. */
  | { readonly type: 'eviction.began' }
  /** The pod stays for now. */
  | { readonly type: 'eviction.ended' }
  | { readonly type: 'opener.changed'; readonly isOpener: boolean }
  | { readonly type: 'gate.written'; readonly outcome: GateOutcome }
  | { readonly type: 'backends.read'; readonly isListed: boolean };

/** Another process closed it for an eviction. */
const isElsewhere = ({ gate, isOpener, isOurs, isHeld }: ServingGateContext): boolean =>
  isOpener && gate.isEvicting && !isOurs && !isHeld;

const isToOpen = (context: ServingGateContext): boolean => {
  const { gate, isOpener, isOurs, isHeld } = context;
  if (isHeld || (gate.isOpen && !isOurs)) return false;
  return isOurs || (isOpener && gate.areContainersReady && !gate.isEvicting);
};

const answeredBy = (outcome: GateOutcome) => ({ type: 'isOutcome', params: { outcome } }) as const;

const SET_OUTCOME = {
  type: 'setOutcome',
  params: ({ event }: { readonly event: { readonly outcome: GateOutcome } }) => event.outcome,
} as const;

/** A write of the gate that the pod does not have. */
const NOT_WRITTEN = [
  { guard: answeredBy('Refused'), target: 'refused', actions: [SET_OUTCOME, 'resetOurs'] },
  { target: 'backingOff', actions: SET_OUTCOME },
] as const;

/** The statechart of a pod's gate; `src/actors/pod-evictions` provides its operations. */
export const servingGate = setup({
  types: {
    context: {} as ServingGateContext,
    events: {} as ServingGateEvent,
    input: {} as ServingGateInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actions: {
    /** Answered by `gate.written`. */
    writeGate: (_, _wanted: { readonly isOpen: boolean }) => {},
    /** Answered by `backends.read`. */
    readBackends: () => {},
    setGate: assign((_, gate: ServingGate) => ({ gate })),
    setClosing: assign({ isOurs: true }),
    resetOurs: assign({ isOurs: false }),
    setClosed: assign(({ context: { gate } }) => ({
      gate: { ...gate, isOpen: false, isEvicting: true },
      attempt: 0,
    })),
    setOpened: assign(({ context: { gate } }) => ({
      gate: { ...gate, isOpen: true, isEvicting: false },
      isOurs: false,
      attempt: 0,
    })),
    setOutcome: assign(({ context }, outcome: GateOutcome) => ({
      hasLeft: context.hasLeft || outcome === 'Gone',
      attempt: context.attempt + 1,
      seed: nextSeed(context.seed),
    })),
  },
  guards: {
    hasLeft: ({ context }) => context.hasLeft,
    isHeld: ({ context }) => context.isHeld,
    isReleased: ({ context }) => context.hasLeft || !context.isHeld,
    isElsewhere: ({ context }) => isElsewhere(context),
    isToOpen: ({ context }) => isToOpen(context),
    isDue: ({ context }) =>
      context.hasLeft || context.isHeld || isElsewhere(context) || isToOpen(context),
    isElsewhereNoMore: ({ context }) => context.hasLeft || !isElsewhere(context),
    isOutcome: ({ event }, { outcome }: { readonly outcome: GateOutcome }) =>
      event.type === 'gate.written' && event.outcome === outcome,
    isClosedInVain: ({ context, event }) =>
      event.type === 'gate.written' && event.outcome === 'Written' &&
      (context.hasLeft || !context.isHeld),
    isUnlisted: ({ event }) => event.type === 'backends.read' && !event.isListed,
  },
  delays: {
    retryBackoff: ({ context }) => backoffMs(RETRY, context.attempt, context.seed),
    lookInterval: LOOK_MS,
    elsewhereLimit: ELSEWHERE_MS,
    refusalPause: REFUSED_MS,
  },
}).createMachine({
  id: 'servingGate',
  description: 'The readiness gate "tidegate.dev/serving" of one pod.',
  context: ({ input }) => ({
    ...input,
    isHeld: false,
    isOurs: false,
    hasLeft: false,
    attempt: 0,
  }),
  initial: 'deciding',
  on: {
    'pod.observed': { actions: { type: 'setGate', params: ({ event }) => event.gate } },
    'pod.left': { actions: assign({ hasLeft: true }) },
    'eviction.began': { actions: assign({ isHeld: true }) },
    'eviction.ended': { actions: assign({ isHeld: false }) },
    'opener.changed': { actions: assign(({ event: { isOpener } }) => ({ isOpener })) },
  },
  states: {
    deciding: {
      description: 'Decides whether the gate is to be written.',
      always: [
        { guard: 'hasLeft', target: 'left' },
        { guard: 'isHeld', target: 'closing' },
        { guard: 'isElsewhere', target: 'closedElsewhere' },
        { guard: 'isToOpen', target: 'opening' },
        { target: 'resting' },
      ],
    },
    resting: {
      description: 'The gate is as it must be.',
      tags: 'settled',
      always: { guard: 'isDue', target: 'deciding' },
    },
    closedElsewhere: {
      description: 'Another process closed the gate for an eviction; opened if none follows.',
      meta: { reason: 'LeavingBackends' },
      tags: 'waiting',
      always: { guard: 'isElsewhereNoMore', target: 'deciding' },
      after: { elsewhereLimit: 'opening' },
    },
    opening: {
      description: 'Waiting for the API server to set the gate True.',
      tags: 'acting',
      entry: { type: 'writeGate', params: { isOpen: true } },
      on: {
        'gate.written': [
          { guard: answeredBy('Written'), target: 'deciding', actions: 'setOpened' },
          ...NOT_WRITTEN,
        ],
      },
    },
    closing: {
      description: 'Waiting for the API server to set the gate False.',
      tags: 'acting',
      entry: ['setClosing', { type: 'writeGate', params: { isOpen: false } }],
      on: {
        'gate.written': [
          { guard: 'isClosedInVain', target: 'deciding', actions: 'setClosed' },
          { guard: answeredBy('Written'), target: 'leavingBackends', actions: 'setClosed' },
          ...NOT_WRITTEN,
        ],
      },
    },
    leavingBackends: {
      description: 'Closed; an EndpointSlice may still list the pod as ready.',
      meta: { reason: 'LeavingBackends' },
      tags: 'waiting',
      always: { guard: 'isReleased', target: 'deciding' },
      initial: 'reading',
      states: {
        reading: {
          description: 'Waiting for the EndpointSlices of its namespace.',
          entry: 'readBackends',
          on: {
            'backends.read': [
              { guard: 'isUnlisted', target: '#servingGate.outOfBackends' },
              { target: 'pausing' },
            ],
          },
        },
        pausing: {
          description: 'Waiting before they are read again.',
          after: { lookInterval: 'reading' },
        },
      },
    },
    outOfBackends: {
      description: 'Closed, and no EndpointSlice lists the pod as ready: it may be evicted.',
      tags: 'settled',
      always: { guard: 'isReleased', target: 'deciding' },
    },
    backingOff: {
      description: 'The write of the gate failed; retries with backoff.',
      meta: { reason: 'ServingGateFailing' },
      tags: 'waiting',
      always: { guard: 'hasLeft', target: 'left' },
      after: { retryBackoff: 'deciding' },
    },
    refused: {
      description: 'The API server refuses the write; evictions do not wait for the gate.',
      meta: { reason: 'ServingGateFailing' },
      tags: 'settled',
      always: { guard: 'hasLeft', target: 'left' },
      after: { refusalPause: 'deciding' },
    },
    left: {
      description: 'The pod is terminating or gone.',
      type: 'final',
      tags: 'settled',
    },
  },
});
