/** `podDemand` on a cluster: the CapacityRequests of one pod, ours and another controller's. */
import { Layer, ManagedRuntime } from 'effect';
import { providePodDemand } from '../../../src/actors/capacity-requests/pod-demand-actor.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { asRecord, parseJson } from '../../../src/domain/json.ts';
import type { WriteOutcome } from '../../../src/domain/object-write.ts';
import {
  type OwnedRequest,
  podRequestPatch,
  projectOwnedRequest,
} from '../../../src/domain/pod-demand/owned-request.ts';
import { OWNED_BY_POD } from '../../../src/domain/pod-demand/pod-request.ts';
import { isOlder } from '../../../src/domain/resource-versions.ts';
import { podRequestsLayer } from '../../../src/effects/pod-requests.ts';
import type { PodDemandContext, PodRequestAct } from '../../../src/machines/pod-demand-context.ts';
import { liveEnvironment } from '../../support/api/live-environment.ts';
import { type ObjectFixture, objectFixture, type Wanted } from './object-fixture.ts';
import { observeCollection, type ObservedCollection } from './observed-collection.ts';
import type { Hand } from './site.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  StepSource,
} from './cluster-harness.ts';
import { hinderWrite, type WriteUnderWay, writeUnderWay } from './write-under-way.ts';

/** The requests in the cluster, in the model's terms, and the write in flight. */
interface World extends WriteUnderWay<PodRequestAct> {
  readonly requests: readonly OwnedRequest[];
}

/** Of the drawing; paths are executed one after the other. */
const NAMESPACE = 'n';
const TYPE = { apiVersion: 'bigfleet.lucy.sh/v1alpha1', kind: 'CapacityRequest' };
const PATH = `/apis/bigfleet.lucy.sh/v1alpha1/namespaces/${NAMESPACE}/capacityrequests`;
const ANSWER = /^xstate\.done\.actor\.(\w+)Request$/;
const COMES_BACK = 'a recreated object has another UID';

type Outcome = WriteOutcome<OwnedRequest>;

const verbIn = ({ event }: Moment): string | undefined => ANSWER.exec(event.type)?.[1];

const outcomeIn = (moment: Moment): Outcome | undefined =>
  verbIn(moment) === undefined ? undefined : moment.event['output'] as Outcome;

const observing = ({ event }: Moment): OwnedRequest | undefined =>
  event.type === 'request.observed' ? event['request'] as OwnedRequest : undefined;

const goneIn = ({ before }: Moment): PodDemandContext['gone'] => before.context.gone;

const contentOf = ({ key, phase, text, marked }: OwnedRequest): string =>
  JSON.stringify([key, phase, text, marked]);

/** The object with the name that the write in flight concerns. */
const target = ({ requests, asked }: World, key: string): OwnedRequest | undefined =>
  requests.find((one) => one.key === (asked?.request?.key ?? key));

/** The object after a successful write; `undefined` when there is none. */
const written = (
  world: World,
  verb: string,
  drawn: OwnedRequest,
): OwnedRequest | undefined => {
  const { asked } = world;
  const known = target(world, drawn.key);
  if (asked === null) return undefined;
  if (verb === 'create') return known ?? { ...drawn, phase: '', text: asked.text, marked: true };
  if (known === undefined || asked.request === null) return undefined;
  if (verb === 'stamp') {
    return known.resourceVersion === asked.request.resourceVersion
      ? { ...known, phase: 'Pending' }
      : known;
  }
  return podRequestPatch(asked.pod, asked.request, asked.text) === undefined
    ? undefined
    : { ...known, text: asked.text, marked: true };
};

const hindranceOfAnswer = (world: World, moment: Moment): string | undefined => {
  const outcome = outcomeIn(moment);
  const verb = verbIn(moment) ?? '';
  const isOther = world.stale && target(world, '') !== undefined;
  if (verb === 'delete' && isOther) return 'another object of that name is not deleted';
  if (outcome?._tag !== 'Written') return undefined;
  if (goneIn(moment).includes(outcome.current.uid)) return COMES_BACK;
  const result = written(world, verb, outcome.current);
  if (result === undefined || (isOther && verb === 'stamp')) {
    return 'a deleted object cannot be written';
  }
  return contentOf(result) === contentOf(outcome.current)
    ? undefined
    : 'a server answers with what was written';
};

const hindranceOfObservation = (world: World, moment: Moment): string | undefined => {
  const seen = observing(moment);
  if (seen === undefined) return undefined;
  if (goneIn(moment).includes(seen.uid)) return COMES_BACK;
  const context: PodDemandContext = moment.before.context;
  const known = context.facts.requests.find(({ uid }) => uid === seen.uid);
  const current = world.requests.find(({ key }) => key === seen.key);
  const isStale = [known, current].some((one) =>
    one !== undefined && isOlder(seen.resourceVersion, one.resourceVersion)
  );
  if (isStale) return 'a cluster does not send stale objects';
  return known?.resourceVersion === seen.resourceVersion &&
      current?.resourceVersion !== seen.resourceVersion
    ? 'an object shown again after a change has another resourceVersion'
    : undefined;
};

const without = (requests: readonly OwnedRequest[], key: string): readonly OwnedRequest[] =>
  requests.filter((one) => one.key !== key);

