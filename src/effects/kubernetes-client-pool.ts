/**
 * The client of the API server: current credentials, and the sockets that were opened with them.
 *
 * Promises: credentials are read again every half minute (the previous ones stay when that fails,
 * or names another cluster) and, from scratch, after a 401; a request waits only briefly for a
 * read, and every read has a limit, so that a hanging plugin or disk holds up no request that the
 * old ones permit; new TLS material is used for new connections while requests on old ones finish.
 */
import { Clock, Effect, Fiber, type Scope, Semaphore } from 'effect';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Telemetry } from '../api/telemetry.ts';
import { sameJson } from '../domain/json-equality.ts';
import { PLUGIN_MS_MAX } from './exec-plugins.ts';
import { NotSent } from './kube-api.ts';
import {
  type ApiCredentials,
  type KubeconfigSource,
  KubeconfigUnusable,
  sentenceOf,
  tlsFingerprint,
} from './api-credentials.ts';
import { type ApiIdentity, openIdentity } from './api-identity.ts';
import { limitedRead } from './limited-read.ts';

/** A service account's token is renewed long before it expires. */
const CREDENTIALS_FRESH_MS = 30_000;
/** Above the limit of a plugin, whose failure has the better sentence. */
const READ_MS_MAX = PLUGIN_MS_MAX + 5_000;
/** How long a request waits for a routine read; a renewal of the lease can afford it. */
const ROUTINE_WAIT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Shorter than the idle timeout of the API server, so that it never closes a socket in use. */
const SOCKET_IDLE_MS = 30_000;
/** Concurrent requests; more wait for a socket. */
const SOCKETS_MAX = 256;
/** One request and its retry: only the Lease is urgent. */
const URGENT_SOCKETS_MAX = 2;
const NANOS_PER_MS = 1_000_000n;

const monotonicMs = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos / NANOS_PER_MS),
);

/** ApiCredentials in use, with the sockets that were opened with them. */
export interface KubernetesClient {
  readonly credentials: ApiCredentials;
  readonly fingerprint: string;
  readonly dispatcher: Dispatcher;
  /** For urgent requests. */
  readonly urgentDispatcher: Dispatcher;
  readonly readAtMs: number;
}

const dispatcherOf = ({ proxy, tls }: ApiCredentials, connections: number): Dispatcher => {
  const options = {
    allowH2: false,
    connections,
    keepAliveTimeout: SOCKET_IDLE_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return proxy === undefined
    ? new Agent({ ...options, connect: { ...tls, timeout: CONNECT_TIMEOUT_MS } })
    : new ProxyAgent({ ...options, uri: proxy, requestTls: tls });
};

/** A client with new sockets, or with those of `old` when nothing that TLS sees has changed. */
const reopened = (
  old: KubernetesClient | undefined,
  credentials: ApiCredentials,
  readAtMs: number,
): KubernetesClient => {
  const fingerprint = tlsFingerprint(credentials);
  if (old?.fingerprint === fingerprint) return { ...old, credentials, readAtMs };
  old?.dispatcher.close().catch(() => {});
  old?.urgentDispatcher.close().catch(() => {});
  return {
    credentials,
    fingerprint,
    dispatcher: dispatcherOf(credentials, SOCKETS_MAX),
    urgentDispatcher: dispatcherOf(credentials, URGENT_SOCKETS_MAX),
    readAtMs,
  };
};

/** Gives the current client to each request. */
export interface KubernetesClientPool {
  /** The client in use; its credentials are read again when they are old. */
  readonly fresh: Effect.Effect<KubernetesClient>;
  /** After a 401 of `used`; returns `used` when there is nothing newer. */
  readonly renewed: (used: KubernetesClient) => Effect.Effect<KubernetesClient, NotSent>;
}

const notSent = (problem: KubeconfigUnusable): NotSent =>
  new NotSent({ why: `Cannot read credentials: ${problem.why}` });

const sameProof = (one: KubernetesClient, other: KubernetesClient): boolean =>
  sameJson(one.credentials.headers, other.credentials.headers) &&
  one.fingerprint === other.fingerprint;

/** A file of several in KUBECONFIG may have gone, or a person has chosen another context. */
const OTHER_CLUSTER = 'it names another cluster than at the start; restart to use that';

type CredentialsRead = Effect.Effect<ApiCredentials, KubeconfigUnusable>;

const credentialsOf = (identity: ApiIdentity): CredentialsRead =>
  limitedRead({
    read: () => identity.credentials(),
    limitMs: READ_MS_MAX,
    problemOf: (cause) => cause instanceof KubeconfigUnusable ? cause.why : sentenceOf(cause),
  }).pipe(Effect.mapError((why) => new KubeconfigUnusable({ why })));

/** The clients of the API server that `source` names; leaving the scope closes every socket. */
export const makeKubernetesClientPool = (
  source: KubeconfigSource,
  telemetry: Telemetry,
): Effect.Effect<KubernetesClientPool, KubeconfigUnusable, Scope.Scope> =>
  Effect.gen(function* () {
    let read = credentialsOf(yield* openIdentity(source));
    let client = reopened(undefined, yield* read, yield* monotonicMs);
    yield* Effect.addFinalizer(() => Effect.promise(() => client.dispatcher.destroy()));
    yield* Effect.addFinalizer(() => Effect.promise(() => client.urgentDispatcher.destroy()));
    const scope = yield* Effect.scope;
    const reread = (from: CredentialsRead) =>
      Effect.gen(function* () {
        const credentials = yield* from;
        if (credentials.server.href !== client.credentials.server.href) {
          return yield* new KubeconfigUnusable({ why: OTHER_CLUSTER });
        }
        client = reopened(client, credentials, yield* monotonicMs);
        return client;
      });
    const routineRead = Effect.catch(Effect.suspend(() => Effect.asVoid(reread(read))), ({ why }) =>
      Effect.sync(() =>
        telemetry.log('warn', 'Cannot reload credentials; the previous ones stay in use', { why })
      ));
    const fresh = Effect.gen(function* () {
      const now = yield* monotonicMs;
      if (now - client.readAtMs < CREDENTIALS_FRESH_MS) {
        return client;
      }
      client = { ...client, readAtMs: now };
      const reading = yield* Effect.forkIn(routineRead, scope);
      yield* Effect.timeoutOption(Fiber.join(reading), ROUTINE_WAIT_MS);
      return client;
    });
    const renewed = (used: KubernetesClient) =>
      Effect.gen(function* () {
        if (!sameProof(used, client)) {
          return client;
        }
        const opened = credentialsOf(yield* openIdentity(source));
        const next = yield* reread(opened);
        read = opened;
        return sameProof(used, next) ? used : next;
      });
    // One at a time: those that wait find what the first one has read.
    const renewals = yield* Semaphore.make(1);
    return {
      fresh,
      renewed: (used) =>
        Effect.mapError(renewals.withPermits(1)(renewed(used)), notSent),
    };
  });
