/**
 * The plan of a maintenance: which pods leave before which (KEP-4212, *DrainPlan*).
 *
 * Promises: entries of all plans have one order, their rank; the effective plan is in that order,
 * without duplicates, and ends with every pod of its types.
 */
import type { DrainPod } from '../drain/pod.ts';
import { numberAt, recordAt, textAt } from '../json.ts';
import {
  type LabelConditions,
  labelSelectorOf,
  selectorKey,
  selectsLabels,
} from '../label-selector.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';
import { POD_TYPES, type PodType, podTypeNamed, podTypeOf } from './typed-pods.ts';

/** Pods of one type up to a priority. */
export interface DrainPlanEntry {
  readonly podType: PodType;
  readonly podPriority: number;
  /** Only pods with these labels; `null`: all. */
  readonly podSelector: LabelConditions | null;
}

/** An entry's place in the order of all plans; a number that orders. */
export type Rank = number;

/** Above the rank of every entry. */
export const LAST_RANK: Rank = Number.POSITIVE_INFINITY;

const PRIORITIES = 2 ** 32;
const LOWEST_PRIORITY = -(2 ** 31);
const HIGHEST_PRIORITY = 2 ** 31 - 1;

/**
 * By type, then priority; at the same priority, entries with a selector come first (NM-21). Two
 * entries with different selectors may have one rank.
 */
export const rankOf = ({ podType, podPriority, podSelector }: DrainPlanEntry): Rank =>
  (POD_TYPES.indexOf(podType) * PRIORITIES + podPriority - LOWEST_PRIORITY) * 2 +
  (podSelector === null ? 1 : 0);

/** The same text for entries that select the same pods, however their selectors are written. */
export const entryKey = (entry: DrainPlanEntry): string =>
  `${rankOf(entry)}:${entry.podSelector === null ? '' : selectorKey(entry.podSelector)}`;

/** The limits of Kubernetes' priority classes, each a step of every plan (NM-24). */
const INJECTED_PRIORITIES = [
  // User-defined classes end here; system-cluster-critical, system-node-critical, the maximum.
  1_000_000_000,
  2_000_000_000,
  2_000_001_000,
  HIGHEST_PRIORITY,
] as const;

const INJECTED: readonly DrainPlanEntry[] = POD_TYPES.flatMap((podType) =>
  INJECTED_PRIORITIES.map((podPriority) => ({ podType, podPriority, podSelector: null }))
);

/**
 * The plan that is executed: what is written, and the injected entries that it lacks, for these
 * types of pods (NM-24, NM-25). Entries of one rank stay in their written order.
 */
export const effectivePlan = (
  written: readonly DrainPlanEntry[],
  podTypes: readonly PodType[],
): readonly DrainPlanEntry[] => {
  const entries = new Map<string, DrainPlanEntry>();
  for (const entry of [...written, ...INJECTED]) {
    const key = entryKey(entry);
    if (podTypes.includes(entry.podType) && !entries.has(key)) entries.set(key, entry);
  }
  return [...entries.values()].toSorted((left, right) => rankOf(left) - rankOf(right));
};

/** True when the entry selects the pod (NM-26). */
export const entrySelects = (entry: DrainPlanEntry, pod: DrainPod): boolean =>
  pod.priority <= entry.podPriority && podTypeOf(pod) === entry.podType &&
  (entry.podSelector === null || selectsLabels(entry.podSelector, pod.labels));

/** The entry in the notation of the API, such that it is read as it was: in the same order. */
export const planEntryBody = ({ podType, podPriority, podSelector }: DrainPlanEntry): object => ({
  podType,
  podPriority,
  ...(podSelector === null ? {} : { podSelector: { matchExpressions: podSelector } }),
});

/**
 * Reads the entries of a plan or of drain targets; an empty selector is none. Entries that the
 * schema refuses are left out.
 */
export const planEntriesOf = (
  raw: readonly unknown[],
  max: number = NODE_MAINTENANCE_LIMITS.planEntries,
): readonly DrainPlanEntry[] =>
  raw.slice(0, max).flatMap((item): readonly DrainPlanEntry[] => {
    const podPriority = numberAt(item, 'podPriority');
    const podType = podTypeNamed(textAt(item, 'podType') ?? 'Default');
    const selector = recordAt(item, 'podSelector');
    const conditions = selector === undefined ? [] : labelSelectorOf(selector);
    if (podPriority === undefined || podType === undefined || conditions === null) return [];
    return [{ podType, podPriority, podSelector: conditions.length === 0 ? null : conditions }];
  });
