/**
 * The state of the embedded cluster: objects by resource, one revision counter, subscriptions.
 *
 * Promises: every write takes the next revision, whatever its resource; listeners receive changes
 * in revision order, even when a listener writes; objects are plain parsed JSON, replaced and never
 * mutated, so reads copy nothing. Validation happens elsewhere.
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
  /** A resource's objects; empty until the first write. */
  readonly collection: (resource: string) => Collection;
  /** Writes an object; returns it as stored, with its new `resourceVersion`. */
  readonly put: (resource: string, at: ObjectName, object: JsonRecord) => JsonRecord;
  /** Removes an object; returns its last state, with the revision of the deletion. */
  readonly remove: (resource: string, at: ObjectName) => JsonRecord | undefined;
  /** Calls `listen` with every future change; returns the unsubscribe function. */
  readonly subscribe: (listen: (change: StoredChange) => void) => () => void;
  /** Compacts the history up to and including `revision` (default: all of it). */
  readonly compact: (revision?: number) => void;
  /** Resources that were ever written. */
  readonly resources: () => Iterable<string>;
}

/** Options of a store. */
export interface StoreOptions {
  /** The revision before the first write. */
  readonly startRevision?: number;
  /** How many changes per resource to keep. */
  readonly historyMax?: number;
}

/** The maximum capacity of the real watch cache. */
const HISTORY_MAX = 102_400;

const revised = (object: JsonRecord, revision: number): JsonRecord => ({
  ...object,
  metadata: { ...recordAt(object, 'metadata'), resourceVersion: `${revision}` },
});

/** Delivers changes one after the other, also those made during a delivery. */
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
