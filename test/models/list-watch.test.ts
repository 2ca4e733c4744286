/** A cache's source, walked through every configuration and driven over a fake API server. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import { provideListWatch } from '../../src/actors/informers/informer.ts';
import type { ListOutcome, WatchEnding } from '../../src/domain/list-watch.ts';
import {
  type KubeAnswer,
  KubeApi,
  NotSent,
  type WatchLine,
  WatchRefused,
} from '../../src/effects/kube-api.ts';
import { listWatch, type ListWatchContext } from '../../src/machines/list-watch.ts';
import { listWatchHarness } from './cluster/list-watch-harness.ts';
import { describeModel, type InvokedActors } from './model.ts';

const why = 'planted';

/** The HTTP answer that the list's outcome is read from. */
const answerTo = (outcome: ListOutcome): Effect.Effect<KubeAnswer, NotSent> => {
  switch (outcome._tag) {
    case 'Listed':
      return Effect.succeed({
        status: 200,
        body: { metadata: { resourceVersion: outcome.resourceVersion }, items: [] },
      });
    case 'Expired':
      return Effect.succeed({ status: 410, body: { message: why } });
    case 'Refused':
      return Effect.succeed({ status: 403, body: { message: why } });
    case 'Fault':
      return Effect.fail(new NotSent({ why }));
  }
};

/** A watch that ends with `ending`; a refusal replaces the stream. */
async function* linesUntil(ending: WatchEnding): AsyncGenerator<readonly WatchLine[]> {
  if (ending._tag === 'Expired') yield [{ type: 'ERROR', object: { code: 410, message: why } }];
  if (ending._tag === 'Fault') throw new Error(why);
}

/** The real wiring, over an API server whose answers the driven path determines. */
const wire = (invoked: InvokedActors) => {
  const api = Layer.succeed(KubeApi, {
    call: (call) =>
      Effect.flatMap(
        Effect.promise(() => invoked.perform<ListOutcome>('listPages', call)),
        answerTo,
      ),
    watch: (call) =>
      Effect.flatMap(
        Effect.promise(() => invoked.perform<WatchEnding>('followChanges', call)),
        (ending) =>
          ending._tag === 'Refused'
            ? Effect.fail(new WatchRefused({ status: 403, message: why }))
            : Effect.succeed(linesUntil(ending)),
      ),
  });
  const sink = {
    addPage: () => {},
    dropPages: () => {},
    adoptPages: () => {},
    applyLines: () => {},
    watchEnded: () => {},
  };
  const selection = { path: '/api/v1/nodes' };
  return provideListWatch(ManagedRuntime.make(api), () => ({ selection, sink }));
};

describeModel('listWatch', {
  machine: listWatch,
  wire,
  harness: listWatchHarness,
  inputs: [{ resource: 'nodes', seed: 1 }],
  events: {
    'xstate.done.actor.listPages': [
      { output: { _tag: 'Listed', resourceVersion: '7' } },
      { output: { _tag: 'Expired', why } },
      { output: { _tag: 'Refused', why } },
      { output: { _tag: 'Fault', why, retryAfterMs: 0 } },
    ],
    'xstate.done.actor.followChanges': [
      { output: { _tag: 'Ended' } },
      { output: { _tag: 'Expired', why } },
      { output: { _tag: 'Refused', why } },
      { output: { _tag: 'Fault', why, retryAfterMs: 0 } },
    ],
    'watch.progressed': [{ resourceVersion: '8' }, { resourceVersion: '9' }],
  },
  project: (context: ListWatchContext) => ({
    failing: context.attempt > 0,
    resourceVersionKnown: context.resourceVersion !== null,
    paged: context.paged,
    expired: context.expired,
  }),
  invariant: (snapshot, actions) => {
    const { resourceVersion, attempt } = snapshot.context;
    if (snapshot.matches('watching')) {
      expect(resourceVersion, 'a watch starts from a revision').not.toBeNull();
    }
    if (snapshot.matches('listing')) expect(resourceVersion, 'a list forgets').toBeNull();
    if (snapshot.matches('backingOff') || snapshot.matches('refused')) {
      expect(attempt, 'only failures wait').toBeGreaterThan(0);
    }
    if (actions.includes('adoptList')) {
      expect(snapshot.matches('watching'), 'only a complete list is published').toBe(true);
    }
  },
  crash: {
    world: { wanted: true },
    record: (world: { readonly wanted: boolean }) => world,
    restart: () => ({ input: { resource: 'nodes', seed: 2 }, events: [] }),
    // Read-only: its obligation is to list and watch for as long as it runs.
    obligations: ({ status }) => ({ follows: status === 'active' }),
  },
});
