/**
 * Loads the objects of another API server, for a look ahead at what its controllers would do.
 *
 * Promises: objects keep their UIDs, owners and states; nothing that was loaded is deleted because
 * its owner was not; a controller that is not known here is replaced by a ReplicaSet of as many
 * pods as it has. To be called before controllers start.
 */
import type { Cluster } from './cluster.ts';
import { controllerOf, isActive } from './controllers/pod-reading.ts';
import { templateHash } from './controllers/replicas.ts';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
} from './values/json.ts';
import { labelsOf } from './values/object-meta.ts';

/** Objects of one resource, such as `pods` or `deployments.apps`, as a list has them. */
export interface LoadedList {
  readonly resource: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly objects: readonly JsonRecord[];
}

/** What could not be loaded as it was. */
export interface LoadedObjects {
  /** Controllers that a ReplicaSet replaces: `Job ns/name`. */
  readonly replaced: readonly string[];
}

const REVISION = 'controller-revision-hash';
const KNOWN = ['ReplicaSet', 'StatefulSet', 'DaemonSet', 'Node'];

const textOf = (object: unknown, ...path: readonly string[]): string =>
  textAt(object, ...path) ?? '';
const uidOf = (object: unknown): string => textOf(object, 'metadata', 'uid');
const nameOf = (object: unknown): string => textOf(object, 'metadata', 'name');
const namespaceOf = (object: unknown): string => textOf(object, 'metadata', 'namespace');

const withMetadata = (object: JsonRecord, metadata: JsonRecord): JsonRecord => ({
  ...object,
  metadata: { ...recordAt(object, 'metadata'), ...metadata },
});

/** The pod with its controller as a ReplicaSet of the same UID. */
const adopted = (pod: JsonRecord): JsonRecord => {
  const uid = textOf(controllerOf(pod), 'uid');
  const ownerReferences = listOrEmptyAt(pod, 'metadata', 'ownerReferences').map((owner) =>
    textAt(owner, 'uid') === uid
      ? { ...asRecord(owner), apiVersion: 'apps/v1', kind: 'ReplicaSet' }
      : owner
  );
  return withMetadata(pod, { ownerReferences });
};

const TAKEN_LABEL = 'simulation.tidegate.dev/controller';

/** A ReplicaSet that recreates pods like these. */
const replacement = (owner: JsonRecord, pods: readonly JsonRecord[]): JsonRecord => {
  const [pod] = pods;
  const uid = textOf(owner, 'uid');
  const { nodeName: _, ...spec } = recordAt(pod, 'spec') ?? {};
  const labels = { ...labelsOf(pod), [TAKEN_LABEL]: uid };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: textOf(owner, 'name'), namespace: namespaceOf(pod), uid, generation: 1 },
    spec: {
      replicas: pods.filter(isActive).length,
      selector: { matchLabels: { [TAKEN_LABEL]: uid } },
      template: { metadata: { labels }, spec: { ...spec, restartPolicy: 'Always' } },
    },
    status: { replicas: pods.length },
  };
};

const isUnknown = (pod: JsonRecord): boolean => {
  const owner = controllerOf(pod);
  return owner !== undefined && !KNOWN.includes(textOf(owner, 'kind'));
};

/** Pods of unknown controllers with a ReplicaSet each, and the others as they are. */
const withReplacements = (pods: readonly JsonRecord[]) => {
  const unknown = Map.groupBy(pods.filter(isUnknown), (pod) => textOf(controllerOf(pod), 'uid'));
  const sets: JsonRecord[] = [];
  const replaced: string[] = [];
  for (const group of unknown.values()) {
    const owner = controllerOf(group[0]) ?? {};
    sets.push(replacement(owner, group));
    replaced.push(`${textOf(owner, 'kind')} ${namespaceOf(group[0])}/${textOf(owner, 'name')}`);
  }
  const all = pods.map((pod) => {
    if (!isUnknown(pod)) return pod;
    const labels = { ...labelsOf(pod), [TAKEN_LABEL]: textOf(controllerOf(pod), 'uid') };
    return withMetadata(adopted(pod), { labels });
  });
  return { pods: all, sets, replaced };
};

