/**
 * What a cache tells those who watch it. Facts, not deltas: a receiver learns what is true now and
 * may hear the same fact twice.
 */
import type { ObjectKey, ResourceVersion, Uid } from './ids.ts';

/** What every projection of an object keeps. */
export interface Identity {
  readonly key: ObjectKey;
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
}

/** One thing that is now known about a collection of objects. */
export type Fact<T extends Identity> =
  /** These are all of them. Says so after a complete list; absences follow from it. */
  | { readonly _tag: 'Listed'; readonly objects: readonly T[] }
  | { readonly _tag: 'Present'; readonly object: T }
  | { readonly _tag: 'Absent'; readonly key: ObjectKey; readonly last: T };

/** A read-only look into a cache. */
export interface Collection<T extends Identity> {
  /** True after the first complete list; never false again. */
  readonly synced: boolean;
  readonly size: number;
  readonly get: (key: ObjectKey) => T | undefined;
  readonly values: () => Iterable<T>;
}
