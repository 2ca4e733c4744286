/**
 * What the surge of a Deployment does next: facts in, one step out.
 *
 * Promises: pure. No pod is given up unless as many as the Deployment had before stay available
 * without it, or it is not available itself; no pod that was not requested is ever deleted;
 * replicas are raised by at most `maxSurge`, and restored only from what the surge itself wrote.
 *
 * A pod that is deleted is replaced by its ReplicaSet. So pods are deleted while more of them are
 * requested than replicas were added; each of the last ones gets the lowest deletion cost and
 * leaves by lowering the replicas, and no pod is made that nobody needs.
 *
 * The count is that of an autoscaler where one owns the replicas. It raises the Deployment by
 * itself; lowered, it may leave the Deployment as it is, such as without metrics, so that the surge
 * lowers that, too.
 */
import type { SurgeBaseline } from './surge-baseline.ts';
import { activePods, LOWEST_COST, type SurgeFacts, type SurgePod } from './surge-facts.ts';
import { isOverwritten, surgeRefusal } from './surge-refusal.ts';

/** What the count becomes: this number, an absent field, or what somebody else has set. */
export type RestoredCount = number | 'absent' | 'kept';

/** The next step. */
export type SurgeStep =
  | { readonly _tag: 'Raise'; readonly baseline: SurgeBaseline }
  /** The pod gets the lowest deletion cost. */
  | { readonly _tag: 'LowerCost'; readonly pod: SurgePod }
  /** One replica less: the ReplicaSet removes the chosen pod, that of the lowest cost. */
  | { readonly _tag: 'Lower'; readonly baseline: SurgeBaseline }
  /** The Deployment follows its autoscaler, which was lowered. */
  | { readonly _tag: 'Scale'; readonly replicas: number }
  | { readonly _tag: 'Delete'; readonly pod: SurgePod }
  /** The pod stays: it gets the deletion cost that it had. */
  | { readonly _tag: 'RestoreCost'; readonly pod: SurgePod }
  /** The count as before the surge. */
  | { readonly _tag: 'Restore'; readonly to: RestoredCount }
  /** For replacements to be available, or for the ReplicaSet to remove a pod. */
  | { readonly _tag: 'Wait' }
  /** Nothing is left to do. */
  | { readonly _tag: 'Done' };

/** What is asked of a Deployment. */
export interface SurgeDemand {
  /** UIDs of pods; none once the surge is refused. */
  readonly requested: readonly string[];
  /** For a minute nothing has changed for the better. */
  readonly isLate: boolean;
}

/** Its deletion cost is the surge's. */
const isChosen = ({ costChange }: SurgePod): boolean => costChange !== null;

const WAIT: SurgeStep = { _tag: 'Wait' };

/** The requested pods that have still to go. */
export const remainingPods = (
  { pods }: Pick<SurgeFacts, 'pods'>,
  requested: readonly string[],
): readonly SurgePod[] =>
  pods.filter(({ uid, isTerminating }) => !isTerminating && requested.includes(uid))
    .toSorted((one, other) => one.name < other.name ? -1 : 1);

/** How many pods are available. */
export const availableOf = ({ pods }: Pick<SurgeFacts, 'pods'>): number =>
  pods.filter(({ isAvailable }) => isAvailable).length;

/** What the count is restored to. */
export const restoredCount = (
  { replicas, autoscaled }: SurgeBaseline,
): RestoredCount => autoscaled === null ? replicas : autoscaled.least ?? 'absent';

/** The autoscaler was lowered, and its Deployment has not followed. */
const isBehind = ({ baseline, replicas }: SurgeFacts): boolean =>
  baseline !== null && baseline.autoscaled !== null && replicas > baseline.raisedTo &&
  baseline.autoscaled.loweredFrom === replicas;

/** As many as the autoscaler demands, once it demands no more: KEDA takes a moment. */
const scaling = ({ autoscaler, baseline }: SurgeFacts): SurgeStep =>
  baseline !== null && autoscaler !== null && autoscaler.demanded <= baseline.raisedTo
    ? { _tag: 'Scale', replicas: baseline.raisedTo }
    : WAIT;

/** The count of the autoscaler is this much; the Deployment is to follow. */
const lowered = (
  baseline: SurgeBaseline,
  raisedTo: number,
): Extract<SurgeStep, { readonly _tag: 'Lower' }> => {
  const { autoscaled } = baseline;
  return {
    _tag: 'Lower',
    baseline: {
      ...baseline,
      raisedTo,
      autoscaled: autoscaled === null ? null : { ...autoscaled, loweredFrom: baseline.raisedTo },
    },
  };
};

/** What is left of the surge, in the order in which it may be cut off: the count comes last. */
const restoration = (facts: SurgeFacts, isLate: boolean): SurgeStep => {
  const { baseline, pods } = facts;
  const pod = pods.find((one) => isChosen(one) && !one.isTerminating);
  if (pod !== undefined) return { _tag: 'RestoreCost', pod };
  if (baseline === null) return { _tag: 'Done' };
  if (isOverwritten(facts)) return { _tag: 'Restore', to: 'kept' };
  if (baseline.autoscaled !== null && baseline.raisedTo > baseline.replicas) {
    return lowered(baseline, baseline.replicas);
  }
  return isBehind(facts) && !isLate
    ? scaling(facts)
    : { _tag: 'Restore', to: restoredCount(baseline) };
};

