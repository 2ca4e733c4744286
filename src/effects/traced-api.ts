/** The API server with a span around each request that belongs to a trace. */
import { Effect, Layer } from 'effect';
import { type KubeAnswer, KubeApi, type KubeCall, type KubeFault } from './kube-api.ts';

/** Wraps a request. */
export type TraceKubeCall = (
  call: KubeCall,
  made: Effect.Effect<KubeAnswer, KubeFault>,
) => Effect.Effect<KubeAnswer, KubeFault>;

/** `api`, with each of its requests in `trace`; watches have no span. */
export const tracedApi = <Problem>(
  api: Layer.Layer<KubeApi, Problem>,
  trace: TraceKubeCall,
): Layer.Layer<KubeApi, Problem> =>
  Layer.effect(
    KubeApi,
    Effect.map(KubeApi, ({ call, watch }) => ({
      call: (one: KubeCall) => trace(one, call(one)),
      watch,
    })),
  ).pipe(Layer.provide(api));
