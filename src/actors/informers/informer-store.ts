/**
 * The objects of one collection as projections, and the facts about them.
 *
 * Promises: a list is shown when it is complete, never half of it; the absences that follow from it
 * come after it; the cache is changed before a fact is published; an object that cannot be read by
 * a defect keeps what was known of it, is counted and logged, and harms no other, but a list of
 * mostly such objects is none; a subscriber's exception harms nobody.
 */
import { concat, defer, type Observable, of, Subject } from 'rxjs';
import type { Telemetry } from '../../api/telemetry.ts';
import type { Collection, Fact, Identity } from '../../domain/facts.ts';
import type { ObjectKey } from '../../domain/ids.ts';
import { textAt } from '../../domain/json.ts';
import { identityOf } from '../../domain/object-meta.ts';
import type { WatchLine } from '../../effects/kube-api.ts';

/** Where lists and watches put what they read. */
export interface InformerSink {
  /** Collects a page of raw objects; nothing is shown. */
  readonly takePage: (objects: readonly unknown[]) => void;
  /** Forgets the collected pages. */
  readonly dropPages: () => void;
  /** Shows the collected pages as the collection. */
  readonly adoptPages: () => void;
  /** Applies the events of one chunk. */
  readonly takeLines: (lines: readonly WatchLine[]) => void;
}

/** A collection, the facts about it, and its intake. */
export interface InformerStore<T extends Identity> extends Collection<T>, InformerSink {
  /** Hot; a late subscriber gets the complete list first. */
  readonly facts: Observable<Fact<T>>;
}

/** What a cache is called, and what it keeps of each object. */
export interface Projection<T extends Identity> {
  /** A metric label and a log field. */
  readonly resource: string;
  /** The fields that are read; `undefined` leaves the object out. */
  readonly project: (raw: unknown) => T | undefined;
}

/**
 * A list of which more than this could not be read shows a defect of ours and not the cluster;
 * shown, it would say that the rest is gone.
 */
const BROKEN_SHARE_MAX = 0.5;

/** An empty cache. */
export const makeInformerStore = <T extends Identity>(
  { resource, project }: Projection<T>,
  telemetry: Telemetry,
): InformerStore<T> => {
  const published = new Subject<Fact<T>>();
  let objects = new Map<ObjectKey, T>();
  let pages = new Map<ObjectKey, T>();
  let synced = false;
  let listedCount = 0;
  let brokenCount = 0;

  const read = (raw: unknown): T | 'broken' | undefined => {
    try {
      const object = project(raw);
      if (object !== undefined || identityOf(raw) !== undefined) return object;
      telemetry.log('warn', 'An object without identity is left out', { resource });
      telemetry.count('tidegate_watch_unreadable_total', 1, { resource });
      return undefined;
    } catch (cause) {
      const object = textAt(raw, 'metadata', 'name');
      const problem = String(cause);
      telemetry.log('error', 'An object could not be read by a defect', {
        resource,
        object,
        problem,
      });
      telemetry.count('tidegate_watch_unreadable_total', 1, { resource });
      return 'broken';
    }
  };
  /** What was known of an object before it could not be read: better than its absence. */
  const knownOf = (raw: unknown): T | undefined => {
    const identity = identityOf(raw);
    const known = identity && objects.get(identity.key);
    return known?.uid === identity?.uid ? known : undefined;
  };
  const showSize = (): void =>
    telemetry.gauge('tidegate_watch_objects', objects.size, { resource });
  const listed = (): Fact<T> => ({ _tag: 'Listed', objects: [...objects.values()] });
  const remove = (raw: unknown, last: T | undefined): void => {
    const key = identityOf(raw)?.key;
    const known = key === undefined ? undefined : objects.get(key);
    if (key === undefined || known === undefined) return;
    objects.delete(key);
    published.next({ _tag: 'Absent', key, last: last ?? known });
  };
  const put = (raw: unknown): void => {
    const object = read(raw);
    if (object === 'broken') return;
    if (object === undefined) return remove(raw, undefined);
    objects.set(object.key, object);
    published.next({ _tag: 'Present', object });
  };
  const takeLine = ({ type, object }: WatchLine): void => {
    if (type === 'ADDED' || type === 'MODIFIED') put(object);
    else if (type === 'DELETED') {
      const last = read(object);
      remove(object, last === 'broken' ? undefined : last);
    }
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
    facts: defer(() => (synced ? concat(of(listed()), published) : published)),
    takePage: (raws) => {
      listedCount += raws.length;
      for (const raw of raws) {
        const seen = read(raw);
        if (seen === 'broken') brokenCount += 1;
        const object = seen === 'broken' ? knownOf(raw) : seen;
        if (object === undefined) continue;
        const known = objects.get(object.key);
        const same = known?.revision === object.revision && known.uid === object.uid;
        pages.set(object.key, same ? known : object);
      }
    },
    dropPages: () => {
      pages = new Map();
      listedCount = 0;
      brokenCount = 0;
    },
    adoptPages: () => {
      if (brokenCount > listedCount * BROKEN_SHARE_MAX) {
        throw new Error(
          `${brokenCount} of ${listedCount} ${resource} could not be read: no list is shown`,
        );
      }
      const before = objects;
      objects = pages;
      pages = new Map();
      synced = true;
      showSize();
      telemetry.count('tidegate_watch_relists_total', 1, { resource });
      published.next(listed());
      for (const [key, last] of before) {
        const now = objects.get(key);
        if (now?.uid === last.uid) continue;
        published.next({ _tag: 'Absent', key, last });
        if (now !== undefined) published.next({ _tag: 'Present', object: now });
      }
    },
    takeLines: (lines) => {
      for (const line of lines) takeLine(line);
      showSize();
    },
  };
};
