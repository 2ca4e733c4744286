/** The NodeMaintenances that a command watches. */
import type { ActorEnvironment } from '../../actors/actor-environment.ts';
import { startInformer } from '../../actors/informers/informer.ts';
import {
  type ObservedMaintenance,
  projectMaintenance,
} from '../../domain/node-maintenance/observed-maintenance.ts';
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
