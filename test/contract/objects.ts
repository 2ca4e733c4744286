/** Objects of the contract's cases, as short as the API server lets them be. */
import type { JsonRecord } from '../../src/domain/json.ts';

const named = (apiVersion: string, kind: string) => (name: string, more: JsonRecord = {}) => {
  const { metadata, ...rest } = more;
  const given = typeof metadata === 'object' ? metadata : {};
  return { apiVersion, kind, metadata: { name, ...given }, ...rest };
};

/** `configMap('a', { data, metadata: { labels } })`, and so on: a name and overrides. */
export const configMap = named('v1', 'ConfigMap');
export const secret = named('v1', 'Secret');
export const namespace = named('v1', 'Namespace');
export const node = named('v1', 'Node');
export const service = named('v1', 'Service');
export const lease = named('coordination.k8s.io/v1', 'Lease');
export const coreEvent = named('v1', 'Event');
export const boat = named('contract.tidegate.dev/v1', 'Boat');
export const buoy = named('contract.tidegate.dev/v1', 'Buoy');
export const harbour = named('contract.tidegate.dev/v1', 'Harbour');

const budgetOf = named('policy/v1', 'PodDisruptionBudget');
const podOf = named('v1', 'Pod');
const controllerOf = named('apps/v1', 'Deployment');

const CONTAINERS = [{ name: 'main', image: 'none' }];
const SELECTOR = { matchLabels: { app: 'web' } };
const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: { containers: CONTAINERS } };

/** A pod with one container and the label `app=web`. */
export const pod = (name: string, spec: JsonRecord = {}, metadata: JsonRecord = {}): JsonRecord =>
  podOf(name, {
    metadata: { labels: { app: 'web' }, ...metadata },
    spec: { containers: CONTAINERS, ...spec },
  });

/** A Deployment of the pods above; `kind` changes it to a ReplicaSet or a StatefulSet. */
export const workload = (
  name: string,
  spec: JsonRecord = {},
  kind = 'Deployment',
): JsonRecord => ({
  ...controllerOf(name, { spec: { replicas: 1, selector: SELECTOR, template: TEMPLATE, ...spec } }),
  kind,
});

/** A budget over the pods above. */
export const budget = (name: string, spec: JsonRecord = {}): JsonRecord =>
  budgetOf(name, { spec: { minAvailable: 1, selector: SELECTOR, ...spec } });

/** A configmap with an owner. */
export const owned = (name: string, owner: JsonRecord, more: JsonRecord = {}): JsonRecord =>
  configMap(name, { metadata: { ownerReferences: [owner], ...more } });

/** An owner reference to a configmap. */
export const owner = (name: string, uid: string, more: JsonRecord = {}): JsonRecord => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid,
  ...more,
});
