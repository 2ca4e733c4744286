/**
 * The leader election Lease (coordination.k8s.io/v1): how to read it, when to take it, and what to
 * write (DR-15).
 */
import { numberAt, textAt } from './json.ts';
import { rfc3339 } from './time.ts';

/** A Lease as observed. */
export interface LeaseRecord {
  /** `metadata.resourceVersion`: the precondition of every write. */
  readonly resourceVersion: string;
  /** The holder; empty after a release. */
  readonly holder: string;
  readonly durationSeconds: number;
  readonly transitions: number;
  /** As the holder wrote it; not compared, and preserved on renewal. */
  readonly acquireTime: string;
}

/** A lease held since a write that was sent and answered at these monotonic times. */
export interface HeldLease {
  readonly lease: LeaseRecord;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
}

/** A request failed; 0 unless the API server requested a wait before the next. */
export interface LeaseFault {
  readonly _tag: 'Fault';
  readonly why: string;
  readonly retryAfterMs: number;
}

/** The outcome of an attempt to acquire the lease. */
export type AcquireOutcome =
  | ({ readonly _tag: 'Acquired' } & HeldLease)
  | { readonly _tag: 'HeldByOther'; readonly lease: LeaseRecord }
  /** Another process wrote between the read and the write. */
  | { readonly _tag: 'Overtaken' }
  | LeaseFault;

/** The outcome of a renewal. */
export type RenewOutcome =
  | ({ readonly _tag: 'Renewed' } & HeldLease)
  | { readonly _tag: 'Taken'; readonly lease: LeaseRecord }
  /** The clocks say that no write was allowed meanwhile: leading must begin anew. */
  | { readonly _tag: 'Interrupted' }
  | LeaseFault;

/** The outcome of a release. */
export type ReleaseOutcome =
  | { readonly _tag: 'Released' }
  /** Held by another process, or deleted: nothing to release. */
  | { readonly _tag: 'NotOurs' }
  | LeaseFault;

/** The lease duration, the renew deadline and the retry period. */
export interface LeaseTimes {
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

/** Why the times are inconsistent. */
export type LeaseTimesProblem = 'RenewDeadlineTooLong' | 'RetryPeriodTooLong';

/**
 * Validates the times; `undefined` when they are consistent. A leader must have stopped before a
 * standby may start, and must get more than one attempt.
 */
export const leaseTimesProblem = (
  { leaseMs, renewMs, retryMs }: LeaseTimes,
): LeaseTimesProblem | undefined => {
  if (renewMs >= leaseMs) return 'RenewDeadlineTooLong';
  return retryMs * 2 > renewMs ? 'RetryPeriodTooLong' : undefined;
};

/** Reads a Lease; missing fields read as released. */
export const leaseRecordOf = (raw: unknown): LeaseRecord => ({
  resourceVersion: textAt(raw, 'metadata', 'resourceVersion') ?? '',
  holder: textAt(raw, 'spec', 'holderIdentity') ?? '',
  durationSeconds: numberAt(raw, 'spec', 'leaseDurationSeconds') ?? 0,
  transitions: numberAt(raw, 'spec', 'leaseTransitions') ?? 0,
  acquireTime: textAt(raw, 'spec', 'acquireTime') ?? '',
});

/**
 * May `identity` take the lease that is `found`? Yes when there is none, when it was released, when
 * it is ours already, or when our own clock has seen this very revision unchanged for its whole
 * time (`expiredResourceVersion`).
 */
export const mayTakeLease = (
  found: LeaseRecord | null,
  identity: string,
  expiredResourceVersion: string | null,
): boolean =>
  found === null || found.holder === '' || found.holder === identity ||
  found.resourceVersion === expiredResourceVersion;

/** RFC 3339 with microseconds: `MicroTime` accepts nothing shorter. */
const microTime = (epochMs: number): string => rfc3339(epochMs).replace(/Z$/, '000Z');

/** The lease to write while `identity` holds it. */
export const heldSpec = (
  identity: string,
  found: LeaseRecord | null,
  at: { readonly leaseMs: number; readonly nowMs: number },
): Readonly<Record<string, unknown>> => {
  const kept = found?.holder === identity && found.acquireTime !== '';
  const changedHands = found !== null && found.holder !== identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(at.leaseMs / 1000),
    acquireTime: kept ? found.acquireTime : microTime(at.nowMs),
    renewTime: microTime(at.nowMs),
    leaseTransitions: (found?.transitions ?? 0) + (changedHands ? 1 : 0),
  };
};

/** The lease to write on release; its duration is one second, as in client-go. */
export const releasedSpec = (
  found: LeaseRecord,
  nowMs: number,
): Readonly<Record<string, unknown>> => ({
  holderIdentity: '',
  leaseDurationSeconds: 1,
  acquireTime: microTime(nowMs),
  renewTime: microTime(nowMs),
  leaseTransitions: found.transitions,
});
