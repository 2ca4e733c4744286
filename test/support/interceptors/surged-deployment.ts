/** A Deployment on an embedded cluster, and what happens to its pods and replicas. */
import { onTestFinished } from 'vitest';
import { BASELINE_ANNOTATION } from '../../../packages/interceptor/src/surge/surge-baseline.ts';
import { COST_BEFORE_ANNOTATION } from '../../../packages/interceptor/src/surge/surge-facts.ts';
import { isConditionTrue } from '../../../src/domain/condition.ts';
import { type JsonRecord, numberAt, textAt } from '../../../src/domain/json.ts';
import { DEPLOYMENTS, embeddedCluster, PODS } from './embedded-cluster.ts';

export const WEB = `${DEPLOYMENTS}/web`;

/** The Deployment `web`, whose pods register these interceptors. */
export const surgeDeployment = (
  replicas: number,
  strategy: JsonRecord = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  interceptors = 'surge.tidegate.dev',
): JsonRecord => ({
  metadata: { name: 'web' },
  spec: {
    replicas,
    strategy,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: {
        labels: { app: 'web' },
        ...(interceptors === '' ? {} : {
          annotations: { 'lifecycle.tidegate.dev/eviction-interceptors': interceptors },
        }),
      },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
  },
});

const isAvailable = (pod: unknown): boolean =>
  textAt(pod, 'metadata', 'deletionTimestamp') === undefined &&
  isConditionTrue(pod, 'Ready');

/** The UID of an object. */
export const uidOf = (pod: unknown): string => textAt(pod, 'metadata', 'uid') ?? '';

/** A cluster whose Deployment is available, and a watch of what happens to its pods. */
export const withDeployment = async (
  body: JsonRecord,
  nodes = 2,
  defaults: readonly string[] = [],
) => {
  const cluster = await embeddedCluster(nodes, defaults);
  cluster.create(DEPLOYMENTS, body);
  const replicas = numberAt(body, 'spec', 'replicas') ?? 1;
  const available = (): number => cluster.list(PODS).filter(isAvailable).length;
  await cluster.until(() => available() >= replicas, 'the Deployment is available');
  let least = replicas;
  let most = replicas;
  const deleted = new Set<string>();
  const known = new Set(cluster.list(PODS).map(uidOf));
  const created = new Set<string>();
  const stop = cluster.cluster.store.subscribe(({ resource, object }) => {
    if (resource === 'deployments.apps') {
      most = Math.max(most, numberAt(object, 'spec', 'replicas') ?? 0);
    }
    if (resource !== 'pods') return;
    if (!known.has(uidOf(object))) created.add(uidOf(object));
    if (textAt(object, 'metadata', 'deletionTimestamp') !== undefined) deleted.add(uidOf(object));
    least = Math.min(least, available());
  });
  onTestFinished(stop);
  const cordon = (node: string): readonly unknown[] => {
    cluster.ask('PATCH', `/api/v1/nodes/${node}`, { spec: { unschedulable: true } });
    return cluster.list(PODS).filter((pod) => textAt(pod, 'spec', 'nodeName') === node);
  };
  return {
    cluster,
    cordon,
    pods: () => cluster.list(PODS),
    available,
    /** The fewest available pods, the most wanted ones, and the UIDs of new and deleted ones. */
    seen: () => ({ least, most, created, deleted }),
    replicas: () => numberAt(cluster.get(WEB), 'spec', 'replicas'),
    /** Names of the pods whose deletion cost is the surge's. */
    chosen: () =>
      cluster.list(PODS)
        .filter((pod) =>
          textAt(pod, 'metadata', 'annotations', COST_BEFORE_ANNOTATION) !== undefined
        )
        .map((pod) => textAt(pod, 'metadata', 'name')),
    baseline: () => textAt(cluster.get(WEB), 'metadata', 'annotations', BASELINE_ANNOTATION),
  };
};
