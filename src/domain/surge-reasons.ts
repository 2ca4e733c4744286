/**
 * The reasons of blocked surges as labels of a metric (RS-16).
 *
 * Promises: a closed set, so that no tenant makes series by the names of resources.
 */

/** By the reason in the status of a request. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ['NoCapacity', 'no_capacity'],
  ['NoCapacityMemory', 'no_capacity_memory'],
  ['NoCapacityCpu', 'no_capacity_cpu'],
  ['NoCapacityPods', 'no_capacity_pods'],
  ['NoCapacityEphemeralStorage', 'no_capacity_ephemeral_storage'],
  ['ReplacementNotCreated', 'replacement_not_created'],
  ['ReplacementNotAvailable', 'replacement_not_available'],
  ['StrategyForbidsSurge', 'strategy_forbids_surge'],
  ['VolumeForbidsSurge', 'volume_forbids_surge'],
  ['AutoscalerForbidsSurge', 'autoscaler_forbids_surge'],
]);

const EXTENDED = 'no_capacity_extended_resource';
/** Other writers have ended the surge. */
const OTHER = 'ended';

const labelOf = (reason: string): string =>
  LABELS.get(reason) ?? (reason.startsWith('NoCapacity') ? EXTENDED : OTHER);

/** All labels, with how many Deployments each has. */
export const surgeReasonCounts = (
  reasons: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> => {
  const counts = new Map([...LABELS.values(), EXTENDED, OTHER].map((label) => [label, 0]));
  for (const [reason, count] of reasons) {
    const label = labelOf(reason);
    counts.set(label, (counts.get(label) ?? 0) + count);
  }
  return counts;
};
