/**
 * Reads, creates and changes NodeMaintenances, for interactive commands.
 *
 * Promises: a refusal is one sentence; a missing kind says how it is installed; every change names
 * the object as it was read.
 */
import { Effect } from 'effect';
import {
  type ObservedMaintenance,
  projectMaintenance,
} from '../domain/node-maintenance/observed-maintenance.ts';
import { LIFECYCLE_GROUP_VERSION } from '../domain/api-group.ts';
import { asRecord, recordAt, textAt } from '../domain/json.ts';
import { type KubeAnswer, KubeApi, type KubeCall, type KubeFault } from './kube-api.ts';
import { NODE_MAINTENANCES_PATH } from './node-maintenance.ts';
import { type Stage } from '../domain/node-maintenance/stage.ts';
import { type ListRead, readList } from './object-lists.ts';
import type { Selection } from './watches.ts';

/** The collection, or the part of it with this name. */
export const maintenancesNamed = (name: string | undefined): Selection => ({
  path: NODE_MAINTENANCES_PATH,
  ...(name === undefined ? {} : { query: { fieldSelector: `metadata.name=${name}` } }),
});

/** The part of the collection with these labels. */
export const maintenancesLabelled = (labels: Readonly<Record<string, string>>): Selection => ({
  path: NODE_MAINTENANCES_PATH,
  query: {
    labelSelector: Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(','),
  },
});

const NOT_FOUND = 404;

/** How the kind is installed. */
const NOT_SERVED = 'the API server does not serve nodemaintenances.lifecycle.tidegate.dev; ' +
  'install its CRD with "kubectl apply --server-side -f charts/tidegate/files/crds", and run ' +
  'an operator with --roles maintenance';

/** Lists the maintenance of this name, or all. */
export const readMaintenances = (
  name: string | undefined,
): Effect.Effect<ListRead<ObservedMaintenance>, KubeFault, KubeApi> =>
  readList(maintenancesNamed(name), projectMaintenance).pipe(
    Effect.map((read) =>
      read._tag === 'Refused' && read.status === NOT_FOUND ? { ...read, why: NOT_SERVED } : read
    ),
  );

/** How a change ended. */
export type MaintenanceOutcome =
  | { readonly _tag: 'Stored'; readonly maintenance: ObservedMaintenance }
  /** It does not exist; or it exists, when it was to be created. */
  | { readonly _tag: 'Absent' }
  | { readonly _tag: 'Present' }
  | { readonly _tag: 'Conflict' }
  | { readonly _tag: 'Refused'; readonly why: string };

/** Whether a change is stored, or only tried. */
export interface Trial {
  readonly isTrial: boolean;
}

const WRITE_TIMEOUT_MS = 15_000;
const CONFLICT = 409;

/** A 404 for a missing object has its name in the details; one for an unknown path has not. */
const isUnknownKind = (body: unknown): boolean => textAt(body, 'details', 'name') === undefined;

/** What is only tried has no version. */
const versioned = (body: unknown): object => ({
  ...asRecord(body),
  metadata: { resourceVersion: '0', ...recordAt(body, 'metadata') },
});

const outcomeOf = ({ status, body }: KubeAnswer): MaintenanceOutcome => {
  if (status === NOT_FOUND) {
    return isUnknownKind(body) ? { _tag: 'Refused', why: NOT_SERVED } : { _tag: 'Absent' };
  }
  if (status === CONFLICT) {
    return textAt(body, 'reason') === 'AlreadyExists' ? { _tag: 'Present' } : { _tag: 'Conflict' };
  }
  const maintenance = status >= 300 ? undefined : projectMaintenance(versioned(body));
  return maintenance === undefined
    ? { _tag: 'Refused', why: textAt(body, 'message') ?? `HTTP status ${status}` }
    : { _tag: 'Stored', maintenance };
};

type Changing = Effect.Effect<MaintenanceOutcome, KubeFault, KubeApi>;

const changed = (
  call: Pick<KubeCall, 'method' | 'path' | 'body' | 'contentType'>,
  { isTrial }: Trial,
): Changing =>
  KubeApi.use((api) =>
    api.call({
      ...call,
      timeoutMs: WRITE_TIMEOUT_MS,
      ...(isTrial ? { query: { dryRun: 'All' } } : {}),
    })
  ).pipe(Effect.map(outcomeOf));

const pathOf = (name: string): string => `${NODE_MAINTENANCES_PATH}/${encodeURIComponent(name)}`;

/** Metadata and spec of a maintenance that is to be created. */
export interface NewMaintenance {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: object;
}

/** Creates a maintenance. */
export const createMaintenance = (maintenance: NewMaintenance, trial: Trial): Changing =>
  changed({
    method: 'POST',
    path: NODE_MAINTENANCES_PATH,
    body: { apiVersion: LIFECYCLE_GROUP_VERSION, kind: 'NodeMaintenance', ...maintenance },
  }, trial);

/** Sets the stage of the maintenance as it was read. */
export const moveMaintenance = (
  { name, uid, resourceVersion }: ObservedMaintenance,
  to: Stage,
  trial: Trial,
): Changing =>
  changed({
    method: 'PATCH',
    path: pathOf(name),
    body: { metadata: { uid, resourceVersion }, spec: { stage: to } },
    contentType: 'application/merge-patch+json',
  }, trial);

/** Deletes the maintenance as it was read; one that is gone is deleted. */
export const deleteMaintenance = (
  { name, uid }: Pick<ObservedMaintenance, 'name' | 'uid'>,
): Effect.Effect<string | undefined, KubeFault, KubeApi> =>
  KubeApi.use((api) =>
    api.call({
      method: 'DELETE',
      path: pathOf(name),
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
      timeoutMs: WRITE_TIMEOUT_MS,
    })
  ).pipe(
    Effect.map(({ status, body }) =>
      status < 300 || status === NOT_FOUND || status === CONFLICT
        ? undefined
        : textAt(body, 'message') ?? `HTTP status ${status}`
    ),
  );
