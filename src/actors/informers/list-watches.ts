/**
 * The list-watches of a process: the `listWatch` statechart of each collection, with its operations
 * on the API server and the sink of its results.
 */
import { Effect } from 'effect';
import { fromPromise, type SnapshotFrom } from 'xstate';
import type { WatchEnding } from '../../domain/list-watch.ts';
import type { KubeApi, WatchLine } from '../../effects/kube-api.ts';
import type { CompleteList } from '../../effects/object-lists.ts';
import { followChanges, listPages, type Selection } from '../../effects/watches.ts';
import { listWatch } from '../../machines/list-watch.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { EffectRuntime } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';

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

/** Receives the results of `listWatch`. */
export interface ListWatchSink extends Omit<InformerSink, 'adoptPages'> {
  readonly onTooLarge: () => void;
  readonly watchOpened: () => void;
  /** Publishes the collected pages as the collection at a resourceVersion. */
  readonly adoptPages: (resourceVersion: string) => void;
  /** `Abandoned`: it was silent for too long, or is not needed any more. */
  readonly watchEnded: (cause: WatchEnding['_tag'] | 'Abandoned') => void;
}

/** The target of one list-watch and its sink. */
export interface ListWatchTarget {
  readonly selection: Selection;
  readonly sink: ListWatchSink;
  /** The list to begin with, once. */
  readonly givenList?: () => CompleteList | undefined;
}

/** One key of the registry. */
export interface ListWatchEntry extends ListWatchTarget {
  /** Such as `pods`: names the actor and labels logs and metrics. */
  readonly resource: string;
  readonly onSnapshot: (snapshot: SnapshotFrom<typeof listWatch>) => void;
  readonly onCrash: () => void;
}

/** All list-watches of a process. */
export type ListWatches = ActorRegistry<typeof listWatch, ListWatchEntry>;

/** The statechart with its operations on the API server, for every resource that `targetOf` has. */
export const provideListWatch = (
  runtime: EffectRuntime<KubeApi>,
  targetOf: (resource: string) => ListWatchTarget,
): typeof listWatch =>
  listWatch.provide({
    actors: {
      listPages: fromPromise(({ input: { resource, inLargePages }, signal }) => {
        const { selection, sink, givenList } = targetOf(resource);
        sink.dropPages();
        const given = givenList?.();
        if (given !== undefined) {
          sink.addPage(given.objects);
          return Promise.resolve({ _tag: 'Listed', resourceVersion: given.resourceVersion });
        }
        return runtime.runPromise(listPages(selection, inLargePages, sink), { signal });
      }),
      followChanges: fromPromise(({ input: { resource, ...following }, signal }) => {
        const { selection, sink } = targetOf(resource);
        const followed = followChanges(selection, following, sink).pipe(
          Effect.tap(({ _tag }) => Effect.sync(() => sink.watchEnded(_tag))),
          Effect.onInterrupt(() => Effect.sync(() => sink.watchEnded('Abandoned'))),
        );
        return runtime.runPromise(followed, { signal });
      }),
    },
    actions: {
      adoptList: ({ context: { resource, resourceVersion: listed } }) =>
        targetOf(resource).sink.adoptPages(listed ?? ''),
    },
  });

/** The API server has answered: collections in a backoff retry now. */
export const retryAll = (registry: ListWatches): void =>
  [...registry.actors()].forEach((actor) => actor.send({ type: 'server.answered' }));

/** An empty registry of list-watches. */
export const listWatches = (environment: ActorEnvironment<KubeApi>): ListWatches => {
  const targetOf = (resource: string): ListWatchTarget => {
    const entry = registry.entry(resource);
    if (entry === undefined) throw new Error(`Cannot follow "${resource}": it was not started`);
    return entry;
  };
  const registry: ListWatches = actorRegistry(environment, {
    name: 'listWatch',
    logic: provideListWatch(environment.runtime, targetOf),
    keyOf: ({ resource }) => resource,
    input: ({ resource }, seed) => ({ resource, seed }),
    onSnapshot: ({ onSnapshot }, snapshot) => onSnapshot(snapshot),
    onCrash: ({ onCrash }) => onCrash(),
    logFields: ({ resource }) => ({ resource }),
  });
  return registry;
};
