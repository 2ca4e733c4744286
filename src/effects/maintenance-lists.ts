/**
 * Reads what a simulation of a maintenance needs: whole objects, in pages.
 *
 * Promises: only lists; what is written about field managers is dropped; volumes and other
 * maintenances may be missing, for lack of permission.
 */
import { Effect } from 'effect';
import { LIFECYCLE_GROUP_VERSION } from '../domain/api-group.ts';
import { asRecord, type JsonRecord, numberAt, recordAt } from '../domain/json.ts';
import type { KubeApi, KubeFault } from './kube-api.ts';
import { NODE_MAINTENANCES_PATH } from './node-maintenance.ts';
import { readList } from './object-lists.ts';

/** One resource, as it is listed. */
export interface ResourceList {
  /** Such as `deployments.apps`. */
  readonly resource: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly objects: readonly JsonRecord[];
}

/** The lists, or why there are none. */
export type ListsRead =
  | {
    readonly _tag: 'Read';
    readonly lists: readonly ResourceList[];
    /** Resources that could not be listed. */
    readonly missing: readonly string[];
  }
  | { readonly _tag: 'Refused'; readonly why: string };

interface Resource {
  readonly resource: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly path: string;
  readonly isOptional?: true;
}

const core = (plural: string, kind: string) => ({
  resource: plural,
  apiVersion: 'v1',
  kind,
  path: `/api/v1/${plural}`,
});

const ofApps = (plural: string, kind: string): Resource => ({
  resource: `${plural}.apps`,
  apiVersion: 'apps/v1',
  kind,
  path: `/apis/apps/v1/${plural}`,
});

/** The resource of NodeMaintenances, as the embedded cluster names it. */
export const MAINTENANCES_RESOURCE = 'nodemaintenances.lifecycle.tidegate.dev';

const RESOURCES: readonly Resource[] = [
  core('nodes', 'Node'),
  core('pods', 'Pod'),
  ofApps('replicasets', 'ReplicaSet'),
  ofApps('deployments', 'Deployment'),
  ofApps('statefulsets', 'StatefulSet'),
  ofApps('daemonsets', 'DaemonSet'),
  {
    resource: 'poddisruptionbudgets.policy',
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    path: '/apis/policy/v1/poddisruptionbudgets',
  },
  { ...core('persistentvolumes', 'PersistentVolume'), isOptional: true },
  { ...core('persistentvolumeclaims', 'PersistentVolumeClaim'), isOptional: true },
  {
    resource: MAINTENANCES_RESOURCE,
    apiVersion: LIFECYCLE_GROUP_VERSION,
    kind: 'NodeMaintenance',
    path: NODE_MAINTENANCES_PATH,
    isOptional: true,
  },
];

const withoutManagers = (raw: unknown): JsonRecord | undefined => {
  const metadata = recordAt(raw, 'metadata');
  if (metadata === undefined) return undefined;
  const { managedFields: _, ...kept } = metadata;
  return { ...asRecord(raw), metadata: kept };
};

/** Old revisions of Deployments: they have no pods, and never will. */
const isPast = (object: JsonRecord): boolean =>
  numberAt(object, 'spec', 'replicas') === 0 && (numberAt(object, 'status', 'replicas') ?? 0) === 0;

/** Lists everything that a simulation needs. */
export const readLists: Effect.Effect<ListsRead, KubeFault, KubeApi> = Effect.gen(function* () {
  const lists: ResourceList[] = [];
  const missing: string[] = [];
  for (const { path, isOptional, ...resource } of RESOURCES) {
    const read = yield* readList({ path }, withoutManagers);
    if (read._tag === 'Listed') {
      const isSet = resource.kind === 'ReplicaSet';
      const objects = read.objects.filter((object) => !isSet || !isPast(object));
      lists.push({ ...resource, objects });
    } else if (isOptional) missing.push(resource.resource);
    else return { _tag: 'Refused', why: `Cannot list ${resource.resource}: ${read.why}` } as const;
  }
  return { _tag: 'Read', lists, missing } as const;
});
