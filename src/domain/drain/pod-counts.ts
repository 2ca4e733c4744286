/**
 * The pod counts of a drain, and the started tiers that follow from them without a clock.
 *
 * Promises: plain data for the context of a statechart, whose only notion of time is that a wait is
 * over (`quiet`) or that the last quarter of the grace has begun.
 */
import type { TierKey, TierProgress } from './plan.ts';
import { startTiers } from './tiers.ts';

/** Pods that must leave, by tier; terminating ones count until they are gone. */
export interface PodCounts {
  readonly left: number;
  /** Lowest priority first. */
  readonly tiers: readonly Pick<TierProgress, 'key' | 'left'>[];
}

/** What starts a tier besides the tiers themselves. */
export interface TierOpening {
  /** The started tiers made no progress for the tier wait. */
  readonly quiet: boolean;
  readonly lastQuarter: boolean;
}

const WAIT_MS = 1;

/** The highest started tier (DR-21). */
export const startedTo = (
  before: TierKey | null,
  { tiers }: PodCounts,
  { quiet, lastQuarter }: TierOpening,
): TierKey | null =>
  startTiers({ startedTo: before, quietSinceMs: 0 }, tiers, {
    nowMs: quiet ? WAIT_MS : 0,
    waitMs: WAIT_MS,
    lastQuarterMs: lastQuarter ? 0 : Number.POSITIVE_INFINITY,
  }).startedTo;

/** True while a tier with pods has not started. */
export const tiersWait = (started: TierKey | null, { tiers }: PodCounts): boolean =>
  tiers.some(({ key, left }) => left > 0 && (started === null || key > started));
