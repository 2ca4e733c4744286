/**
 * Writes the phase and the condition of a CapacityRequest.
 *
 * Promises: an acknowledgement is one status merge patch with all of it together and no
 * resourceVersion (DEM-08); its transient failures are retried at once with the same bytes, so that
 * a repetition changes nothing; Pending is written only over the version that had no phase; nothing
 * fails.
 */
import { Clock, Context, Effect, Layer, Schedule } from 'effect';
import { GROUP_PATH } from '../domain/api-group.ts';
import {
  acknowledgedPatch,
  type NewRequest,
  pendingPatch,
  type RequestStatus,
} from '../domain/demand/request-status.ts';
import type { Identity } from '../domain/facts.ts';
import { type ObjectKey, type ResourceVersion, resourceVersion } from '../domain/ids.ts';
import { textAt } from '../domain/json.ts';
import type { KubeAnswer, KubeCall } from './kube-api.ts';
import { Writes } from './writes.ts';

/** The API path of CapacityRequests, in all namespaces. */
export const CAPACITY_REQUESTS_PATH = `${GROUP_PATH}/capacityrequests`;

/** The outcome of an acknowledgement. */
export type AcknowledgeOutcome =
  | { readonly _tag: 'Acknowledged'; readonly resourceVersion: ResourceVersion }
  /** Deleted concurrently: nothing to do. */
  | { readonly _tag: 'Gone' }
  /** The API server will never accept this patch. */
  | { readonly _tag: 'Refused'; readonly why: string }
  /** Transient: a later attempt may succeed. */
  | { readonly _tag: 'Fault'; readonly why: string };

/** The outcome of a first phase. */
export type PendingOutcome =
  | { readonly _tag: 'Written' }
  /** Acknowledged, changed or deleted concurrently: nothing to do. */
  | { readonly _tag: 'Changed' }
  | { readonly _tag: 'Failed'; readonly why: string };

/** A request in an acknowledged roll-up: its current status, and the generation in the roll-up. */
export interface AcknowledgedRequest extends RequestStatus {
  readonly key: ObjectKey;
}

/** CapacityRequests of the cluster. */
export class CapacityRequests extends Context.Service<CapacityRequests, {
  readonly acknowledge: (
    request: AcknowledgedRequest,
  ) => Effect.Effect<AcknowledgeOutcome>;
  /** Sets Pending unless the request changed since it was observed. */
  readonly setPending: (request: Identity & NewRequest) => Effect.Effect<PendingOutcome>;
}>()('tidegate/CapacityRequests') {}

const PATCH_TIMEOUT_MS = 15_000;
/** Attempts within one acknowledgement; later ones belong to the next roll-ups. */
const QUICK_TRIES = 3;
const QUICK_BACKOFF = Schedule.jittered(Schedule.exponential('200 millis'));

const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 405, 409, 413, 415, 422]);

/** `namespace/name` → the path of its status. */
const statusPath = (key: ObjectKey): string => {
  const slash = key.indexOf('/');
  const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)].map(encodeURIComponent);
  return `${GROUP_PATH}/namespaces/${namespace}/capacityrequests/${name}/status`;
};

const statusCall = (key: ObjectKey, body: object): KubeCall => ({
  method: 'PATCH',
  path: statusPath(key),
  contentType: 'application/merge-patch+json',
  body,
  timeoutMs: PATCH_TIMEOUT_MS,
});

const CHANGED: ReadonlySet<number> = new Set([404, 409]);

const pendingOutcomeOf = ({ status, body }: KubeAnswer): PendingOutcome => {
  if (status >= 200 && status < 300) return { _tag: 'Written' };
  if (CHANGED.has(status)) return { _tag: 'Changed' };
  return { _tag: 'Failed', why: `${status} ${textAt(body, 'message') ?? ''}`.trim() };
};

const outcomeOf = ({ status, body }: KubeAnswer): AcknowledgeOutcome => {
  if (status >= 200 && status < 300) {
    const version = textAt(body, 'metadata', 'resourceVersion') ?? '';
    return { _tag: 'Acknowledged', resourceVersion: resourceVersion(version) };
  }
  const why = `${status} ${textAt(body, 'message') ?? ''}`.trim();
  if (status === 404) return { _tag: 'Gone' };
  return { _tag: REFUSALS.has(status) ? 'Refused' : 'Fault', why };
};

/** CapacityRequests of a real API server. */
export const capacityRequestsLayer: Layer.Layer<CapacityRequests, never, Writes> = Layer.effect(
  CapacityRequests,
  Effect.gen(function* () {
    const writes = yield* Writes;
    const once = (call: KubeCall) =>
      writes.send('request', call).pipe(
        Effect.map(outcomeOf),
        Effect.flatMap((outcome) =>
          outcome._tag === 'Fault' ? Effect.fail(outcome) : Effect.succeed(outcome)
        ),
      );
    return {
      setPending: (request) =>
        Effect.gen(function* () {
          const body = pendingPatch(request, yield* Clock.currentTimeMillis);
          return yield* writes.send('request', statusCall(request.key, body)).pipe(
            Effect.map(pendingOutcomeOf),
            Effect.catch(({ why }) => Effect.succeed<PendingOutcome>({ _tag: 'Failed', why })),
          );
        }),
      acknowledge: (request) =>
        Effect.gen(function* () {
          const body = acknowledgedPatch(request, yield* Clock.currentTimeMillis);
          const call = statusCall(request.key, body);
          return yield* once(call).pipe(
            Effect.retry({
              times: QUICK_TRIES - 1,
              schedule: QUICK_BACKOFF,
              while: ({ _tag }) => _tag !== 'NotLeader',
            }),
            Effect.catch(({ why }) => Effect.succeed<AcknowledgeOutcome>({ _tag: 'Fault', why })),
          );
        }),
    };
  }),
);
