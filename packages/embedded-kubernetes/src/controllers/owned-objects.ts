/** An index of objects by the UID of their controller, maintained from changes. */
import type { JsonRecord } from '../values/json.ts';
import { controllerUid } from './pod-reading.ts';
import { type ControllerEnvironment, type ObjectChange, uidOf } from './controller-environment.ts';

/** The objects of one collection, by controller. */
export interface OwnedObjects {
  readonly of: (owner: JsonRecord) => Iterable<JsonRecord>;
  readonly stop: () => void;
}

/** Indexes `collection`; `changed` is called for each change with the owner's UID. */
export const ownedObjects = (
  environment: ControllerEnvironment,
  collection: string,
  changed: (ownerUid: string, change: ObjectChange) => void,
): OwnedObjects => {
  const owned = new Map<string, Map<string, JsonRecord>>();
  const ownerOf = new Map<string, string>();
  const forget = (uid: string): void => {
    const owner = ownerOf.get(uid);
    if (owner === undefined) return;
    ownerOf.delete(uid);
    const siblings = owned.get(owner);
    siblings?.delete(uid);
    if (siblings?.size === 0) owned.delete(owner);
  };
  const put = (uid: string, owner: string, object: JsonRecord): void => {
    const siblings = owned.get(owner) ?? new Map<string, JsonRecord>();
    owned.set(owner, siblings.set(uid, object));
    ownerOf.set(uid, owner);
  };
  const unsubscribe = environment.subscribe((change) => {
    if (change.collection !== collection) return;
    const { type, object } = change;
    const uid = uidOf(object);
    const before = ownerOf.get(uid);
    const after = type === 'DELETED' ? '' : controllerUid(object);
    if (before !== undefined && before !== after) forget(uid);
    if (after !== '') put(uid, after, object);
    for (const owner of new Set([before ?? '', after])) if (owner !== '') changed(owner, change);
  });
  return { of: (owner) => owned.get(uidOf(owner))?.values() ?? [], stop: unsubscribe };
};
