/**
 * A connection to an embedded cluster in this process, on its time.
 *
 * Promises: requests and answers take a moment each, in order; a request that was sent is answered.
 */
import { Effect, Layer } from 'effect';
import { textAt } from '../../domain/json.ts';
import type { Time } from '../../domain/time.ts';
import {
  type KubeAnswer,
  KubeApi,
  type KubeCall,
  NotSent,
  type WatchLine,
  WatchRefused,
} from '../../effects/kube-api.ts';
import type { EmbeddedCluster } from '../on-demand-packages.ts';

/** One way between a client and the API server. */
const LATENCY_MS = 2;

type Response = ReturnType<EmbeddedCluster['answer']>;

/** Passes pushed lines to one reader. */
const makeChannel = () => {
  const waiting: (readonly WatchLine[])[] = [];
  let isEnded = false;
  let resume = (): void => {};
  async function* read(): AsyncGenerator<readonly WatchLine[]> {
    while (true) {
      const lines = waiting.shift();
      if (lines !== undefined) yield lines;
      else if (isEnded) return;
      else await new Promise<void>((resolve) => resume = resolve);
    }
  }
  return {
    lines: read(),
    push: (lines: readonly WatchLine[]): void => {
      waiting.push(lines);
      resume();
    },
    end: (): void => {
      isEnded = true;
      resume();
    },
  };
};

const requestOf = (call: Pick<KubeCall, 'path' | 'query'> & Partial<KubeCall>) => {
  const search = new URLSearchParams(call.query).toString();
  return {
    method: call.method ?? 'GET',
    path: `${call.path}${search === '' ? '' : `?${search}`}`,
    headers: { 'content-type': call.contentType ?? 'application/json' },
    ...(call.body === undefined ? {} : { body: JSON.parse(JSON.stringify(call.body)) }),
  };
};

const answerOf = (response: Response): KubeAnswer => {
  if (response._tag === 'Watch') return { status: 500, body: undefined };
  const { status, headers, body } = response;
  const seconds = Number(headers['retry-after']);
  return { status, body, ...(seconds > 0 ? { retryAfterSeconds: seconds } : {}) };
};

type Watch = Extract<Response, { readonly _tag: 'Watch' }>;

/** Lines in the order of the server, a moment later. */
const follow = (watch: Watch, time: Time) => {
  const channel = makeChannel();
  const close = watch.open({
    lines: (lines) => void time.schedule(LATENCY_MS, () => channel.push(lines)),
    ended: () => void time.schedule(LATENCY_MS, channel.end),
    cut: () => void time.schedule(LATENCY_MS, channel.end),
  });
  return {
    channel,
    close: () => {
      close();
      channel.end();
    },
  };
};

const MAY_NOT_LEAVE = 'the precondition of the request no longer holds';

/** The API server of an embedded cluster. */
export const simulatedApi = (
  { answer }: Pick<EmbeddedCluster, 'answer'>,
  time: Time,
): Layer.Layer<KubeApi> => {
  const exchange = <Value>(serve: () => Value): Effect.Effect<Value> =>
    Effect.callback((resume) => {
      const cancel = time.schedule(LATENCY_MS, () => {
        const value = serve();
        time.schedule(LATENCY_MS, () => resume(Effect.succeed(value)));
      });
      return Effect.sync(cancel);
    });
  return Layer.succeed(KubeApi, {
    call: (call) =>
      Effect.suspend(() =>
        call.mayLeave?.() ?? true
          ? exchange(() => answerOf(answer(requestOf(call))))
          : Effect.fail(new NotSent({ why: MAY_NOT_LEAVE }))
      ),
    watch: (call) =>
      Effect.gen(function* () {
        const response = yield* exchange(() => answer(requestOf(call)));
        if (response._tag === 'Answer') {
          const { status, body } = response;
          return yield* new WatchRefused({ status, message: textAt(body, 'message') ?? '' });
        }
        const { channel } = yield* Effect.acquireRelease(
          Effect.sync(() => follow(response, time)),
          ({ close }) => Effect.sync(close),
        );
        return channel.lines;
      }),
  });
};
