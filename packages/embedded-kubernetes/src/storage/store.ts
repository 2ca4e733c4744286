/**
 * The state of the embedded cluster: objects by resource, one count of revisions, subscriptions.
 *
 * Promises: every write takes the next revision, whatever its resource; listeners get changes in
 * the order of their revisions, also when one of them writes while it listens; objects are plain
 * parsed JSON, replaced and never changed, so reading copies nothing. What may be written is not
 * judged here.
 */
import { type JsonRecord, recordAt } from '../values/json.ts';
import {
  type Collection,
  makeCollection,
  type ObjectName,
  type StoredChange,
} from './collection.ts';

/** The store. Resources are named like `pods` and `deployments.apps`. */
export interface Store {
  /** The newest revision. */
  readonly revision: () => number;
  /** A resource's objects; empty when nobody has written one. */
  readonly collection: (resource: string) => Collection;
  /** Writes an object and gives it as it is kept, with its new `resourceVersion`. */
  readonly put: (resource: string, at: ObjectName, object: JsonRecord) => JsonRecord;
  /** Removes an object and gives it as it was, with the revision of its end. */
  readonly remove: (resource: string, at: ObjectName) => JsonRecord | undefined;
  /** Calls `listen` with every change from now on; returns what ends that. */
  readonly subscribe: (listen: (change: StoredChange) => void) => () => void;
  /** Forgets what happened up to and including `revision` (default: everything until now). */
  readonly compact: (revision?: number) => void;
  /** The names of the resources that were ever written. */
  readonly resources: () => Iterable<string>;
}

/** How a store is made. */
export interface StoreOptions {
  /** The revision before the first write. */
  readonly startRevision?: number;
  /** How many changes each resource remembers. */
  readonly historyMax?: number;
}

/** As many changes as the real watch cache holds at most. */
const HISTORY_MAX = 102_400;

const revised = (object: JsonRecord, revision: number): JsonRecord => ({
  ...object,
  metadata: { ...recordAt(object, 'metadata'), resourceVersion: `${revision}` },
});

/** Delivers changes one after the other, also those that are made during a delivery. */
const makeSubscriptions = () => {
  const listeners = new Set<(change: StoredChange) => void>();
  const waiting: StoredChange[] = [];
  let isDelivering = false;
  return {
    subscribe: (listen: (change: StoredChange) => void): () => void => {
      listeners.add(listen);
      return () => {
        listeners.delete(listen);
      };
    },
    deliver: (change: StoredChange): void => {
      waiting.push(change);
      if (isDelivering) return;
      isDelivering = true;
      try {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          for (const listen of listeners) listen(next);
        }
      } finally {
        isDelivering = false;
      }
    },
  };
};

/** An empty store. */
export const makeStore = ({ startRevision = 1, historyMax = HISTORY_MAX }: StoreOptions): Store => {
  const collections = new Map<string, Collection>();
  const { subscribe, deliver } = makeSubscriptions();
  let revision = startRevision;
  let compacted = startRevision - 1;

  const collection = (resource: string): Collection => {
    const known = collections.get(resource);
    if (known !== undefined) return known;
    const made = makeCollection(historyMax);
    made.forget(compacted);
    collections.set(resource, made);
    return made;
  };

  return {
    revision: () => revision,
    collection,
    put: (resource, at, object) => {
      const kept = revised(object, revision += 1);
      const before = collection(resource).get(at);
      const type = before === undefined ? 'ADDED' : 'MODIFIED';
      const change: StoredChange = { type, revision, resource, at, object: kept, before };
      collection(resource).record(change);
      deliver(change);
      return kept;
    },
    remove: (resource, at) => {
      const before = collection(resource).get(at);
      if (before === undefined) return undefined;
      const object = revised(before, revision += 1);
      const change: StoredChange = { type: 'DELETED', revision, resource, at, object, before };
      collection(resource).record(change);
      deliver(change);
      return object;
    },
    subscribe,
    compact: (until = revision) => {
      compacted = Math.max(compacted, until);
      for (const one of collections.values()) one.forget(compacted);
    },
    resources: () => collections.keys(),
  };
};
