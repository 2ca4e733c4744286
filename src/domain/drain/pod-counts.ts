/**
 * What a drain counts on its node, and which tiers follow from it without a look at a clock.
 *
 * Promises: plain data, fit for the context of a statechart, which knows of time only that a wait
 * is over (`tierWaitOver`) or that the last quarter of the grace has begun.
 */
import type { TierKey, TierProgress } from './plan.ts';
import { startTiers } from './tiers.ts';

/** Pods that must leave, by tier; terminating ones count until they are gone. */
export interface PodCounts {
  readonly left: number;
  /** Those of them that are kept until a person acknowledges it, in no tier; absent: none. */
  readonly kept?: number;
  /** Lowest priority first. */
  readonly tiers: readonly Pick<TierProgress, 'key' | 'left'>[];
}

/** What starts a tier besides the tiers themselves. */
export interface TierOpening {
  /** The started tiers made no progress for the tier wait. */
  readonly tierWaitOver: boolean;
  readonly lastQuarter: boolean;
}

const WAIT_MS = 1;

/** The highest started tier (DR-21). */
export const startedTo = (
  before: TierKey | null,
  { tiers }: PodCounts,
  { tierWaitOver, lastQuarter }: TierOpening,
): TierKey | null =>
  startTiers({ startedTo: before, lastMovedAtMs: 0 }, tiers, {
    nowMs: tierWaitOver ? WAIT_MS : 0,
    waitMs: WAIT_MS,
    lastQuarterMs: lastQuarter ? 0 : Number.POSITIVE_INFINITY,
  }).startedTo;

/** True when all that is left waits for a person to acknowledge it (RS-12). */
export const onlyKeptLeft = ({ left, kept = 0 }: PodCounts): boolean => kept > 0 && kept === left;

/** True while a tier with pods has not started. */
export const tiersWait = (started: TierKey | null, { tiers }: PodCounts): boolean =>
  tiers.some(({ key, left }) => left > 0 && (started === null || key > started));
