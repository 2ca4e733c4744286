/** The owner graph of the garbage collector, maintained from changes. */
import { booleanAt, type JsonRecord, listOrEmptyAt, textAt } from '../values/json.ts';
import { nameOf, type ObjectChange, uidOf } from './controller-environment.ts';

/** An object and its API path. */
export interface OwnedThing {
  readonly uid: string;
  readonly path: string;
  readonly object: JsonRecord;
}

/** The owner graph. */
export interface Ownership {
  /** Returns the UIDs of other objects that the change affects. */
  readonly put: (change: ObjectChange) => readonly string[];
  readonly get: (uid: string) => OwnedThing | undefined;
  readonly dependentsOf: (uid: string) => readonly OwnedThing[];
}

/** UIDs of the owners of an object. */
export const ownerUids = (object: JsonRecord): readonly string[] =>
  listOrEmptyAt(object, 'metadata', 'ownerReferences')
    .flatMap((reference) => textAt(reference, 'uid') ?? []);

/** Whether `object` blocks the deletion of its owner. */
export const blocks = (object: JsonRecord, owner: string): boolean =>
  listOrEmptyAt(object, 'metadata', 'ownerReferences').some((reference) =>
    textAt(reference, 'uid') === owner && booleanAt(reference, 'blockOwnerDeletion') === true
  );

const servedAt = ({ collection, object }: ObjectChange): string => {
  const version = textAt(object, 'apiVersion') ?? 'v1';
  const { namespace, name } = nameOf(object);
  const group = version.includes('/') ? `/apis/${version}` : `/api/${version}`;
  return `${group}${namespace === '' ? '' : `/namespaces/${namespace}`}/${collection}/${name}`;
};

/** An empty graph. */
export const ownership = (): Ownership => {
  const things = new Map<string, OwnedThing>();
  const dependents = new Map<string, Set<string>>();
  const link = (uid: string, owners: readonly string[]): void => {
    for (const owner of owners) {
      const known = dependents.get(owner) ?? new Set<string>();
      dependents.set(owner, known.add(uid));
    }
  };
  const unlink = (uid: string, owners: readonly string[]): void => {
    for (const owner of owners) {
      const known = dependents.get(owner);
      known?.delete(uid);
      if (known?.size === 0) dependents.delete(owner);
    }
  };
  return {
    put: (change) => {
      const { type, object } = change;
      const uid = uidOf(object);
      const before = things.get(uid);
      const owners = ownerUids(object);
      if (before !== undefined) unlink(uid, ownerUids(before.object));
      if (type === 'DELETED') things.delete(uid);
      else {
        things.set(uid, { uid, path: servedAt(change), object });
        link(uid, owners);
      }
      return type === 'DELETED' ? [...owners, ...dependents.get(uid) ?? []] : owners;
    },
    get: (uid) => things.get(uid),
    dependentsOf: (uid) => [...dependents.get(uid) ?? []].flatMap((one) => things.get(one) ?? []),
  };
};