const follows = (
  world: World,
  step: Parameters<ClusterHarness<World>['follows']>[1],
): World => {
  const { event } = step;
  const { asked } = world;
  let { requests, stale } = world;
  const outcome = outcomeIn(step);
  const put = (one: OwnedRequest): void => {
    requests = [...without(requests, one.key), one];
  };
  if (outcome?._tag === 'Written') put(outcome.current);
  if (outcome?._tag === 'Absent') requests = without(requests, asked?.request?.key ?? '');
  if (event.type === 'request.vanished') {
    const gone = requests.find(({ uid }) => uid === event['uid']);
    if (gone !== undefined) requests = without(requests, gone.key);
    if (asked?.request?.uid === event['uid']) stale = true;
  }
  const seen = observing(step);
  if (seen !== undefined) put(seen);
  return { requests, ...writeUnderWay({ asked, stale }, step, (input) => input as PodRequestAct) };
};

const POD_UID = '00000000-0000-4000-8000-000000000001';

const rawOf = ({ text, phase, marked }: OwnedRequest): Wanted => ({
  metadata: {
    labels: { [OWNED_BY_POD]: POD_UID },
    ownerReferences: marked
      ? [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: POD_UID, controller: true }]
      : null,
  },
  spec: asRecord(parseJson(text)) ?? {},
  ...(phase === '' ? {} : { status: { phase } }),
});

/** The requests of one path, by the names that they have in the drawing. */
const requestFixtures = (hand: Hand, collection: ObservedCollection<OwnedRequest>) => {
  const objects = new Map<string, ObjectFixture<OwnedRequest>>();
  return {
    of: (key: string): ObjectFixture<OwnedRequest> => {
      const name = key.slice(key.indexOf('/') + 1);
      const known = objects.get(name) ??
        objectFixture(hand, collection, { ...TYPE, path: PATH, name });
      objects.set(name, known);
      return known;
    },
    removeAll: async (keys: readonly string[]): Promise<void> => {
      for (const name of [...objects.keys(), ...keys]) {
        await objectFixture(hand, collection, { ...TYPE, path: PATH, name }).remove();
      }
    },
  };
};

const runOf = (
  environment: RunEnvironment,
  hand: Hand,
  collection: ObservedCollection<OwnedRequest>,
): PathRun<World> => {
  const { names } = environment;
  const runtime = ManagedRuntime.make(
    podRequestsLayer({ telemetry: silentTelemetry, intern: (text) => text }).pipe(
      Layer.provide(environment.services),
    ),
  );
  const fixtures = requestFixtures(hand, collection);
  /** Live UIDs by the model's. */
  const uids = new Map<string, string>();
  const deaf = (): void => {};
  const machine = providePodDemand(
    runtime,
    { requestSlot: deaf, recordRefused: deaf, recordFailing: deaf },
    (write) => write,
  );
  const arrange = async (pathStep: PathStep<World>): Promise<StepSource> => {
    const outcome = outcomeIn(pathStep);
    const hindered = await hinderWrite(environment, pathStep, outcome);
    if (hindered !== undefined) return hindered;
    const key = pathStep.world.asked?.request?.key;
    const isDeletion = verbIn(pathStep) === 'delete';
    if (outcome?._tag === 'Absent' && !isDeletion && key !== undefined) {
      await fixtures.of(key).remove();
    }
    return 'server';
  };
  const observe: PathRun<World>['observe'] = async (pathStep) => {
    const { event, world } = pathStep;
    const drawn = observing(pathStep);
    if (drawn !== undefined) {
      const current = world.requests.find(({ key }) => key === drawn.key);
      const anew = current?.resourceVersion !== drawn.resourceVersion;
      const request = await fixtures.of(drawn.key).put(rawOf(drawn), { anew });
      names.match(request, drawn);
      uids.set(drawn.uid, request.uid);
      return { event: { ...event, request }, by: 'watch' };
    }
    if (event.type !== 'request.vanished') return { event, by: 'word' };
    const drawnUid = `${event['uid']}`;
    const current = world.requests.find(({ uid }) => uid === drawnUid);
    if (current === undefined) {
      return { event: { ...event, uid: uids.get(drawnUid) ?? drawnUid }, by: 'hand' };
    }
    const gone = await fixtures.of(current.key).remove();
    if (gone === undefined) throw new Error(`There is no "${current.key}" to be removed`);
    uids.set(drawnUid, gone.uid);
    return { event: { ...event, uid: gone.uid }, by: 'watch' };
  };
  return {
    machine,
    arrange,
    observe,
    stop: async () => {
      await runtime.dispose();
      const left = [...collection.values()].map(({ key }) => key.slice(key.indexOf('/') + 1));
      await fixtures.removeAll(left);
    },
  };
};

/** The harness of `podDemand`. */
export const podDemandHarness: ClusterHarness<World> = {
  world: { requests: [], asked: null, stale: false },
  limit: 3000,
  hindrance: (world, moment) =>
    hindranceOfAnswer(world, moment) ?? hindranceOfObservation(world, moment),
  follows,
  open: async ({ hand, source }) => {
    await hand.call('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    const { environment: world, dispose } = liveEnvironment(source);
    const collection = await observeCollection(world, PATH, (raw) => projectOwnedRequest(raw));
    return {
      begin: (environment) => Promise.resolve(runOf(environment, hand, collection)),
      close: async () => {
        collection.stop();
        await dispose();
      },
    };
  },
};
