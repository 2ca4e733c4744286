/**
 * The objects of one collection, as lists and watches deliver them, and the facts that follow.
 *
 * Promises: a list is published when it is complete, with what is gone since the one before; an
 * object that cannot be read keeps its last version; a list that is mostly unreadable is a defect
 * and is not published.
 */
import { concat, defer, type Observable, of, Subject } from 'rxjs';
import type { Telemetry } from '../../api/telemetry.ts';
import type { Collection, Fact, Identity } from '../../domain/facts.ts';
import type { ObjectKey } from '../../domain/ids.ts';
import { identityOf } from '../../domain/object-meta.ts';
import { textAt } from '../../domain/json.ts';
import type { WatchLine } from '../../effects/kube-api.ts';

/** Receives the results of lists and watches. */
export interface InformerSink {
  /** Collects a page of raw objects without publishing it. */
  readonly addPage: (objects: readonly unknown[]) => void;
  /** Discards the collected pages. */
  readonly dropPages: () => void;
  /** Publishes the collected pages as the collection. */
  readonly adoptPages: () => void;
  /** Applies the events of one chunk. */
  readonly applyLines: (lines: readonly WatchLine[]) => void;
}

/** A collection, its facts, and its intake. */
export interface InformerStore<T extends Identity> extends Collection<T>, InformerSink {
  /** Hot; a late subscriber gets the complete list first. */
  readonly facts: Observable<Fact<T>>;
}

/** The name of a cache, and the fields that it keeps. */
export interface Projection<T extends Identity> {
  /** A metric label and a log field. */
  readonly resource: string;
  /** The fields that are read; `undefined` excludes the object. */
  readonly project: (raw: unknown) => T | undefined;
}

/**
 * A list with more unreadable objects indicates a defect of ours; publishing it would report them
 * as deleted.
 */
const BROKEN_SHARE_MAX = 0.5;

/** The objects of the newest list, with what was watched since. */
export class KeptObjects<T extends Identity> implements InformerStore<T> {
  readonly #projection: Projection<T>;
  readonly #telemetry: Telemetry;
  readonly #published = new Subject<Fact<T>>();
  #objects = new Map<ObjectKey, T>();
  #pages = new Map<ObjectKey, T>();
  #synced = false;
  #listedCount = 0;
  #brokenCount = 0;
  readonly facts: Observable<Fact<T>>;

  constructor(projection: Projection<T>, telemetry: Telemetry) {
    this.#projection = projection;
    this.#telemetry = telemetry;
    this.facts = defer(() =>
      this.#synced ? concat(of(this.#listed()), this.#published) : this.#published
    );
  }

  get synced(): boolean {
    return this.#synced;
  }

  get size(): number {
    return this.#objects.size;
  }

  readonly get = (key: ObjectKey): T | undefined => this.#objects.get(key);
  readonly values = (): Iterable<T> => this.#objects.values();

  readonly addPage = (raws: readonly unknown[]): void => {
    this.#listedCount += raws.length;
    for (const raw of raws) {
      const seen = this.#read(raw);
      if (seen === 'broken') this.#brokenCount += 1;
      const object = seen === 'broken' ? this.#knownOf(raw) : seen;
      if (object === undefined) continue;
      const known = this.#objects.get(object.key);
      const same = known?.resourceVersion === object.resourceVersion && known.uid === object.uid;
      this.#pages.set(object.key, same ? known : object);
    }
  };

  readonly dropPages = (): void => {
    this.#pages = new Map();
    this.#listedCount = 0;
    this.#brokenCount = 0;
  };

  readonly adoptPages = (): void => {
    const { resource } = this.#projection;
    if (this.#brokenCount > this.#listedCount * BROKEN_SHARE_MAX) {
      throw new Error(
        `${this.#brokenCount} of ${this.#listedCount} ${resource} are unreadable: ` +
          'list not published',
      );
    }
    const before = this.#objects;
    this.#objects = this.#pages;
    this.#pages = new Map();
    this.#synced = true;
    this.#showSize();
    this.#telemetry.count('tidegate_watch_relists_total', 1, { resource });
    this.#published.next(this.#listed());
    for (const [key, last] of before) {
      const now = this.#objects.get(key);
      if (now?.uid === last.uid) continue;
      this.#published.next({ _tag: 'Absent', key, last });
      if (now !== undefined) this.#published.next({ _tag: 'Present', object: now });
    }
  };

  readonly applyLines = (lines: readonly WatchLine[]): void => {
    for (const line of lines) this.#applyLine(line);
    this.#showSize();
  };

  #applyLine({ type, object }: WatchLine): void {
    if (type === 'ADDED' || type === 'MODIFIED') this.#put(object);
    else if (type === 'DELETED') {
      const last = this.#read(object);
      this.#remove(object, last === 'broken' ? undefined : last);
    }
  }

  #put(raw: unknown): void {
    const object = this.#read(raw);
    if (object === 'broken') return;
    if (object === undefined) return this.#remove(raw, undefined);
    this.#objects.set(object.key, object);
    this.#published.next({ _tag: 'Present', object });
  }

  #remove(raw: unknown, last: T | undefined): void {
    const key = identityOf(raw)?.key;
    const known = key && this.#objects.get(key);
    if (key === undefined || known === undefined) return;
    this.#objects.delete(key);
    this.#published.next({ _tag: 'Absent', key, last: last ?? known });
  }

  #read(raw: unknown): T | 'broken' | undefined {
    const { resource, project } = this.#projection;
    try {
      const object = project(raw);
      if (object !== undefined || identityOf(raw) !== undefined) return object;
      this.#telemetry.log('warn', 'Object without identity ignored', { resource });
      this.#telemetry.count('tidegate_watch_unreadable_total', 1, { resource });
      return undefined;
    } catch (cause) {
      const object = textAt(raw, 'metadata', 'name');
      const fields = { resource, object, problem: String(cause) };
      this.#telemetry.log('error', 'Cannot project an object', fields);
      this.#telemetry.count('tidegate_watch_unreadable_total', 1, { resource });
      return 'broken';
    }
  }

  /** The last known version of a now unreadable object: better than its absence. */
  #knownOf(raw: unknown): T | undefined {
    const identity = identityOf(raw);
    const known = identity && this.#objects.get(identity.key);
    return known?.uid === identity?.uid ? known : undefined;
  }

  #listed(): Fact<T> {
    return { _tag: 'Listed', objects: [...this.#objects.values()] };
  }

  #showSize(): void {
    const labels = { resource: this.#projection.resource };
    this.#telemetry.gauge('tidegate_watch_objects', this.#objects.size, labels);
  }
}
