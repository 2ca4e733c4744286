/** A drain that asks by EvictionRequest, walked through every configuration. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { provideEvictionRequester } from '../../src/actors/eviction-requests/drain-requester-actor.ts';
import {
  isAsking,
  type PodLife,
  type RequesterPhase,
  requesterStep,
} from '../../src/domain/eviction-requests/drain-requester.ts';
import {
  isFinal,
  type ObservedRequest,
} from '../../src/domain/eviction-requests/observed-request.ts';
import { textAt, valueAt } from '../../src/domain/json.ts';
import type { WriteOutcome } from '../../src/domain/object-write.ts';
import { isOlder } from '../../src/domain/resource-versions.ts';
import { evictionRequestsLayer } from '../../src/effects/eviction-requests.ts';
import type { KubeCall } from '../../src/effects/kube-api.ts';
import {
  evictionRequester,
  type EvictionRequesterContext,
  type EvictionRequesterInput,
} from '../../src/machines/eviction-requester.ts';
import { answeringApi, answerOf } from '../support/api/fake-api.ts';
import {
  ACTOR_A,
  ACTOR_B,
  atSeconds,
  DRAIN,
  IMPERATIVE,
  observedRequest,
  rawRequest,
  statusWith,
} from '../support/eviction-requests/request-fixture.ts';
import { evictionRequesterHarness } from './cluster/eviction-requester-harness.ts';
import type { Received } from './harness/crash.ts';
import type { Step } from './harness/interpreter.ts';
import { must } from './harness/step-invariants.ts';
import { triesOf } from './harness/tries.ts';
import { writerInvariant } from './harness/writer-invariants.ts';
import { describeModel, type InvokedActors } from './model.ts';

const OURS = 'reclaim.tidegate.dev';

/** Requests by resourceVersion: an answer and an observation of one version are the same. */
const served = new Map<string, ObservedRequest>();
const servedRaw = new Map<string, object>();

interface Traits {
  readonly requesters?: readonly string[];
  readonly active?: string | null;
  readonly processed?: readonly string[];
  readonly ended?: string;
  readonly deleting?: true;
  readonly generation?: number;
}

const request = (resourceVersion: string, traits: Traits): ObservedRequest => {
  const { requesters = [OURS], active, processed = [], ended, deleting, generation } = traits;
  const [type = '', reason = ''] = (ended ?? '').split(' ');
  const conditions = ended === undefined
    ? []
    : [{ type, status: 'True', reason, message: reason, lastTransitionTime: atSeconds(0) }];
  const whole = {
    requesters,
    ...(generation === undefined ? {} : { generation }),
    metadata: {
      resourceVersion,
      ...(deleting === true ? { deletionTimestamp: atSeconds(1) } : {}),
    },
    ...(active === undefined ? {} : { status: statusWith({ active, processed, conditions }) }),
  };
  const one = observedRequest(whole);
  served.set(one.resourceVersion, one);
  servedRaw.set(one.resourceVersion, rawRequest(whole));
  return one;
};

const OTHERS = request('100', { requesters: [DRAIN], active: ACTOR_B });
const NEW = request('110', {});
const BOTH = request('115', { requesters: [DRAIN, OURS], active: ACTOR_B });
/** Others' request with our new entry, which its controller has not observed. */
const JOINED = request('116', { requesters: [DRAIN, OURS], active: ACTOR_B, generation: 2 });
const ACTIVE = request('120', { active: ACTOR_B });
const IMPERATIVE_ACTIVE = request('130', { active: IMPERATIVE });
const PROCESSED = request('135', { active: null, processed: [ACTOR_B, ACTOR_A, IMPERATIVE] });
const OTHERS_LEFT = request('140', { requesters: [DRAIN], active: ACTOR_B });
const JOINED_AGAIN = request('142', { requesters: [DRAIN, OURS], active: ACTOR_B, generation: 4 });
const EMPTY = request('145', { requesters: [], active: ACTOR_B });
const INVALID = request('150', { active: null, ended: 'Canceled ValidationFailed' });
const CANCELED = request('155', {
  requesters: [],
  active: null,
  ended: 'Canceled NoRequesters',
});
request('160', { active: null, ended: 'Evicted PodDeleted' });
const EVICTED_BOTH = request('165', {
  requesters: [DRAIN, OURS],
  active: null,
  ended: 'Evicted PodDeleted',
});
const DELETING = request('170', { active: ACTOR_B, deleting: true });

