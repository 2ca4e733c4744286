/** A cache's source, walked through every configuration and driven over a fake API server. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import { provideListWatch } from '../../src/actors/informers/list-watches.ts';
import type { ListOutcome, WatchEnding } from '../../src/domain/list-watch.ts';
import {
  type KubeAnswer,
  KubeApi,
  NotSent,
  type WatchLine,
  WatchRefused,
} from '../../src/effects/kube-api.ts';
import { listWatch, type ListWatchContext } from '../../src/machines/list-watch.ts';
import { valueAt } from '../../src/domain/json.ts';
import { listWatchHarness } from './cluster/list-watch-harness.ts';
import type { Step } from './harness/interpreter.ts';
import { follows, isTimer, type Line, must } from './harness/step-invariants.ts';
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
      return outcome.retryAfterMs === 0 ? Effect.fail(new NotSent({ why })) : Effect.succeed({
        status: 429,
        body: { message: why },
        retryAfterSeconds: outcome.retryAfterMs / 1000,
      });
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
    onTooLarge: () => {},
    watchOpened: () => {},
    watchEnded: () => {},
  };
  const selection = { path: '/api/v1/nodes' };
  return provideListWatch(ManagedRuntime.make(api), () => ({ selection, sink }));
};

const tagOf = ({ event }: Pick<Step, 'event'>): unknown => valueAt(event['output'], '_tag');
const answers = (tag: string) => (step: Step): boolean => tagOf(step) === tag;
const asksToWait = ({ before }: Step): boolean => before.context.retryAfterMs > 0;
const hasResourceVersion = ({ before }: Step): boolean => before.context.resourceVersion !== null;
/** The request was not made again because the first counted as lost. */
const isFirstRequest = ({ before }: Step): boolean => !before.context.repeated;

const LISTS = { to: 'listing.asking', does: ['invoke:listPages'] };
const WATCHES = { to: 'watching.opening', does: ['invoke:followChanges'] };
const LISTED = 'xstate.done.actor.listPages';
const SILENT_FROM_THE_START = 'xstate.after.idleDeadline.listWatch.watching.opening';
const WATCHED = 'xstate.done.actor.followChanges';

/** A retry resumes the watch where it stopped, and lists where that is unknown. */
const resuming = (on: string, from: readonly string[]): readonly Line[] => [
  { on, from, when: hasResourceVersion, ...WATCHES },
  { on, from, ...LISTS },
];

const transitions = follows([
  { on: 'xstate.init', ...LISTS },
  { on: 'list.requested', from: ['listing', 'watching'], ...LISTS },
  {
    on: LISTED,
    when: answers('Listed'),
    to: 'watching.opening',
    does: ['adoptList', 'invoke:followChanges'],
  },
  { on: LISTED, when: answers('Refused'), to: 'refused' },
  { on: LISTED, to: 'backingOff' },
  {
    on: WATCHED,
    when: (step) => tagOf(step) === 'Ended' && step.before.matches('watching.following'),
    ...WATCHES,
  },
  {
    on: WATCHED,
    when: (step) => tagOf(step) === 'Expired' && !step.before.context.expired,
    ...LISTS,
  },
  { on: WATCHED, when: answers('Refused'), to: 'refused' },
  { on: WATCHED, to: 'backingOff' },
  { on: 'watch.progressed', from: ['watching'], to: 'watching.following' },
  { on: 'after idleDeadline', from: ['watching'], to: 'backingOff' },
  {
    on: 'server.answered',
    from: ['listing.asking'],
    when: isFirstRequest,
    to: 'listing.doubted',
    does: [],
  },
  {
    on: 'server.answered',
    from: ['watching.opening'],
    when: isFirstRequest,
    to: 'watching.doubted',
    does: [],
  },
  { on: 'after answerGrace', from: ['listing.doubted'], ...LISTS },
  { on: 'after answerGrace', from: ['watching.doubted'], ...WATCHES },
  { on: 'server.answered', from: ['backingOff'], when: asksToWait },
  ...resuming('server.answered', ['backingOff']),
  ...resuming('after retryBackoff', ['backingOff', 'refused']),
]);

/** Whether readers are owed a list: none was published since one was asked for or proved stale. */
interface World {
  readonly needsList: boolean;
}

const UNLISTED: World = { needsList: true };

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
      { output: { _tag: 'Fault', why, retryAfterMs: 20_000 } },
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
    inLargePages: context.inLargePages,
    expired: context.expired,
    repeated: context.repeated,
    waitRequested: context.retryAfterMs > 0,
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
  stepInvariant: (step) => {
    transitions(step);
    const { event, before, after } = step;
    const now: ListWatchContext = after.context;
    const seen = event.type === 'watch.progressed'
      ? event['resourceVersion']
      : valueAt(event['output'], 'resourceVersion');
    if (seen !== undefined) {
      must(now.resourceVersion === seen, 'the newest revision is where a watch resumes');
      must(now.problem === '', 'a success ends the problem');
    }
    if (event.type === 'watch.progressed') must(now.attempt === 0, 'only progress ends a backoff');
    if (tagOf(step) === 'Listed') must(!now.inLargePages, 'a complete list allows small pages');
    const hasFailed = event.type !== 'list.requested' && !before.matches(after.value) &&
      (after.matches('backingOff') || after.matches('refused'));
    if (hasFailed || (tagOf(step) === 'Expired')) {
      must(now.attempt === before.context.attempt + 1, 'every failure makes the backoff longer');
      must(now.problem !== '', 'a failure has a cause');
    }
    if (before.matches('listing') && tagOf(step) === 'Expired') {
      const { inLargePages } = before.context;
      must(now.inLargePages !== inLargePages, 'after a 410, small and large pages take turns');
    }
    if (event.type === 'watch.progressed') must(!now.expired, 'progress follows no 410');
    if (before.matches('watching') && tagOf(step) === 'Expired' && after.matches('listing')) {
      must(now.expired, 'the next 410 waits');
    }
    if (isTimer(step, 'answerGrace')) {
      must(!before.context.repeated && now.repeated, 'a request is made again once');
    } else if (tagOf(step) !== undefined || event.type === 'watch.progressed') {
      must(!now.repeated, 'the next request may be lost, too');
    }
    if (event.type === 'list.requested') must(now.resourceVersion === null, 'a list was asked for');
    if (isTimer(step, 'idleDeadline')) {
      const wasSilent = before.matches({ watching: 'opening' });
      must(wasSilent === (now.resourceVersion === null), 'only a watch that began is resumed');
    }
  },
  crash: {
    world: UNLISTED,
    record: (world: World, { event, actions }): World => {
      if (actions.includes('adoptList')) return { needsList: false };
      const isStale = (event.type === WATCHED && tagOf({ event }) === 'Expired') ||
        event.type === SILENT_FROM_THE_START;
      return event.type === 'list.requested' || isStale ? UNLISTED : world;
    },
    restart: ({ needsList }) => ({
      input: { resource: 'nodes', seed: 2 },
      events: needsList ? [] : [{ type: LISTED, output: { _tag: 'Listed', resourceVersion: '7' } }],
    }),
    obligations: ({ context, status }) => ({
      follows: status === 'active',
      needsList: context.resourceVersion === null,
    }),
  },
  forgets: 'list.requested',
});
