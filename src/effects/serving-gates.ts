/**
 * Writes the readiness gates of pods, and reads whether Services still send clients to a pod.
 *
 * Promises: nothing is watched: the EndpointSlices of one namespace are listed while a pod of it
 * leaves, and pods that leave it together share one list; a list that began before a pod asked says
 * nothing of it, because its gate may have been open then; nothing fails and is retried here.
 */
import { Context, Effect, Fiber, Layer } from 'effect';
import { listsAsReady } from '../domain/drain/serving-gate.ts';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import { type KubeAnswer, KubeApi, type KubeCall } from './kube-api.ts';
import { readList } from './object-lists.ts';
import { Writes } from './writes.ts';

/** From sending to the last byte of an answer, or of the last page. */
const TIMEOUT_MS = 10_000;

/** The gate of a pod, as it must be. */
export interface GateWrite {
  readonly namespace: string;
  readonly name: string;
  /** A strategic merge patch of the status. */
  readonly body: object;
}

/** How a write ended. */
export type GateWriteOutcome =
  | 'Written'
  /** The pod is gone, or another one has its name. */
  | 'Gone'
  | 'Refused'
  /** This process does not lead (any more). */
  | 'NotLeader'
  | 'Fault';

/** What serving gates write and read. */
export class ServingGates extends Context.Service<ServingGates, {
  readonly write: (write: GateWrite) => Effect.Effect<GateWriteOutcome>;
  /** True when an EndpointSlice lists the pod as ready, and when that is not known. */
  readonly isListed: (namespace: string, uid: string) => Effect.Effect<boolean>;
}>()('tidegate/ServingGates') {}

const callOf = ({ namespace, name, body }: GateWrite): KubeCall => ({
  method: 'PATCH',
  timeoutMs: TIMEOUT_MS,
  path: `/api/v1/namespaces/${namespace}/pods/${name}/status`,
  body,
  contentType: 'application/strategic-merge-patch+json',
});

/** Answers to a write that a later one may not get; 409: the pod is changed again and again. */
const FAULTS: ReadonlySet<number> = new Set([401, 409, 429]);
const NOT_FOUND = 404;
const INVALID = 422;

/** Another pod has the name: a UID does not change (Kubernetes API conventions: *Metadata*). */
const isOfOtherPod = ({ status, body }: KubeAnswer): boolean =>
  status === INVALID &&
  listOrEmptyAt(body, 'details', 'causes').some((cause) =>
    textAt(cause, 'field') === 'metadata.uid'
  );

const outcomeOf = (answer: KubeAnswer): GateWriteOutcome => {
  const { status } = answer;
  if (status < 300) return 'Written';
  if (status === NOT_FOUND || isOfOtherPod(answer)) return 'Gone';
  return FAULTS.has(status) || status >= 500 ? 'Fault' : 'Refused';
};

/** The EndpointSlices of a namespace; `undefined` when they cannot be read. */
type Slices = readonly unknown[] | undefined;

const slicesIn = (namespace: string): Effect.Effect<Slices, never, KubeApi> =>
  readList<unknown>({
    path: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
  }, (slice) => slice).pipe(
    Effect.map((list) => {
      if (list._tag === 'Listed') return list.objects;
      // Not served: no Service sends clients by them.
      return list.status === NOT_FOUND ? [] : undefined;
    }),
    Effect.timeoutOrElse({ duration: TIMEOUT_MS, orElse: () => Effect.succeed(undefined) }),
    Effect.orElseSucceed(() => undefined),
  );

/** Gates of a real API server. */
export const servingGatesLayer: Layer.Layer<ServingGates, never, Writes | KubeApi> = Layer.effect(
  ServingGates,
  Effect.gen(function* () {
    const writes = yield* Writes;
    const api = yield* KubeApi;
    const scope = yield* Effect.scope;
    /** The newest list of each namespace that is under way or about to begin. */
    const lists = new Map<string, { readonly fiber: Fiber.Fiber<Slices>; hasBegun: boolean }>();
    /** In the scope of the process: a caller that ends does not abort the list of the others. */
    const shared = (namespace: string): Effect.Effect<Slices> =>
      Effect.suspend(() => {
        const newest = lists.get(namespace);
        if (newest?.hasBegun === false) return Fiber.join(newest.fiber);
        const list = Effect.gen(function* () {
          // Those that ask in the same step share it.
          yield* newest === undefined ? Effect.yieldNow : Fiber.await(newest.fiber);
          const own = lists.get(namespace);
          if (own !== undefined) own.hasBegun = true;
          const slices = yield* slicesIn(namespace);
          if (lists.get(namespace) === own) lists.delete(namespace);
          return slices;
        });
        const read = Effect.provideService(list, KubeApi, api);
        return Effect.flatMap(Effect.forkIn(read, scope), (fiber) => {
          lists.set(namespace, { fiber, hasBegun: false });
          return Fiber.join(fiber);
        });
      });
    return {
      write: (write) =>
        writes.send('eviction', callOf(write)).pipe(Effect.match({
          onSuccess: outcomeOf,
          onFailure: ({ _tag }): GateWriteOutcome => _tag === 'NotLeader' ? _tag : 'Fault',
        })),
      isListed: (namespace, uid) =>
        Effect.map(
          shared(namespace),
          (slices) => slices?.some((slice) => listsAsReady(slice, uid)) ?? true,
        ),
    };
  }),
);
