/**
 * The Lease that decides who leads (coordination.k8s.io/v1): what it says, what it should say, and
 * when it may be taken (DR-15).
 */
import { numberAt, textAt } from './json.ts';
import { rfc3339 } from './time.ts';

/** A Lease as it was seen. */
export interface LeaseRecord {
  /** `metadata.resourceVersion`: whoever writes must have seen the newest. */
  readonly resourceVersion: string;
  /** Who holds it; empty when it was released. */
  readonly holder: string;
  readonly durationSeconds: number;
  readonly transitions: number;
  /** As the holder wrote it: compared with nothing, handed back when it is kept. */
  readonly acquireTime: string;
}

/** A lease that is ours since a write that was sent and answered at these monotonic times. */
export interface HeldLease {
  readonly lease: LeaseRecord;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
}

/** What became of an attempt to take the lease. */
export type AcquireOutcome =
  | ({ readonly _tag: 'Acquired' } & HeldLease)
  | { readonly _tag: 'HeldByOther'; readonly lease: LeaseRecord }
  /** Somebody else wrote between our look and our write. */
  | { readonly _tag: 'Overtaken' }
  | { readonly _tag: 'Fault'; readonly why: string };

/** What became of a renewal. */
export type RenewOutcome =
  | ({ readonly _tag: 'Renewed' } & HeldLease)
  | { readonly _tag: 'Taken'; readonly lease: LeaseRecord }
  | { readonly _tag: 'Fault'; readonly why: string };

/** What became of a release. */
export type ReleaseOutcome =
  | { readonly _tag: 'Released' }
  /** It is somebody else's, or gone: nothing to release. */
  | { readonly _tag: 'NotOurs' }
  | { readonly _tag: 'Fault'; readonly why: string };

/** How long a lease holds, until when it must be renewed, and how often that is tried. */
export interface LeaseTimes {
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

/** Why times do not fit each other. */
export type LeaseTimesProblem = 'RenewDeadlineTooLong' | 'RetryPeriodTooLong';

/**
 * What is wrong with these times; `undefined` when they fit each other. A leader must have stopped
 * before a standby may start, and must get more than one attempt.
 */
export const leaseTimesProblem = (
  { leaseMs, renewMs, retryMs }: LeaseTimes,
): LeaseTimesProblem | undefined => {
  if (renewMs >= leaseMs) return 'RenewDeadlineTooLong';
  return retryMs * 2 > renewMs ? 'RetryPeriodTooLong' : undefined;
};

/** Reads a Lease; what it does not say reads as released. */
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

/** What the lease should say while `identity` holds it. */
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

/** What the lease should say when its holder has let go; one second, as client-go writes it. */
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
