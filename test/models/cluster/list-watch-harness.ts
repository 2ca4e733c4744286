/**
 * `listWatch` on a cluster: lists and watches of a small collection, changed whenever the path
 * expects a watch event.
 */
import { ManagedRuntime } from 'effect';
import { provideListWatch } from '../../../src/actors/informers/list-watches.ts';
import { textAt } from '../../../src/domain/json.ts';
import type { ListOutcome, WatchEnding } from '../../../src/domain/list-watch.ts';
import { AVAILABLE_CAPACITIES_PATH } from '../../../src/effects/available-capacities.ts';
import type { WatchLine } from '../../../src/effects/kube-api.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  StepSource,
} from './cluster-harness.ts';
import { loseRequest, refuseRequest } from './troubles.ts';

const LISTED = 'xstate.done.actor.listPages';
const FOLLOWED = 'xstate.done.actor.followChanges';
const COLLECTION = AVAILABLE_CAPACITIES_PATH;
/** Of a resource that is younger than the first revisions of its server. */
const newObject = (metadata: object): object => ({
  apiVersion: 'bigfleet.lucy.sh/v1alpha1',
  kind: 'AvailableCapacity',
  metadata,
  spec: { resources: { cpu: '1' }, availableCount: 1, availability: 'High', cost: '1' },
});
/** A compacted revision. */
const LONG_AGO = 1;

type Ending = ListOutcome | WatchEnding;

const endingIn = ({ event }: Moment): Ending | undefined =>
  event.type === LISTED || event.type === FOLLOWED ? event['output'] as Ending : undefined;

/** The current watch has sent a line. */
const hasBegun = ({ before }: Moment): boolean => before.matches({ watching: 'following' });

const hindrance = (_world: null, moment: Moment): string | undefined => {
  const ending = endingIn(moment);
  const tag = ending?._tag;
  if (ending?._tag === 'Fault' && ending.retryAfterMs > 0) return 'an idle server asks for no wait';
  if (moment.event.type !== FOLLOWED || !hasBegun(moment)) return undefined;
  if (tag === 'Expired') return 'a server does not expire an open watch';
  return tag === 'Refused' ? 'an open watch is not refused' : undefined;
};

const runOf = (environment: RunEnvironment): PathRun<null> => {
  const { site, number, hand, line, gate, services } = environment;
  const label = `models-${number}`;
  const runtime = ManagedRuntime.make(services);
  let receive: ((lines: readonly WatchLine[]) => void) | undefined;
  const selection = { path: COLLECTION, query: { labelSelector: `path=${label}` } };
  const sink = {
    addPage: () => {},
    dropPages: () => {},
    adoptPages: () => {},
    applyLines: (lines: readonly WatchLine[]) => receive?.(lines),
    onTooLarge: () => {},
    watchOpened: () => {},
    watchEnded: () => {},
  };
  const machine = provideListWatch(runtime, () => ({ selection, sink }));
  let made = 0;

  const begin = async (): Promise<void> => {
    await gate.arrival();
    const begun = line.nextAnswer();
    gate.open();
    await begun;
    gate.close();
  };
  const arrange = async (pathStep: PathStep<null>): Promise<StepSource> => {
    const ending = endingIn(pathStep);
    switch (ending?._tag) {
      case 'Listed':
        return 'server';
      case 'Ended':
        return 'line';
      case 'Refused':
        return refuseRequest(environment);
      case 'Expired':
        if (pathStep.event.type === LISTED) {
          line.order({ kind: 'refuse', status: 410, message: 'the token is too old' });
          return 'line';
        }
        if (site.name === 'embedded') await hand.must('POST', '/_sim/compact', { revision: 2 });
        line.order({ kind: 'ask', query: { resourceVersion: `${LONG_AGO}` } });
        return 'server';
      default:
        return hasBegun(pathStep) ? 'line' : await loseRequest(environment);
    }
  };
  return {
    machine,
    arrange,
    underWay: hasBegun,
    deferredSends: async (pathStep) => {
      const tag = endingIn(pathStep)?._tag;
      if (tag === 'Fault' && hasBegun(pathStep)) line.cut();
      if (tag !== 'Ended') return;
      if (!hasBegun(pathStep)) await line.nextAnswer();
      line.end();
    },
    observe: async (pathStep) => {
      const { event, before } = pathStep;
      if (event.type !== 'watch.progressed') return { event, by: 'word' };
      if (!before.matches('watching')) return { event, by: 'hand' };
      if (!hasBegun(pathStep)) await begin();
      const received = new Promise<readonly WatchLine[]>((resolve) => {
        receive = resolve;
      });
      made += 1;
      const metadata = { name: `${label}-${made}`, labels: { path: label } };
      await hand.must('POST', COLLECTION, newObject(metadata));
      const resourceVersion = textAt(
        (await received).at(-1)?.object,
        'metadata',
        'resourceVersion',
      );
      return { event: { ...event, resourceVersion }, by: 'watch' };
    },
    stop: async () => {
      await runtime.dispose();
      for (let at = 1; at <= made; at += 1) await hand.remove(`${COLLECTION}/${label}-${at}`);
    },
  };
};

/** The harness of `listWatch`. */
export const listWatchHarness: ClusterHarness<null> = {
  world: null,
  hindrance,
  follows: (world) => world,
  open: () =>
    Promise.resolve({
      begin: (environment) => Promise.resolve(runOf(environment)),
      close: () => Promise.resolve(),
    }),
};
