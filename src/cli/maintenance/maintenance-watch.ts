/** The NodeMaintenances that a command watches. */
import type { ActorEnvironment } from '../../actors/actor-environment.ts';
import { startInformer } from '../../actors/informers/informer.ts';
import { type DrainedNode, projectDrainedNode } from '../../domain/drain/drained-node.ts';
import type { CordonableNode } from '../../domain/node-maintenance/cordoned-nodes.ts';
import {
  type ObservedMaintenance,
  projectMaintenance,
} from '../../domain/node-maintenance/observed-maintenance.ts';
import { labelsOf } from '../../domain/object-meta.ts';
import { DRAIN_SELECTIONS } from '../../effects/drain-reads.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import { maintenancesNamed } from '../../effects/maintenance-objects.ts';
import { settledChanges } from '../../streams/settled-changes.ts';
import type { Watched } from '../terminal/record-following.ts';

/** Watched maintenances. */
export interface MaintenanceWatch extends Watched {
  readonly maintenances: () => readonly ObservedMaintenance[];
}

/** Starts to follow the maintenance of this name, or all. */
export const startMaintenanceWatch = (
  environment: ActorEnvironment<KubeApi>,
  name: string | undefined,
): MaintenanceWatch => {
  const maintenances = startInformer(environment, {
    id: 'nodemaintenances',
    ...maintenancesNamed(name),
    project: projectMaintenance,
  });
  const changes = settledChanges([maintenances.facts], environment.scheduler);
  return {
    whenReady: maintenances.whenSynced.then(() => {}),
    maintenances: () => [...maintenances.values()],
    onChange: (show) => {
      const subscription = changes.subscribe(show);
      return () => subscription.unsubscribe();
    },
    stop: () => maintenances.stop(),
  };
};

/** Watched maintenances, and all Nodes. */
export interface CordonWatch extends MaintenanceWatch {
  readonly nodes: () => Iterable<CordonableNode>;
}

const cordonableNode = (raw: unknown): (DrainedNode & CordonableNode) | undefined => {
  const node = projectDrainedNode(raw);
  return node && { ...node, labels: labelsOf(raw) };
};

/** Starts to follow the maintenance of this name, and the Nodes. */
export const startCordonWatch = (
  environment: ActorEnvironment<KubeApi>,
  name: string,
): CordonWatch => {
  const watch = startMaintenanceWatch(environment, name);
  const nodes = startInformer(environment, {
    id: 'nodes',
    ...DRAIN_SELECTIONS.nodes,
    project: cordonableNode,
  });
  const changes = settledChanges([nodes.facts], environment.scheduler);
  return {
    maintenances: watch.maintenances,
    nodes: nodes.values,
    whenReady: Promise.all([watch.whenReady, nodes.whenSynced]).then(() => {}),
    onChange: (show) => {
      const release = watch.onChange(show);
      const subscription = changes.subscribe(show);
      return () => {
        release();
        subscription.unsubscribe();
      };
    },
    stop: () => {
      watch.stop();
      nodes.stop();
    },
  };
};
