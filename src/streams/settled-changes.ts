/** Many streams of which only matters that something changed. */
import { audit, auditTime, merge, type Observable, type SchedulerLike, tap, timer } from 'rxjs';

/** Changes within this time are one. */
const SETTLE_MS = 500;

/** Emits once for all that `streams` emit within `settleMs`, half a second by default. */
export const settledChanges = (
  streams: readonly Observable<unknown>[],
  scheduler: SchedulerLike,
  settleMs: number = SETTLE_MS,
): Observable<unknown> => merge(...streams).pipe(auditTime(settleMs, scheduler));

/** After a change that nothing preceded for a while, this much is gathered. */
const PROMPT_MS = 20;
/** So many in a row are prompt, as many as the steps of a short task. */
const PROMPT_MAX = 30;

/**
 * Emits once for all that `streams` emit within half a second in the long run, and within 20 ms
 * after quiet: up to thirty prompt ones, of which each half second earns one again.
 */
export const promptChanges = (
  streams: readonly Observable<unknown>[],
  scheduler: SchedulerLike,
): Observable<unknown> => {
  // When the next one is due at an even pace.
  let dueMs = -Infinity;
  const waitMs = (): number =>
    Math.max(PROMPT_MS, dueMs - scheduler.now() - (PROMPT_MAX - 1) * SETTLE_MS);
  return merge(...streams).pipe(
    audit(() => timer(waitMs(), scheduler)),
    tap(() => {
      dueMs = Math.max(dueMs, scheduler.now()) + SETTLE_MS;
    }),
  );
};
