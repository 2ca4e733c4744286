/** The shard's state of one cluster: its demand and its session. */
import type { AcceptedNeed } from './needs.ts';
import type { Session } from './session.ts';

/** The last report to a cluster about a profile. */
export interface ReportedCapacity {
  readonly need: AcceptedNeed;
  /** Equal for equal reports. */
  readonly summary: string;
}

/** A cluster. Only the shard modifies it. */
export interface Cluster {
  readonly id: string;
  /** The session that receives frames; older ones are muted. */
  live: Session | undefined;
  /** Undefined until a roll-up is accepted: a fleet that has just started reclaims nothing. */
  needs: readonly AcceptedNeed[] | undefined;
  /** Consecutive doubtful roll-ups. */
  doubtStreak: number;
  /** Keys of the needs that the last cycle covered. */
  satisfied: ReadonlySet<string>;
  /** Until when a need gets no further machine (wall-clock milliseconds), by key of the need. */
  readonly pausedUntil: Map<string, number>;
  /** The last report of each profile on the live session, by fingerprint. */
  readonly reportedCapacity: Map<string, ReportedCapacity>;
}

/** A new cluster. */
export const newCluster = (id: string): Cluster => ({
  id,
  live: undefined,
  needs: undefined,
  doubtStreak: 0,
  satisfied: new Set(),
  pausedUntil: new Map(),
  reportedCapacity: new Map(),
});

/** Whether the cluster has a session with an accepted Hello. */
export const connected = ({ live }: Cluster): boolean =>
  live !== undefined && live.report().state !== 'ended';
