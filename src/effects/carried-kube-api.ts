/**
 * The `KubeApi` over anything that carries requests to an API server without a socket.
 *
 * Promises: bodies cross as JSON would, so that nobody shares an object to write into; a call that
 * is not answered in its time is lost, as over a network; nothing happens but by promises and by
 * Effect's clock, so that a simulated run can be repeated.
 */
import { Data, Effect, Layer } from 'effect';
import { textAt, valueAt } from '../domain/json.ts';
import {
  AnswerLost,
  type KubeAnswer,
  KubeApi,
  type KubeCall,
  type KubeFault,
  NotSent,
  type WatchLine,
  WatchRefused,
} from './kube-api.ts';

/** A request as a carrier takes it; `path` has its query. */
export interface CarriedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A whole answer. */
export interface CarriedAnswer {
  readonly _tag: 'Answer';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Where the lines of a watch go. */
export interface CarriedReader {
  readonly lines: (lines: readonly WatchLine[]) => void;
  readonly ended: () => void;
  readonly cut: () => void;
}

/** A watch that was answered with 200; it begins when it is opened. */
export interface CarriedWatch {
  readonly _tag: 'Watch';
  readonly open: (reader: CarriedReader) => () => void;
}

/** Brings requests to an API server. Rejects with `sent: false` when nothing reached it. */
export interface KubeCarrier {
  readonly handle: (request: CarriedRequest) => Promise<CarriedAnswer | CarriedWatch>;
}

const CALL_TIMEOUT_MS = 30_000;

class ConnectionBroken extends Data.TaggedError('ConnectionBroken')<{ readonly why: string }> {}

const pathOf = ({ path, query }: Pick<KubeCall, 'path' | 'query'>): string => {
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
};

/** The value as it arrives at the other end of a connection. */
const crossed = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const faultOf = (cause: unknown): KubeFault => {
  const why = cause instanceof Error ? cause.message : String(cause);
  return valueAt(cause, 'sent') === false
    ? new NotSent({ why, cause })
    : new AnswerLost({ why, cause });
};

const retryOf = ({ headers }: CarriedAnswer): Pick<KubeAnswer, 'retryAfterSeconds'> => {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds >= 0 ? { retryAfterSeconds: seconds } : {};
};

const makeCall =
  ({ handle }: KubeCarrier) => (call: KubeCall): Effect.Effect<KubeAnswer, KubeFault> =>
    Effect.suspend(() => {
      if (call.mayLeave?.() === false) {
        return Effect.fail(new NotSent({ why: 'the request may not leave any more' }));
      }
      const timeoutMs = call.timeoutMs ?? CALL_TIMEOUT_MS;
      const asked = Effect.tryPromise({
        try: () =>
          handle({
            method: call.method,
            path: pathOf(call),
            headers: { 'content-type': call.contentType ?? 'application/json' },
            ...(call.body === undefined ? {} : { body: crossed(call.body) }),
          }),
        catch: faultOf,
      });
      return asked.pipe(
        Effect.timeoutOrElse({
          duration: timeoutMs,
          orElse: () => Effect.fail(new AnswerLost({ why: `no answer within ${timeoutMs} ms` })),
        }),
        Effect.flatMap((answer) =>
          answer._tag === 'Watch'
            ? Effect.fail(new AnswerLost({ why: 'a watch was opened by a call' }))
            : Effect.succeed({ status: answer.status, body: answer.body, ...retryOf(answer) })
        ),
      );
    });

/** Lines handed from a carrier to one reader, those that wait together. */
const makeChannel = () => {
  let waiting: WatchLine[] = [];
  let over: 'ended' | 'cut' | undefined;
  let wake = (): void => {};
  const finish = (how: 'ended' | 'cut'): void => {
    over ??= how;
    wake();
  };
  async function* lines(): AsyncGenerator<readonly WatchLine[]> {
    for (;;) {
      const batch = waiting;
      waiting = [];
      if (batch.length > 0) yield batch;
      else if (over === 'ended') return;
      else if (over === 'cut') throw new ConnectionBroken({ why: 'the connection was cut' });
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }
  const reader: CarriedReader = {
    lines: (more) => {
      waiting.push(...more);
      wake();
    },
    ended: () => finish('ended'),
    cut: () => finish('cut'),
  };
  return { reader, lines: lines() };
};

const makeWatch = ({ handle }: KubeCarrier) => (call: Pick<KubeCall, 'path' | 'query'>) =>
  Effect.gen(function* () {
    const answer = yield* Effect.tryPromise({
      try: () => handle({ method: 'GET', path: pathOf(call), headers: {} }),
      catch: faultOf,
    });
    if (answer._tag === 'Answer') {
      const message = textAt(answer.body, 'message') ?? '';
      return yield* new WatchRefused({ status: answer.status, message });
    }
    const channel = makeChannel();
    const close = answer.open(channel.reader);
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        close();
        channel.reader.ended();
      })
    );
    return channel.lines;
  });

/** The API server that `carrier` leads to. */
export const carriedKubeApi = (carrier: KubeCarrier): Layer.Layer<KubeApi> =>
  Layer.succeed(KubeApi, { call: makeCall(carrier), watch: makeWatch(carrier) });
