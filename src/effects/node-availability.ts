/**
 * Writes the state of Nodes, and deletes the pods of those that are lost.
 *
 * Promises: each call passes the write budget; a pod is deleted with its UID as precondition, not
 * through the Eviction API, because a lost pod takes no budget (RS-20); nothing fails and is
 * retried here.
 */
import { Context, Effect, Layer } from 'effect';
import { textAt } from '../domain/json.ts';
import { nodeStatusCall, sendConditions } from './condition-writes.ts';
import type { KubeAnswer, KubeCall } from './kube-api.ts';
import { type WriteFault, Writes } from './writes.ts';

/** From sending to the last byte of the answer. */
const TIMEOUT_MS = 15_000;

/** What a Node lacks; the taints first, because they keep pods away. */
export interface AvailabilityWrite {
  readonly node: string;
  /** A merge patch. */
  readonly taints: object | undefined;
  /** A strategic merge patch of the status. */
  readonly condition: object | undefined;
}

/** How a write of a Node ended. */
export type AvailabilityOutcome =
  /** The Node as the API server has it now. */
  | { readonly _tag: 'Written'; readonly node: unknown }
  | { readonly _tag: 'Fault'; readonly why: string };

/** A pod to delete. */
export interface PodRemoval {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Called in the step that sends the request. */
  readonly mayLeave: () => boolean;
}

/** How a deletion ended. */
export type RemovalOutcome =
  | { readonly _tag: 'Deleted' }
  /** It is gone, or another pod has its name by now. */
  | { readonly _tag: 'Gone' }
  | { readonly _tag: 'Fault'; readonly why: string };

/** A strategic merge patch of the status of a pod. */
export interface PodCondition {
  readonly namespace: string;
  readonly name: string;
  readonly body: object;
}

/** How it ended; a pod that is gone needs nothing. */
export type PodConditionOutcome = 'Written' | 'Refused' | 'Fault';

/** What the availability of Nodes writes. */
export class NodeAvailabilityApi extends Context.Service<NodeAvailabilityApi, {
  readonly write: (write: AvailabilityWrite) => Effect.Effect<AvailabilityOutcome>;
  readonly remove: (pod: PodRemoval) => Effect.Effect<RemovalOutcome>;
  /** Patches the conditions of a pod; best effort: a failed write is retried a few times. */
  readonly showOnPod: (pod: PodCondition) => Effect.Effect<PodConditionOutcome>;
}>()('tidegate/NodeAvailabilityApi') {}

const whyOf = ({ status, body }: KubeAnswer): string =>
  `${status} ${textAt(body, 'message') ?? ''}`.trim();

const written = (answer: KubeAnswer): AvailabilityOutcome =>
  answer.status < 300
    ? { _tag: 'Written', node: answer.body }
    : { _tag: 'Fault', why: whyOf(answer) };

const removed = (answer: KubeAnswer): RemovalOutcome => {
  if (answer.status < 300) return { _tag: 'Deleted' };
  return answer.status === 404 || answer.status === 409
    ? { _tag: 'Gone' }
    : { _tag: 'Fault', why: whyOf(answer) };
};

const fault = ({ why }: WriteFault) => ({ _tag: 'Fault' as const, why });

const taintsCall = (node: string, body: object): KubeCall => ({
  method: 'PATCH',
  timeoutMs: TIMEOUT_MS,
  path: `/api/v1/nodes/${node}`,
  body,
  contentType: 'application/merge-patch+json',
});

const podStatusCall = ({ namespace, name, body }: PodCondition): KubeCall => ({
  method: 'PATCH',
  timeoutMs: TIMEOUT_MS,
  path: `/api/v1/namespaces/${namespace}/pods/${name}/status`,
  body,
  contentType: 'application/strategic-merge-patch+json',
});

const removalCall = ({ namespace, name, uid, mayLeave }: PodRemoval): KubeCall => ({
  method: 'DELETE',
  timeoutMs: TIMEOUT_MS,
  path: `/api/v1/namespaces/${namespace}/pods/${name}`,
  body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
  mayLeave,
});

/** Nodes and pods of a real API server. */
export const nodeAvailabilityLayer: Layer.Layer<NodeAvailabilityApi, never, Writes> = Layer.effect(
  NodeAvailabilityApi,
  Effect.gen(function* () {
    const writes = yield* Writes;
    const patch = (call: KubeCall): Effect.Effect<AvailabilityOutcome> =>
      writes.send('phase', call).pipe(Effect.match({ onSuccess: written, onFailure: fault }));
    return {
      write: ({ node, taints, condition }) =>
        Effect.gen(function* () {
          let outcome: AvailabilityOutcome = { _tag: 'Fault', why: 'nothing is to be written' };
          if (taints !== undefined) outcome = yield* patch(taintsCall(node, taints));
          if (condition === undefined || (taints !== undefined && outcome._tag === 'Fault')) {
            return outcome;
          }
          return yield* patch(nodeStatusCall(node, condition));
        }),
      showOnPod: (pod) =>
        sendConditions(writes, podStatusCall(pod)).pipe(Effect.match({
          onSuccess: ({ status }): PodConditionOutcome => status < 300 ? 'Written' : 'Refused',
          onFailure: (): PodConditionOutcome => 'Fault',
        })),
      remove: (pod) =>
        writes.send('eviction', removalCall(pod))
          .pipe(Effect.match({ onSuccess: removed, onFailure: fault })),
    };
  }),
);
