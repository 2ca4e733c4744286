/**
 * Acquires, renews and releases the Lease by merge patches with a `resourceVersion` precondition:
 * an outdated writer gets a 409 instead of winning.
 *
 * Promises: every result is an outcome; after a lost answer the Lease is read again, so that a
 * landed renewal is not mistaken for another holder's; these calls bypass the write budget, whose
 * gate they open, and wait for no connection that other requests hold.
 */
import { Clock, Data, Effect } from 'effect';
import { asRecord, textAt } from '../domain/json.ts';
import {
  type AcquireOutcome,
  type HeldLease,
  heldSpec,
  type LeaseRecord,
  leaseRecordOf,
  mayTakeLease,
  releasedSpec,
  type ReleaseOutcome,
  type RenewOutcome,
} from '../domain/lease.ts';
import { type KubeAnswer, KubeApi, type KubeCall } from './kube-api.ts';

/** The lease, its holder, and its duration. */
export interface LeaseClaim {
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
  readonly leaseMs: number;
  /** Per request: a lost one must leave time for the next before the deadline. */
  readonly timeoutMs: number;
}

const NANOS_PER_MS = 1e6;

const monotonicMs = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / NANOS_PER_MS);

/** The API path of the Leases of a namespace. */
export const leasesPath = (namespace: string): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

class LeaseCallFailed extends Data.TaggedError('LeaseCallFailed')<{
  readonly why: string;
  readonly retryAfterMs: number;
}> {}

const failed = (why: string, retryAfterSeconds = 0): LeaseCallFailed =>
  new LeaseCallFailed({ why, retryAfterMs: retryAfterSeconds * 1000 });

const refused = ({ status, body, retryAfterSeconds }: KubeAnswer): LeaseCallFailed =>
  failed(textAt(body, 'message') ?? `status ${status}`, retryAfterSeconds);

const ask = (call: KubeCall): Effect.Effect<KubeAnswer, LeaseCallFailed, KubeApi> =>
  KubeApi.use((api) =>
    Effect.mapError(api.call({ ...call, isUrgent: true }), ({ why }) => failed(why))
  );

const pathOf = ({ namespace, name }: LeaseClaim): string => `${leasesPath(namespace)}/${name}`;

/** The current Lease; null when there is none. */
const look = (claim: LeaseClaim): Effect.Effect<LeaseRecord | null, LeaseCallFailed, KubeApi> =>
  Effect.flatMap(
    ask({ method: 'GET', path: pathOf(claim), timeoutMs: claim.timeoutMs }),
    (answer) => {
      if (answer.status === 404) return Effect.succeed(null);
      if (answer.status !== 200) return Effect.fail(refused(answer));
      return Effect.succeed(leaseRecordOf(answer.body));
    },
  );

type Write = { readonly _tag: 'Written' } & HeldLease | { readonly _tag: 'Conflict' };

/** Creates the Lease, or patches the one that was `found`. */
const write = (
  claim: LeaseClaim,
  found: LeaseRecord | null,
  spec: Readonly<Record<string, unknown>>,
): Effect.Effect<Write, LeaseCallFailed, KubeApi> =>
  Effect.gen(function* () {
    const sentAtMs = yield* monotonicMs;
    const answer = yield* ask(
      found === null
        ? {
          method: 'POST',
          path: leasesPath(claim.namespace),
          body: {
            apiVersion: 'coordination.k8s.io/v1',
            kind: 'Lease',
            metadata: { name: claim.name, namespace: claim.namespace },
            spec,
          },
          timeoutMs: claim.timeoutMs,
        }
        : {
          method: 'PATCH',
          path: pathOf(claim),
          contentType: 'application/merge-patch+json',
          body: { metadata: { resourceVersion: found.resourceVersion }, spec },
          timeoutMs: claim.timeoutMs,
        },
    );
    // A patch of a deleted Lease finds nothing: treated as a conflict.
    if (answer.status === 409 || (answer.status === 404 && found !== null)) {
      return { _tag: 'Conflict' };
    }
    if (answer.status !== 200 && answer.status !== 201) return yield* Effect.fail(refused(answer));
    if (asRecord(answer.body) === undefined) {
      return yield* Effect.fail(failed('the answer is not a Lease'));
    }
    const answeredAtMs = yield* monotonicMs;
    return { _tag: 'Written', lease: leaseRecordOf(answer.body), sentAtMs, answeredAtMs };
  });

const hold = (claim: LeaseClaim, found: LeaseRecord | null) =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (nowMs) =>
      write(claim, found, heldSpec(claim.identity, found, { leaseMs: claim.leaseMs, nowMs })),
  );

const asFault = ({ why, retryAfterMs }: LeaseCallFailed) =>
  Effect.succeed({ _tag: 'Fault' as const, why, retryAfterMs });

/**
 * Looks at the lease and takes it when it may be taken. `expiredResourceVersion` is the one that
 * our own clock has seen unchanged for its whole time.
 */
export const acquireLease = (
  claim: LeaseClaim,
  expiredResourceVersion: string | null,
): Effect.Effect<AcquireOutcome, never, KubeApi> =>
  Effect.gen(function* (): Effect.fn.Return<AcquireOutcome, LeaseCallFailed, KubeApi> {
    const found = yield* look(claim);
    if (found !== null && !mayTakeLease(found, claim.identity, expiredResourceVersion)) {
      return { _tag: 'HeldByOther', lease: found };
    }
    const written = yield* hold(claim, found);
    return written._tag === 'Conflict' ? { _tag: 'Overtaken' } : { ...written, _tag: 'Acquired' };
  }).pipe(Effect.catch(asFault));

/** Renews a held lease; after a conflict it reads the current holder. */
export const renewLease = (
  claim: LeaseClaim,
  held: LeaseRecord | null,
): Effect.Effect<RenewOutcome, never, KubeApi> =>
  Effect.gen(function* (): Effect.fn.Return<RenewOutcome, LeaseCallFailed, KubeApi> {
    const written = yield* hold(claim, held);
    if (written._tag === 'Written') return { ...written, _tag: 'Renewed' };
    const found = yield* look(claim);
    if (found !== null && !mayTakeLease(found, claim.identity, null)) {
      return { _tag: 'Taken', lease: found };
    }
    const again = yield* hold(claim, found);
    return again._tag === 'Written'
      ? { ...again, _tag: 'Renewed' }
      : { _tag: 'Fault', why: 'another client is writing the lease', retryAfterMs: 0 };
  }).pipe(Effect.catch(asFault));

/** Releases the lease, if it is ours: an empty holder, which a standby takes over at once. */
export const releaseLease = (
  claim: LeaseClaim,
): Effect.Effect<ReleaseOutcome, never, KubeApi> =>
  Effect.gen(function* (): Effect.fn.Return<ReleaseOutcome, LeaseCallFailed, KubeApi> {
    const found = yield* look(claim);
    if (found === null || found.holder !== claim.identity) return { _tag: 'NotOurs' };
    const nowMs = yield* Clock.currentTimeMillis;
    const written = yield* write(claim, found, releasedSpec(found, nowMs));
    return written._tag === 'Written'
      ? { _tag: 'Released' }
      : { _tag: 'Fault', why: 'the lease changed concurrently', retryAfterMs: 0 };
  }).pipe(Effect.catch(asFault));
