/**
 * The live `KubeApi`: HTTP/1.1 over undici, as the user of a kubeconfig.
 *
 * Promises: connections are kept alive and pooled (one per request in flight); a 401 is retried
 * once when newer credentials are available; every request is counted. client-node is not used for
 * requests because its watch does not notice broken connections on Deno.
 */
import { Data, Effect, Layer } from 'effect';
import type { Dispatcher } from 'undici';
import type { Telemetry } from '../api/telemetry.ts';
import { asText, parseJson, textAt } from '../domain/json.ts';
import { cutText } from '../domain/text.ts';
import { exchange, type RawAnswer } from './http-exchange.ts';
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
import { type KubeconfigSource, type KubeconfigUnusable, sentenceOf } from './kubeconfig.ts';
import { type Door, type Doorkeeper, makeDoorkeeper } from './kube-doors.ts';
import { watchLines } from './watch-lines.ts';

/** How to connect. */
export interface KubeConnectionOptions {
  readonly source: KubeconfigSource;
  /** The version of Tidegate, in the user agent for the audit log. */
  readonly version: string;
  readonly telemetry: Telemetry;
}

const CALL_TIMEOUT_MS = 30_000;
/** The maximum length of a refusal's body. */
const REFUSAL_CHARACTERS_MAX = 4096;

const urlPath = (server: URL, path: string, query: KubeCall['query']): string => {
  const prefix = server.pathname.replace(/\/+$/, '');
  const search = new URLSearchParams(query).toString();
  return `${prefix}${path}${search === '' ? '' : `?${search}`}`;
};

const secondsOf = (retryAfter: string | undefined): number | undefined => {
  const seconds = Number(retryAfter);
  return retryAfter === undefined || !Number.isFinite(seconds) || seconds < 0 ? undefined : seconds;
};

const answerOf = ({ status, retryAfter, text }: RawAnswer): KubeAnswer => {
  const seconds = secondsOf(retryAfter);
  return {
    status,
    body: parseJson(text) ?? text,
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
  };
};

/** Headers and counters shared by all requests of a connection. */
interface Manners {
  readonly headers: (door: Door, extra?: Record<string, string>) => Record<string, string>;
  readonly count: (door: Door, method: Method, code: string) => void;
}

const makeManners = ({ version, telemetry }: KubeConnectionOptions): Manners => ({
  headers: (door, extra) => ({
    'user-agent': `tidegate/${version}`,
    accept: 'application/json',
    ...door.credentials.headers,
    ...extra,
  }),
  count: (door, method, code) =>
    telemetry.count('rest_client_requests_total', 1, {
      code,
      method,
      host: door.credentials.server.host,
    }),
});

const makeCall = (keeper: Doorkeeper, manners: Manners) => {
  const once = (door: Door, call: KubeCall): Effect.Effect<RawAnswer, KubeFault> => {
    const type = call.contentType ?? 'application/json';
    return exchange(door.dispatcher, {
      method: call.method,
      origin: door.credentials.server.origin,
      path: urlPath(door.credentials.server, call.path, call.query),
      headers: manners.headers(door, call.body === undefined ? {} : { 'content-type': type }),
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      timeoutMs: call.timeoutMs ?? CALL_TIMEOUT_MS,
      ...(call.mayLeave === undefined ? {} : { mayLeave: call.mayLeave }),
    }).pipe(
      Effect.tap(({ status }) => Effect.sync(() => manners.count(door, call.method, `${status}`))),
      Effect.tapError(() => Effect.sync(() => manners.count(door, call.method, '<error>'))),
    );
  };
  return (call: KubeCall): Effect.Effect<KubeAnswer, KubeFault> =>
    Effect.gen(function* () {
      const door = yield* keeper.fresh;
      const answer = yield* once(door, call);
      if (answer.status !== 401) return answerOf(answer);
      const renewed = yield* keeper.renewed(door);
      return answerOf(renewed === door ? answer : yield* once(renewed, call));
    });
};

/** A watch that was answered. */
interface OpenedWatch {
  readonly status: number;
  readonly body: Dispatcher.ResponseData['body'];
}

class ConnectionBroken extends Data.TaggedError('ConnectionBroken')<{ readonly why: string }> {}

/** The lines of `body`; every failure becomes a broken connection. */
async function* linesOf(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly WatchLine[]> {
  try {
    yield* watchLines(body);
  } catch (cause) {
    throw new ConnectionBroken({ why: sentenceOf(cause) });
  }
}

const refusalOf = ({ status, body }: OpenedWatch): Effect.Effect<never, WatchRefused> =>
  Effect.promise(() => body.text().catch(() => '')).pipe(
    Effect.flatMap((text) => {
      const message = textAt(parseJson(text), 'message') ?? asText(text) ?? '';
      return Effect.fail(
        new WatchRefused({ status, message: cutText(message, REFUSAL_CHARACTERS_MAX) }),
      );
    }),
  );

const makeWatch = (keeper: Doorkeeper, manners: Manners) => {
  const open = (door: Door, call: Pick<KubeCall, 'path' | 'query'>, signal: AbortSignal) =>
    Effect.tryPromise({
      try: async (): Promise<OpenedWatch> => {
        const { statusCode, body } = await door.dispatcher.request({
          origin: door.credentials.server.origin,
          path: urlPath(door.credentials.server, call.path, call.query),
          method: 'GET',
          headers: manners.headers(door),
          signal,
        });
        body.on('error', () => {});
        return { status: statusCode, body };
      },
      catch: (cause) => new AnswerLost({ why: sentenceOf(cause), cause }),
    }).pipe(
      Effect.tap(({ status }) => Effect.sync(() => manners.count(door, 'GET', `${status}`))),
      Effect.tapError(() => Effect.sync(() => manners.count(door, 'GET', '<error>'))),
    );
  return (call: Pick<KubeCall, 'path' | 'query'>) =>
    Effect.gen(function* () {
      const abort = new AbortController();
      yield* Effect.addFinalizer(() => Effect.sync(() => abort.abort()));
      const door = yield* keeper.fresh;
      let opened = yield* open(door, call, abort.signal);
      if (opened.status === 401) {
        const renewed = yield* keeper.renewed(door);
        if (renewed !== door) {
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
    Effect.map(makeDoorkeeper(options.source, options.telemetry), (keeper) => {
      const manners = makeManners(options);
      return { call: makeCall(keeper, manners), watch: makeWatch(keeper, manners) };
    }),
  );