/** Pods of the current revision of their StatefulSet, in the notation of the revisions here. */
const withRevisions = (
  pods: readonly JsonRecord[],
  sets: readonly JsonRecord[],
): readonly JsonRecord[] => {
  const byUid = new Map(sets.map((set) => [uidOf(set), set]));
  return pods.map((pod) => {
    const set = byUid.get(textOf(controllerOf(pod), 'uid'));
    const current = textAt(set, 'status', 'updateRevision');
    if (set === undefined || labelsOf(pod)[REVISION] !== current) return pod;
    const revision = `${nameOf(set)}-${templateHash(recordAt(set, 'spec', 'template'))}`;
    return withMetadata(pod, { labels: { ...labelsOf(pod), [REVISION]: revision } });
  });
};

/** The claims of pods that were not loaded, bound to nothing. */
const missingClaims = (
  pods: readonly JsonRecord[],
  claims: readonly JsonRecord[],
): readonly JsonRecord[] => {
  const known = new Set(claims.map((claim) => `${namespaceOf(claim)}/${nameOf(claim)}`));
  const missing = new Map<string, JsonRecord>();
  for (const pod of pods) {
    const namespace = namespaceOf(pod);
    for (const volume of listOrEmptyAt(pod, 'spec', 'volumes')) {
      const name = textAt(volume, 'persistentVolumeClaim', 'claimName');
      if (name === undefined || known.has(`${namespace}/${name}`)) continue;
      missing.set(`${namespace}/${name}`, {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name, namespace, uid: `claim-${namespace}-${name}` },
        spec: { accessModes: ['ReadWriteOnce'] },
      });
    }
  }
  return [...missing.values()];
};

/** The priority classes that the pods name: admission asks for them. */
const priorityClasses = (pods: readonly JsonRecord[]): readonly JsonRecord[] => {
  const values = new Map(
    pods.map((
      pod,
    ) => [textOf(pod, 'spec', 'priorityClassName'), numberAt(pod, 'spec', 'priority')]),
  );
  return [...values].filter(([name]) => name !== '' && !name.startsWith('system-'))
    .map(([name, value = 0]) => ({ metadata: { name }, value }));
};

const PRIORITY_CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';

/** Owners that were not loaded, so that the garbage collector spares what they own. */
const missingOwners = (all: readonly JsonRecord[]): readonly JsonRecord[] => {
  const known = new Set(all.map(uidOf));
  const owners = all.flatMap((object) => listOrEmptyAt(object, 'metadata', 'ownerReferences'));
  const missing = new Map(
    owners.map((owner) => [textOf(owner, 'uid'), owner]),
  );
  return [...missing].filter(([uid]) => !known.has(uid)).map(([uid, owner]) => ({
    metadata: { name: `${textOf(owner, 'kind')}-${uid}`, uid },
  }));
};

/** A resource that nobody serves. */
const OWNERS = 'owners.simulation.tidegate.dev';

/** Loads lists into a cluster without controllers. */
export const loadObjects = (cluster: Cluster, lists: readonly LoadedList[]): LoadedObjects => {
  const { store, answer } = cluster;
  const of = (resource: string): readonly JsonRecord[] =>
    lists.filter((list) => list.resource === resource).flatMap(({ objects }) => objects);
  const { pods, sets, replaced } = withReplacements(
    withRevisions(of('pods'), of('statefulsets.apps')),
  );
  const put = (resource: string, object: JsonRecord): void => {
    store.put(resource, { namespace: namespaceOf(object), name: nameOf(object) }, object);
  };
  const all = [...lists.flatMap(({ objects }) => objects), ...pods, ...sets];
  for (const name of new Set(all.map(namespaceOf).filter((one) => one !== ''))) {
    answer({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  }
  for (const body of priorityClasses(pods)) {
    answer({ method: 'POST', path: PRIORITY_CLASSES, body });
  }
  for (const { resource, apiVersion, kind, objects } of lists) {
    for (const object of resource === 'pods' ? pods : objects) {
      put(resource, { ...object, apiVersion, kind });
    }
  }
  for (const set of sets) put('replicasets.apps', set);
  for (const claim of missingClaims(pods, of('persistentvolumeclaims'))) {
    put('persistentvolumeclaims', claim);
  }
  for (const owner of missingOwners(all)) put(OWNERS, owner);
  return { replaced };
};
