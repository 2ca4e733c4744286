/**
 * The objects of one collection as projections, and the facts about them.
 *
 * Promises: a list is shown when it is complete, never half of it; the absences that follow from it
 * come after it; the cache is changed before anybody is told; an object that cannot be read is left
 * out, counted and logged, and harms no other; a subscriber's exception harms nobody.
 */
import { concat, defer, type Observable, of, Subject } from 'rxjs';
import type { Telemetry } from '../api/telemetry.ts';
import type { Collection, Fact, Identity } from '../domain/facts.ts';
import type { ObjectKey } from '../domain/ids.ts';
import { textAt } from '../domain/json.ts';
import { identityOf } from '../domain/object-meta.ts';
import type { WatchLine } from '../effects/kube-api.ts';

/** Where lists and watches put what they read. */
export interface CollectionSink {
  /** Collects a page of raw objects; nothing is shown. */
  readonly takePage: (objects: readonly unknown[]) => void;
  /** Forgets the collected pages. */
  readonly dropPages: () => void;
  /** Shows the collected pages as the collection. */
  readonly adoptPages: () => void;
  /** Applies the events of one chunk. */
  readonly takeLines: (lines: readonly WatchLine[]) => void;
}

/** A collection, what is said about it, and its intake. */
export interface CollectionCache<T extends Identity> extends Collection<T>, CollectionSink {
  /** Hot; one that comes late hears the complete list first. */
  readonly facts: Observable<Fact<T>>;
}

/** What a cache is called, and what it keeps of each object. */
export interface Projection<T extends Identity> {
  /** A metric label and a log field. */
  readonly resource: string;
  /** The fields that are read; `undefined` leaves the object out. */
  readonly project: (raw: unknown) => T | undefined;
}

/** An empty cache. */
export const makeCollectionCache = <T extends Identity>(
  { resource, project }: Projection<T>,
  telemetry: Telemetry,
): CollectionCache<T> => {
  const told = new Subject<Fact<T>>();
  let objects = new Map<ObjectKey, T>();
  let pages = new Map<ObjectKey, T>();
  let synced = false;

  const read = (raw: unknown): T | undefined => {
    try {
      const object = project(raw);
      if (object !== undefined || identityOf(raw) !== undefined) return object;
      telemetry.log('warn', 'An object without identity is left out', { resource });
    } catch (cause) {
      const object = textAt(raw, 'metadata', 'name');
      const problem = String(cause);
      telemetry.log('warn', 'An object that cannot be read is left out', {
        resource,
        object,
        problem,
      });
    }
    telemetry.count('tidegate_watch_unreadable_total', 1, { resource });
    return undefined;
  };
  const showSize = (): void =>
    telemetry.gauge('tidegate_watch_objects', objects.size, { resource });
  const listed = (): Fact<T> => ({ _tag: 'Listed', objects: [...objects.values()] });
  const remove = (raw: unknown, last: T | undefined): void => {
    const key = identityOf(raw)?.key;
    const known = key === undefined ? undefined : objects.get(key);
    if (key === undefined || known === undefined) return;
    objects.delete(key);
    told.next({ _tag: 'Absent', key, last: last ?? known });
  };
  const put = (raw: unknown): void => {
    const object = read(raw);
    if (object === undefined) return remove(raw, undefined);
    objects.set(object.key, object);
    told.next({ _tag: 'Present', object });
  };
  const takeLine = ({ type, object }: WatchLine): void => {
    if (type === 'ADDED' || type === 'MODIFIED') put(object);
    else if (type === 'DELETED') remove(object, read(object));
  };

  return {
    get synced() {
      return synced;
    },
    get size() {
      return objects.size;
    },
    get: (key) => objects.get(key),
    values: () => objects.values(),
    facts: defer(() => (synced ? concat(of(listed()), told) : told)),
    takePage: (raws) => {
      for (const raw of raws) {
        const object = read(raw);
        if (object === undefined) continue;
        const known = objects.get(object.key);
        const same = known?.revision === object.revision && known.uid === object.uid;
        pages.set(object.key, same ? known : object);
      }
    },
    dropPages: () => {
      pages = new Map();
    },
    adoptPages: () => {
      const before = objects;
      objects = pages;
      pages = new Map();
      synced = true;
      showSize();
      telemetry.count('tidegate_watch_relists_total', 1, { resource });
      told.next(listed());
      for (const [key, last] of before) {
        const now = objects.get(key);
        if (now?.uid === last.uid) continue;
        told.next({ _tag: 'Absent', key, last });
        if (now !== undefined) told.next({ _tag: 'Present', object: now });
      }
    },
    takeLines: (lines) => {
      for (const line of lines) takeLine(line);
      showSize();
    },
  };
};
