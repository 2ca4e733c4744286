/**
 * Exports the spans of reclaims over OTLP (HTTP, protobuf). Loaded only with an endpoint.
 *
 * Promises: never waits for the endpoint, except for three seconds at the end of the process; while
 * it does not answer, spans are dropped and nothing else happens.
 */
import { Effect, Layer, Logger, ManagedRuntime } from 'effect';
import { FetchHttpClient } from 'effect/http';
import { OtlpSerialization, OtlpTracer } from 'effect/observability';
import type { Time } from '../domain/time.ts';
import type { Inspector } from './inspector.ts';
import { ReclaimSpans, type TracedCall } from './reclaim-spans.ts';

/** Where spans go, and what they say of this process. */
export interface TracingOptions {
  /** The base URL, to which `/v1/traces` is added. */
  readonly endpoint: string;
  readonly version: string;
  readonly cluster: string | undefined;
  readonly time: Pick<Time, 'now'>;
  /** How often spans are sent, and how long the last ones may take; by default 5 s and 3 s. */
  readonly times?: { readonly exportMs: number; readonly closeMs: number };
}

/** A span around a request to the API server, when it belongs to a reclaim. */
export type TraceCall = <Answer extends { readonly status: number }, Fault>(
  call: TracedCall,
  made: Effect.Effect<Answer, Fault>,
) => Effect.Effect<Answer, Fault>;

/** Running tracing. */
export interface Tracing {
  readonly observe: Inspector;
  readonly traceCall: TraceCall;
  /** Ends open spans and sends what is left. */
  readonly close: () => Promise<void>;
}

const tracesUrl = (endpoint: string): string => `${endpoint.replace(/\/+$/, '')}/v1/traces`;

const TIMES = { exportMs: 5000, closeMs: 3000 };

const exporter = ({ endpoint, version, cluster, times = TIMES }: TracingOptions) =>
  OtlpTracer.layer({
    url: tracesUrl(endpoint),
    exportInterval: times.exportMs,
    shutdownTimeout: times.closeMs,
    resource: {
      serviceName: 'tidegate',
      serviceVersion: version,
      attributes: cluster === undefined ? {} : { 'k8s.cluster.name': cluster },
    },
  }).pipe(
    Layer.provide(OtlpSerialization.layerProtobuf),
    Layer.provide(FetchHttpClient.layer),
    // Its lines would be beside the log of the process, in another format.
    Layer.provide(Logger.layer([])),
  );

/** Begins tracing; spans are sent every five seconds. */
export const startTracing = async (options: TracingOptions): Promise<Tracing> => {
  const runtime = ManagedRuntime.make(exporter(options));
  const tracer = await runtime.runPromise(Effect.tracer);
  const spans = new ReclaimSpans(tracer, options.time);
  return {
    observe: spans.observe,
    traceCall: (call, made) =>
      Effect.suspend(() => {
        const span = spans.callSpan(call);
        if (span === undefined) return made;
        const { name, parent, attributes } = span;
        return made.pipe(
          Effect.tap(({ status }) =>
            Effect.annotateCurrentSpan('http.response.status_code', status)
          ),
          Effect.withSpan(name, { kind: 'client', parent, attributes }),
          Effect.withTracer(tracer),
        );
      }),
    close: async () => {
      spans.close();
      await runtime.dispose();
    },
  };
};
