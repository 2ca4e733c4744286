/**
 * What a surge decides by one reading of its Deployment.
 *
 * Promises: pure. A pod that no replacement can run for stays: the surge is undone and repeated,
 * after waits that double, at most five minutes.
 */
import { failedOnce, noFailures } from '../backoff.ts';
import type { FactsOutcome, SurgeContext } from './surge-context.ts';
import type { SurgeFacts, SurgePod } from './surge-facts.ts';
import {
  givesUp,
  GONE,
  noRoom,
  notCreated,
  type SurgeRefusal,
  surgeRefusal,
  UNAVAILABLE,
  UNMARKED,
} from './surge-refusal.ts';
import {
  availableOf,
  remainingPods,
  restoredCount,
  type SurgeDemand,
  type SurgeStep,
  surgeStep,
} from './surge-step.ts';

const RETRY_MS_MAX = 300_000;

const isReplacement = (requested: readonly string[]) => ({ uid, isTerminating }: SurgePod) =>
  !isTerminating && !requested.includes(uid);

/** A replacement that the scheduler finds no room for, or that cannot be created. */
export const lackingIn = (
  { requested }: Pick<SurgeContext, 'requested'>,
  { pods, creationFailure }: SurgeFacts,
): SurgeRefusal | null => {
  const pod = pods.filter(isReplacement(requested)).find(({ unschedulable }) =>
    unschedulable !== ''
  );
  if (pod !== undefined) return noRoom(pod.unschedulable);
  return creationFailure === '' ? null : notCreated(creationFailure);
};

/** Why waiting is over; null while it is not. */
const stalled = (
  context: SurgeContext,
  facts: SurgeFacts,
  waitedMs: number,
): SurgeRefusal | null => {
  const { timing } = context;
  const lacking = lackingIn(context, facts);
  if (lacking !== null && waitedMs >= timing.capacityMs) return lacking;
  return waitedMs >= timing.replacementMs ? UNAVAILABLE : null;
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

/** An earlier refusal while it holds: until the surge is undone and another attempt may help. */
const earlierRefusal = (
  { refusal, retryAtMs }: SurgeContext,
  facts: SurgeFacts,
  nowMs: number,
): SurgeRefusal | null => {
  if (refusal === null || refusal.kind === 'over' || facts.baseline !== null) return refusal;
  if (refusal.kind === 'forbidden') return surgeRefusal(facts) ?? null;
  return nowMs < retryAtMs ? refusal : null;
};

/** Why no surge goes on; null while one does. */
const refusalOf = (
  context: SurgeContext,
  facts: SurgeFacts,
  waitedMs: number,
): SurgeRefusal | null => {
  if (remainingPods(facts, context.requested).length === 0) return null;
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

/** When an attempt that was withdrawn is repeated. */
const repetition = (
  { refusal: before, withdrawals, timing }: SurgeContext,
  refusal: SurgeRefusal | null,
  nowMs: number,
): Partial<SurgeContext> =>
  refusal === null || refusal.kind !== 'lacking' || before === refusal ? {} : {
    withdrawals: withdrawals + 1,
    retryAtMs: nowMs + Math.min(RETRY_MS_MAX, timing.retryMs * 2 ** Math.min(withdrawals, 10)),
  };

const decided = (
  context: SurgeContext,
  facts: SurgeFacts,
  nowMs: number,
): Partial<SurgeContext> => {
  const earlier = earlierRefusal(context, facts, nowMs);
  const isRepeated = context.refusal !== null && earlier === null;
  const isMoving = isRepeated || hasProgressed(context, facts);
  const stalledSinceMs = isMoving ? nowMs : context.stalledSinceMs;
  const undo = unmarkedRaise(context, facts);
  const waitedMs = nowMs - stalledSinceMs;
  const refusal = undo === null ? earlier ?? refusalOf(context, facts, waitedMs) : UNMARKED;
  const demand = demandOf(context, waitedMs);
  const step = undo ?? surgeStep(facts, refusal === null ? demand : { ...demand, requested: [] });
  const { attempts } = context;
  return {
    facts,
    stalledSinceMs,
    refusal,
    ...repetition(context, refusal, nowMs),
    step,
    problem: null,
    attempts: step._tag === 'Wait' ? noFailures(attempts.seed) : attempts,
  };
};

/** What a reading changes. */
export const observed = (context: SurgeContext, outcome: FactsOutcome): Partial<SurgeContext> => {
  switch (outcome._tag) {
    case 'Read':
      return decided(context, outcome.facts, outcome.nowMs);
    case 'Absent':
      return { facts: null, refusal: GONE, step: { _tag: 'Done' }, problem: null };
    case 'Failed':
      return {
        step: null,
        problem: outcome.problem,
        attempts: failedOnce(context.attempts, outcome.retryAfterMs),
      };
  }
};

/** The surge is undone, and its pods stay. */
export const isHeld = (
  { facts, refusal, requested, step, withoutSurge }: SurgeContext,
): boolean =>
  step?._tag === 'Done' && facts !== null && refusal !== null &&
  remainingPods(facts, requested).length > 0 && !givesUp(refusal, facts, withoutSurge);
