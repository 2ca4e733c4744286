/** The pods and NodeMaintenances that `tidegate drain NODE` follows. */
import type { ActorEnvironment } from '../../actors/actor-environment.ts';
import { type Informer, startInformer } from '../../actors/informers/informer.ts';
import { type DrainPod, podProjection } from '../../domain/drain/pod.ts';
import {
  type ObservedMaintenance,
  projectMaintenance,
} from '../../domain/node-maintenance/observed-maintenance.ts';
import { boundPodsSelected, podsOfNode } from '../../effects/drained-pods.ts';
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

/** Above this number of nodes the pods of the cluster are followed: each watch has a connection. */
const NODES_FOLLOWED_MAX = 50;

type FollowedNode = Pick<FilteredNode, 'name' | 'listed'>;

/** Whose pods are followed, and which of them. */
interface PodChoice {
  readonly nodes: readonly FollowedNode[];
  readonly podSelector: string | undefined;
}

interface FollowedPods {
  readonly informers: readonly Informer<DrainPod>[];
  readonly on: (node: string) => readonly DrainPod[];
}

const podsOfEach = (
  environment: ActorEnvironment<KubeApi>,
  { nodes, podSelector }: PodChoice,
): FollowedPods => {
  const pods = new Map(nodes.map(({ name, listed }) => [
    name,
    startInformer(environment, {
      id: `pods of ${name}`,
      ...podsOfNode(name, podSelector),
      project: podProjection(),
      listed,
    }),
  ]));
  return { informers: [...pods.values()], on: (node) => [...pods.get(node)?.values() ?? []] };
};

const podsOfAll = (
  environment: ActorEnvironment<KubeApi>,
  { nodes, podSelector }: PodChoice,
): FollowedPods => {
  const names = new Set(nodes.map(({ name }) => name));
  const projected = podProjection();
  const pods = startInformer(environment, {
    id: 'pods',
    ...boundPodsSelected(podSelector),
    project: (raw) => {
      const pod = projected(raw);
      return pod !== undefined && names.has(pod.node) ? pod : undefined;
    },
  });
  let byNode: ReadonlyMap<string, readonly DrainPod[]> | undefined;
  pods.facts.subscribe(() => byNode = undefined);
  return {
    informers: [pods],
    on: (node) => (byNode ??= Map.groupBy(pods.values(), (pod) => pod.node)).get(node) ?? [],
  };
};

/** Starts to follow the pods of nodes, and the maintenances of this command. */
export const startNodeDrainWatch = (
  environment: ActorEnvironment<KubeApi>,
  choice: PodChoice,
): NodeDrainWatch => {
  const maintenances = startInformer(environment, {
    id: 'nodemaintenances',
    ...maintenancesLabelled(DRAIN_LABEL),
    project: projectMaintenance,
  });
  const follow = choice.nodes.length > NODES_FOLLOWED_MAX ? podsOfAll : podsOfEach;
  const pods = follow(environment, choice);
  const all = [maintenances, ...pods.informers];
  const facts = all.map((informer) => informer.facts);
  const changes = settledChanges(facts, environment.scheduler, SETTLE_MS);
  return {
    environment,
    whenReady: Promise.all(all.map(({ whenSynced }) => whenSynced)).then(() => {}),
    maintenance: (name) => [...maintenances.values()].find((one) => one.name === name),
    podsOn: pods.on,
    onChange: (show) => {
      const subscription = changes.subscribe(show);
      return () => subscription.unsubscribe();
    },
    stop: () => all.forEach(({ stop }) => stop()),
  };
};
