/**
 * The bodies of the writes to a NodeMaintenance.
 *
 * Promises: the status and the finalizer each have a field manager of their own; every body names
 * the UID that it means, and those that were decided on a version name it as well.
 */
import { LIFECYCLE_GROUP_VERSION } from '../api-group.ts';
import { storedConditionBody } from '../stored-condition.ts';
import { rfc3339Seconds } from '../time.ts';
import { planEntryBody } from './drain-plan.ts';
import {
  MAINTENANCE_FINALIZER,
  type MaintenanceStatus,
  type NodeStatus,
  type ObservedMaintenance,
} from './observed-maintenance.ts';
import { previewBody } from './preview.ts';

/** The field manager of the status. */
export const STATUS_MANAGER = 'tidegate-node-maintenance';
/** The field manager of the finalizer. */
export const FINALIZER_MANAGER = 'tidegate-node-maintenance-finalizer';

type Named = Pick<ObservedMaintenance, 'name' | 'uid'>;

const identified = ({ name, uid }: Named, metadata: object): object => ({
  apiVersion: LIFECYCLE_GROUP_VERSION,
  kind: 'NodeMaintenance',
  metadata: { name, uid, ...metadata },
});

/** What the finalizer's manager applies. */
export const finalizerBody = (maintenance: Named): object =>
  identified(maintenance, { finalizers: [MAINTENANCE_FINALIZER] });

/** The merge patch that completes a deleted maintenance (NM-09). */
export const completeBody = ({ resourceVersion }: ObservedMaintenance): object => ({
  metadata: { resourceVersion },
  spec: { stage: 'Complete' },
});

const nodeBody = (
  { name, state, wave, bootId, drainTargets, drainMessage, yieldsTo, ...counts }: NodeStatus,
): object => ({
  nodeRef: { name },
  state,
  wave,
  ...(bootId === '' ? {} : { bootID: bootId }),
  drainTargets: drainTargets.map(planEntryBody),
  ...(drainMessage === '' ? {} : { drainMessage }),
  ...counts,
  ...(yieldsTo === null ? {} : { yieldsTo }),
});

/** What the manager of the status applies. */
export const maintenanceStatusBody = (
  maintenance: ObservedMaintenance,
  { observedGeneration, stages, nodes, waves, progress, preview, conditions }: MaintenanceStatus,
): object => ({
  ...identified(maintenance, { resourceVersion: maintenance.resourceVersion }),
  status: {
    observedGeneration,
    stageStatuses: stages.map(({ name, startMs }) => ({
      name,
      startTimestamp: rfc3339Seconds(startMs),
    })),
    nodeStatuses: nodes.map(nodeBody),
    waves,
    ...(progress === '' ? {} : { progress }),
    ...(preview === null ? {} : { preview: previewBody(preview) }),
    conditions: conditions.map((condition) => ({
      ...storedConditionBody(condition),
      observedGeneration,
    })),
  },
});
