/**
 * The live `KubeApi`: HTTP/1.1 over undici, as the user of a kubeconfig.
 *
 * Promises: connections are kept alive and pooled (one per request in flight; urgent requests have
 * their own); a 401 is retried
 * once when newer credentials are available; every request is counted. client-node is not used for
 * requests because its watch does not notice broken connections on Deno.
 */
import { Clock, Data, Duration, Effect, Layer } from 'effect';
import type { Dispatcher } from 'undici';
import type { Telemetry } from '../api/telemetry.ts';
import type { ServerDate } from '../domain/cluster-time.ts';
import { asText, parseJson, textAt } from '../domain/json.ts';
import { USER_AGENT } from '../domain/object-meta.ts';
import { cutText } from '../domain/text.ts';
import { exchange, headerText, type RawAnswer } from './http-exchange.ts';
import {
  AnswerLost,
  type KubeAnswer,
  KubeApi,
  type KubeCall,
  type KubeFault,
  type Method,
  type WatchLine,
  WatchRefused,
} from './kube-api.ts';
import { type KubeconfigSource, type KubeconfigUnusable, sentenceOf } from './api-credentials.ts';
import {
  type KubernetesClient,
  type KubernetesClientPool,
  makeKubernetesClientPool,
} from './kubernetes-client-pool.ts';
import { watchLines } from './watch-lines.ts';

/** How to connect. */
export interface KubeConnectionOptions {
  readonly source: KubeconfigSource;
  /** The version of Tidegate, in the user agent for the audit log. */
  readonly version: string;
  readonly telemetry: Telemetry;
  /** Called with the server's clock in each answer. */
  readonly onServerDate?: (date: ServerDate) => void;
}

const CALL_TIMEOUT_MS = 30_000;
/** The maximum length of a refusal's body. */
const REFUSAL_CHARACTERS_MAX = 4096;

const urlPath = (server: URL, path: string, query: KubeCall['query']): string => {
  const prefix = server.pathname.replace(/\/+$/, '');
  const search = new URLSearchParams(query).toString();
  return `${prefix}${path}${search === '' ? '' : `?${search}`}`;
};

/** Retry-After: seconds, or an HTTP date that is compared with the server's own clock. */
const secondsOf = (
  { retryAfter, date }: Pick<RawAnswer, 'retryAfter' | 'date'>,
  nowMs: number,
): number | undefined => {
  if (retryAfter === undefined || retryAfter.trim() === '') return undefined;
  const seconds = Number(retryAfter);
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : seconds;
  const untilMs = Date.parse(retryAfter);
  if (Number.isNaN(untilMs)) return undefined;
  const sentMs = Date.parse(date ?? '');
  return Math.max(0, untilMs - (Number.isNaN(sentMs) ? nowMs : sentMs)) / 1000;
};

/** The wait that an answer requests, if any. */
const requestedWait = (
  headers: Pick<RawAnswer, 'retryAfter' | 'date'>,
): Effect.Effect<Pick<KubeAnswer, 'retryAfterSeconds'>> =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => {
    const seconds = secondsOf(headers, nowMs);
    return seconds === undefined ? {} : { retryAfterSeconds: seconds };
  });

const answerOf = (raw: RawAnswer): Effect.Effect<KubeAnswer> =>
  Effect.map(requestedWait(raw), (wait) => ({
    status: raw.status,
    body: parseJson(raw.text) ?? raw.text,
    characters: raw.text.length,
    ...wait,
  }));

/** Headers and counters shared by all requests of a connection. */
interface RequestDefaults {
  readonly headers: (
    client: KubernetesClient,
    extra?: Record<string, string>,
  ) => Record<string, string>;
  readonly count: (client: KubernetesClient, method: Method, code: string) => void;
  readonly onServerDate: (date: ServerDate) => void;
}

const makeRequestDefaults = (
  { version, telemetry, onServerDate = () => {} }: KubeConnectionOptions,
): RequestDefaults => ({
  onServerDate,
  headers: (client, extra) => ({
    'user-agent': `${USER_AGENT}/${version}`,
    accept: 'application/json',
    ...client.credentials.headers,
    ...extra,
  }),
  count: (client, method, code) =>
    telemetry.count('rest_client_requests_total', 1, {
      code,
      method,
      host: client.credentials.server.host,
    }),
});

