/**
 * The acts on UpcomingNode objects. Promises: every write passes the write budget in class `phase`,
 * is counted under the names that existing dashboards read, and sends only what changed.
 */
import { Context, Effect, Layer } from 'effect';
import type { Telemetry } from '../api/telemetry.ts';
import { GROUP_PATH } from '../domain/api-group.ts';
import type { SpecText } from '../domain/machine-spec.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import {
  newUpcomingNode,
  type ObjectWrite,
  projectUpcomingNode,
  specPatch,
  statusPatch,
  type UpcomingNodeFacts,
  type UpcomingNodeProjection,
} from '../domain/upcoming-node.ts';
import { KubeApi } from './kube-api.ts';
import { type CountedOutcome, objectWrites } from './object-writes.ts';
import { Writes } from './writes.ts';

/** Where UpcomingNodes are served. */
export const UPCOMING_NODES_PATH = `${GROUP_PATH}/upcomingnodes`;

/** The machine whose object it is, and all that decides about it. */
export interface UpcomingNodeWrite {
  readonly machineId: string;
  readonly name: string;
  readonly facts: UpcomingNodeFacts;
}

type Act = (write: UpcomingNodeWrite) => Effect.Effect<WriteOutcome<UpcomingNodeProjection>>;

/** Writes UpcomingNodes. */
export class UpcomingNodes extends Context.Service<UpcomingNodes, {
  readonly create: Act;
  readonly patchStatus: Act;
  readonly patchSpec: Act;
  readonly remove: Act;
}>()('tidegate/UpcomingNodes') {}

/** What the live layer needs besides the API server. */
export interface UpcomingNodesOptions {
  readonly telemetry: Telemetry;
  /** Shares the text of equal specs; see `src/domain/text-pool.ts`. */
  readonly intern: (text: SpecText) => SpecText;
}

const NOTHING_TO_WRITE: CountedOutcome<UpcomingNodeProjection> = {
  outcome: { _tag: 'Fault', why: 'there was nothing to write' },
  result: 'error',
};

/** UpcomingNodes of a real API server. */
export const upcomingNodesLayer = (
  { telemetry, intern }: UpcomingNodesOptions,
): Layer.Layer<UpcomingNodes, never, KubeApi | Writes> =>
  Layer.effect(
    UpcomingNodes,
    Effect.gen(function* () {
      const { create, patch, patchStatus, remove } = objectWrites({
        path: UPCOMING_NODES_PATH,
        api: yield* KubeApi,
        writes: yield* Writes,
        project: (raw) => projectUpcomingNode(raw, intern),
      });
      const counted = (
        op: ObjectWrite,
        act: Effect.Effect<CountedOutcome<UpcomingNodeProjection>>,
      ): Effect.Effect<WriteOutcome<UpcomingNodeProjection>> =>
        Effect.map(act, ({ outcome, result }) => {
          telemetry.count('bigfleet_operator_upcoming_node_writes_total', 1, {
            op,
            outcome: result,
          });
          return outcome;
        });
      const patched = (
        body: object | undefined,
        send: (body: object) => Effect.Effect<CountedOutcome<UpcomingNodeProjection>>,
      ) => body === undefined ? Effect.succeed(NOTHING_TO_WRITE) : send(body);
      return {
        create: ({ machineId, name, facts }) =>
          counted(
            'create',
            create(newUpcomingNode(machineId, name, facts.reported?.spec ?? '{}'), name),
          ),
        patchStatus: ({ name, facts }) =>
          counted('status_update', patched(statusPatch(facts), (body) => patchStatus(name, body))),
        patchSpec: ({ machineId, name, facts }) =>
          counted(
            'spec_update',
            patched(specPatch(machineId, facts), (body) => patch(name, body)),
          ),
        remove: ({ name, facts }) => counted('delete', remove(name, facts.current?.uid ?? '')),
      };
    }),
  );
