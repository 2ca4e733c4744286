/**
 * A process's transport to the embedded API server: `KubeApi` without a socket, on simulated time.
 *
 * Promises: requests and answers take time; `mayLeave` is called in the step that sends the
 * request; a sent request is processed even when its caller has given up; watch lines arrive in
 * order. Faults are drawn from the world's seed. Observers of the line see every request when it is
 * sent and every line when it arrives.
 */
import { Effect, Layer } from 'effect';
import { textAt } from '../../src/domain/json.ts';
import type { ServerDate } from '../../src/domain/cluster-time.ts';
import type { Time } from '../../src/domain/time.ts';
import {
  AnswerLost,
  type KubeAnswer,
  KubeApi,
  type KubeCall,
  type KubeFault,
  NotSent,
  type WatchLine,
  WatchRefused,
} from '../../src/effects/kube-api.ts';
import type {
  ClusterAnswer,
  ClusterRequest,
  ClusterResponse,
  ClusterWatch,
} from '../../packages/embedded-kubernetes/src/api.ts';
import { watchChannel } from '../support/api/watch-channel.ts';
import type { Chance } from './chance.ts';
import type { ProcessLine } from './process-line.ts';

/** The network conditions between a process and the API server; changed by the plan. */
export interface Weather {
  /** Nothing gets through. */
  outage: boolean;
  /** How many requests in one go wrong. */
  errorShare: number;
  /** The maximum latency of one way, in milliseconds. */
  latencyMs: number;
  /** The duration of lists of this collection; '' for none. */
  slowList: string;
  slowListMs: number;
  /** The time that each frame of the shard takes on its link, in milliseconds. */
  frameMs: number;
}

/** Observes the traffic. */
export interface ApiTap {
  /** A request is sent; returns a callback for its answer (undefined: lost). */
  readonly leaves: (call: KubeCall) => (answer: KubeAnswer | undefined) => void;
  /** The server has processed a request of this process. */
  readonly done: (call: KubeCall, answer: KubeAnswer) => void;
  readonly arrives: (path: string, lines: readonly WatchLine[]) => void;
}

/** A request that has arrived, before the server processes it. */
export interface Arrival {
  /** The server processes it. */
  readonly pass: () => void;
  /** An interceptor answers. */
  readonly answer: (answer: KubeAnswer) => void;
}

/** Intercepts requests before the server; calls one of the two, at once, later or never. */
export type RequestInterceptor = (call: KubeCall, arrival: Arrival) => void;

/** Passes every request. */
export const passEveryRequest: RequestInterceptor = (_call, { pass }) => pass();

/** The inputs of a line. */
export interface ApiLineOptions {
  readonly line: ProcessLine;
  /** The time of server and network. */
  readonly world: Time;
  readonly handle: (request: ClusterRequest) => ClusterResponse;
  readonly interceptor: RequestInterceptor;
  readonly weather: Weather;
  readonly chance: Chance;
  readonly tap: ApiTap;
  /** The clock of the server in an answer. */
  readonly onServerDate: (date: ServerDate) => void;
}

/** The inputs, and whether this line is cut off. */
interface LineState extends ApiLineOptions {
  readonly isCutOff: () => boolean;
}

/** The line, and its controls for the plan. */
export interface ApiLine {
  readonly layer: Layer.Layer<KubeApi>;
  /** While true nothing gets through for this process alone. */
  readonly cutOff: (isCutOff: boolean) => void;
  /** Ends every open watch, abruptly or cleanly. */
  readonly dropWatches: (how: 'cut' | 'eof') => void;
}

const CALL_TIMEOUT_MS = 30_000;
const UNREACHABLE = 'connect ECONNREFUSED';

const wireOf = (call: Pick<KubeCall, 'path' | 'query' | 'body'> & Partial<KubeCall>) => {
  const search = new URLSearchParams(call.query).toString();
  const request: ClusterRequest = {
    method: call.method ?? 'GET',
    path: `${call.path}${search === '' ? '' : `?${search}`}`,
    headers: { 'content-type': call.contentType ?? 'application/json' },
    ...(call.body === undefined ? {} : { body: JSON.parse(JSON.stringify(call.body)) }),
  };
  return request;
};

