/**
 * Writes NodeMaintenances, and the conditions by which Nodes show them.
 *
 * Promises: every write passes the write budget in class `phase`; the status and the finalizer are
 * applied by server-side apply, each under a field manager of its own; a status is applied on the
 * version that it was decided on, and a conflict is a fault that is retried on the newer one; the
 * finalizers of others stay.
 */
import { Context, Effect, Layer } from 'effect';
import { LIFECYCLE_GROUP_VERSION } from '../domain/api-group.ts';
import { type ResourceVersion, resourceVersion } from '../domain/ids.ts';
import { asText, listOrEmptyAt, textAt } from '../domain/json.ts';
import type { MaintenanceWrite } from '../domain/node-maintenance/maintenance-step.ts';
import {
  completeBody,
  FINALIZER_MANAGER,
  finalizerBody,
  maintenanceStatusBody,
  STATUS_MANAGER,
} from '../domain/node-maintenance/maintenance-writes.ts';
import {
  MAINTENANCE_FINALIZER,
  type ObservedMaintenance,
  projectMaintenance,
} from '../domain/node-maintenance/observed-maintenance.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import { nodeStatusCall, sendConditions } from './condition-writes.ts';
import { type KubeAnswer, KubeApi } from './kube-api.ts';
import { objectSender, objectWrites } from './object-writes.ts';
import { forcedBy } from './server-side-apply.ts';
import { Writes } from './writes.ts';

type Outcome = WriteOutcome<ObservedMaintenance>;

/** Where the API server serves NodeMaintenances. */
export const NODE_MAINTENANCES_PATH = `/apis/${LIFECYCLE_GROUP_VERSION}/nodemaintenances`;

const READ_TIMEOUT_MS = 15_000;

/** A strategic merge patch of the status of one Node. */
export interface NodeConditionsWrite {
  readonly node: string;
  readonly body: object;
}

/** How it ended; a Node that is gone or is another one by now needs nothing. */
export type NodeConditionsOutcome =
  | { readonly _tag: 'Written'; readonly resourceVersion: ResourceVersion }
  | { readonly _tag: 'Absent' }
  | { readonly _tag: 'Refused'; readonly why: string }
  | { readonly _tag: 'Fault'; readonly why: string };

const conditionsOutcome = ({ status, body }: KubeAnswer): NodeConditionsOutcome => {
  if (status === 404 || status === 409) return { _tag: 'Absent' };
  if (status >= 300) {
    return { _tag: 'Refused', why: `${status} ${textAt(body, 'message') ?? ''}`.trim() };
  }
  const version = textAt(body, 'metadata', 'resourceVersion') ?? '';
  return { _tag: 'Written', resourceVersion: resourceVersion(version) };
};

/** NodeMaintenances of the cluster. */
export class NodeMaintenances extends Context.Service<NodeMaintenances, {
  /** Performs one write on the maintenance as it was observed. */
  readonly write: (
    maintenance: ObservedMaintenance,
    write: MaintenanceWrite,
  ) => Effect.Effect<Outcome>;
  /** Best effort: a failed write is retried a few times. */
  readonly setConditions: (write: NodeConditionsWrite) => Effect.Effect<NodeConditionsOutcome>;
  /** Whether the API server serves them; an API server that does not answer may. */
  readonly areServed: Effect.Effect<boolean>;
}>()('tidegate/NodeMaintenances') {}

/** With its last finalizer a deleted object goes, and the answer shows it as it was before. */
const withoutDeleted = (outcome: Outcome): Outcome =>
  outcome._tag === 'Written' && outcome.current.deleting ? { _tag: 'Absent' } : outcome;

const faulty = (why: string): Effect.Effect<Outcome> => Effect.succeed({ _tag: 'Fault', why });

/** NodeMaintenances on a real API server. */
export const nodeMaintenancesLayer: Layer.Layer<NodeMaintenances, never, KubeApi | Writes> = Layer
  .effect(
    NodeMaintenances,
    Effect.gen(function* () {
      const [api, writes] = [yield* KubeApi, yield* Writes];
      const path = NODE_MAINTENANCES_PATH;
      const objects = objectWrites({ path, api, project: projectMaintenance });
      const send = objectSender(writes, 'phase');
      const read = (name: string) =>
        api.call({
          method: 'GET',
          path: `${path}/${encodeURIComponent(name)}`,
          timeoutMs: READ_TIMEOUT_MS,
        });
      /** Ours may be owned by several managers, so that an apply without it would leave it. */
      const removeFinalizer = ({ name, uid }: ObservedMaintenance): Effect.Effect<Outcome> =>
        read(name).pipe(
          Effect.flatMap(({ status, body }): Effect.Effect<Outcome> => {
            if (status === 404) return Effect.succeed({ _tag: 'Absent' });
            if (status !== 200) return faulty(`reading it was answered with ${status}`);
            if (textAt(body, 'metadata', 'uid') !== uid) return Effect.succeed({ _tag: 'Absent' });
            const finalizers = listOrEmptyAt(body, 'metadata', 'finalizers')
              .flatMap((one) => asText(one) ?? [])
              .filter((one) => one !== MAINTENANCE_FINALIZER);
            const resourceVersion = textAt(body, 'metadata', 'resourceVersion');
            const patch = { metadata: { resourceVersion, finalizers } };
            return Effect.map(
              send(objects.patch(name, patch)),
              (outcome) => finalizers.length === 0 ? withoutDeleted(outcome) : outcome,
            );
          }),
          Effect.catch(({ why }) => faulty(why)),
        );
      return {
        setConditions: ({ node, body }) =>
          sendConditions(writes, nodeStatusCall(node, body)).pipe(
            Effect.map(conditionsOutcome),
            Effect.catch((fault) =>
              Effect.succeed<NodeConditionsOutcome>({
                _tag: 'Fault',
                why: typeof fault === 'string' ? fault : fault.why,
              })
            ),
          ),
        areServed: api.call({
          method: 'GET',
          path,
          query: { limit: '1' },
          timeoutMs: READ_TIMEOUT_MS,
        }).pipe(
          Effect.map(({ status }) => status !== 404),
          Effect.catch(() => Effect.succeed(true)),
        ),
        write: (maintenance, write) => {
          const { name } = maintenance;
          switch (write.write) {
            case 'addFinalizer':
              return send(
                objects.apply(name, finalizerBody(maintenance), forcedBy(FINALIZER_MANAGER)),
              );
            case 'complete':
              return send(objects.patch(name, completeBody(maintenance)));
            case 'setStatus':
              return send(objects.applyStatus(
                name,
                maintenanceStatusBody(maintenance, write.status),
                forcedBy(STATUS_MANAGER),
              ));
            case 'removeFinalizer':
              return removeFinalizer(maintenance);
          }
        },
      };
    }),
  );
