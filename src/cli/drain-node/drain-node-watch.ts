/** The pods and NodeMaintenances that `tidegate drain NODE` follows. */
import type { ActorEnvironment } from '../../actors/actor-environment.ts';
import { startInformer } from '../../actors/informers/informer.ts';
import { type DrainPod, podProjection } from '../../domain/drain/pod.ts';
import {
  type ObservedMaintenance,
  projectMaintenance,
} from '../../domain/node-maintenance/observed-maintenance.ts';
import { podsOfNode } from '../../effects/drained-pods.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import { maintenancesLabelled } from '../../effects/maintenance-objects.ts';
import { settledChanges } from '../../streams/settled-changes.ts';
import type { FilteredNode } from './drain-node-text.ts';
import type { Watched } from '../terminal/record-following.ts';

/** The label of maintenances that this command made. */
export const DRAIN_LABEL = { 'app.kubernetes.io/created-by': 'tidegate-drain' } as const;

/** Whoever waits for a drain waits for the last pod. */
const SETTLE_MS = 20;

/** What is followed. */
export interface NodeDrainWatch extends Watched {
  readonly environment: ActorEnvironment<KubeApi>;
  /** Those of this command, by name. */
  readonly maintenance: (name: string) => ObservedMaintenance | undefined;
  readonly podsOn: (node: string) => readonly DrainPod[];
}

/** Starts to follow the pods of nodes, and the maintenances of this command. */
export const startNodeDrainWatch = (
  environment: ActorEnvironment<KubeApi>,
  { nodes, podSelector }: {
    readonly nodes: readonly Pick<FilteredNode, 'name' | 'listed'>[];
    readonly podSelector: string | undefined;
  },
): NodeDrainWatch => {
  const maintenances = startInformer(environment, {
    id: 'nodemaintenances',
    ...maintenancesLabelled(DRAIN_LABEL),
    project: projectMaintenance,
  });
  const pods = new Map(nodes.map(({ name, listed }) => [
    name,
    startInformer(environment, {
      id: `pods of ${name}`,
      ...podsOfNode(name, podSelector),
      project: podProjection(),
      listed,
    }),
  ]));
  const all = [maintenances, ...pods.values()];
  const facts = all.map((informer) => informer.facts);
  const changes = settledChanges(facts, environment.scheduler, SETTLE_MS);
  return {
    environment,
    whenReady: Promise.all(all.map(({ whenSynced }) => whenSynced)).then(() => {}),
    maintenance: (name) => [...maintenances.values()].find((one) => one.name === name),
    podsOn: (node) => [...pods.get(node)?.values() ?? []],
    onChange: (show) => {
      const subscription = changes.subscribe(show);
      return () => subscription.unsubscribe();
    },
    stop: () => all.forEach(({ stop }) => stop()),
  };
};
