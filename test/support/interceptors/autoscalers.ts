/**
 * HorizontalPodAutoscalers and KEDA's ScaledObjects on an embedded cluster, which has neither.
 *
 * Promises: without metrics, as kube-controller-manager without them: raises a Deployment to
 * `minReplicas`, lowers it to `maxReplicas`, and does nothing between. KEDA keeps a
 * HorizontalPodAutoscaler by its own object. Both take a moment.
 */
import { onTestFinished } from 'vitest';
import { type JsonRecord, numberAt, textAt } from '../../../src/domain/json.ts';
import { DEPLOYMENTS, type EmbeddedCluster } from './embedded-cluster.ts';

/** The paths of the objects. */
export const HPAS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
export const SCALED_OBJECTS = '/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const FOLLOWS_AFTER_MS = 700;

const definition = (group: string, version: string, kind: string): JsonRecord => {
  const singular = kind.toLowerCase();
  return {
    metadata: {
      name: `${singular}s.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `${singular}s`, singular, kind, listKind: `${kind}List` },
      versions: [{
        name: version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      }],
    },
  };
};

const target = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });

/** A HorizontalPodAutoscaler of a Deployment, without metrics. */
export const autoscalerOf = (name: string, limits: JsonRecord): JsonRecord => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: { scaleTargetRef: target(name), ...limits },
});

/** A ScaledObject of a Deployment. */
export const scaledObjectOf = (name: string, limits: JsonRecord = {}): JsonRecord => ({
  apiVersion: 'keda.sh/v1alpha1',
  kind: 'ScaledObject',
  metadata: { name },
  spec: { scaleTargetRef: { name }, ...limits },
});

/** Lets Deployments follow their autoscalers. */
const followAutoscalers = ({ ask, get, list }: EmbeddedCluster): void => {
  for (const object of list(HPAS)) {
    const name = textAt(object, 'spec', 'scaleTargetRef', 'name') ?? '';
    const replicas = numberAt(get(`${DEPLOYMENTS}/${name}`), 'spec', 'replicas') ?? 0;
    const least = numberAt(object, 'spec', 'minReplicas') ?? 1;
    const most = numberAt(object, 'spec', 'maxReplicas') ?? 1;
    const wanted = Math.min(most, Math.max(least, replicas));
    if (replicas !== wanted && replicas !== 0) {
      ask('PATCH', `${DEPLOYMENTS}/${name}`, { spec: { replicas: wanted } });
    }
  }
};

/** Lets HorizontalPodAutoscalers follow their ScaledObjects. */
const followScaledObjects = ({ ask, create, get, list }: EmbeddedCluster): void => {
  for (const object of list(SCALED_OBJECTS)) {
    const name = textAt(object, 'metadata', 'name') ?? '';
    const path = `${HPAS}/keda-hpa-${name}`;
    const limits = {
      minReplicas: Math.max(1, numberAt(object, 'spec', 'minReplicaCount') ?? 0),
      maxReplicas: numberAt(object, 'spec', 'maxReplicaCount') ?? 100,
    };
    if (ask('GET', path).status === 404) {
      create(HPAS, {
        ...autoscalerOf(name, limits),
        metadata: {
          name: `keda-hpa-${name}`,
          ownerReferences: [{
            apiVersion: 'keda.sh/v1alpha1',
            kind: 'ScaledObject',
            name,
            uid: textAt(object, 'metadata', 'uid') ?? '',
            controller: true,
          }],
        },
      });
    } else if (numberAt(get(path), 'spec', 'minReplicas') !== limits.minReplicas) {
      ask('PATCH', path, { spec: { minReplicas: limits.minReplicas } });
    }
  }
};

/** Serves the objects and runs their controllers, until the test ends. */
export const startAutoscalers = (cluster: EmbeddedCluster): void => {
  cluster.create(DEFINITIONS, definition('autoscaling', 'v2', 'HorizontalPodAutoscaler'));
  cluster.create(DEFINITIONS, definition('keda.sh', 'v1alpha1', 'ScaledObject'));
  const pending = new Set<() => void>();
  const after = (follow: (cluster: EmbeddedCluster) => void): void => {
    const cancel = cluster.time.schedule(FOLLOWS_AFTER_MS, () => {
      pending.delete(cancel);
      follow(cluster);
    });
    pending.add(cancel);
  };
  const stop = cluster.cluster.store.subscribe(({ resource }) => {
    if (resource.startsWith('scaledobjects')) after(followScaledObjects);
    if (resource.startsWith('horizontalpod') || resource === 'deployments.apps') {
      after(followAutoscalers);
    }
  });
  onTestFinished(() => {
    stop();
    for (const cancel of pending) cancel();
  });
};
