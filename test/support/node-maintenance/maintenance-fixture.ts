/** NodeMaintenances as an API server has them, by resourceVersion. */
import {
  MAINTENANCE_FINALIZER,
  type ObservedMaintenance,
  projectMaintenance,
} from '../../../src/domain/node-maintenance/observed-maintenance.ts';
import type { Stage } from '../../../src/domain/node-maintenance/stage.ts';

/** When everything happens. */
export const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const NOW = '2026-01-01T00:00:00Z';

/** What a maintenance is like. */
export interface MaintenanceTraits {
  readonly name?: string;
  readonly uid?: string;
  readonly stage?: Stage;
  readonly isProtected?: boolean;
  readonly isDeleting?: boolean;
  /** Of other controllers. */
  readonly finalizers?: readonly string[];
  /** Stages that have started. */
  readonly started?: readonly Stage[];
  readonly nodes?: readonly object[];
  readonly entriesDone?: number;
  readonly conditions?: readonly object[];
  readonly preview?: object;
  readonly progress?: string;
  readonly generation?: number;
  readonly spec?: object;
}

/** A condition of its status. */
export const conditionRaw = (
  type: string,
  status: 'True' | 'False',
  [reason, message]: readonly [string, string],
): object => ({ type, status, reason, message, lastTransitionTime: NOW });

/** The status of a node. */
export const nodeRaw = (name: string, more: object = {}): object => ({
  nodeRef: { name },
  state: 'Admitted',
  wave: 1,
  drainTargets: [],
  podsPendingEvacuation: 0,
  podsEvacuating: 0,
  ...more,
});

/** The object as the API server returns it. */
export const maintenanceRaw = (
  resourceVersion: string,
  { name = 'kernel', uid = 'uid-kernel', stage = 'Idle', generation = 1, ...traits }:
    MaintenanceTraits,
): object => {
  const { started = [], nodes = [], entriesDone, conditions = [], ...more } = traits;
  const own = traits.isProtected === true ? [MAINTENANCE_FINALIZER] : [];
  const finalizers = [...own, ...more.finalizers ?? []];
  return {
    apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
    kind: 'NodeMaintenance',
    metadata: {
      name,
      uid,
      resourceVersion,
      generation,
      creationTimestamp: NOW,
      ...(finalizers.length > 0 ? { finalizers } : {}),
      ...(traits.isDeleting === true ? { deletionTimestamp: NOW } : {}),
    },
    spec: {
      nodeSelector: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['a'] }] }],
      },
      stage,
      ...traits.spec,
    },
    status: {
      observedGeneration: generation,
      stageStatuses: started.map((one) => ({ name: one, startTimestamp: NOW })),
      nodeStatuses: nodes,
      waves: entriesDone === undefined ? [] : [{ number: 1, entriesDone }],
      conditions,
      ...(more.preview === undefined ? {} : { preview: more.preview }),
      ...(more.progress === undefined ? {} : { progress: more.progress }),
    },
  };
};

/** The object as the operator observes it. */
export const maintenanceOf = (
  resourceVersion: string,
  traits: MaintenanceTraits,
): ObservedMaintenance => {
  const one = projectMaintenance(maintenanceRaw(resourceVersion, traits));
  if (one === undefined) throw new Error('The fixture is not a NodeMaintenance');
  return one;
};
