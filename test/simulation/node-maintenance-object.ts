/**
 * Reads NodeMaintenances independently, for scenarios and invariants: plain JSON, as a person reads
 * it.
 */
import { LIFECYCLE_GROUP_VERSION } from '../../src/domain/api-group.ts';
import { isConditionTrue } from '../../src/domain/condition.ts';
import { type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../../src/domain/json.ts';
import { ownersOf } from './node-annotations.ts';

export const MAINTENANCES = `/apis/${LIFECYCLE_GROUP_VERSION}/nodemaintenances`;
export const MAINTENANCES_RESOURCE = 'nodemaintenances.lifecycle.tidegate.dev';

/** The annotation of a node whose work is done. */
const DONE = 'maintenance.tidegate.dev/done';
const PREFIX = 'maintenance-';
const UID_DIGITS = 12;

/** An entry of `status.nodeStatuses`. */
interface MaintainedNode {
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

/** Whether a condition is True. */
export const hasCondition = (maintenance: unknown, type: string): boolean =>
  isConditionTrue(maintenance, type);

/** `spec.stage`. */
export const stageOf = (maintenance: unknown): string =>
  textAt(maintenance, 'spec', 'stage') ?? 'Idle';

/** The owner of the maintenance's key on Nodes. */
export const ownerOf = (maintenance: unknown): string => {
  const uid = (textAt(maintenance, 'metadata', 'uid') ?? '').replaceAll('-', '');
  return `${PREFIX}${uid.slice(0, UID_DIGITS)}`;
};

/** The maintenances that hold a Node, by their keys. */
export const maintenancesOn = (node: unknown): readonly string[] =>
  ownersOf(node).filter((owner) => owner.startsWith(PREFIX));

/** A NodeMaintenance of the Nodes with a label. */
export const maintenanceObject = (
  name: string,
  { key, value }: { readonly key: string; readonly value: string },
  spec: object,
): JsonRecord => ({
  apiVersion: LIFECYCLE_GROUP_VERSION,
  kind: 'NodeMaintenance',
  metadata: { name },
  spec: {
    nodeSelector: {
      nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }],
    },
    ...spec,
  },
});

/** The patch of a Node that says that the work of a maintenance on it is done, too. */
export const donePatch = (node: unknown, maintenance: string): object => {
  const others = textAt(node, 'metadata', 'annotations', DONE);
  const done = others === undefined ? maintenance : `${others},${maintenance}`;
  return { metadata: { annotations: { [DONE]: done } } };
};

/** The patch of the status of a Node that has booted. */
export const bootPatch = (bootID: string): object => ({ status: { nodeInfo: { bootID } } });
