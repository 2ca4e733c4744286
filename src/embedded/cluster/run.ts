/**
 * `tidegate cluster`: an embedded cluster with its controllers and kubelets, over HTTP.
 *
 * Promises: it knows Tidegate's own resources from the start; its kubeconfig is good for kubectl
 * and for the operator; nothing is left on disk.
 */
import { customResourceDefinition } from '../../api/crd.ts';
import { CUSTOM_RESOURCES } from '../../api/resources.ts';
import { nextSeed, unitInterval } from '../../domain/random.ts';
import type { Time } from '../../domain/time.ts';
import { type BoundAddress, serveCluster } from './answers/http.ts';
import { withSimulation } from './answers/simulation-routes.ts';
import { type Cluster, makeCluster } from './cluster.ts';
import { startNode } from './kinds/nodes.ts';
import { startCast } from './players/cast.ts';
import { DEFAULT_PACE } from './players/stage.ts';
import { storeStage } from './players/store-stage.ts';
import { type WarpedTime, warpedTime } from './warped-time.ts';

/** How a cluster is run. */
export interface ClusterRunOptions {
  readonly time: Time;
  /** Where kubectl connects; port 0 takes a free one. */
  readonly listen: BoundAddress;
  /** Decides UIDs, generated names and the moods of controllers. */
  readonly seed: number;
  /** How many Nodes there are at the start. */
  readonly nodes: number;
  /** How many seconds pass in a real one. */
  readonly rate: number;
}

/** A cluster that runs. */
export interface RunningCluster {
  readonly address: BoundAddress;
  readonly cluster: Cluster;
  readonly time: WarpedTime;
  /** YAML (which JSON is) for kubectl. */
  readonly kubeconfig: string;
  readonly stop: () => Promise<void>;
}

const NAME = 'tidegate-embedded';

const kubeconfigOf = ({ host, port }: BoundAddress): string => {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const server = `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: NAME, cluster: { server } }],
    users: [{ name: NAME, user: {} }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    'current-context': NAME,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
};

/** Numbers in [0, 1), one after the other, from a seed. */
const chanceOf = (start: number): () => number => {
  let seed = start;
  return () => {
    seed = nextSeed(seed);
    return unitInterval(seed);
  };
};

const furnish = ({ answer }: Cluster, nodes: number): void => {
  for (const resource of CUSTOM_RESOURCES) {
    answer({
      method: 'POST',
      path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      body: customResourceDefinition(resource),
    });
  }
  for (let number = 1; number <= nodes; number += 1) {
    answer({ method: 'POST', path: '/api/v1/nodes', body: startNode(number) });
  }
};

/** Runs a cluster; resolves when kubectl can connect. */
export const runCluster = async (options: ClusterRunOptions): Promise<RunningCluster> => {
  const time = warpedTime(options.time, options.rate);
  const cluster = makeCluster({ time, seed: options.seed });
  const random = chanceOf(nextSeed(options.seed));
  const cast = startCast(storeStage({ cluster, time, random, pace: DEFAULT_PACE }));
  furnish(cluster, options.nodes);
  const http = await serveCluster(withSimulation({ cluster, time }), options.listen);
  return {
    address: http.address,
    cluster,
    time,
    kubeconfig: kubeconfigOf(http.address),
    stop: async () => {
      cast.stop();
      await http.stop();
    },
  };
};
