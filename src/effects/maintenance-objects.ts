/**
 * Reads NodeMaintenances, for interactive commands.
 *
 * Promises: a refusal is one sentence; a missing kind says how it is installed.
 */
import { Effect } from 'effect';
import {
  type ObservedMaintenance,
  projectMaintenance,
} from '../domain/node-maintenance/observed-maintenance.ts';
import type { KubeApi, KubeFault } from './kube-api.ts';
import { NODE_MAINTENANCES_PATH } from './node-maintenance.ts';
import { type ListRead, readList } from './object-lists.ts';
import type { Selection } from './watches.ts';

/** The collection, or the part of it with this name. */
export const maintenancesNamed = (name: string | undefined): Selection => ({
  path: NODE_MAINTENANCES_PATH,
  ...(name === undefined ? {} : { query: { fieldSelector: `metadata.name=${name}` } }),
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
