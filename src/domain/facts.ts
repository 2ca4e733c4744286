/**
 * What a cache publishes to its subscribers. Facts, not deltas: each carries the current state, and
 * a subscriber may receive the same fact twice.
 */
import type { ObjectKey, ResourceVersion, Uid } from './ids.ts';

/** The identity that every projection keeps. */
export interface Identity {
  readonly key: ObjectKey;
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
}

/** A fact about a collection of objects. */
export type Fact<T extends Identity> =
  /** All objects, after a complete list; objects not in it are absent. */
  | { readonly _tag: 'Listed'; readonly objects: readonly T[] }
  | { readonly _tag: 'Present'; readonly object: T }
  | { readonly _tag: 'Absent'; readonly key: ObjectKey; readonly last: T };

/** A read-only view of a cache. */
export interface Collection<T extends Identity> {
  /** True after the first complete list; never false again. */
  readonly synced: boolean;
  readonly size: number;
  readonly get: (key: ObjectKey) => T | undefined;
  readonly values: () => Iterable<T>;
}
