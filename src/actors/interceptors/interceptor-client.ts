/**
 * The connection of this process, as an interceptor of `@tidegate/interceptor` uses it.
 *
 * Promises: writes share the budget and the gate of all others of the process; `settled` resolves
 * when every request has its answer.
 */
import { Effect, Exit, Scope } from 'effect';
import {
  errorTagOf,
  type KubernetesAnswer,
  type KubernetesClient,
  KubernetesError,
  type KubernetesRequest,
  type WatchLine,
} from '@tidegate/interceptor';
import {
  type KubeAnswer,
  KubeApi,
  type KubeCall,
  type KubeFault,
  type WatchRefused,
} from '../../effects/kube-api.ts';
import { type WriteFault, Writes } from '../../effects/writes.ts';
import { type EffectRuntime, UNABORTED } from '../actor-logic.ts';

/** What the client runs on. */
export type InterceptorRuntime = EffectRuntime<KubeApi | Writes>;

/** A client whose requests in flight are known. */
export interface InterceptorClient extends KubernetesClient {
  readonly settled: () => Promise<void>;
}

/** `/api/v1/pods?limit=5`, as path and query. */
const targetOf = (path: string): Pick<KubeCall, 'path' | 'query'> => {
  const [bare = '', query] = path.split('?', 2);
  return query === undefined
    ? { path: bare }
    : { path: bare, query: Object.fromEntries(new URLSearchParams(query)) };
};

const callOf = (
  { method, path, body, contentType, mayLeave }: KubernetesRequest,
): KubeCall => ({
  ...targetOf(path),
  method,
  ...(body === undefined ? {} : { body }),
  ...(contentType === undefined ? {} : { contentType }),
  ...(mayLeave === undefined ? {} : { mayLeave }),
});

const answerOf = ({ status, body, retryAfterSeconds }: KubeAnswer): KubernetesAnswer => ({
  status,
  body,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterMs: retryAfterSeconds * 1000 }),
});

const unavailable = ({ why }: KubeFault | WriteFault): KubernetesError =>
  new KubernetesError('Unavailable', why);

const refused = (path: string, fault: KubeFault | WatchRefused): KubernetesError =>
  fault._tag === 'WatchRefused'
    ? new KubernetesError(
      errorTagOf(fault.status),
      `Cannot watch ${path}: ${fault.message || `status ${fault.status}`}`,
      { status: fault.status, retryAfterMs: (fault.retryAfterSeconds ?? 0) * 1000 },
    )
    : unavailable(fault);

const unlessFailed = <Value>(outcome: Value | KubernetesError): Value => {
  if (outcome instanceof KubernetesError) throw outcome;
  return outcome;
};

const requested = async (
  runtime: InterceptorRuntime,
  request: KubernetesRequest,
): Promise<KubernetesAnswer> => {
  const call = callOf(request);
  const sent: Effect.Effect<KubeAnswer, WriteFault, KubeApi | Writes> = request.method === 'GET'
    ? KubeApi.use((api) => api.call(call))
    : Writes.use((writes) => writes.send('eviction', call));
  const answer = sent.pipe(Effect.match({ onSuccess: answerOf, onFailure: unavailable }));
  return unlessFailed(await runtime.runPromise(answer, { signal: request.signal ?? UNABORTED }));
};

async function* watched(
  runtime: InterceptorRuntime,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<WatchLine> {
  const target = targetOf(path);
  const scope = Scope.makeUnsafe();
  let isClosed = false;
  const close = (): void => {
    // The runtime may be disposed when the stream has ended after an abort.
    if (isClosed) return;
    isClosed = true;
    runtime.runPromise(Scope.close(scope, Exit.void), { signal: UNABORTED });
  };
  signal.addEventListener('abort', close, { once: true });
  try {
    const opened = KubeApi.use((api) => api.watch(target)).pipe(
      Scope.provide(scope),
      Effect.match({
        onSuccess: (chunks) => chunks,
        onFailure: (fault) => refused(target.path, fault),
      }),
    );
    const chunks = unlessFailed(await runtime.runPromise(opened, { signal }));
    for await (const lines of chunks) yield* lines;
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

/** The client over the services of this process. */
export const interceptorClient = (runtime: InterceptorRuntime): InterceptorClient => {
  const inFlight = new Set<Promise<unknown>>();
  return {
    request: (request) => {
      const answered = requested(runtime, request).finally(() => inFlight.delete(answered));
      inFlight.add(answered);
      return answered;
    },
    watch: (path, signal) => watched(runtime, path, signal),
    settled: async () => {
      await Promise.allSettled(inFlight);
    },
  };
};
