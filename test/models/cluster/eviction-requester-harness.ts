/** `evictionRequester` on a cluster: one request, and the entries of its requesters. */
import { Layer, ManagedRuntime } from 'effect';
import { provideEvictionRequester } from '../../../src/actors/eviction-requests/drain-requester-actor.ts';
import type { RequesterWrite } from '../../../src/domain/eviction-requests/drain-requester.ts';
import type { ObservedRequest } from '../../../src/domain/eviction-requests/observed-request.ts';
import type { RequestedPod } from '../../../src/domain/eviction-requests/requester.ts';
import { isOlder } from '../../../src/domain/resource-versions.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import type {
  EvictionRequesterAct,
  EvictionRequesterContext,
  EvictionRequesterInput,
} from '../../../src/machines/eviction-requester.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  StepSource,
} from './cluster-harness.ts';
import {
  contentOf,
  hindranceOfVersion,
  observing,
  type OpenRequests,
  openRequests,
  type Outcome,
  outcomeIn,
} from './eviction-request-objects.ts';
import { hinderWrite, type WriteUnderWay, writeUnderWay } from './write-under-way.ts';

/** The request in the cluster, in the model's terms; null when there is none. */
interface World extends WriteUnderWay<RequesterWrite['write']> {
  readonly current: ObservedRequest | null;
}

const contextOf = ({ before }: Moment): EvictionRequesterContext => before.context;

/** News of the request that the actor has deleted: a watch may be behind its answer. */
const isLate = (moment: Moment): boolean => contextOf(moment).removed !== null;

const isObserved = ({ status, generation }: ObservedRequest): boolean =>
  status.observedGeneration >= generation;

/** The requesters after a write of this one. */
const requestersAfter = (
  { current, asked }: World,
  requester: string,
): readonly string[] => {
  const others = (current?.requesters ?? []).filter((name) => name !== requester);
  return asked === 'join' ? [...others, requester] : others;
};

const isNewEntry = (current: ObservedRequest, requesters: readonly string[]): boolean =>
  current.requesters.length !== requesters.length;

const AS_WRITTEN = 'a server answers with what was written';

/** Whether a server answers a write that changes `current` with this object. */
const hindranceOfChange = (
  current: ObservedRequest,
  requesters: readonly string[],
  answer: ObservedRequest,
): string | undefined => {
  const isSame = contentOf({ ...current, requesters }) === contentOf(answer) &&
    current.deleting === answer.deleting;
  if (!isSame) return AS_WRITTEN;
  if (!isNewEntry(current, requesters)) {
    return answer.resourceVersion === current.resourceVersion
      ? undefined
      : 'a write that changes nothing makes no version';
  }
  if (!isOlder(current.resourceVersion, answer.resourceVersion)) {
    return 'each write makes a newer version';
  }
  return requesters.length > current.requesters.length && isObserved(answer)
    ? 'a new entry is not observed yet'
    : undefined;
};

const hindranceOfCreation = (
  requesters: readonly string[],
  answer: ObservedRequest,
): string | undefined => {
  const isNew = answer.status.targets.length === 0 && !answer.deleting;
  return isNew && answer.requesters.join() === requesters.join() ? undefined : AS_WRITTEN;
};

const hindranceOfWritten = (
  world: World,
  moment: Moment,
  answer: ObservedRequest,
): string | undefined => {
  const { current, asked, stale } = world;
  const requesters = requestersAfter(world, contextOf(moment).requester);
  if (asked === 'leave' && (current === null || stale)) {
    return 'an entry leaves the request of one UID';
  }
  if (current === null) return hindranceOfCreation(requesters, answer);
  return asked === 'join' && current.requesters.length === 0
    ? 'a request without requesters gets none any more'
    : hindranceOfChange(current, requesters, answer);
};

const hindranceOfAnswer = (world: World, moment: Moment): string | undefined => {
  const outcome = outcomeIn(moment);
  if (outcome?._tag === 'Written') return hindranceOfWritten(world, moment, outcome.current);
  return outcome?._tag === 'Absent' && world.stale && world.current !== null
    ? 'a deletion names the UID of the request'
    : undefined;
};

const hindranceOfObservation = (world: World, moment: Moment): string | undefined => {
  const { current } = world;
  const seen = observing(moment);
  if (seen === undefined || current === null || isLate(moment)) return undefined;
  return hindranceOfVersion(current, seen);
};

