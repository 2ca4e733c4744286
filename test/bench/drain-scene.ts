/** What the bench of drains drains, and how it is set up for each of the two that do it. */
import type { Testbed } from '../../tools/testbed/testbed.ts';
import {
  type ClusterClient,
  type ClusterConnection,
  COLLECTIONS,
  connectCluster,
} from '../support/api/cluster-connection.ts';
import { createFixture } from '../support/drains/drain-site.ts';
import type { DrainFixture } from '../support/drains/drain-site.ts';
import { clearWorkloads } from '../support/drains/drain-site.ts';
import {
  type Allowance,
  budget,
  deployment,
  DRAIN_COLLECTIONS,
} from '../support/drains/workloads.ts';
import { fleetBy, type FleetProcess } from '../support/processes/fleet-child.ts';
import { spawnTidegate } from '../support/processes/tidegate-child.ts';

/** Nodes with pods of some workloads, each of which may have a budget. */
export interface Scene {
  readonly title: string;
  readonly nodes: number;
  readonly podsOfNode: number;
  readonly workloads: number;
  readonly allowance?: Allowance;
  /** How long replacements take to be ready. */
  readonly readyAfter?: string;
}

/** A scene that is set. */
export interface SetScene {
  readonly cluster: ClusterClient;
  readonly fleet: FleetProcess;
  readonly machines: readonly string[];
  readonly close: () => Promise<void>;
}

const LEFT_OVERS = [COLLECTIONS.requests, COLLECTIONS.upcomingNodes, COLLECTIONS.nodes];
/** Pods that a Node for replacements takes. */
const SPARE_PODS = 1000;

const fixtureOf = (scene: Scene, prefix: string): DrainFixture => {
  const pods = scene.nodes * scene.podsOfNode;
  const apps = Array.from({ length: scene.workloads }, (_, index) => `app-${index}`);
  const { allowance, readyAfter } = scene;
  const traits = readyAfter === undefined ? {} : { readyAfter };
  return {
    machines: { count: scene.nodes, prefix, pods: scene.podsOfNode },
    objects: () => [
      [
        DRAIN_COLLECTIONS.budgets,
        allowance === undefined ? [] : apps.map((app) => budget(app, allowance)),
      ],
      [
        DRAIN_COLLECTIONS.deployments,
        apps.map((app) => deployment(app, pods / scene.workloads, traits)),
      ],
    ],
    pods,
    spares: { count: Math.ceil(pods / SPARE_PODS) + 1, pods: SPARE_PODS },
  };
};

const clear = async ({ client }: ClusterConnection): Promise<void> => {
  await clearWorkloads(client);
  for (const collection of LEFT_OVERS) await client.clear(collection);
};

/** Resets a bed to a scene. */
export const setScene = async (bed: Testbed, scene: Scene, prefix: string): Promise<SetScene> => {
  await bed.installCrds();
  const connection = await connectCluster(bed);
  await clear(connection);
  const fleet = await fleetBy(spawnTidegate, {
    seedMachines: 0,
    kubeconfig: bed.kubeconfigFor('fleet'),
    flags: { 'cycle-interval': '1h' },
  });
  const { client: cluster } = connection;
  const machines = await createFixture({ cluster, fleet }, fixtureOf(scene, prefix));
  return {
    cluster,
    fleet,
    machines,
    close: async () => {
      await fleet.stop();
      await connection.close();
    },
  };
};
