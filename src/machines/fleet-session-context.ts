/** The types of the `fleetSession` statechart, and what keeps the shard out of reach. */
import { backoffMs } from '../domain/backoff.ts';
import { nextSeed, type Seed, unitInterval } from '../domain/random.ts';
import type { EndingCause, SessionEnding } from '../domain/session.ts';

/** 500 ms → 30 s (WIRE-07). */
const RECONNECT = { firstMs: 500, lastMs: 30_000 };
/** The renewals of a fleet's sessions are spread over this many delays. */
const RENEWAL_SPREAD = 2;
export const DIAL_DEADLINE_MS = 20_000;
export const HELLO_DEADLINE_MS = 30_000;
/** Waits that add up to this are no restart of the shard: a person must know. */
const UNREACHABLE_MS = 30_000;

/** The status of the key pair; `Unneeded` without TLS. */
export type CredentialsStatus = 'Unneeded' | 'Unread' | 'Accepted' | 'Refused';

export interface FleetSessionInput {
  readonly rollupIntervalMs: number;
  /** The shortest time between a new key pair and the renewal of the session with it. */
  readonly renewalDelayMs: number;
  readonly secured: boolean;
  /** Streams dialled before; the next one gets the number after it. */
  readonly stream: number;
  readonly seed: Seed;
}

export interface FleetSessionContext {
  readonly rollupIntervalMs: number;
  readonly renewalDelayMs: number;
  readonly leading: boolean;
  readonly demandListed: boolean;
  readonly credentials: CredentialsStatus;
  /** The current stream was dialled with an earlier key pair. */
  readonly pairReplaced: boolean;
  /** Streams dialled so far; the number of the newest. */
  readonly stream: number;
  /** Ends since a stream last succeeded. */
  readonly attempt: number;
  /** What the deadlines and backoffs of these attempts add up to, in this term. */
  readonly waitedMs: number;
  readonly seed: Seed;
  readonly ending: SessionEnding | null;
}

export type FleetSessionEvent =
  | { readonly type: 'leadership.won' }
  | { readonly type: 'leadership.lost' }
  | { readonly type: 'demand.listed' }
  /** The first key pair, or one that replaces it. */
  | { readonly type: 'credentials.accepted' }
  | { readonly type: 'credentials.refused'; readonly problem: string }
  | { readonly type: 'stream.connected' }
  | { readonly type: 'hello.acknowledged' }
  /** A frame about an unknown machine was malformed. */
  | { readonly type: 'frame.malformed' }
  /** Frames arrived since the last such event; sent a few times an interval. */
  | { readonly type: 'frames.received' }
  | { readonly type: 'rollup.sent' }
  | { readonly type: 'rollup.acknowledged' }
  | { readonly type: 'stop.requested' };

/** The delay before the next dial. */
export const reconnectMs = (
  { attempt, seed }: Pick<FleetSessionContext, 'attempt' | 'seed'>,
): number => backoffMs(RECONNECT, attempt, seed);

/** The files of a rotation are complete then, and clusters with one issuer do not dial together. */
export const renewalMs = (
  { renewalDelayMs, seed }: Pick<FleetSessionContext, 'renewalDelayMs' | 'seed'>,
): number => Math.round(renewalDelayMs * (1 + RENEWAL_SPREAD * unitInterval(seed)));

/** How long such an attempt took; what else ends by itself takes no time that counts. */
const DEADLINE_MS: Readonly<Partial<Record<EndingCause, number>>> = {
  DialOverdue: DIAL_DEADLINE_MS,
  HelloOverdue: HELLO_DEADLINE_MS,
};

/** The context after the end of a stream, or of the attempt to open one. */
export const afterEnding = (
  context: FleetSessionContext,
  ending: SessionEnding,
): Pick<FleetSessionContext, 'ending' | 'attempt' | 'waitedMs' | 'seed'> => ({
  ending,
  attempt: context.attempt + 1,
  waitedMs: context.waitedMs + (DEADLINE_MS[ending.why] ?? 0),
  seed: nextSeed(context.seed),
});

const OUT_OF_REACH: ReadonlySet<EndingCause> = new Set<EndingCause>([
  'Unreachable',
  'EndedByShard',
  'DialOverdue',
  'HelloOverdue',
]);

const REFUSALS: ReadonlySet<EndingCause> = new Set<EndingCause>([
  'RefusedByShard',
  'CredentialsRefused',
]);

/** True while the key pair, or the answer of the shard to it, keeps this process from a session. */
export const isRefused = (
  { credentials, attempt, ending }: Pick<
    FleetSessionContext,
    'credentials' | 'attempt' | 'ending'
  >,
): boolean =>
  credentials === 'Refused' || (attempt > 0 && ending !== null && REFUSALS.has(ending.why));

/** True when no stream could be opened, or kept, for a while. */
export const isUnreachable = (
  { ending, waitedMs }: Pick<FleetSessionContext, 'ending' | 'waitedMs'>,
): boolean => ending !== null && OUT_OF_REACH.has(ending.why) && waitedMs >= UNREACHABLE_MS;