const follows: ClusterHarness<World>['follows'] = (world, step) => {
  const { asked } = world;
  let { current, stale } = world;
  const { event } = step;
  if (event.type === 'xstate.init') {
    current = (event['input'] as EvictionRequesterInput).request;
  }
  const outcome = outcomeIn(step);
  if (outcome?._tag === 'Written') current = outcome.current;
  if (outcome?._tag === 'Absent') current = null;
  if (event.type === 'request.vanished' && event['uid'] === current?.uid) {
    current = null;
    stale = true;
  }
  if (!isLate(step)) current = observing(step) ?? current;
  const readAsked = (input: unknown) => (input as EvictionRequesterAct).write.write;
  return { current, ...writeUnderWay({ asked, stale }, step, readAsked) };
};

/** Whether the server itself answers so, without any trouble on the way. */
const isAnsweredSo = ({ current, asked, stale }: World, outcome: Outcome | undefined): boolean => {
  switch (outcome?._tag) {
    case 'Fault':
      // Nobody joins a request that the last requester has left; a new request of the name refuses
      // the UID of the old one.
      return asked === 'join'
        ? current?.requesters.length === 0
        : asked === 'leave' && stale && current === null;
    default:
      return false;
  }
};

/** The drawn request of a pod that only this path knows. */
const requestOfPod = (request: ObservedRequest, { name, uid }: RequestedPod): ObservedRequest => ({
  ...request,
  name: uid,
  pod: { name, uid },
});

const ignore = (): void => {};

const runOf = async (
  environment: RunEnvironment,
  requests: OpenRequests,
  drawn: EvictionRequesterInput,
): Promise<PathRun<World>> => {
  const { names, number, services } = environment;
  const runtime = ManagedRuntime.make(Layer.provide(evictionRequestsLayer, services));
  const pod = { ...drawn.pod, uid: `${drawn.pod.uid}-${number}` };
  names.match(pod, drawn.pod);
  /** The request that the actor has deleted, as the watch last showed it. */
  let deleted: ObservedRequest | undefined;
  const put = async (request: ObservedRequest, anew: boolean): Promise<ObservedRequest> => {
    const live = await requests.put(requestOfPod(request, pod), { anew });
    names.match(live, request);
    return live;
  };
  const actions = { requestSlot: ignore, recordRefused: ignore, recordFailing: ignore };
  return {
    machine: provideEvictionRequester(runtime, actions, (write) => write),
    input: {
      ...drawn,
      pod,
      request: drawn.request === null ? null : await put(drawn.request, false),
    },
    arrange: async (pathStep: PathStep<World>): Promise<StepSource> => {
      const outcome = outcomeIn(pathStep);
      const { world } = pathStep;
      if (outcome?._tag === 'Absent' && world.current !== null) {
        deleted = await requests.watched(pod.uid);
        // What held the deletion up lets the request go: the actor's own finds nothing.
        if (world.current.deleting) await requests.remove(pod.uid);
      }
      if (isAnsweredSo(world, outcome)) return 'server';
      return await hinderWrite(environment, pathStep, outcome) ?? 'server';
    },
    observe: async (pathStep) => {
      const { event, world } = pathStep;
      const seen = observing(pathStep);
      if (seen !== undefined && isLate(pathStep)) {
        return { event: { ...event, request: deleted }, by: 'hand' };
      }
      if (seen !== undefined) {
        const anew = world.current?.resourceVersion !== seen.resourceVersion;
        return { event: { ...event, request: await put(seen, anew) }, by: 'watch' };
      }
      if (event.type !== 'request.vanished' || event['uid'] !== world.current?.uid) {
        return { event, by: 'word' };
      }
      const vanished = await requests.remove(pod.uid);
      return { event: { ...event, uid: vanished?.uid }, by: 'watch' };
    },
    stop: async () => {
      await runtime.dispose();
      await requests.remove(pod.uid);
    },
  };
};

/** The harness of `evictionRequester`. */
export const evictionRequesterHarness: ClusterHarness<World> = {
  world: { current: null, asked: null, stale: false },
  limit: 1500,
  hindrance: (world, moment) =>
    hindranceOfAnswer(world, moment) ?? hindranceOfObservation(world, moment),
  follows,
  open: async (environment) => {
    const requests = await openRequests(environment, 'blueberry');
    return {
      begin: (run, input) => runOf(run, requests, input as EvictionRequesterInput),
      close: requests.close,
    };
  },
};