const raise = (facts: SurgeFacts, remaining: readonly SurgePod[]): SurgeStep => {
  const { autoscaler, baseline, replicas, maxSurge } = facts;
  const before = baseline?.replicas ?? replicas;
  const room = autoscaler === null ? maxSurge : Math.min(maxSurge, autoscaler.most - before);
  const raisedTo = before + Math.min(room, remaining.length);
  if (raisedTo <= (baseline?.raisedTo ?? replicas)) return WAIT;
  // A chosen pod that outlived the lowering would outlive the next one, too.
  const isUnaimed = baseline?.isUnaimed === true || remaining.some(isChosen);
  const least = baseline?.autoscaled?.least ?? autoscaler?.least ?? null;
  return {
    _tag: 'Raise',
    baseline: {
      replicas: before,
      raisedTo,
      isUnaimed,
      autoscaled: autoscaler === null ? null : { least, loweredFrom: null },
    },
  };
};

/** Each pod that is deleted gets a replacement, and all of them are needed. */
const deletion = (
  facts: SurgeFacts,
  remaining: readonly SurgePod[],
  isLate: boolean,
): SurgeStep => {
  const chosen = remaining.find(isChosen);
  // The ReplicaSet is about to remove one.
  if (chosen !== undefined && activePods(facts).length > facts.replicas && !isLate) return WAIT;
  const pod = remaining.find(({ isAvailable }) => !isAvailable);
  if (pod !== undefined) return { _tag: 'Delete', pod };
  const [first] = remaining;
  const spare = availableOf(facts) - (facts.baseline?.replicas ?? facts.replicas);
  return spare > 0 && first !== undefined
    ? { _tag: 'Delete', pod: chosen ?? first }
    : raise(facts, remaining);
};

/**
 * Whether a ReplicaSet removes the pod, and no other, when it is lowered by one. Before the
 * deletion cost it ranks pods without a node, then those that do not run, then those that are not
 * Ready (`ActivePodsWithRanks` of kube-controller-manager).
 */
type Aim = 'sure' | 'pending' | 'impossible';

const aimAt = (pod: SurgePod, facts: SurgeFacts, requested: readonly string[]): Aim => {
  const active = activePods(facts);
  const staying = active.filter(({ uid }) => !requested.includes(uid));
  const cost = isChosen(pod) ? pod.deletionCost : LOWEST_COST;
  const isOneSet = active.every(({ replicaSet }) => replicaSet === pod.replicaSet);
  if (!isOneSet || staying.some(({ deletionCost }) => deletionCost <= cost)) return 'impossible';
  const isCalm = active.length === facts.replicas &&
    staying.every(({ isAvailable }) => isAvailable);
  return isCalm ? 'sure' : 'pending';
};

/** The ReplicaSet removes the pod, because its replacement is there. */
const lowering = (
  facts: SurgeFacts & { readonly baseline: SurgeBaseline },
  remaining: readonly SurgePod[],
  { requested, isLate }: SurgeDemand,
): SurgeStep => {
  const { baseline } = facts;
  const unavailable = remaining.find(({ isAvailable }) => !isAvailable);
  const pod = unavailable ?? remaining.find(isChosen) ?? remaining[0];
  const isSpared = unavailable !== undefined || availableOf(facts) > baseline.replicas;
  if (pod === undefined || !isSpared) return WAIT;
  const aim = aimAt(pod, facts, requested);
  if (isLate || baseline.isUnaimed || aim === 'impossible') return { _tag: 'Delete', pod };
  if (aim === 'pending') return WAIT;
  return isChosen(pod) ? lowered(baseline, baseline.raisedTo - 1) : { _tag: 'LowerCost', pod };
};

/** The next step for the requested pods. */
export const surgeStep = (facts: SurgeFacts, demand: SurgeDemand): SurgeStep => {
  const remaining = remainingPods(facts, demand.requested);
  const { isLate } = demand;
  if (remaining.length === 0 || surgeRefusal(facts) !== undefined) {
    return restoration(facts, isLate);
  }
  const withdrawn = facts.pods.find((pod) =>
    isChosen(pod) && !pod.isTerminating && !demand.requested.includes(pod.uid)
  );
  if (withdrawn !== undefined) return { _tag: 'RestoreCost', pod: withdrawn };
  const ended = remaining.find(({ hasEnded }) => hasEnded);
  if (ended !== undefined) return { _tag: 'Delete', pod: ended };
  if (isBehind(facts) && !isLate) return scaling(facts);
  const { baseline, replicas } = facts;
  // An autoscaler that wants another number of replicas would not remove the pod.
  return baseline === null || replicas !== baseline.raisedTo ||
      remaining.length > replicas - baseline.replicas
    ? deletion(facts, remaining, isLate)
    : lowering({ ...facts, baseline }, remaining, demand);
};
