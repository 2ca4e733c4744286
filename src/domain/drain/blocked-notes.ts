/**
 * When to say that a drain is held up (DR-42): once for each budget or reason that has held up pods
 * of the node for ten seconds.
 *
 * Promises: what was said is not said again in the same drain, however often it goes away and comes
 * back, as a budget does that lets one pod go at a time; what went away before it was said begins
 * anew. Times are monotonic milliseconds.
 */

/** How long something holds pods up before it is said. */
const BLOCKED_MS = 10_000;

/** What has blocked since when, by cause; plain data. */
export type BlockedSince = Readonly<Record<string, BlockedSpan>>;

interface BlockedSpan {
  readonly sinceMs: number;
  readonly told: boolean;
}

/** What to say now, and what to remember. */
export interface BlockedVerdict {
  readonly due: readonly string[];
  readonly since: BlockedSince;
}

/** Nothing has blocked yet. */
export const NOTHING_BLOCKED: BlockedSince = {};

/** Which of the causes that block now are to be said; a cause is a reason with its subject. */
export const noteBlocked = (
  before: BlockedSince,
  causes: readonly string[],
  nowMs: number,
): BlockedVerdict => {
  const due: string[] = [];
  const spans = Object.entries(before).filter(([, { told }]) => told);
  for (const cause of new Set(causes)) {
    const known = Object.hasOwn(before, cause) ? before[cause] : undefined;
    if (known?.told === true) continue;
    const sinceMs = known?.sinceMs ?? nowMs;
    const told = nowMs - sinceMs >= BLOCKED_MS;
    if (told) due.push(cause);
    spans.push([cause, { sinceMs, told }]);
  }
  return { due, since: Object.fromEntries(spans) };
};
