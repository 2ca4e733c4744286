/**
 * Patches Nodes for drains: one merge patch each, built in `src/domain/drain/cordon-patch.ts`.
 *
 * Promises: every patch passes the write budget in class `phase` and carries the resourceVersion
 * that it is based on, so that a late one does no harm; nothing fails and nothing is retried here.
 */
import { Context, Effect, Layer } from 'effect';
import type { Telemetry } from '../api/telemetry.ts';
import { conditionPatch, type DrainCondition } from '../domain/drain/drain-condition.ts';
import { projectDrainedNode } from '../domain/drain/drained-node.ts';
import type { NodeWriteOutcome } from '../domain/drain/node-write.ts';
import { textAt } from '../domain/json.ts';
import { nodeStatusCall, sendConditions } from './condition-writes.ts';
import type { KubeAnswer, KubeCall } from './kube-api.ts';
import { Writes } from './writes.ts';

/** From sending to the last byte of the answer. */
const PATCH_TIMEOUT_MS = 15_000;
/** Answers that a retry would repeat. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 405, 406, 413, 415, 422]);

/** The right to the status is optional. */
const FORBIDDEN = 403;

/** The purpose of a Node patch, as a label of `tidegate_node_writes_total`. */
export type NodeWritePurpose = 'cordon' | 'end' | 'release';

/** A condition with its moment on the wall clock. */
export interface TimedCondition {
  readonly condition: DrainCondition;
  readonly nowMs: number;
}

/** One patch of one Node. */
export interface NodeWrite {
  readonly node: string;
  readonly purpose: NodeWritePurpose;
  /** Metadata only, when there is a condition. */
  readonly body: object;
  /** Written in the same request, where the operator may write the status. */
  readonly timed?: TimedCondition;
}

/** A condition to show on one Node. */
export interface ConditionWrite extends TimedCondition {
  readonly node: string;
}

/** Patches Nodes. */
export class Cordons extends Context.Service<Cordons, {
  readonly patch: (write: NodeWrite) => Effect.Effect<NodeWriteOutcome>;
  /** Best effort: a failed write is retried a few times, and the next one replaces it. */
  readonly setCondition: (write: ConditionWrite) => Effect.Effect<void>;
}>()('tidegate/Cordons') {}

const outcomeOf = ({ status, body }: KubeAnswer): NodeWriteOutcome => {
  const why = `${status} ${textAt(body, 'message') ?? ''}`.trim();
  if (status >= 200 && status < 300) {
    const node = projectDrainedNode(body);
    return node === undefined
      ? { _tag: 'Fault', why: 'the answer of the API server is not a Node' }
      : { _tag: 'Written', node };
  }
  if (status === 404) return { _tag: 'Gone' };
  if (status === 409) return { _tag: 'Conflict' };
  return REFUSALS.has(status) ? { _tag: 'Refused', why } : { _tag: 'Fault', why };
};

/** The patch of a Node; with its status when there is a condition. */
const callOf = ({ node, body, timed }: NodeWrite): KubeCall =>
  timed === undefined
    ? {
      method: 'PATCH',
      timeoutMs: PATCH_TIMEOUT_MS,
      path: `/api/v1/nodes/${node}`,
      body,
      contentType: 'application/merge-patch+json',
    }
    : nodeStatusCall(node, conditionPatch(timed.condition, timed.nowMs, body));

/** Nodes of a real API server. */
export const cordonsLayer = (telemetry: Telemetry): Layer.Layer<Cordons, never, Writes> =>
  Layer.effect(
    Cordons,
    Effect.gen(function* () {
      const writes = yield* Writes;
      const countWrite = (op: string, outcome: string): void =>
        telemetry.count('tidegate_node_writes_total', 1, { op, outcome });
      return {
        setCondition: ({ node, ...timed }) =>
          sendConditions(writes, callOf({ node, purpose: 'end', body: {}, timed })).pipe(
            Effect.match({
              onSuccess: ({ status }) =>
                countWrite('condition', status < 300 ? 'Written' : 'Refused'),
              onFailure: () => countWrite('condition', 'Fault'),
            }),
          ),
        patch: ({ timed, ...write }) =>
          writes.send('phase', callOf({ ...write, ...(timed && { timed }) })).pipe(
            Effect.flatMap((answer) =>
              timed !== undefined && answer.status === FORBIDDEN
                ? writes.send('phase', callOf(write))
                : Effect.succeed(answer)
            ),
            Effect.match({
              onSuccess: outcomeOf,
              onFailure: ({ why }): NodeWriteOutcome => ({ _tag: 'Fault', why }),
            }),
            Effect.tap(({ _tag }) => Effect.sync(() => countWrite(write.purpose, _tag))),
          ),
      };
    }),
  );
