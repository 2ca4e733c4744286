/**
 * Which tiers of a drain have started (DR-21): lowest priority first; the next starts when earlier
 * ones are gone or made no progress for the tier wait; all start in the last quarter.
 *
 * Promises: a started tier stays started; one blocked pod starves no other; waits cannot add up
 * past the deadline. Times are monotonic milliseconds; the state is plain data.
 */
import { OWN_TIER, type TierKey, type TierProgress } from './plan.ts';

/** The progress of a drain through its tiers. */
export interface TierState {
  /** The highest started tier; `null` before the first. */
  readonly startedTo: TierKey | null;
  /** When a tier last started or a pod of a started one last made progress. */
  readonly lastMovedAtMs: number;
}

/** Inputs besides the tiers themselves. */
export interface TierView {
  readonly nowMs: number;
  readonly waitMs: number;
  readonly lastQuarterMs: number;
}

/** A new drain. */
export const freshTiers = (nowMs: number): TierState => ({ startedTo: null, lastMovedAtMs: nowMs });

/** A pod of a started tier was evicted, or is gone. */
export const tierMoved = (state: TierState, nowMs: number): TierState => ({
  ...state,
  lastMovedAtMs: nowMs,
});

/** True when pods of this tier may be evicted. */
export const hasStarted = ({ startedTo }: TierState, key: TierKey): boolean =>
  startedTo !== null && key <= startedTo;

/** The next tier with pods that has not started; `undefined` when all have. */
const nextTier = (
  state: TierState,
  tiers: readonly Pick<TierProgress, 'key' | 'left'>[],
): TierKey | undefined => {
  const waiting = tiers.filter(({ key, left }) => left > 0 && !hasStarted(state, key))
    .map(({ key }) => key);
  return waiting.length === 0 ? undefined : Math.min(...waiting);
};

const isEmptyBefore = (
  key: TierKey,
  tiers: readonly Pick<TierProgress, 'key' | 'left'>[],
): boolean => tiers.every((tier) => tier.key >= key || tier.left === 0);

/**
 * The current state. The operator's own pod stays last in the last quarter, too: evicting itself
 * while others remain would not help.
 */
export const startTiers = (
  state: TierState,
  tiers: readonly Pick<TierProgress, 'key' | 'left'>[],
  view: TierView,
): TierState => {
  const next = nextTier(state, tiers);
  if (next === undefined) return state;
  const isOpen = isEmptyBefore(next, tiers) ||
    (view.nowMs >= view.lastQuarterMs && next !== OWN_TIER) ||
    view.nowMs - state.lastMovedAtMs >= view.waitMs;
  if (!isOpen) return state;
  return startTiers({ startedTo: next, lastMovedAtMs: view.nowMs }, tiers, view);
};

/** When to decide again without an observation; `null` when every tier has started. */
export const nextStartMs = (
  state: TierState,
  tiers: readonly Pick<TierProgress, 'key' | 'left'>[],
  view: TierView,
): number | null => {
  const next = nextTier(state, tiers);
  if (next === undefined) return null;
  const waitOverAtMs = state.lastMovedAtMs + view.waitMs;
  return next === OWN_TIER ? waitOverAtMs : Math.min(waitOverAtMs, view.lastQuarterMs);
};
