/**
 * Reads a Node for its state: Ready, problem conditions, cordon owners, taints and our condition.
 *
 * Promises: total for any API object; plain data, suitable for machine context.
 */
import {
  annotationOf,
  type CordonAnnotation,
  type CordonFacts,
  cordonOf,
  cordonsIn,
  isDrainOwner,
} from '../drain/cordon.ts';
import { rawConditionOf } from '../condition.ts';
import { booleanAt, listOrEmptyAt, textAt } from '../json.ts';
import { annotationsOf, identityOf } from '../object-meta.ts';
import {
  AVAILABILITY_LABELS,
  type AvailableNode,
  type CurrentAvailability,
  type NodeProblem,
  type Taint,
} from './node-state.ts';

/** The condition of a Node that has its state as the reason. */
export const AVAILABILITY_CONDITION = 'tidegate.dev/Availability';
/** Keeps new pods from a degraded Node. */
export const DEGRADED_TAINT = { key: 'tidegate.dev/degraded', effect: 'NoSchedule' } as const;
/**
 * Lets Kubernetes remove the pods of a Node that is gone and detach their volumes (*Non-graceful
 * node shutdown*).
 */
export const OUT_OF_SERVICE_TAINT = {
  key: 'node.kubernetes.io/out-of-service',
  value: 'nodeshutdown',
  effect: 'NoExecute',
} as const;
/** When `tidegate node confirm-gone` set that taint. */
export const CONFIRMED_GONE_KEY = 'availability.tidegate.dev/confirmed-gone';

/** The default of `--degraded-conditions`. */
export const DEGRADED_CONDITIONS_DEFAULT: readonly string[] = [
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'NetworkUnavailable',
];

const READY_STATUSES = ['True', 'False', 'Unknown'] as const;

const statusOf = (raw: unknown, type: string): string | undefined =>
  textAt(
    rawConditionOf(raw, type),
    'status',
  );

const problemOf = (raw: unknown, types: readonly string[]): NodeProblem => {
  const statuses = types.map((type) => statusOf(raw, type));
  if (statuses.includes('True')) return 'Present';
  return statuses.includes('Unknown') ? 'Unknown' : 'Absent';
};

const taintsOf = (raw: unknown): readonly Taint[] =>
  listOrEmptyAt(raw, 'spec', 'taints').map((taint) => ({
    key: textAt(taint, 'key') ?? '',
    value: textAt(taint, 'value') ?? '',
    effect: textAt(taint, 'effect') ?? '',
    timeAdded: textAt(taint, 'timeAdded') ?? '',
  }));

/** Whether a taint has the key and the effect of another. */
export const isTaint = (
  taint: Pick<Taint, 'key' | 'effect'>,
  { key, effect }: Pick<Taint, 'key' | 'effect'>,
): boolean => taint.key === key && taint.effect === effect;

const currentOf = (raw: unknown, taints: readonly Taint[]): CurrentAvailability => {
  const condition = rawConditionOf(raw, AVAILABILITY_CONDITION);
  const isConfirmedGone = taints.some((taint) => isTaint(taint, OUT_OF_SERVICE_TAINT));
  return {
    label: AVAILABILITY_LABELS.find((label) => label === textAt(condition, 'reason')) ?? null,
    isTainted: taints.some((taint) => isTaint(taint, DEGRADED_TAINT)),
    isConfirmedGone,
    isConfirmedByCommand: Object.hasOwn(annotationsOf(raw), CONFIRMED_GONE_KEY),
  };
};

/** Whether the owner holds the cordon of the Node; a key that is over or unreadable does not. */
const holds = (facts: Pick<CordonFacts, 'cordons'>, owner: string): boolean =>
  isDrainOwner(owner) && cordonOf(facts, owner) !== undefined &&
  annotationOf(facts, owner)?.ended !== 'Cancelled';

/** Of a schedulable Node, an active key is cancelled by its drain first. */
const isOver = (disabled: CordonAnnotation | undefined, isCordoned: boolean): boolean =>
  disabled?.ended === 'Cancelled' || (!isCordoned && typeof disabled?.ended === 'string');

/** Reads a Node; `degradedBy` are the types of the conditions that make it degraded. */
export const availableNode =
  (degradedBy: readonly string[]) => (raw: unknown): AvailableNode | undefined => {
    const identity = identityOf(raw);
    if (identity === undefined) return undefined;
    const { cordons } = cordonsIn(annotationsOf(raw));
    const isCordoned = booleanAt(raw, 'spec', 'unschedulable') === true;
    const owners = Object.keys(cordons).filter((owner) => isCordoned && holds({ cordons }, owner));
    const ready = statusOf(raw, 'Ready');
    const taints = taintsOf(raw);
    return {
      ...identity,
      name: identity.key,
      readyStatus: READY_STATUSES.find((status) => status === ready) ?? 'Unknown',
      problem: problemOf(raw, degradedBy),
      isDisabled: owners.includes('disabled'),
      wasDisabled: isOver(annotationOf({ cordons }, 'disabled'), isCordoned),
      isDraining: owners.some((owner) => owner !== 'disabled'),
      availability: currentOf(raw, taints),
      taints,
    };
  };