const answerOf = ({ status, headers, body }: ClusterAnswer): KubeAnswer => {
  const seconds = Number(headers['retry-after']);
  return {
    status,
    body,
    ...(Number.isFinite(seconds) && seconds > 0 ? { retryAfterSeconds: seconds } : {}),
  };
};

const FAILURES: readonly [KubeAnswer, ...KubeAnswer[]] = [
  { status: 500, body: { kind: 'Status', status: 'Failure', message: 'etcdserver: timeout' } },
  { status: 503, body: { kind: 'Status', status: 'Failure', message: 'apiserver is restarting' } },
  {
    status: 429,
    body: { kind: 'Status', status: 'Failure', message: 'Too many requests' },
    retryAfterSeconds: 1,
  },
];

/** The fault of a request: it does not arrive, it is refused, or its answer is lost. */
type Mishap = 'unreachable' | 'refused' | 'answerLost' | 'requestLost';

const mishapOf = ({ weather, chance, isCutOff }: LineState): Mishap | undefined => {
  if (weather.outage || isCutOff()) {
    return chance.pick(['unreachable', 'unreachable', 'requestLost']);
  }
  if (!chance.happens(weather.errorShare)) return undefined;
  return chance.pick(['unreachable', 'refused', 'answerLost', 'requestLost']);
};

/** A request in flight. */
interface Flight {
  readonly call: KubeCall;
  readonly land: (answer: KubeAnswer | undefined, serverMs: number) => void;
}

/** The effect of the network on a sent request. */
const fly = (parts: LineState, { call, land }: Flight, mishap: Mishap | undefined): void => {
  const { world, handle, interceptor, chance, weather, tap } = parts;
  const isSlow = weather.slowList !== '' && call.method === 'GET' &&
    call.path.endsWith(weather.slowList);
  const lagMs = (): number => chance.int(1, weather.latencyMs) + (isSlow ? weather.slowListMs : 0);
  if (mishap === 'requestLost') return;
  if (mishap === 'refused') {
    const failure = chance.pick(FAILURES);
    world.schedule(lagMs(), () => land(failure, world.now()));
    return;
  }
  const restart = (answer: KubeAnswer | undefined): void => {
    const serverMs = world.now();
    world.schedule(lagMs(), () => land(mishap === 'answerLost' ? undefined : answer, serverMs));
  };
  const pass = (): void => {
    const response = handle(wireOf(call));
    const answer = response._tag === 'Answer' ? answerOf(response) : undefined;
    if (answer !== undefined) tap.done(call, answer);
    restart(answer);
  };
  world.schedule(lagMs(), () => interceptor(call, { pass, answer: restart }));
};

type Resume = (end: Effect.Effect<KubeAnswer, KubeFault>) => void;

/** The step that sends a request. */
const leave = (parts: LineState, call: KubeCall, resume: Resume): void => {
  const { line, tap, onServerDate } = parts;
  if (!(call.mayLeave?.() ?? true)) {
    return resume(
      Effect.fail(new NotSent({ why: 'the precondition of the request no longer holds' })),
    );
  }
  const mishap = mishapOf(parts);
  if (mishap === 'unreachable') return resume(Effect.fail(new NotSent({ why: UNREACHABLE })));
  const received = tap.leaves(call);
  let over = false;
  const end = (answer: KubeAnswer | undefined, why: string): void => {
    if (over) return;
    over = true;
    cancelTimeout();
    received(answer);
    resume(answer === undefined ? Effect.fail(new AnswerLost({ why })) : Effect.succeed(answer));
  };
  const cancelTimeout = line.time.schedule(
    call.timeoutMs ?? CALL_TIMEOUT_MS,
    () => end(undefined, 'no answer in time'),
  );
  const sentMs = line.time.monotonic();
  const land = (answer: KubeAnswer | undefined, serverMs: number): void =>
    line.reach(() => {
      if (answer !== undefined) {
        // Dates of answers have whole seconds.
        const wholeMs = Math.floor(serverMs / 1000) * 1000;
        onServerDate({ serverMs: wholeMs, roundTripMs: line.time.monotonic() - sentMs });
      }
      end(answer, 'the connection was cut');
    });
  fly(parts, { call, land }, mishap);
};

