/**
 * A collection that follows the API server.
 *
 * Promises: nothing is called synced before a complete list, however long that takes; a crash of
 * its list-watch leads to a new list while what is known stays shown.
 */
import { type Observable, Subject } from 'rxjs';
import type { ActorRefFrom, SnapshotFrom } from 'xstate';
import type { Collection, Fact, Identity } from '../../domain/facts.ts';
import { type Revision, revision } from '../../domain/ids.ts';
import { textAt } from '../../domain/json.ts';
import type { KubeApi, WatchLine } from '../../effects/kube-api.ts';
import type { Selection } from '../../effects/watches.ts';
import type { listWatch } from '../../machines/list-watch.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { makeInformerStore, type Projection } from './informer-store.ts';
import { type ListWatches, listWatches, type ListWatchSink } from './list-watches.ts';

/** A collection that follows the API server. */
export interface Informer<T extends Identity> extends Collection<T> {
  /** Such as `pods`: names its actor and labels its logs and metrics. */
  readonly id: string;
  /** Hot; a subscriber that comes after the first list gets a `Listed` at once. */
  readonly facts: Observable<Fact<T>>;
  /**
   * Hot: the revision up to which everything was published, after each chunk of the watch,
   * bookmarks included. Silent for as long as the watch is.
   */
  readonly progress: Observable<Revision>;
  /** Resolves after the first complete list; never rejects. */
  readonly whenSynced: Promise<void>;
  /** The running statechart; `undefined` before the start and while it waits for a restart. */
  readonly actor: ActorRefFrom<typeof listWatch> | undefined;
  readonly stop: () => void;
}

/** An informer that does nothing before `start`. */
export interface UnstartedInformer<T extends Identity> extends Informer<T> {
  readonly start: (selection: Selection) => void;
}

/** What to follow and what to keep of it. `id` names the actor and labels logs and metrics. */
export interface InformerOptions<T extends Identity> extends Selection {
  readonly id: string;
  readonly project: (raw: unknown) => T | undefined;
}

/** The newest revision that `lines` carry, if any. */
const revisionIn = (lines: readonly WatchLine[]): string | undefined =>
  textAt(lines.at(-1)?.object, 'metadata', 'resourceVersion');

/** Logs the first failure and the recovery, not every retry between them. */
const troubleLog = ({ telemetry }: ActorEnvironment<KubeApi>, resource: string) => {
  let failing = false;
  return ({ context: { attempt, problem } }: SnapshotFrom<typeof listWatch>): void => {
    if (attempt > 0 && !failing) {
      telemetry.log('warn', 'A collection cannot be followed for now', { resource, problem });
    } else if (attempt === 0 && failing) {
      telemetry.log('info', 'A collection is followed again', { resource });
    }
    failing = attempt > 0;
  };
};

/** An informer whose list-watch is one of `registry`. */
export const makeInformer = <T extends Identity>(
  environment: ActorEnvironment<KubeApi>,
  registry: ListWatches,
  { id, project }: Omit<InformerOptions<T>, keyof Selection>,
): UnstartedInformer<T> => {
  const { telemetry } = environment;
  const projection: Projection<T> = { resource: id, project };
  const store = makeInformerStore(projection, telemetry);
  const progress = new Subject<Revision>();
  const firstList = Promise.withResolvers<void>();
  const sink: ListWatchSink = {
    ...store,
    adoptPages: () => {
      store.adoptPages();
      firstList.resolve();
    },
    takeLines: (lines) => {
      store.takeLines(lines);
      const actor = registry.get(id);
      const reached = revisionIn(lines) ?? actor?.getSnapshot().context.revision ?? '';
      actor?.send({ type: 'watch.progressed', revision: reached });
      if (reached !== '') progress.next(revision(reached));
    },
    watchEnded: ({ _tag }) =>
      telemetry.count('tidegate_watch_endings_total', 1, { resource: id, outcome: _tag }),
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
    whenSynced: firstList.promise,
    start: (selection) =>
      registry.consider({
        resource: id,
        selection,
        sink,
        onSnapshot: troubleLog(environment, id),
      }),
    stop: () => registry.remove(id),
  };
};

/** Starts to list and follow a collection at once, apart from all others. */
export const startInformer = <T extends Identity>(
  environment: ActorEnvironment<KubeApi>,
  options: InformerOptions<T>,
): Informer<T> => {
  const informer = makeInformer(environment, listWatches(environment), options);
  informer.start(options);
  return informer;
};
