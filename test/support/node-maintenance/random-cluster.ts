/**
 * Random clusters for maintenances: Nodes of two pools, Deployments, budgets and a NodeMaintenance.
 *
 * Promises: the same seed draws the same cluster; its pods start and stop after `POD_SECONDS`.
 */
import { seededRandom } from '../../../packages/embedded-kubernetes/src/values/random.ts';
import { POD_DELETE_ANNOTATION, POD_READY_ANNOTATION } from '../../../tools/testbed/stages.ts';

/** How long a pod takes to become Ready, and to stop. */
export const POD_SECONDS = 2;

/** A cluster, as manifests. */
export interface RandomCluster {
  readonly nodes: readonly object[];
  readonly deployments: readonly object[];
  readonly budgets: readonly object[];
  readonly pods: number;
  readonly maintenance: object;
}

const DELAY = `${POD_SECONDS}s`;
const POOL = 'example.com/pool';

const nodeOf = (name: string, pool: string): object => ({
  metadata: { name, labels: { [POOL]: pool, 'kubernetes.io/hostname': name } },
});

const deploymentOf = (name: string, replicas: number, pool: string | undefined): object => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: {
        labels: { app: name },
        annotations: { [POD_DELETE_ANNOTATION]: DELAY, [POD_READY_ANNOTATION]: DELAY },
      },
      spec: {
        containers: [{ name: 'main', image: 'example.com/main' }],
        ...(pool === undefined ? {} : { nodeSelector: { [POOL]: pool } }),
      },
    },
  },
});

const budgetOf = (app: string, spec: object): object => ({
  metadata: { name: app },
  spec: { selector: { matchLabels: { app } }, ...spec },
});

/** Draws a cluster. */
export const randomCluster = (seed: number): RandomCluster => {
  const random = seededRandom(seed * 7919);
  const int = (least: number, most: number): number =>
    least + Math.floor(random() * (most - least + 1));
  const happens = (share: number): boolean => random() < share;
  const maintained = Array.from({ length: int(2, 4) }, (_, index) => `m${seed}-${index}`);
  const others = Array.from({ length: int(1, 2) }, (_, index) => `o${seed}-${index}`);
  const apps = Array.from({ length: int(2, 4) }, (_, index) => ({
    name: `app-${index}`,
    replicas: int(2, 5),
    isNever: happens(0.08),
    isCounted: happens(0.7),
    isBound: happens(0.08),
  }));
  const atOnce = happens(0.75) ? { maxNodesAtOnce: int(1, 2), releaseWhen: 'Drained' } : {};
  const plan = happens(0.4)
    ? { drainPlan: [{ podPriority: 0, podSelector: { matchLabels: { app: 'app-1' } } }] }
    : {};
  return {
    nodes: [
      ...maintained.map((name) => nodeOf(name, 'maintained')),
      ...others.map((name) => nodeOf(name, 'other')),
    ],
    deployments: apps.map(({ name, replicas, isBound }) =>
      deploymentOf(name, replicas, isBound ? 'maintained' : undefined)
    ),
    budgets: apps.filter(({ isCounted, isNever }) => isCounted || isNever)
      .map(({ name, isNever }) => budgetOf(name, { maxUnavailable: isNever ? 0 : 1 })),
    pods: apps.reduce((sum, { replicas }) => sum + replicas, 0),
    maintenance: {
      apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
      kind: 'NodeMaintenance',
      metadata: { name: `random-${seed}` },
      spec: {
        nodeSelector: {
          nodeSelectorTerms: [{
            matchExpressions: [{ key: POOL, operator: 'In', values: ['maintained'] }],
          }],
        },
        ...atOnce,
        ...plan,
      },
    },
  };
};
