/**
 * Why a Node that a reclaim instruction names is not reclaimed: the source of the Events and of the
 * label values of `tidegate_reclaims_refused_total`.
 */

/** Why a Node is not reclaimed, with the remedy. */
export const RECLAIM_REFUSALS = {
  NoMachine:
    'the shard showed no machine of it CONFIGURED, and it has no UpcomingNode; the fleet ' +
    'must report the machine first',
  TooManyInstructions: 'its drain has joined as many instructions as it may (node_instructions); ' +
    'the drain goes on',
  NotSelected: '--reclaimable-node-selector excludes it; change its labels or the selector',
} as const;

/** The name of a refusal. */
export type ReclaimRefusal = keyof typeof RECLAIM_REFUSALS;
