/**
 * What the namespace controller does: a namespace that was deleted is emptied, then it goes.
 *
 * Promises: it runs in the step in which the last thing that held the namespace went; objects with
 * finalizers, and pods with a grace, hold it as long as they are there.
 */
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../../../domain/json.ts';
import type { Desk } from '../desk.ts';
import { isDeleting, nameOf } from '../kinds/metadata.ts';
import { remove } from '../verbs/deleting.ts';

const RESOURCE = 'namespaces';

/** One kind for each resource: versions share their objects. */
const kindsByResource = ({ kinds }: Desk) => {
  const byResource = new Map([...kinds.all()].map((kind) => [kind.resource, kind] as const));
  return [...byResource.values()].filter(({ namespaced }) => namespaced);
};

/** Deletes all that is in a namespace; gives how many objects are left. */
const emptied = (desk: Desk, namespace: string): number => {
  let left = 0;
  for (const kind of kindsByResource(desk)) {
    const collection = desk.store.collection(kind.resource);
    for (const object of [...collection.objects(namespace)]) {
      if (isDeleting(object)) left += 1;
      else if (
        !remove(desk, { kind, at: { namespace, name: nameOf(object) } }, { dryRun: false }).gone
      ) left += 1;
    }
  }
  return left;
};

const ending = (desk: Desk, namespace: JsonRecord): void => {
  const at = { namespace: '', name: nameOf(namespace) };
  if (emptied(desk, at.name) > 0) return;
  const now = desk.store.collection(RESOURCE).get(at);
  if (now === undefined || listOrEmptyAt(now, 'metadata', 'finalizers').length > 0) return;
  if (listOrEmptyAt(now, 'spec', 'finalizers').length > 0) {
    const rest = listOrEmptyAt(now, 'spec', 'finalizers').filter((one) => one !== 'kubernetes');
    if (rest.length > 0) return;
    desk.store.put(RESOURCE, at, { ...now, spec: { ...recordAt(now, 'spec'), finalizers: [] } });
  }
  desk.store.remove(RESOURCE, at);
};

/** Ends namespaces from now on; returns what stops that. */
export const endNamespaces = (desk: Desk): () => void =>
  desk.store.hear(({ resource, type, object }) => {
    if (resource === RESOURCE) {
      if (type !== 'DELETED' && isDeleting(object)) ending(desk, object);
      return;
    }
    if (type !== 'DELETED') return;
    const name = textAt(object, 'metadata', 'namespace') ?? '';
    const namespace = desk.store.collection(RESOURCE).get({ namespace: '', name });
    if (namespace !== undefined && isDeleting(namespace)) ending(desk, namespace);
  });
