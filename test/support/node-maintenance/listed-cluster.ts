/** A cluster as the lists of its API server have it: Nodes, Deployments with pods, budgets. */
import type { JsonRecord } from '../../../src/domain/json.ts';
import type { ResourceList } from '../../../src/effects/maintenance-lists.ts';

const CREATED = '2026-01-01T00:00:00Z';

/** What differs from an ordinary Node. */
export interface NodeTraits {
  readonly cpu?: string;
  readonly pool?: string;
  readonly isReady?: boolean;
}

/** A Node of the pool `a`. */
export const listedNode = (
  name: string,
  { cpu = '8', pool = 'a', isReady = true }: NodeTraits = {},
): JsonRecord => ({
  metadata: {
    name,
    uid: `node-${name}`,
    resourceVersion: '1',
    creationTimestamp: CREATED,
    labels: { pool },
  },
  spec: {},
  status: {
    allocatable: { cpu, memory: '32Gi', pods: '110' },
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    nodeInfo: { bootID: `${name}-boot-1` },
  },
});

/** An app whose pods run on these nodes. */
export interface ListedApp {
  readonly name: string;
  readonly namespace?: string;
  readonly nodes: readonly string[];
  readonly graceSeconds?: number;
  readonly cpu?: string;
  /** `spec.maxUnavailable` of its budget; without one, it has none. */
  readonly maxUnavailable?: number;
  readonly workload?: 'Deployment' | 'ReplicaSet' | 'StatefulSet' | 'Rollout';
}

const templateOf = ({ name, graceSeconds = 5, cpu = '1' }: ListedApp) => ({
  metadata: { labels: { app: name }, creationTimestamp: null },
  spec: {
    containers: [{ name: 'main', image: 'image', resources: { requests: { cpu } } }],
    terminationGracePeriodSeconds: graceSeconds,
    restartPolicy: 'Always',
  },
});

/** Hashes as another controller makes them. */
const HASH = '7d9f8c6b5';

const owned = (apiVersion: string, kind: string, name: string) => ({
  apiVersion,
  kind,
  name,
  uid: `${kind}-${name}`,
  controller: true,
});

const metadataOf = (kind: string, name: string, { namespace = 'shop' }: ListedApp) => ({
  name,
  namespace,
  uid: `${kind}-${name}`,
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: CREATED,
});

/** The labels and the owner of the pods of an app. */
const podOwner = ({ name, workload = 'Deployment' }: ListedApp) => {
  switch (workload) {
    case 'Deployment':
    case 'ReplicaSet':
      return {
        labels: { app: name, 'pod-template-hash': HASH },
        owner: owned('apps/v1', 'ReplicaSet', `${name}-${HASH}`),
      };
    case 'StatefulSet':
      return {
        labels: { app: name, 'controller-revision-hash': `${name}-${HASH}` },
        owner: owned('apps/v1', 'StatefulSet', name),
      };
    case 'Rollout':
      return { labels: { app: name }, owner: owned('example.com/v1', 'Rollout', name) };
  }
};

const podsOf = (app: ListedApp): readonly JsonRecord[] => {
  const { labels, owner } = podOwner(app);
  return app.nodes.map((node, index) => ({
    metadata: {
      ...metadataOf('Pod', `${app.name}-${index}`, app),
      labels,
      ownerReferences: [owner],
    },
    spec: { ...templateOf(app).spec, nodeName: node },
    status: {
      phase: 'Running',
      conditions: ['PodScheduled', 'ContainersReady', 'Ready']
        .map((type) => ({ type, status: 'True' })),
    },
  }));
};

const statusOf = ({ nodes: { length } }: ListedApp) => ({
  replicas: length,
  readyReplicas: length,
  availableReplicas: length,
  updateRevision: HASH,
});

const setsOf = (app: ListedApp): readonly JsonRecord[] => {
  const { name, workload = 'Deployment' } = app;
  if (workload !== 'Deployment' && workload !== 'ReplicaSet') return [];
  const { labels } = podOwner(app);
  const template = templateOf(app);
  return [{
    metadata: {
      ...metadataOf('ReplicaSet', `${name}-${HASH}`, app),
      labels,
      ...(workload === 'Deployment'
        ? { ownerReferences: [owned('apps/v1', 'Deployment', name)] }
        : {}),
    },
    spec: {
      replicas: app.nodes.length,
      selector: { matchLabels: labels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
    status: statusOf(app),
  }];
};

const workloadOf = (app: ListedApp): JsonRecord => ({
  metadata: metadataOf(app.workload ?? 'Deployment', app.name, app),
  spec: {
    replicas: app.nodes.length,
    selector: { matchLabels: { app: app.name } },
    template: templateOf(app),
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  },
  status: { ...statusOf(app), updateRevision: `${app.name}-${HASH}` },
});

const budgetOf = (app: ListedApp): readonly JsonRecord[] => {
  const { name, nodes: { length }, maxUnavailable } = app;
  if (maxUnavailable === undefined) return [];
  return [{
    metadata: metadataOf('PodDisruptionBudget', name, app),
    spec: { selector: { matchLabels: { app: name } }, maxUnavailable },
    status: {
      observedGeneration: 1,
      expectedPods: length,
      currentHealthy: length,
      desiredHealthy: length - maxUnavailable,
      disruptionsAllowed: maxUnavailable,
    },
  }];
};

/** The lists of a cluster. */
export const listedCluster = (
  nodes: readonly JsonRecord[],
  apps: readonly ListedApp[],
): readonly ResourceList[] => {
  const of = (workload: ListedApp['workload']): readonly JsonRecord[] =>
    apps.filter((app) => (app.workload ?? 'Deployment') === workload).map(workloadOf);
  const list = (resource: string, apiVersion: string, kind: string) =>
  (
    objects: readonly JsonRecord[],
  ): ResourceList => ({ resource, apiVersion, kind, objects });
  return [
    list('nodes', 'v1', 'Node')(nodes),
    list('pods', 'v1', 'Pod')(apps.flatMap(podsOf)),
    list('replicasets.apps', 'apps/v1', 'ReplicaSet')(apps.flatMap(setsOf)),
    list('deployments.apps', 'apps/v1', 'Deployment')(of('Deployment')),
    list('statefulsets.apps', 'apps/v1', 'StatefulSet')(of('StatefulSet')),
    list('poddisruptionbudgets.policy', 'policy/v1', 'PodDisruptionBudget')(apps.flatMap(budgetOf)),
  ];
};
