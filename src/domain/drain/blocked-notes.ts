/**
 * When to say that a drain is held up (DR-42): once for each budget or reason that has held up pods
 * of the node for ten seconds, and never for each pod or retry.
 *
 * Promises: a pure function of what blocks now and what blocked before; what was said is not said
 * again in the same drain, also when it went away in between. Times are monotonic milliseconds.
 */
import { type Blocker, type BlockerReason, isBlocking, namedPods } from './blocker.ts';

/** How long something holds pods up before it is said. */
export const BLOCKED_NOTE_MS = 10_000;

/** A pod that must leave and what keeps it. */
export interface HeldPod {
  /** `namespace/name`. */
  readonly key: string;
  readonly blocker: Blocker;
}

/** What has blocked since when, by reason and subject; plain data. */
export type BlockedSince = Readonly<Record<string, BlockedSpan>>;

interface BlockedSpan {
  /** `null` while it blocks nothing. */
  readonly sinceMs: number | null;
  readonly told: boolean;
}

/** One Event to write. */
export interface BlockedNote {
  readonly reason: BlockerReason;
  readonly note: string;
}

/** What to say now, what to remember, and when to look again (`null`: when something changes). */
export interface BlockedVerdict {
  readonly notes: readonly BlockedNote[];
  readonly since: BlockedSince;
  readonly againMs: number | null;
}

/** Nothing has blocked yet. */
export const NOTHING_BLOCKED: BlockedSince = {};

const spanOf = (since: BlockedSince, cause: string): BlockedSpan | undefined =>
  Object.hasOwn(since, cause) ? since[cause] : undefined;

const byCause = (held: readonly HeldPod[]): ReadonlyMap<string, readonly HeldPod[]> => {
  const groups = new Map<string, HeldPod[]>();
  for (const pod of held) {
    const { reason, subject } = pod.blocker;
    if (!isBlocking(reason)) continue;
    const cause = `${reason} ${subject}`;
    const group = groups.get(cause);
    if (group === undefined) groups.set(cause, [pod]);
    else group.push(pod);
  }
  return groups;
};

const noteOf = (pods: readonly HeldPod[]): readonly BlockedNote[] => {
  const reason = pods[0]?.blocker.reason;
  if (reason === undefined) return [];
  const named = pods.map(({ key, blocker }) => ({ key, text: blocker.text }));
  return [{ reason, note: `Cannot evict ${namedPods(named)}` }];
};

/** What to say of the pods that are held up now. */
export const noteBlocked = (
  before: BlockedSince,
  held: readonly HeldPod[],
  nowMs: number,
): BlockedVerdict => {
  const causes = byCause(held);
  const notes: BlockedNote[] = [];
  const spans: [string, BlockedSpan][] = [];
  const due: number[] = [];
  for (const [cause, { told }] of Object.entries(before)) {
    if (told && !causes.has(cause)) spans.push([cause, { sinceMs: null, told }]);
  }
  for (const [cause, pods] of causes) {
    const known = spanOf(before, cause);
    const sinceMs = known?.sinceMs ?? nowMs;
    const isDue = known?.told !== true && nowMs - sinceMs >= BLOCKED_NOTE_MS;
    if (isDue) notes.push(...noteOf(pods));
    const told = isDue || known?.told === true;
    if (!told) due.push(sinceMs + BLOCKED_NOTE_MS);
    spans.push([cause, { sinceMs, told }]);
  }
  return {
    notes,
    since: Object.fromEntries(spans),
    againMs: due.length === 0 ? null : Math.min(...due),
  };
};
