/**
 * When the nodes of a maintenance may be admitted.
 *
 * Promises: a window is open from each start of its schedule for its duration; one that never
 * starts again stays closed. A closed window admits no node and leaves those alone that are under
 * way. Times are wall-clock milliseconds.
 */

/** The first start after a time; `null` when there is none any more. */
export type NextStart = (afterMs: number) => number | null;

/** What a schedule is read as. */
export type ScheduleReading =
  | { readonly _tag: 'Schedule'; readonly nextStart: NextStart }
  /** `problem` names what is wrong with the text. */
  | { readonly _tag: 'Malformed'; readonly problem: string };

/** Whether nodes may be admitted now. */
export type WindowState =
  /** Closes then at the earliest: another start may keep it open. */
  | { readonly _tag: 'Open'; readonly untilMs: number }
  /** `null`: for good. */
  | { readonly _tag: 'Closed'; readonly opensMs: number | null };

const MINUTE_MS = 60_000;

/** The state of a window. */
export const windowState = (
  nextStart: NextStart,
  durationMinutes: number,
  nowMs: number,
): WindowState => {
  const durationMs = durationMinutes * MINUTE_MS;
  const startMs = nextStart(nowMs - durationMs);
  if (startMs === null || startMs > nowMs) return { _tag: 'Closed', opensMs: startMs };
  return { _tag: 'Open', untilMs: startMs + durationMs };
};
