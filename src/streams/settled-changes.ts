/** Many streams of which only matters that something changed. */
import { auditTime, merge, type Observable, type SchedulerLike } from 'rxjs';

/** Changes within this time are one. */
const SETTLE_MS = 500;

/** Emits once for all that `streams` emit within `settleMs`, half a second by default. */
export const settledChanges = (
  streams: readonly Observable<unknown>[],
  scheduler: SchedulerLike,
  settleMs: number = SETTLE_MS,
): Observable<unknown> => merge(...streams).pipe(auditTime(settleMs, scheduler));
