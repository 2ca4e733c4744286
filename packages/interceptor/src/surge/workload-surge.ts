/**
 * The surge of one Deployment: requested pods are replaced first, then removed, in waves.
 *
 * Promises: every step follows from the Deployment and its pods as they are read, so an interrupted
 * surge goes on or is undone from there; one pod leaves for each reading; a surge that makes no
 * progress is undone and says why.
 */
import { assign, setup } from 'xstate';
import { type Attempts, backoffMs, failedOnce, noFailures, type Seed } from '../backoff.ts';
import { required } from '../required.ts';
import { factsWithoutDeployment, type SurgeFacts, type SurgePod } from './surge-facts.ts';
import {
  availableOf,
  remainingPods,
  restoredCount,
  type SurgeDemand,
  surgeRefusal,
  type SurgeStep,
  surgeStep,
} from './surge-step.ts';

/** The Deployment of a surge. */
export interface DeploymentKey {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** How long a surge waits. */
export interface SurgeTiming {
  /** From one reading to the next while replacements start. */
  readonly pollMs: number;
  /** For room, after the scheduler found none; and for a ReplicaSet, to remove a pod. */
  readonly capacityMs: number;
  /** For replacements that were scheduled and do not become available. */
  readonly replacementMs: number;
  /** For requests to resume, before a surge of an earlier process is undone. */
  readonly recoveryMs: number;
}

/** Replacements have ten minutes to start, and one minute to find room. */
export const DEFAULT_SURGE_TIMING: SurgeTiming = {
  pollMs: 2000,
  capacityMs: 60_000,
  replacementMs: 600_000,
  recoveryMs: 30_000,
};

/** The input of a surge. */
export interface SurgeInput {
  readonly deployment: DeploymentKey;
  /** UIDs of pods. */
  readonly requested: readonly string[];
  /** Found at the start of a process: requests may resume it. */
  readonly isRecovered: boolean;
  readonly timing: SurgeTiming;
  readonly seed: Seed;
}

/** The Deployment, its pods and its autoscaler as they were read. */
export type FactsOutcome =
  | { readonly _tag: 'Read'; readonly facts: SurgeFacts; readonly nowMs: number }
  /** Gone, or another one of its name. */
  | { readonly _tag: 'Absent' }
  | { readonly _tag: 'Failed'; readonly problem: string; readonly retryAfterMs: number };

/** The outcome of a write; one that is out of date is decided anew. */
export type SurgeWriteOutcome =
  | { readonly _tag: 'Written' }
  | { readonly _tag: 'Failed'; readonly problem: string; readonly retryAfterMs: number };

/** What a surge knows. */
export interface SurgeContext {
  readonly deployment: DeploymentKey;
  readonly isRecovered: boolean;
  readonly timing: SurgeTiming;
  readonly requested: readonly string[];
  readonly facts: SurgeFacts | null;
  readonly step: SurgeStep | null;
  /** Since when nothing has changed for the better. */
  readonly stalledSinceMs: number;
  /** Why it gives up. */
  readonly refusal: string | null;
  readonly problem: string | null;
  readonly attempts: Attempts;
}

/** Events of a surge. */
export type SurgeEvent =
  | { readonly type: 'pod.requested'; readonly uid: string }
  | { readonly type: 'pod.withdrawn'; readonly uid: string };

/** One write, of a step that was decided on these facts. */
export interface SurgeWrite {
  readonly deployment: DeploymentKey;
  readonly facts: SurgeFacts;
  readonly step: SurgeStep;
}

const isReplacement = (requested: readonly string[]) => ({ uid, isTerminating }: SurgePod) =>
  !isTerminating && !requested.includes(uid);

/** Why waiting is over; null while it is not. */
const stalled = (
  { requested, timing }: SurgeContext,
  facts: SurgeFacts,
  waitedMs: number,
): string | null => {
  const unscheduled = facts.pods.filter(isReplacement(requested))
    .find(({ unschedulable }) => unschedulable !== '');
  if (unscheduled !== undefined && waitedMs >= timing.capacityMs) {
    return `no room for its replacement: ${unscheduled.unschedulable}`;
  }
  return waitedMs >= timing.replacementMs ? 'its replacements do not become available' : null;
};

/** Available pods went up, requested ones went down, or more were requested. */
const hasProgressed = (
  { facts: before, requested }: SurgeContext,
  facts: SurgeFacts,
): boolean =>
  before === null || before.replicas !== facts.replicas ||
  before.baseline?.raisedTo !== facts.baseline?.raisedTo ||
  availableOf(facts) > availableOf(before) ||
  remainingPods(facts, requested).length !== remainingPods(before, requested).length;

/** What is asked, after this long without progress. */
const demandOf = ({ requested, timing }: SurgeContext, waitedMs: number): SurgeDemand => ({
  requested,
  isLate: waitedMs >= timing.capacityMs,
});

/** Why no surge goes on; null while one does. */
const refusalOf = (context: SurgeContext, facts: SurgeFacts, waitedMs: number): string | null => {
  const { requested, refusal } = context;
  if (refusal !== null || remainingPods(facts, requested).length === 0) return refusal;
  const impossible = surgeRefusal(facts);
  if (impossible !== undefined) return impossible;
  const { _tag } = surgeStep(facts, demandOf(context, waitedMs));
  return _tag === 'Wait' ? stalled(context, facts, waitedMs) : null;
};

/** A count that was raised and lost its annotation at once: raised again, it never ends. */
const unmarkedRaise = ({ step }: SurgeContext, facts: SurgeFacts): SurgeStep | null =>
  step?._tag === 'Raise' && facts.baseline === null &&
    (facts.autoscaler?.least ?? facts.replicas) === step.baseline.raisedTo
    ? { _tag: 'Restore', to: restoredCount(step.baseline) }
    : null;

const decided = (
  context: SurgeContext,
  facts: SurgeFacts,
  nowMs: number,
): Partial<SurgeContext> => {
  const stalledSinceMs = hasProgressed(context, facts) ? nowMs : context.stalledSinceMs;
  const undo = unmarkedRaise(context, facts);
  const waitedMs = nowMs - stalledSinceMs;
  const refusal = undo === null
    ? refusalOf(context, facts, waitedMs)
    : 'its annotation is removed by somebody else';
  const demand = demandOf(context, waitedMs);
  const step = undo ?? surgeStep(facts, refusal === null ? demand : { ...demand, requested: [] });
  const { attempts } = context;
  return {
    facts,
    stalledSinceMs,
    refusal,
    step,
    problem: null,
    attempts: step._tag === 'Wait' ? noFailures(attempts.seed) : attempts,
  };
};

const observed = (context: SurgeContext, outcome: FactsOutcome): Partial<SurgeContext> => {
  switch (outcome._tag) {
    case 'Read':
      return decided(context, outcome.facts, outcome.nowMs);
    case 'Absent':
      return { facts: null, refusal: 'it is gone', step: { _tag: 'Done' }, problem: null };
    case 'Failed':
      return {
        step: null,
        problem: outcome.problem,
        attempts: failedOnce(context.attempts, outcome.retryAfterMs),
      };
  }
};

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
    readFacts: required<FactsOutcome, { readonly deployment: DeploymentKey }>('readFacts'),
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
  },
  guards: {
    isRecovered: ({ context }) => context.isRecovered,
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
        input: ({ context: { deployment } }) => ({ deployment }),
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
