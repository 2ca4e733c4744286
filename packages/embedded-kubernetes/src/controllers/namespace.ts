/**
 * The namespace controller: empties a terminating namespace, then removes it.
 *
 * Promises: runs in the step in which the last object of the namespace is removed; objects with
 * finalizers and pods with a grace period block removal.
 */
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import type { ApiServerState } from '../api-server-state.ts';
import { isDeleting, nameOf } from '../kinds/metadata.ts';
import { remove } from '../verbs/deleting.ts';

const RESOURCE = 'namespaces';

/** One kind per resource, because versions share their objects. */
const kindsByResource = ({ kinds }: ApiServerState) => {
  const byResource = new Map([...kinds.all()].map((kind) => [kind.resource, kind] as const));
  return [...byResource.values()].filter(({ namespaced }) => namespaced);
};

/** Deletes all objects in a namespace; returns how many are left. */
const emptied = (server: ApiServerState, namespace: string): number => {
  let left = 0;
  for (const kind of kindsByResource(server)) {
    const collection = server.store.collection(kind.resource);
    for (const object of [...collection.objects(namespace)]) {
      if (isDeleting(object)) left += 1;
      else if (
        !remove(server, { kind, at: { namespace, name: nameOf(object) } }, { dryRun: false }).gone
      ) left += 1;
    }
  }
  return left;
};

const ending = (server: ApiServerState, namespace: JsonRecord): void => {
  const at = { namespace: '', name: nameOf(namespace) };
  if (emptied(server, at.name) > 0) return;
  const now = server.store.collection(RESOURCE).get(at);
  if (now === undefined || listOrEmptyAt(now, 'metadata', 'finalizers').length > 0) return;
  if (listOrEmptyAt(now, 'spec', 'finalizers').length > 0) {
    const rest = listOrEmptyAt(now, 'spec', 'finalizers').filter((one) => one !== 'kubernetes');
    if (rest.length > 0) return;
    server.store.put(RESOURCE, at, { ...now, spec: { ...recordAt(now, 'spec'), finalizers: [] } });
  }
  server.store.remove(RESOURCE, at);
};

/** Starts the controller; returns a function that stops it. */
export const finalizeNamespaces = (server: ApiServerState): () => void =>
  server.store.subscribe(({ resource, type, object }) => {
    if (resource === RESOURCE) {
      if (type !== 'DELETED' && isDeleting(object)) ending(server, object);
      return;
    }
    if (type !== 'DELETED') return;
    const name = textAt(object, 'metadata', 'namespace') ?? '';
    const namespace = server.store.collection(RESOURCE).get({ namespace: '', name });
    if (namespace !== undefined && isDeleting(namespace)) ending(server, namespace);
  });
