/**
 * Writes UpcomingNode objects. Promises: every write passes the write budget in class `phase`, is
 * counted under the names of existing dashboards, and sends only what changed.
 */
import { Clock, Context, Effect, Layer } from 'effect';
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
import { type CountedOutcome, type ObjectRequest, objectWrites } from './object-writes.ts';
import { Writes } from './writes.ts';

/** The API path of UpcomingNodes. */
export const UPCOMING_NODES_PATH = `${GROUP_PATH}/upcomingnodes`;

/** The machine of the object, and all inputs of the decision. */
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

/** The dependencies of the live layer besides the API server. */
export interface UpcomingNodesOptions {
  readonly telemetry: Telemetry;
  /** Interns the text of equal specs; see `src/domain/text-pool.ts`. */
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
        project: (raw) => projectUpcomingNode(raw, intern),
      });
      const writes = yield* Writes;
      const send = ({ call, outcomeOf }: ObjectRequest<CountedOutcome<UpcomingNodeProjection>>) =>
        outcomeOf(writes.send('phase', call));
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
        write: (body: object) => ObjectRequest<CountedOutcome<UpcomingNodeProjection>>,
      ) => body === undefined ? Effect.succeed(NOTHING_TO_WRITE) : send(write(body));
      return {
        create: ({ machineId, name, facts }) =>
          counted(
            'create',
            send(create(newUpcomingNode(machineId, name, facts.reported?.spec ?? '{}'), name)),
          ),
        patchStatus: ({ name, facts }) =>
          counted(
            'status_update',
            Effect.flatMap(
              Clock.currentTimeMillis,
              (nowMs) => patched(statusPatch(facts, nowMs), (body) => patchStatus(name, body)),
            ),
          ),
        patchSpec: ({ machineId, name, facts }) =>
          counted(
            'spec_update',
            patched(specPatch(machineId, facts), (body) => patch(name, body)),
          ),
        remove: ({ name, facts }) =>
          counted('delete', send(remove(name, facts.current?.uid ?? ''))),
      };
    }),
  );