/** What outlives the process. */
interface World {
  readonly version: string | null;
  /** The cache has shown that it is gone, or the API server has answered so. */
  readonly removed: string | null;
  readonly wanted: boolean;
  readonly life: PodLife;
}

const requestOf = (version: string | null): ObservedRequest | null =>
  version === null ? null : served.get(version) ?? null;

const inputOf = ({ version, wanted, life }: Omit<World, 'removed'>): EvictionRequesterInput => ({
  requester: OURS,
  pod: { namespace: NEW.namespace, ...NEW.pod },
  request: requestOf(version),
  wanted,
  life,
  seed: 1,
});

const START: World = { version: null, removed: null, wanted: true, life: 'Runs' };

const lives: readonly PodLife[] = ['Runs', 'Leaves', 'Gone'];

const withObserved = (world: World, version: string): World => {
  const [seen, known] = [requestOf(version), requestOf(world.version)];
  if (seen === null || seen.uid === world.removed) return world;
  const isOld = known !== null && isOlder(seen.resourceVersion, known.resourceVersion);
  return isOld ? world : { ...world, version };
};

const withAnswer = (world: World, output: unknown): World => {
  const known = requestOf(world.version);
  if (textAt(output, '_tag') === 'Absent') {
    return { ...world, version: null, removed: known?.uid ?? world.removed };
  }
  const version = textAt(output, 'current', 'resourceVersion');
  const seen = requestOf(version ?? null);
  const isOld = seen === null ||
    (known !== null && isOlder(seen.resourceVersion, known.resourceVersion));
  return isOld || version === undefined ? world : { ...world, version, removed: null };
};

const recorded = (world: World, { event }: Received): World => {
  switch (event.type) {
    case 'xstate.init':
      return {
        ...world,
        version: textAt(event, 'input', 'request', 'resourceVersion') ?? null,
        wanted: valueAt(event, 'input', 'wanted') === true,
      };
    case 'request.observed':
      return withObserved(world, textAt(event['request'], 'resourceVersion') ?? '');
    case 'request.vanished':
      return requestOf(world.version)?.uid === event['uid'] ? { ...world, version: null } : world;
    case 'pod.observed':
      return { ...world, life: lives.find((life) => life === event['life']) ?? world.life };
    case 'eviction.wanted':
      return { ...world, wanted: true };
    case 'eviction.released':
      return { ...world, wanted: false };
  }
  return withAnswer(world, event['output']);
};

const STATES: Readonly<Record<RequesterPhase, string>> = {
  Unanswered: 'asked.unanswered',
  Intercepted: 'asked.intercepted',
  Evicting: 'asked.evicting',
  Leaving: 'closing.leaving',
  Ending: 'closing.ending',
  Done: 'done',
};

const checkWriter = writerInvariant({
  pendingIn: ({ context }) => requesterStep(context).write?.write,
  actorOf: { join: 'joinRequest', leave: 'leaveRequest', remove: 'removeRequest' },
  baseOf: ({ context }) => context.request?.resourceVersion ?? null,
  restsIn: ({ context }) => STATES[requesterStep(context).phase],
  retries: 'WithSlot',
  region: 'request',
  reconsiders: () => false,
});

/** The bound of an entry that cannot be written runs exactly while that is so. */
const checkFailing = ({ after }: Step): void => {
  const context: EvictionRequesterContext = after.context;
  const isFailing = isAsking(context) && context.pendingWrite !== null && context.attempt > 0;
  must(after.matches('asking.failing') === isFailing, 'ER-74: tries to ask for a bounded time');
};

/** Whether nobody is ever evicted by the request: it may be replaced. */
const isSpent = (one: ObservedRequest): boolean => isFinal(one) || one.requesters.length === 0;

const checkWrites = ({ after, actions }: Step): void => {
  const context: EvictionRequesterContext = after.context;
  const { request: current } = context;
  if (actions.includes('invoke:joinRequest')) {
    must(isAsking(context), 'ER-75: joins only while the drain wants the pod to leave');
    must(current === null || !isSpent(current), 'ER-16: revives no request');
  }
  if (actions.includes('invoke:leaveRequest')) {
    must(!isAsking(context), 'ER-76: stays while the drain wants the pod to leave');
  }
  if (actions.includes('invoke:removeRequest')) {
    const isAlone = current?.requesters.every((name) => name === OURS) === true;
    must(current !== null, 'ER-78: deletes a request that is known');
    must(
      isAlone || (current !== null && isAsking(context) && isSpent(current)),
      'ER-78: deletes no request that others need',
    );
  }
};