const makeCall = (pool: KubernetesClientPool, defaults: RequestDefaults) => {
  const once = (client: KubernetesClient, call: KubeCall): Effect.Effect<RawAnswer, KubeFault> => {
    const type = call.contentType ?? 'application/json';
    const dispatcher = call.isUrgent === true ? client.urgentDispatcher : client.dispatcher;
    const exchanged = exchange(dispatcher, {
      method: call.method,
      origin: client.credentials.server.origin,
      path: urlPath(client.credentials.server, call.path, call.query),
      headers: defaults.headers(client, call.body === undefined ? {} : { 'content-type': type }),
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      timeoutMs: call.timeoutMs ?? CALL_TIMEOUT_MS,
      ...(call.answerBytesMax === undefined ? {} : { answerBytesMax: call.answerBytesMax }),
      ...(call.mayLeave === undefined ? {} : { mayLeave: call.mayLeave }),
    });
    return Effect.timed(exchanged).pipe(
      Effect.map(([duration, answer]) => {
        const serverMs = Date.parse(answer.date ?? '');
        const roundTripMs = Duration.toMillis(duration);
        if (!Number.isNaN(serverMs)) defaults.onServerDate({ serverMs, roundTripMs });
        return answer;
      }),
      Effect.tap(({ status }) =>
        Effect.sync(() => defaults.count(client, call.method, `${status}`))
      ),
      Effect.tapError(() => Effect.sync(() => defaults.count(client, call.method, '<error>'))),
    );
  };
  return (call: KubeCall): Effect.Effect<KubeAnswer, KubeFault> =>
    Effect.gen(function* () {
      const client = yield* pool.fresh;
      const answer = yield* once(client, call);
      if (answer.status !== 401) return yield* answerOf(answer);
      const renewed = yield* pool.renewed(client);
      return yield* answerOf(renewed === client ? answer : yield* once(renewed, call));
    });
};

/** A watch that was answered. */
interface OpenedWatch extends Pick<RawAnswer, 'retryAfter' | 'date'> {
  readonly status: number;
  readonly body: Dispatcher.ResponseData['body'];
}

class ConnectionBroken extends Data.TaggedError('ConnectionBroken')<{ readonly message: string }> {}

/** The lines of `body`; every failure becomes a broken connection. */
async function* linesOf(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly WatchLine[]> {
  try {
    yield* watchLines(body);
  } catch (cause) {
    throw new ConnectionBroken({ message: sentenceOf(cause) });
  }
}

const refusalOf = (opened: OpenedWatch): Effect.Effect<never, WatchRefused> =>
  Effect.gen(function* () {
    const text = yield* Effect.promise(() => opened.body.text().catch(() => ''));
    const message = textAt(parseJson(text), 'message') ?? asText(text) ?? '';
    return yield* new WatchRefused({
      status: opened.status,
      message: cutText(message, REFUSAL_CHARACTERS_MAX),
      ...yield* requestedWait(opened),
    });
  });

const makeWatch = (pool: KubernetesClientPool, defaults: RequestDefaults) => {
  const open = (
    client: KubernetesClient,
    call: Pick<KubeCall, 'path' | 'query'>,
    signal: AbortSignal,
  ) =>
    Effect.tryPromise({
      try: async (): Promise<OpenedWatch> => {
        const { statusCode, body, headers } = await client.dispatcher.request({
          origin: client.credentials.server.origin,
          path: urlPath(client.credentials.server, call.path, call.query),
          method: 'GET',
          headers: defaults.headers(client),
          signal,
        });
        body.on('error', () => {});
        return {
          status: statusCode,
          body,
          retryAfter: headerText(headers['retry-after']),
          date: headerText(headers['date']),
        };
      },
      catch: (cause) => new AnswerLost({ why: sentenceOf(cause), cause }),
    }).pipe(
      Effect.tap(({ status }) => Effect.sync(() => defaults.count(client, 'GET', `${status}`))),
      Effect.tapError(() => Effect.sync(() => defaults.count(client, 'GET', '<error>'))),
    );
  return (call: Pick<KubeCall, 'path' | 'query'>) =>
    Effect.gen(function* () {
      const abort = new AbortController();
      yield* Effect.addFinalizer(() => Effect.sync(() => abort.abort()));
      const client = yield* pool.fresh;
      let opened = yield* open(client, call, abort.signal);
      if (opened.status === 401) {
        const renewed = yield* pool.renewed(client);
        if (renewed !== client) {
          yield* Effect.promise(() => opened.body.dump());
          opened = yield* open(renewed, call, abort.signal);
        }
      }
      return opened.status === 200 ? linesOf(opened.body) : yield* refusalOf(opened);
    });
};

/** The API server of `source`. */
export const kubeConnection = (
  options: KubeConnectionOptions,
): Layer.Layer<KubeApi, KubeconfigUnusable> =>
  Layer.effect(
    KubeApi,
    Effect.map(makeKubernetesClientPool(options.source, options.telemetry), (pool) => {
      const defaults = makeRequestDefaults(options);
      return { call: makeCall(pool, defaults), watch: makeWatch(pool, defaults) };
    }),
  );
