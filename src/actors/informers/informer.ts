/**
 * A cached collection that follows the API server.
 *
 * Promises: synced only after a complete list, however long that takes; a crash of its list-watch
 * leads to a new list while the cache stays in use; when the API server answers one collection
 * again, all that wait to retry do so at once.
 */
import { concat, defer, type Observable, of, Subject } from 'rxjs';
import type { ActorRefFrom } from 'xstate';
import type { Telemetry } from '../../api/telemetry.ts';
import type { Collection, Fact, Identity } from '../../domain/facts.ts';
import { type ObjectKey, type ResourceVersion, resourceVersion } from '../../domain/ids.ts';
import { textAt } from '../../domain/json.ts';
import { identityOf } from '../../domain/object-meta.ts';
import type { KubeApi, WatchLine } from '../../effects/kube-api.ts';
import type { CompleteList } from '../../effects/object-lists.ts';
import type { Selection } from '../../effects/watches.ts';
import type { listWatch } from '../../machines/list-watch.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { deferredSends } from '../actor-logic.ts';
import { awaitedLists } from './awaited-lists.ts';
import { type ListFailure, listFailures, type RefusalSink } from './list-failures.ts';
import {
  type InformerSink,
  type ListWatches,
  listWatches,
  type ListWatchSink,
  retryAll,
} from './list-watches.ts';

/** A cached collection that follows the API server. */
export interface Informer<T extends Identity> extends Collection<T> {
  /** Such as `pods`: names its actor and labels its logs and metrics. */
  readonly id: string;
  /** Hot; a subscriber after the first list gets a `Listed` at once. */
  readonly facts: Observable<Fact<T>>;
  /**
   * Hot: the resourceVersion up to which everything was published, after each list and each chunk
   * of the watch, bookmarks included.
   */
  readonly progress: Observable<ResourceVersion>;
  /** Resolves after the first complete list; never rejects. */
  readonly whenSynced: Promise<void>;
  /** Hot: a list or watch failed, so the cache may be behind until a new list is complete. */
  readonly failures: Observable<void>;
  /** Why its list or watch does not work at present; undefined while it does. */
  readonly failure: () => ListFailure | undefined;
  /** Lists again; resolves when a list that began after this call is complete. */
  readonly relist: () => Promise<void>;
  /** Lists again; resolves when a watch that continues such a list is open. */
  readonly refollow: () => Promise<void>;
  /** The running statechart; `undefined` before the start and while it awaits a restart. */
  readonly actor: ActorRefFrom<typeof listWatch> | undefined;
  readonly stop: () => void;
}

/** An informer that is inactive before `start`. */
export interface UnstartedInformer<T extends Identity> extends Informer<T> {
  readonly start: (selection: Selection) => void;
}

/** What to follow and which fields to keep. `id` names the actor and labels logs and metrics. */
export interface InformerOptions<T extends Identity> extends Selection {
  readonly id: string;
  readonly project: (raw: unknown) => T | undefined;
  /** A complete list of moments ago, in place of the first one. */
  readonly listed?: CompleteList;
}

/** What an informer needs before it is known where it lists. */
interface UnstartedOptions<T extends Identity> extends Omit<InformerOptions<T>, keyof Selection> {
  readonly refusals?: RefusalSink | undefined;
}

/** The newest resourceVersion in `lines`, if any. */
const resourceVersionIn = (lines: readonly WatchLine[]): string | undefined =>
  textAt(lines.at(-1)?.object, 'metadata', 'resourceVersion');

/** An informer whose list-watch belongs to `registry`. */
export const makeInformer = <T extends Identity>(
  environment: ActorEnvironment<KubeApi>,
  registry: ListWatches,
  { id, project, listed, refusals }: UnstartedOptions<T>,
): UnstartedInformer<T> => {
  const { telemetry } = environment;
  // From 0, so that the first one is an increase.
  telemetry.count('tidegate_list_pages_too_large_total', 0, { resource: id });
  telemetry.count('tidegate_watch_unreadable_total', 0, { resource: id });
  const defer = deferredSends(telemetry);
  const store: InformerStore<T> = new KeptObjects({ resource: id, project }, telemetry);
  const progress = new Subject<ResourceVersion>();
  const failures = new Subject<void>();
  const awaited = awaitedLists();
  const listing = listFailures(environment, id, {
    onFailure: () => failures.next(),
    onAnswer: () => defer(() => retryAll(registry)),
    refusals,
  });
  let given = listed;
  const sink: ListWatchSink = {
    ...store,
    adoptPages: (reached) => {
      store.adoptPages();
      progress.next(resourceVersion(reached));
      awaited.onListed();
    },
    applyLines: (lines) => {
      store.applyLines(lines);
      const actor = registry.get(id);
      const reached = resourceVersionIn(lines) ?? actor?.getSnapshot().context.resourceVersion ??
        '';
      actor?.send({ type: 'watch.progressed', resourceVersion: reached });
      if (reached !== '') progress.next(resourceVersion(reached));
    },
    watchOpened: awaited.onWatchOpened,
    onTooLarge: () => telemetry.count('tidegate_list_pages_too_large_total', 1, { resource: id }),
    watchEnded: (outcome) =>
      telemetry.count('tidegate_watch_endings_total', 1, { resource: id, outcome }),
  };
  const relist = (): Promise<void> => {
    registry.get(id)?.send({ type: 'list.requested' });
    return awaited.nextList();
  };
  return {
    id,
    get synced() {
      return store.synced;
    },
    get size() {
      return store.size;
    },
    get actor() {
      return registry.get(id);
    },
    get: store.get,
    values: store.values,
    facts: store.facts,
    progress,
    whenSynced: awaited.nextList(),
    failures,
    failure: listing.current,
    relist,
    refollow: () => relist().then(awaited.watched),
    start: (selection) =>
      registry.consider({
        resource: id,
        selection,
        sink,
        givenList: () => {
          const taken = given;
          given = undefined;
          return taken;
        },
        onSnapshot: listing.onSnapshot,
        onCrash: () => failures.next(),
      }),
    stop: () => registry.remove(id),
  };
};

/** Starts to list and watch a collection at once, independently of all others. */
export const startInformer = <T extends Identity>(
  environment: ActorEnvironment<KubeApi>,
  options: InformerOptions<T>,
): Informer<T> => {
  const informer = makeInformer(environment, listWatches(environment), options);
  informer.start(options);
  return informer;
};

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

class KeptObjects<T extends Identity> implements InformerStore<T> {
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