/** What a drain falls back to, and when. */
const checkFallback = ({ before, after, event }: Step): void => {
  const [was, now] = [before.context.fallback, after.context.fallback];
  const byTime = /^xstate\.after\.(?:answer|failing)Bound/.test(event.type);
  must(!byTime || now !== null, 'it asks no more after a bound');
  if (event.type === 'xstate.init' || was !== null || now === null) return;
  must((now.cause === 'Unanswered') === byTime, 'it is unanswered after a bound');
  const isRefused = textAt(event['output'], '_tag') === 'Refused';
  must((now.cause === 'Refused') === isRefused, 'it is refused by the API server');
};

const actIn = ({ method, body }: KubeCall): string => {
  if (method === 'DELETE') return 'removeRequest';
  const requesters = valueAt(body, 'spec', 'requesters');
  return Array.isArray(requesters) && requesters.length > 0 ? 'joinRequest' : 'leaveRequest';
};

/** The statechart with its real effects, down to its requests. */
const wire = (invoked: InvokedActors) => {
  const api = answeringApi((call) =>
    Effect.flatMap(
      Effect.promise(() => invoked.perform<WriteOutcome<ObservedRequest>>(actIn(call), call)),
      (outcome) => answerOf(outcome, (version) => servedRaw.get(version)),
    )
  );
  const ignore = () => {};
  return provideEvictionRequester(
    ManagedRuntime.make(Layer.provide(evictionRequestsLayer, api)),
    { requestSlot: ignore, recordRefused: ignore, recordFailing: ignore },
    (write) => write,
  );
};

const written = (current: ObservedRequest) => ({ output: { _tag: 'Written', current } });
const FAULT = { output: { _tag: 'Fault', why: 'planted' } };
const REFUSED = { output: { _tag: 'Refused', why: 'planted' } };
const ABSENT = { output: { _tag: 'Absent' } };

describeModel('evictionRequester', {
  machine: evictionRequester,
  wire,
  harness: {
    ...evictionRequesterHarness,
    events: {
      'xstate.done.actor.joinRequest': [written(JOINED), written(JOINED_AGAIN), written(BOTH)],
      'xstate.done.actor.leaveRequest': [FAULT],
    },
  },
  inputs: [inputOf(START), inputOf({ ...START, version: '160', wanted: false })],
  events: {
    'request.observed': [
      OTHERS,
      BOTH,
      ACTIVE,
      IMPERATIVE_ACTIVE,
      PROCESSED,
      INVALID,
      CANCELED,
      EVICTED_BOTH,
      DELETING,
    ].map((one) => ({ request: one })),
    'request.vanished': [{ uid: NEW.uid }, { uid: 'request-0' }],
    'pod.observed': [{ life: 'Leaves' }, { life: 'Gone' }],
    'xstate.done.actor.joinRequest': [written(NEW), FAULT, REFUSED],
    'xstate.done.actor.leaveRequest': [written(OTHERS_LEFT), written(EMPTY)],
    'xstate.done.actor.removeRequest': [ABSENT],
  },
  project: (context: EvictionRequesterContext) => ({
    version: context.request?.resourceVersion,
    isRemoved: context.removed !== null,
    wanted: context.wanted,
    life: context.life,
    hasFallback: context.fallback !== null,
    overdue: context.overdue,
    phase: context.phase,
    pending: context.pendingWrite?.write,
    // What else the last write was based on changes no verdict.
    isBase: context.base === (context.request?.resourceVersion ?? null),
    sent: context.sent,
    attempt: triesOf(context.attempt, context.request === null),
    verdict: context.verdict,
  }),
  stepInvariant: (step) => {
    checkWriter(step);
    checkWrites(step);
    checkFailing(step);
    checkFallback(step);
  },
  crash: {
    world: START,
    record: recorded,
    restart: (world) => ({ input: inputOf(world), events: [] }),
    obligations: (snapshot) => {
      const { request: current, wanted, life }: EvictionRequesterContext = snapshot.context;
      return { version: current?.resourceVersion ?? null, wanted, life };
    },
  },
  forgets: 'request.observed',
  limit: 60_000,
});
