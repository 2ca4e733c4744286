/** What the shard knows of one cluster: its demand and its session. */
import type { AcceptedNeed } from './needs.ts';
import type { Session } from './session.ts';

/** What was reported to a cluster about a profile. */
export interface ReportedCapacity {
  readonly need: AcceptedNeed;
  /** Equal for equal reports. */
  readonly summary: string;
}

/** A cluster. Held and changed by the shard alone. */
export interface Cluster {
  readonly id: string;
  /** The session that frames go to; older ones are muted. */
  live: Session | undefined;
  /** Undefined until a roll-up was accepted: a fleet that has just started takes nothing back. */
  needs: readonly AcceptedNeed[] | undefined;
  /** Doubtful roll-ups in a row. */
  doubtStreak: number;
  /** Keys of the needs that were covered in the last cycle. */
  satisfied: ReadonlySet<string>;
  /** Wall-clock milliseconds until which a need gets no further machine, by key of the need. */
  readonly pausedUntil: Map<string, number>;
  /** What was last reported of each profile on the live session, by fingerprint. */
  readonly reportedCapacity: Map<string, ReportedCapacity>;
}

/** A cluster that nothing is known of. */
export const newCluster = (id: string): Cluster => ({
  id,
  live: undefined,
  needs: undefined,
  doubtStreak: 0,
  satisfied: new Set(),
  pausedUntil: new Map(),
  reportedCapacity: new Map(),
});

/** Whether frames to this cluster arrive: its session has sent a good Hello. */
export const connected = ({ live }: Cluster): boolean =>
  live !== undefined && live.report().state !== 'ended';