const makeCall = (parts: LineState) => (call: KubeCall): Effect.Effect<KubeAnswer, KubeFault> =>
  Effect.callback((resume) => {
    // Connecting takes time; a caller that gives up before has sent nothing.
    const cancel = parts.line.time.schedule(0, () => leave(parts, call, resume));
    return Effect.sync(cancel);
  });

/** One open watch: lines in flight, in order. */
interface OpenWatch {
  readonly end: (how: 'cut' | 'eof') => void;
}

const refusalOf = ({ status, body }: ClusterAnswer): WatchRefused =>
  new WatchRefused({ status, message: textAt(body, 'message') ?? '' });

const makeWatches = (parts: LineState) => {
  const { line, world, weather, chance, tap } = parts;
  const open = new Set<OpenWatch>();
  /** Messages of the server arrive in order. */
  const follow = (watch: ClusterWatch, path: string) => {
    const channel = watchChannel();
    let dueMs = 0;
    const deliver = (act: () => void): void => {
      dueMs = Math.max(dueMs, world.monotonic() + chance.int(1, weather.latencyMs));
      world.schedule(dueMs - world.monotonic(), () => line.reach(act));
    };
    const opened: OpenWatch = {
      end: (how) => {
        open.delete(opened);
        close();
        deliver(() => channel.end(how));
      },
    };
    const close = watch.open({
      lines: (lines) =>
        deliver(() => {
          tap.arrives(path, lines);
          channel.push(lines);
        }),
      ended: () => {
        open.delete(opened);
        deliver(() => channel.end('eof'));
      },
      cut: () => {
        open.delete(opened);
        deliver(() => channel.end('cut'));
      },
    });
    open.add(opened);
    return {
      channel,
      close: () => {
        open.delete(opened);
        close();
        channel.end('cut');
      },
    };
  };
  return { open, follow };
};

type Watches = ReturnType<typeof makeWatches>;

/** A watch that was answered, after a round trip. */
const requestWatch = (parts: LineState, call: Pick<KubeCall, 'path' | 'query'>) =>
  Effect.callback<ClusterResponse, KubeFault>((resume) => {
    const { line, world, handle, chance, weather } = parts;
    const mishap = mishapOf(parts);
    const lagMs = (): number => chance.int(1, weather.latencyMs);
    const cancel = line.time.schedule(CALL_TIMEOUT_MS, () => {
      resume(Effect.fail(new AnswerLost({ why: 'no answer in time' })));
    });
    world.schedule(lagMs(), () => {
      if (mishap === 'requestLost') return;
      const response = mishap === undefined ? handle(wireOf(call)) : undefined;
      world.schedule(lagMs(), () =>
        line.reach(() => {
          cancel();
          resume(
            response === undefined
              ? Effect.fail(new AnswerLost({ why: UNREACHABLE }))
              : Effect.succeed(response),
          );
        }));
    });
    return Effect.sync(cancel);
  });

const makeWatch = (parts: LineState, watches: Watches): KubeApi['Service']['watch'] => (call) =>
  Effect.gen(function* () {
    const response = yield* requestWatch(parts, call);
    if (response._tag === 'Answer') return yield* refusalOf(response);
    const { channel } = yield* Effect.acquireRelease(
      Effect.sync(() => watches.follow(response, call.path)),
      ({ close }) => Effect.sync(close),
    );
    return channel.lines;
  });

/** A line of one process. */
export const apiLine = (options: ApiLineOptions): ApiLine => {
  let isCutOff = false;
  const parts: LineState = { ...options, isCutOff: () => isCutOff };
  const watches = makeWatches(parts);
  const dropWatches = (how: 'cut' | 'eof'): void => {
    for (const watch of [...watches.open]) watch.end(how);
  };
  return {
    layer: Layer.succeed(KubeApi, { call: makeCall(parts), watch: makeWatch(parts, watches) }),
    dropWatches,
    cutOff: (now) => {
      isCutOff = now;
      if (now) dropWatches('cut');
    },
  };
};
