/**
 * The client pool for the API server: current credentials, and the sockets opened with them.
 *
 * Promises: credentials are read again every half minute (the previous ones stay on failure) and,
 * from scratch, after a 401; new TLS material is used for new connections while requests on old
 * ones finish.
 */
import { Clock, Effect, type Scope } from 'effect';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Telemetry } from '../api/telemetry.ts';
import { sameJson } from '../domain/json-equality.ts';
import { NotSent } from './kube-api.ts';
import {
  type Credentials,
  type KubeconfigSource,
  type KubeconfigUnusable,
  readCredentials,
  readKubeconfig,
  tlsFingerprint,
} from './kubeconfig.ts';

/** A service account's token is renewed long before it expires. */
const CREDENTIALS_FRESH_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Shorter than the idle timeout of the API server, so that it never closes a socket in use. */
const SOCKET_IDLE_MS = 30_000;
/** Concurrent requests; more wait for a socket. */
const SOCKETS_MAX = 256;
const NANOS_PER_MS = 1_000_000n;

const monotonicMs = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos / NANOS_PER_MS),
);

/** Current credentials, with the sockets opened with them. */
export interface Door {
  readonly credentials: Credentials;
  readonly fingerprint: string;
  readonly dispatcher: Dispatcher;
  readonly readAtMs: number;
}

const dispatcherOf = ({ proxy, tls }: Credentials): Dispatcher => {
  const options = {
    allowH2: false,
    connections: SOCKETS_MAX,
    keepAliveTimeout: SOCKET_IDLE_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return proxy === undefined
    ? new Agent({ ...options, connect: { ...tls, timeout: CONNECT_TIMEOUT_MS } })
    : new ProxyAgent({ ...options, uri: proxy, requestTls: tls });
};

/** Opens a new pool, or keeps the sockets when the TLS material is unchanged. */
const reopened = (old: Door | undefined, credentials: Credentials, readAtMs: number): Door => {
  const fingerprint = tlsFingerprint(credentials);
  if (old?.fingerprint === fingerprint) return { ...old, credentials, readAtMs };
  old?.dispatcher.close().catch(() => {});
  return { credentials, fingerprint, dispatcher: dispatcherOf(credentials), readAtMs };
};

/** Provides the current pool. */
export interface Doorkeeper {
  /** The current pool; reads its credentials again when they are old. */
  readonly fresh: Effect.Effect<Door>;
  /** After a 401 of `used`; returns `used` when there is nothing newer. */
  readonly renewed: (used: Door) => Effect.Effect<Door, NotSent>;
}

const notSent = (problem: KubeconfigUnusable): NotSent =>
  new NotSent({ why: `Cannot read credentials: ${problem.why}` });

const sameProof = (one: Door, other: Door): boolean =>
  sameJson(one.credentials.headers, other.credentials.headers) &&
  one.fingerprint === other.fingerprint;

/** Opens the pool of `source`; leaving the scope closes every socket. */
export const makeDoorkeeper = (
  source: KubeconfigSource,
  telemetry: Telemetry,
): Effect.Effect<Doorkeeper, KubeconfigUnusable, Scope.Scope> =>
  Effect.gen(function* () {
    let config = yield* readKubeconfig(source);
    let door = reopened(undefined, yield* readCredentials(config), yield* monotonicMs);
    yield* Effect.addFinalizer(() => Effect.promise(() => door.dispatcher.destroy()));
    const reread = Effect.gen(function* () {
      const credentials = yield* readCredentials(config);
      door = reopened(door, credentials, yield* monotonicMs);
      return door;
    });
    const kept = ({ why }: KubeconfigUnusable): Door => {
      telemetry.log('warn', 'Cannot reload credentials; the previous ones stay in use', { why });
      return door;
    };
    const fresh = Effect.gen(function* () {
      const now = yield* monotonicMs;
      if (now - door.readAtMs < CREDENTIALS_FRESH_MS) return door;
      door = { ...door, readAtMs: now };
      return yield* Effect.catch(reread, (problem) => Effect.sync(() => kept(problem)));
    });
    const renewed = (used: Door) =>
      Effect.gen(function* () {
        if (!sameProof(used, door)) return door;
        config = yield* readKubeconfig(source);
        const next = yield* reread;
        return sameProof(used, next) ? used : next;
      });
    return { fresh, renewed: (used) => Effect.mapError(renewed(used), notSent) };
  });
