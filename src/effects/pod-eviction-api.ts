/**
 * Sends evictions to the API server.
 *
 * Promises: the call names the pod's UID and goes through the write budget in class `eviction`;
 * `mayLeave` is called in the step that sends the first byte; a sent call is never aborted, because
 * the API server may have charged the budget already and would leave the slot charged and the pod
 * alive (DR-33). Nothing fails and nothing is retried here.
 */
import { Context, Effect, Fiber, Layer } from 'effect';
import type { Telemetry } from '../api/telemetry.ts';
import { type EvictionOutcome, evictionOutcome } from '../domain/drain/answer.ts';
import { evictionBody } from './eviction-body.ts';
import type { KubeCall } from './kube-api.ts';
import { type WriteFault, Writes } from './writes.ts';

/**
 * From sending to the last byte. An admission webhook may take half a minute, and aborting before
 * its answer would leave a charged slot behind.
 */
const EVICTION_TIMEOUT_MS = 35_000;

/** The pod to evict, and the precondition of the request. */
export interface EvictionCall {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** What the pod gets to stop, in seconds; null: its own grace. */
  readonly graceSeconds: number | null;
  readonly mayLeave: () => boolean;
}

/** Evicts pods. */
export class PodEvictionApi extends Context.Service<PodEvictionApi, {
  readonly evict: (call: EvictionCall) => Effect.Effect<EvictionOutcome>;
}>()('tidegate/PodEvictionApi') {}

const callOf = ({ graceSeconds, mayLeave, ...pod }: EvictionCall): KubeCall => ({
  method: 'POST',
  path: `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}/eviction`,
  body: evictionBody(pod, { graceSeconds }),
  timeoutMs: EVICTION_TIMEOUT_MS,
  mayLeave,
});

const outcomeOfFault = ({ _tag, why }: WriteFault): EvictionOutcome => ({
  _tag: _tag === 'AnswerLost' ? 'Unknown' : 'NotSent',
  why,
});

/** Evictions of a real API server. */
export const podEvictionApiLayer = (
  telemetry: Telemetry,
): Layer.Layer<PodEvictionApi, never, Writes> =>
  Layer.effect(
    PodEvictionApi,
    Effect.gen(function* () {
      const writes = yield* Writes;
      const scope = yield* Effect.scope;
      const sent = (call: EvictionCall): Effect.Effect<EvictionOutcome> =>
        writes.send('eviction', callOf(call)).pipe(
          Effect.match({ onSuccess: evictionOutcome, onFailure: outcomeOfFault }),
          Effect.tap(({ _tag }) =>
            Effect.sync(() => telemetry.count('tidegate_evictions_total', 1, { outcome: _tag }))
          ),
        );
      return {
        // In the scope of the process: an interrupted caller does not abort the shared call.
        evict: (call) => Effect.flatMap(Effect.forkIn(sent(call), scope), Fiber.join),
      };
    }),
  );
