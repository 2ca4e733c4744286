/**
 * The surge of one Deployment: requested pods are replaced first, then removed, in waves.
 *
 * Promises: every step follows from the Deployment and its pods as they are read, so an interrupted
 * surge goes on or is undone from there; one pod leaves for each reading; a surge that makes no
 * progress is undone and says why, and a pod that cannot come back stays.
 */
import { assign, setup } from 'xstate';
import { backoffMs, failedOnce, noFailures } from '../backoff.ts';
import { required } from '../required.ts';
import type {
  FactsOutcome,
  SurgeContext,
  SurgeEvent,
  SurgeInput,
  SurgeQuestion,
  SurgeWrite,
  SurgeWriteOutcome,
} from './surge-context.ts';
import { isHeld, observed } from './surge-decision.ts';
import { factsWithoutDeployment } from './surge-facts.ts';
import type { SurgeStep } from './surge-step.ts';

/** Nothing was read: nothing is written. */
const NO_FACTS = factsWithoutDeployment(null);

const writeOf = (
  { context: { deployment, facts, step } }: { readonly context: SurgeContext },
): SurgeWrite => ({
  deployment,
  facts: facts ?? NO_FACTS,
  step: facts === null || step === null ? { _tag: 'Wait' } : step,
});

type Act =
  | 'raiseReplicas'
  | 'lowerCost'
  | 'lowerReplicas'
  | 'scaleDeployment'
  | 'deletePod'
  | 'restoreCost'
  | 'restoreReplicas';

const writing = <const Src extends Act>(src: Src, description: string) => ({
  description,
  invoke: {
    id: src,
    src,
    input: writeOf,
    onDone: {
      target: 'answered' as const,
      actions: {
        type: 'setAnswer' as const,
        params: ({ event }: { readonly event: { readonly output: SurgeWriteOutcome } }) =>
          event.output,
      },
    },
  },
});

const stepIs = <const Tag extends SurgeStep['_tag']>(params: Tag) => ({
  type: 'stepIs' as const,
  params,
});

