/**
 * Workloads of one replica behind Services: plain, autoscaled, behind a budget, and one that holds
 * a volume; and whether each was served all the time.
 *
 * Promises: judges by every event of EndpointSlices, as a client that asks at each of them.
 */
import {
  booleanAt,
  type JsonRecord,
  listOrEmptyAt,
  recordAt,
  textAt,
} from '../../../src/domain/json.ts';
import { type Change, nameOf } from '../api/cluster-connection.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from './workloads.ts';

/** Paths of the collections. */
export const SERVED_COLLECTIONS = {
  services: '/api/v1/namespaces/default/services',
  slices: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
  autoscalers: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
  claims: '/api/v1/namespaces/default/persistentvolumeclaims',
  volumes: '/api/v1/persistentvolumes',
} as const;

/** Names by how the workload can be replaced. */
export interface ServedWorkloads {
  readonly plain: readonly string[];
  readonly autoscaled: readonly string[];
  readonly budgeted: readonly string[];
  /** Strategy Recreate and a ReadWriteOnce claim: no surge replaces them. */
  readonly holding: readonly string[];
}

const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);

/** As many workloads, a fifth of each other kind than plain. */
export const servedWorkloads = (count: number): ServedWorkloads => {
  const fifth = Math.floor(count / 5);
  return {
    plain: numbered('plain', count - 3 * fifth),
    autoscaled: numbered('autoscaled', fifth),
    budgeted: numbered('budgeted', fifth),
    holding: numbered('holding', fifth),
  };
};

const service = (name: string): object => ({
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }] },
});

const autoscaler = (name: string): object => ({
  metadata: { name },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    minReplicas: 1,
    maxReplicas: 3,
  },
});

const STORAGE = { storage: '1Gi' };

const volume = (name: string): object => ({
  metadata: { name },
  spec: {
    capacity: STORAGE,
    accessModes: ['ReadWriteOnce'],
    storageClassName: '',
    persistentVolumeReclaimPolicy: 'Retain',
    hostPath: { path: `/volumes/${name}` },
  },
});

const claim = (name: string): object => ({
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: '',
    volumeName: name,
    resources: { requests: STORAGE },
  },
});

const holder = (name: string): object => {
  const plain = recordAt({ plain: deployment(name, 1) }, 'plain') ?? {};
  const spec = recordAt(plain, 'spec') ?? {};
  const template = recordAt(spec, 'template') ?? {};
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }];
  return {
    ...plain,
    spec: {
      ...spec,
      strategy: { type: 'Recreate' },
      template: { ...template, spec: { ...recordAt(template, 'spec'), volumes } },
    },
  };
};

/** Their objects by collection, in the order in which they are made. */
export const servedObjects = (
  { plain, autoscaled, budgeted, holding }: ServedWorkloads,
): readonly (readonly [collection: string, objects: readonly object[]])[] => [
  [SERVED_COLLECTIONS.volumes, holding.map(volume)],
  [SERVED_COLLECTIONS.claims, holding.map(claim)],
  [SERVED_COLLECTIONS.services, [...plain, ...autoscaled, ...budgeted, ...holding].map(service)],
  [DRAIN_COLLECTIONS.deployments, [
    ...[...plain, ...autoscaled, ...budgeted].map((name) => deployment(name, 1)),
    ...holding.map(holder),
  ]],
  [DRAIN_COLLECTIONS.budgets, budgeted.map((name) => budget(name, { minAvailable: '100%' }))],
  [SERVED_COLLECTIONS.autoscalers, autoscaled.map(autoscaler)],
];

const serviceOf = (slice: JsonRecord): string =>
  textAt(slice, 'metadata', 'labels', 'kubernetes.io/service-name') ?? '';

const readyEndpoints = (slice: JsonRecord): number =>
  listOrEmptyAt(slice, 'endpoints')
    .filter((endpoint) => booleanAt(endpoint, 'conditions', 'ready') !== false).length;

/** The Services that had no ready endpoint after an event, although they had one before. */
export const unservedAt = (
  first: readonly JsonRecord[],
  changes: readonly Change[],
): ReadonlySet<string> => {
  const slices = new Map(first.map((slice) => [nameOf(slice), slice]));
  const ready = (name: string): number =>
    [...slices.values()].filter((slice) => serviceOf(slice) === name)
      .reduce((sum, slice) => sum + readyEndpoints(slice), 0);
  const unserved = new Set<string>();
  for (const { type, object } of changes) {
    const name = serviceOf(object);
    const before = ready(name);
    if (type === 'DELETED') slices.delete(nameOf(object));
    else slices.set(nameOf(object), object);
    if (before > 0 && ready(name) === 0) unserved.add(name);
  }
  return unserved;
};

const versionOf = (object: unknown): string => textAt(object, 'metadata', 'resourceVersion') ?? '';

/** The objects that are new or have changed: a watch has nothing of the others. */
export const changedSince = (
  first: readonly JsonRecord[],
  now: readonly JsonRecord[],
): readonly JsonRecord[] => {
  const versions = new Set(first.map(versionOf));
  return now.filter((object) => !versions.has(versionOf(object)));
};
