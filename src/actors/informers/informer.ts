/**
 * Every cache's source: the `listWatch` statechart over the API server, filling a collection.
 *
 * Promises: nothing is called synced before a complete list, however long that takes; a defect in
 * it restarts it with a new list while what is known stays shown.
 */
import { Effect, type ManagedRuntime } from 'effect';
import { type Observable, Subject } from 'rxjs';
import type { ActorRefFrom, SnapshotFrom } from 'xstate';
import { defectText } from '../../api/telemetry.ts';
import type { Collection, Fact, Identity } from '../../domain/facts.ts';
import { type Revision, revision } from '../../domain/ids.ts';
import { textAt } from '../../domain/json.ts';
import type { WatchEnding } from '../../domain/list-watch.ts';
import type { KubeApi, WatchLine } from '../../effects/kube-api.ts';
import { followChanges, listPages, type Selection } from '../../effects/watches.ts';
import { listWatch } from '../../machines/list-watch.ts';
import { fromEffect } from '../actor-logic.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type InformerSink, makeInformerStore, type Projection } from './informer-store.ts';

/** A collection that follows the API server. */
export interface Informer<T extends Identity> extends Collection<T> {
  /** Hot; a subscriber that comes after the first list hears a `Listed` at once. */
  readonly facts: Observable<Fact<T>>;
  /**
   * Hot: the revision up to which everything was told, after each chunk of the watch, bookmarks
   * included. Quiet for as long as the watch is.
   */
  readonly progress: Observable<Revision>;
  /** Resolves after the first complete list; never rejects. */
  readonly whenSynced: Promise<void>;
  /** The running statechart; another one after a defect. */
  readonly actor: ActorRefFrom<typeof listWatch>;
  readonly stop: () => void;
}

/** What to follow and what to keep of it. `id` names the actor and labels logs and metrics. */
export interface InformerOptions<T extends Identity> extends Selection {
  readonly id: string;
  readonly project: (raw: unknown) => T | undefined;
}

/** After a defect of ours: long enough not to be a hot loop, short enough not to be missed. */
const RESTART_MS = 1000;

/** Where the acts of `listWatch` put what they learn. */
export interface ListWatchSink extends InformerSink {
  readonly watchEnded: (ending: WatchEnding) => void;
}

/** The statechart with its acts on the API server. */
export const provideListWatch = (
  runtime: ManagedRuntime.ManagedRuntime<KubeApi, never>,
  selection: Selection,
  sink: ListWatchSink,
): typeof listWatch =>
  listWatch.provide({
    actors: {
      listPages: fromEffect(
        runtime,
        ({ paged }) =>
          Effect.suspend(() => {
            sink.dropPages();
            return listPages(selection, paged, sink.takePage);
          }),
      ),
      followChanges: fromEffect(runtime, (following) =>
        Effect.tap(
          followChanges(selection, following, sink.takeLines),
          (ending) => Effect.sync(() => sink.watchEnded(ending)),
        )),
    },
    actions: { adoptList: () => sink.adoptPages() },
  });

/** The newest revision that `lines` tell, if any. */
const revisionIn = (lines: readonly WatchLine[]): string | undefined =>
  textAt(lines.at(-1)?.object, 'metadata', 'resourceVersion');

/** Starts to list and follow a collection at once. */
export const startInformer = <T extends Identity>(
  environment: ActorEnvironment<KubeApi>,
  options: InformerOptions<T>,
): Informer<T> => {
  const { telemetry } = environment;
  const projection: Projection<T> = { resource: options.id, project: options.project };
  const cache = makeInformerStore(projection, telemetry);
  const progress = new Subject<Revision>();
  const firstList = Promise.withResolvers<void>();
  let stopped = false;
  let cancelRestart = (): void => {};

  const machine = provideListWatch(environment.runtime, options, {
    ...cache,
    adoptPages: () => {
      cache.adoptPages();
      firstList.resolve();
    },
    takeLines: (lines) => {
      cache.takeLines(lines);
      const known = actor.getSnapshot().context.revision ?? '';
      const reached = revisionIn(lines) ?? known;
      actor.send({ type: 'watch.progressed', revision: reached });
      if (reached !== '') progress.next(revision(reached));
    },
    watchEnded: ({ _tag }) =>
      telemetry.count('tidegate_watch_endings_total', 1, {
        resource: options.id,
        outcome: _tag,
      }),
  });
  let troubled = false;
  /** The first failure and the recovery, not every retry between them. */
  const tellTrouble = ({ context }: SnapshotFrom<typeof listWatch>): void => {
    const resource = options.id;
    if (context.attempt > 0 && !troubled) {
      const { problem } = context;
      telemetry.log('warn', 'A collection cannot be followed for now', { resource, problem });
    } else if (context.attempt === 0 && troubled) {
      telemetry.log('info', 'A collection is followed again', { resource });
    }
    troubled = context.attempt > 0;
  };
  const start = (): ActorRefFrom<typeof listWatch> => {
    const next = environment.actor(machine, `listWatch/${options.id}`, {
      seed: environment.seed(),
    });
    next.subscribe({
      next: tellTrouble,
      error: (cause) => {
        telemetry.log('error', 'A list-watch failed by a defect and starts again', {
          resource: options.id,
          problem: defectText(cause),
        });
        if (stopped) return;
        cancelRestart = environment.time.schedule(RESTART_MS, () => {
          actor = start();
        });
      },
    });
    next.start();
    return next;
  };
  let actor = start();

  return {
    get synced() {
      return cache.synced;
    },
    get size() {
      return cache.size;
    },
    get actor() {
      return actor;
    },
    get: cache.get,
    values: cache.values,
    facts: cache.facts,
    progress,
    whenSynced: firstList.promise,
    stop: () => {
      stopped = true;
      cancelRestart();
      actor.stop();
    },
  };
};