/** The statechart; `surge.ts` provides its requests. */
export const workloadSurge = setup({
  types: {
    context: {} as SurgeContext,
    input: {} as SurgeInput,
    events: {} as SurgeEvent,
    tags: {} as 'settled',
  },
  actors: {
    readFacts: required<FactsOutcome, SurgeQuestion>('readFacts'),
    raiseReplicas: required<SurgeWriteOutcome, SurgeWrite>('raiseReplicas'),
    lowerCost: required<SurgeWriteOutcome, SurgeWrite>('lowerCost'),
    lowerReplicas: required<SurgeWriteOutcome, SurgeWrite>('lowerReplicas'),
    scaleDeployment: required<SurgeWriteOutcome, SurgeWrite>('scaleDeployment'),
    deletePod: required<SurgeWriteOutcome, SurgeWrite>('deletePod'),
    restoreCost: required<SurgeWriteOutcome, SurgeWrite>('restoreCost'),
    restoreReplicas: required<SurgeWriteOutcome, SurgeWrite>('restoreReplicas'),
  },
  delays: {
    backoff: ({ context }) => backoffMs(context.attempts),
    poll: ({ context }) => context.timing.pollMs,
    recovery: ({ context }) => context.timing.recoveryMs,
    blockedPoll: ({ context }) => context.timing.blockedMs,
  },
  guards: {
    isRecovered: ({ context }) => context.isRecovered,
    isHeld: ({ context }) => isHeld(context),
    hasFailed: ({ context }) => context.problem !== null,
    stepIs: ({ context }, tag: SurgeStep['_tag']) => context.step?._tag === tag,
  },
  actions: {
    addPod: assign(({ context, event }) => ({
      requested: [...context.requested.filter((uid) => uid !== event.uid), event.uid],
    })),
    removePod: assign(({ context, event }) => ({
      requested: context.requested.filter((uid) => uid !== event.uid),
    })),
    setFacts: assign(({ context }, outcome: FactsOutcome) => observed(context, outcome)),
    setAnswer: assign(({ context }, outcome: SurgeWriteOutcome) =>
      outcome._tag === 'Written'
        ? { problem: null, attempts: noFailures(context.attempts.seed) }
        : {
          // A count that is seen afterwards is not the surge's.
          ...(outcome._tag === 'Refused' ? { step: null } : {}),
          problem: outcome.problem,
          attempts: failedOnce(context.attempts, outcome.retryAfterMs),
        }
    ),
    /** Provided where the surge runs. */
    logProblem: () => {},
  },
}).createMachine({
  id: 'workloadSurge',
  context: ({ input: { seed, ...input } }) => ({
    ...input,
    facts: null,
    step: null,
    stalledSinceMs: 0,
    refusal: null,
    withdrawals: 0,
    retryAtMs: 0,
    problem: null,
    attempts: noFailures(seed),
  }),
  initial: 'starting',
  on: {
    'pod.requested': { actions: 'addPod' },
    'pod.withdrawn': { actions: 'removePod' },
  },
  states: {
    starting: {
      description: 'Deciding whether requests may resume it.',
      always: [{ guard: 'isRecovered', target: 'recovering' }, { target: 'observing' }],
    },
    recovering: {
      description: 'An earlier process raised the count; its requests may resume.',
      on: { 'pod.requested': { target: 'observing', actions: 'addPod' } },
      after: { recovery: 'observing' },
    },
    observing: {
      description: 'Reading the Deployment, its pods and what owns its replicas.',
      invoke: {
        id: 'readFacts',
        src: 'readFacts',
        input: ({ context: { deployment, refusal, requested } }) => ({
          deployment,
          stuck: refusal === null ? [] : requested,
        }),
        onDone: {
          target: 'deciding',
          actions: { type: 'setFacts', params: ({ event }) => event.output },
        },
      },
    },
    deciding: {
      description: 'Deciding by the facts.',
      always: [
        { guard: 'hasFailed', target: 'backingOff' },
        { guard: stepIs('Raise'), target: 'raising' },
        { guard: stepIs('LowerCost'), target: 'loweringCost' },
        { guard: stepIs('Lower'), target: 'lowering' },
        { guard: stepIs('Scale'), target: 'scaling' },
        { guard: stepIs('Delete'), target: 'deleting' },
        { guard: stepIs('RestoreCost'), target: 'restoringCost' },
        { guard: stepIs('Restore'), target: 'restoring' },
        { guard: 'isHeld', target: 'blocked' },
        { guard: stepIs('Done'), target: 'settled' },
        { target: 'waiting' },
      ],
    },
    raising: writing(
      'raiseReplicas',
      'Raising the count of what owns the replicas, with the number before beside it.',
    ),
    loweringCost: writing('lowerCost', 'Giving a requested pod the lowest deletion cost.'),
    lowering: writing('lowerReplicas', 'Lowering the count: the pod of that cost is removed.'),
    scaling: writing('scaleDeployment', 'Lowering the Deployment, which follows its autoscaler.'),
    deleting: writing('deletePod', 'Deleting a requested pod: enough others are available.'),
    restoringCost: writing('restoreCost', 'Giving a pod that stays the deletion cost that it had.'),
    restoring: writing('restoreReplicas', 'Setting the count to what it was.'),
    answered: {
      description: 'Deciding by the answer.',
      always: [{ guard: 'hasFailed', target: 'backingOff' }, { target: 'observing' }],
    },
    waiting: {
      description: 'Replacements are starting, or a ReplicaSet removes a pod.',
      on: {
        'pod.requested': { target: 'observing', actions: 'addPod' },
        'pod.withdrawn': { target: 'observing', actions: 'removePod' },
      },
      after: { poll: 'observing' },
    },
    blocked: {
      description: 'No surge is possible; the pods stay until one is, or downtime is accepted.',
      on: {
        'pod.requested': { target: 'observing', actions: 'addPod' },
        'pod.withdrawn': { target: 'observing', actions: 'removePod' },
      },
      after: { blockedPoll: 'observing' },
    },
    backingOff: {
      description: 'The API server refused or was not reached; waiting for the next attempt.',
      entry: 'logProblem',
      after: { backoff: 'observing' },
    },
    settled: {
      description: 'The requested pods are gone or withdrawn, and the count is as before.',
      tags: 'settled',
      type: 'final',
    },
  },
});
