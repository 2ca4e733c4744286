/**
 * The list-watches of a process by resource: the `listWatch` statechart over the API server.
 *
 * Promises: one that crashes is restarted with a new list, while its collection keeps what it has.
 */
import { Effect, type ManagedRuntime } from 'effect';
import type { SnapshotFrom } from 'xstate';
import type { WatchEnding } from '../../domain/list-watch.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import { followChanges, listPages, type Selection } from '../../effects/watches.ts';
import { listWatch } from '../../machines/list-watch.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { fromEffect } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';
import type { InformerSink } from './informer.ts';

/** Where the acts of `listWatch` put what they learn. */
export interface ListWatchSink extends InformerSink {
  readonly watchEnded: (ending: WatchEnding) => void;
}

/** What one list-watch follows, and where it puts it. */
export interface ListWatchTarget {
  readonly selection: Selection;
  readonly sink: ListWatchSink;
}

/** One key of the registry. */
export interface ListWatchEntry extends ListWatchTarget {
  /** Such as `pods`: names the actor and labels logs and metrics. */
  readonly resource: string;
  readonly onSnapshot: (snapshot: SnapshotFrom<typeof listWatch>) => void;
}

/** All list-watches of a process. */
export type ListWatches = ActorRegistry<typeof listWatch, ListWatchEntry>;

/** The statechart with its acts on the API server, for every resource that `targetOf` knows. */
export const provideListWatch = (
  runtime: ManagedRuntime.ManagedRuntime<KubeApi, never>,
  targetOf: (resource: string) => ListWatchTarget,
): typeof listWatch =>
  listWatch.provide({
    actors: {
      listPages: fromEffect(runtime, ({ resource, paged }) =>
        Effect.suspend(() => {
          const { selection, sink } = targetOf(resource);
          sink.dropPages();
          return listPages(selection, paged, sink.addPage);
        })),
      followChanges: fromEffect(runtime, ({ resource, ...following }) =>
        Effect.suspend(() => {
          const { selection, sink } = targetOf(resource);
          return Effect.tap(
            followChanges(selection, following, sink.applyLines),
            (ending) => Effect.sync(() => sink.watchEnded(ending)),
          );
        })),
    },
    actions: { adoptList: ({ context }) => targetOf(context.resource).sink.adoptPages() },
  });

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
    logFields: ({ resource }) => ({ resource }),
  });
  return registry;
};
