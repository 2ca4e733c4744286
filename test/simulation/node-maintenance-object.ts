/**
 * Reads NodeMaintenances independently, for scenarios and invariants: plain JSON, as a person reads
 * it.
 */
import { LIFECYCLE_GROUP_VERSION } from '../../src/domain/api-group.ts';
import { type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../../src/domain/json.ts';
import { ownersOf } from './node-annotations.ts';

export const MAINTENANCES = `/apis/${LIFECYCLE_GROUP_VERSION}/nodemaintenances`;
export const MAINTENANCES_RESOURCE = 'nodemaintenances.lifecycle.tidegate.dev';

/** The annotation of a node whose work is done. */
export const DONE = 'maintenance.tidegate.dev/done';

/** An entry of `status.nodeStatuses`. */
export interface MaintainedNode {
  readonly name: string;
  readonly state: string;
  readonly bootId: string;
  readonly message: string;
  readonly pods: number;
}

/** `status.nodeStatuses`. */
export const nodesIn = (maintenance: unknown): readonly MaintainedNode[] =>
  listOrEmptyAt(maintenance, 'status', 'nodeStatuses').map((one) => ({
    name: textAt(one, 'nodeRef', 'name') ?? '',
    state: textAt(one, 'state') ?? '',
    bootId: textAt(one, 'bootID') ?? '',
    message: textAt(one, 'drainMessage') ?? '',
    pods: (numberAt(one, 'podsPendingEvacuation') ?? 0) + (numberAt(one, 'podsEvacuating') ?? 0),
  }));

/** The status of a condition; '' without it. */
export const conditionIn = (maintenance: unknown, type: string): string =>
  textAt(
    listOrEmptyAt(maintenance, 'status', 'conditions').find((one) => textAt(one, 'type') === type),
    'status',
  ) ?? '';

/** `spec.stage`. */
export const stageOf = (maintenance: unknown): string =>
  textAt(maintenance, 'spec', 'stage') ?? 'Idle';

/** The maintenances that hold a Node, by their keys. */
export const maintenancesOn = (node: unknown): readonly string[] =>
  ownersOf(node).filter((owner) => owner.startsWith('maintenance-'));

/** A NodeMaintenance of the Nodes with this value of the label `pool`. */
export const maintenanceObject = (name: string, pool: string, spec: object): JsonRecord => ({
  apiVersion: LIFECYCLE_GROUP_VERSION,
  kind: 'NodeMaintenance',
  metadata: { name },
  spec: {
    nodeSelector: {
      nodeSelectorTerms: [{
        matchExpressions: [{ key: 'pool', operator: 'In', values: [pool] }],
      }],
    },
    ...spec,
  },
});
