/** One EvictionRequest, walked through every configuration. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import { provideEvictionRequest } from '../../src/actors/eviction-requests/eviction-request-actor.ts';
import { NOTHING_SENT } from '../../src/domain/eviction-requests/imperative-report.ts';
import {
  isFinal,
  type ObservedRequest,
  type RequestCondition,
} from '../../src/domain/eviction-requests/observed-request.ts';
import { mayEvict, requestStep } from '../../src/domain/eviction-requests/request-phase.ts';
import { isSameWrite, writePlan } from '../../src/domain/eviction-requests/request-writes.ts';
import type { TargetPod } from '../../src/domain/eviction-requests/target-pod.ts';
import { type JsonRecord, textAt, valueAt } from '../../src/domain/json.ts';
import type { WriteOutcome } from '../../src/domain/object-write.ts';
import { isOlder } from '../../src/domain/resource-versions.ts';
import { evictionRequestsLayer } from '../../src/effects/eviction-requests.ts';
import type { KubeCall } from '../../src/effects/kube-api.ts';
import type {
  EvictionRequestContext,
  EvictionRequestInput,
} from '../../src/machines/eviction-request-context.ts';
import { evictionRequest } from '../../src/machines/eviction-request.ts';
import {
  ACTOR_B,
  atSeconds,
  CREATED_MS,
  DRAIN,
  entry,
  IMPERATIVE,
  observedRequest,
  rawRequest,
  type RequestTraits,
  targetPod,
  TIMING,
} from '../support/eviction-requests/request-fixture.ts';
import { answeringApi, answerOf } from '../support/api/fake-api.ts';
import { evictionRequestHarness } from './cluster/eviction-request-harness.ts';
import type { Received } from './harness/crash.ts';
import type { Step } from './harness/interpreter.ts';
import { exactly, must } from './harness/step-invariants.ts';
import { triesOf } from './harness/tries.ts';
import { writerInvariant } from './harness/writer-invariants.ts';
import { describeModel, type InvokedActors } from './model.ts';

const POD = targetPod({ annotation: ACTOR_B });
const LEAVING = targetPod({
  annotation: ACTOR_B,
  metadata: { deletionTimestamp: atSeconds(110) },
});

/** Requests by resourceVersion: an answer and an observation of one version are the same. */
const served = new Map<string, ObservedRequest>();
const servedRaw = new Map<string, object>();

interface Traits extends RequestTraits {
  readonly version: string;
  readonly active?: string | null;
  readonly processed?: readonly string[];
  readonly times?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly conditions?: readonly JsonRecord[];
}

const FINAL_AT = 130;

const condition = (
  { type, reason, message }: Readonly<Record<'type' | 'reason' | 'message', string>>,
  seconds: number,
) => ({
  type,
  status: 'True',
  reason,
  message,
  lastTransitionTime: atSeconds(seconds),
});

const request = (
  { version, active, processed = [], times = {}, conditions = [], ...rest }: Traits,
) => {
  const names = [ACTOR_B, IMPERATIVE];
  const whole = {
    ...rest,
    metadata: { resourceVersion: version, labels: { app: 'p' }, ...rest.metadata },
    ...(active === undefined ? {} : {
      status: {
        observedGeneration: 1,
        targetInterceptors: names.map((name) => ({ name })),
        activeInterceptors: active === null ? [] : [active],
        processedInterceptors: processed,
        interceptors: names.map((name) => entry(name, times[name])),
        conditions,
      },
    }),
  };
  const one = observedRequest(whole);
  served.set(one.resourceVersion, one);
  servedRaw.set(one.resourceVersion, rawRequest(whole));
  return one;
};

const STARTED = { [ACTOR_B]: { startTime: 0 } };
const COMPLETED = { [ACTOR_B]: { startTime: 0, completionTime: 20 } };

request({ version: '100', metadata: { labels: {} } });
const ACTIVE = request({
  version: '110',
  active: ACTOR_B,
  times: STARTED,
  metadata: { labels: {} },
});
const LABELLED = request({ version: '120', active: ACTOR_B, times: STARTED });
const WARNED = request({
  version: '125',
  active: ACTOR_B,
  times: STARTED,
  conditions: [
    condition({
      type: 'InterceptorSilent',
      reason: 'InterceptorSilent',
      message: `Interceptor "${ACTOR_B}" does not report; the next one takes over at ${
        atSeconds(1200)
      }`,
    }, 60),
  ],
});
const DONE = request({ version: '130', active: ACTOR_B, times: COMPLETED });
const EVICTING = request({
  version: '140',
  active: IMPERATIVE,
  processed: [ACTOR_B],
  times: { ...COMPLETED, [IMPERATIVE]: { startTime: 25 } },
});
const REPORTED = request({
  version: '150',
  active: IMPERATIVE,
  processed: [ACTOR_B],
  times: { ...COMPLETED, [IMPERATIVE]: { startTime: 25, heartbeatTime: 26 } },
});
const WITHOUT_REQUESTERS = request({
  version: '160',
  active: IMPERATIVE,
  processed: [ACTOR_B],
  requesters: [],
  times: { ...COMPLETED, [IMPERATIVE]: { startTime: 25, heartbeatTime: 26 } },
});
const ALL_PROCESSED = request({
  version: '170',
  active: null,
  processed: [ACTOR_B, IMPERATIVE],
  times: COMPLETED,
});
const ENDED = request({
  version: '180',
  active: null,
  processed: [ACTOR_B, IMPERATIVE],
  times: COMPLETED,
  conditions: [condition({ type: 'Evicted', reason: 'PodDeleted', message: '' }, FINAL_AT)],
});

const at = (seconds: number) => CREATED_MS + seconds * 1000;

/** What outlives the process. */
interface World {
  readonly version: string;
  readonly pod: 'runs' | 'leaves' | 'gone';
  readonly vanished: boolean;
}

const PODS: Readonly<Record<World['pod'], TargetPod | null>> = {
  runs: POD,
  leaves: LEAVING,
  gone: null,
};

const START: World = { version: '100', pod: 'runs', vanished: false };

const requestOf = (version: string): ObservedRequest => {
  const one = served.get(version);
  if (one === undefined) throw new Error(`No version ${version}`);
  return one;
};

const inputOf = ({ version, pod }: World): EvictionRequestInput => ({
  request: requestOf(version),
  pod: PODS[pod],
  progress: NOTHING_SENT,
  timing: TIMING,
  ttlMs: 60_000,
  nowMs: at(0),
  seed: 1,
});

const podIn = (value: unknown): World['pod'] => {
  if (value === null) return 'gone';
  return valueAt(value, 'terminating') === true ? 'leaves' : 'runs';
};

const recorded = (world: World, { event }: Received): World => {
  const { type } = event;
  if (type === 'request.vanished' || textAt(event['output'], '_tag') === 'Absent') {
    return { ...world, vanished: true };
  }
  if (type === 'pod.observed') return { ...world, pod: podIn(event['pod']) };
  const version = textAt(event['request'], 'resourceVersion') ??
    textAt(event['output'], 'current', 'resourceVersion');
  if (version === undefined) return world;
  const [seen, known] = [requestOf(version), requestOf(world.version)];
  return isOlder(seen.resourceVersion, known.resourceVersion) ? world : { ...world, version };
};

/** The pending write by the facts and the time. */
const pendingIn = (context: EvictionRequestContext) =>
  context.vanished ? null : writePlan(context.facts, requestStep(context.facts, context), {
    ...context,
    statusWrittenMs: context.attempt > 0 ? null : context.statusWrittenMs,
  }).write;

const PHASES = {
  Final: 'ended',
  Intercepting: 'intercepting',
  Silent: 'silent',
  Evicting: 'evicting',
  Leaving: 'leaving',
  Processed: 'processed',
} as const;

const checkWriter = writerInvariant({
  region: 'status',
  pendingIn: ({ context }) => pendingIn(context)?.write,
  actorOf: {
    setStatus: 'setStatus',
    setLabels: 'setLabels',
    report: 'reportProgress',
    remove: 'removeRequest',
  },
  baseOf: ({ context }) => context.facts.request.resourceVersion,
  restsIn: ({ context }) =>
    context.vanished ? 'absent' : PHASES[requestStep(context.facts, context).phase],
  retries: 'WithSlot',
  isRepeated: ({ before: { context }, after }) => {
    const pending = pendingIn(after.context);
    return context.sent !== null && isSameWrite(pending, context.sentWrite);
  },
  reconsiders: () => false,
});

/** What a status write may change. */
const checkStatus = ({ after, actions }: Step): void => {
  const { context } = after;
  const { pendingWrite, facts: { request: current } } = context;
  if (!actions.includes('invoke:setStatus') || pendingWrite?.write !== 'setStatus') return;
  const { active, processed, targets, conditions } = pendingWrite.status;
  const kept = processed.slice(0, current.status.processed.length);
  expect(kept, 'processed only grows').toEqual(current.status.processed);
  expect(processed, 'processed follows the frozen order').toEqual(
    targets.slice(0, processed.length),
  );
  expect(processed, 'the active one is not processed').not.toContain(active);
  expect(isFinal(current), 'a final request is left alone').toBe(false);
  const ends = conditions.some(({ type, status }: RequestCondition) =>
    type !== 'InterceptorSilent' && status === 'True'
  );
  if (ends) expect(active, 'nothing is active at the end').toBe(null);
};

/** Two writes of the status are a second apart; between tries of one, its backoff is. */
const checkSpacing = ({ after, actions }: Step): void => {
  const { attempt, nowMs, statusWrittenMs }: EvictionRequestContext = after.context;
  const writes = actions.includes('invoke:setStatus') || actions.includes('invoke:reportProgress');
  if (!writes || statusWrittenMs === null || attempt > 0) return;
  must(nowMs >= statusWrittenMs + 1000, 'two writes of the status are a second apart');
};

/** The pod is evicted while, and only while, the stored status and the requesters allow it. */
const checkEviction = (step: Step): void => {
  const { before, after, event } = step;
  const may = !after.context.vanished && mayEvict(after.context.facts);
  must(after.matches('eviction.wanted') === may, 'the eviction is wanted while it is allowed');
  const was = event.type !== 'xstate.init' && before.matches('eviction.wanted');
  exactly(step, 'wantEviction', may && !was);
  exactly(step, 'releaseEviction', was && !may);
};

/** Time is looked at again when it matters, and not before. */
const checkClock = ({ after, event }: Step): void => {
  const { nowMs, checkAtMs, timer } = after.context;
  must(after.matches('clock.counting') === (checkAtMs !== null), 'a timer runs while one is due');
  if (checkAtMs !== null) must(checkAtMs > nowMs, 'a timer is in the future');
  if (checkAtMs !== null) must(timer?.toMs === checkAtMs, 'the timer ends at the time');
  if (event.type.startsWith('xstate.after.untilCheck')) must(nowMs > CREATED_MS, 'time passes');
};

const actIn = ({ method, path, query }: KubeCall): string => {
  if (method === 'DELETE') return 'removeRequest';
  if (!path.endsWith('/status')) return 'setLabels';
  return query?.['fieldManager'] === IMPERATIVE ? 'reportProgress' : 'setStatus';
};

/** The statechart with its real effects, down to its requests. */
const wire = (invoked: InvokedActors) => {
  const api = answeringApi((call) =>
    Effect.flatMap(
      Effect.promise(() => invoked.perform<WriteOutcome<ObservedRequest>>(actIn(call), call)),
      (outcome) => answerOf(outcome, (version) => servedRaw.get(version)),
    )
  );
  const deaf = () => {};
  return provideEvictionRequest(
    ManagedRuntime.make(Layer.provide(evictionRequestsLayer, api)),
    {
      requestSlot: deaf,
      recordRefused: deaf,
      recordFailing: deaf,
      wantEviction: deaf,
      releaseEviction: deaf,
      onWritten: deaf,
      now: () => 0,
    },
    (write) => write,
  );
};

const written = (current: ObservedRequest) => ({ output: { _tag: 'Written', current } });
const FAULT = { output: { _tag: 'Fault', why: 'planted' } };
const ABSENT = { output: { _tag: 'Absent' } };

describeModel('evictionRequest', {
  machine: evictionRequest,
  wire,
  harness: {
    ...evictionRequestHarness,
    // The process before may have ended the request: its times are not those of the drawing.
    events: { 'request.observed': [{ request: ENDED, nowMs: at(FINAL_AT + 5) }] },
  },
  inputs: [inputOf(START)],
  events: {
    'request.observed': [
      { request: DONE, nowMs: at(25) },
      { request: WITHOUT_REQUESTERS, nowMs: at(100) },
      { request: ALL_PROCESSED, nowMs: at(100) },
    ],
    'pod.observed': [
      { pod: LEAVING, nowMs: at(110) },
      { pod: null, nowMs: at(120) },
    ],
    'eviction.observed': [{ progress: { refusals: 1, blocker: 'b' }, nowMs: at(105) }],
    'xstate.done.actor.setStatus': [
      written(ACTIVE),
      written(WARNED),
      written(EVICTING),
      written(ENDED),
      FAULT,
      { output: { _tag: 'Refused', why: 'planted' } },
    ],
    'xstate.done.actor.setLabels': [written(LABELLED)],
    'xstate.done.actor.reportProgress': [written(REPORTED)],
    'xstate.done.actor.removeRequest': [ABSENT],
  },
  project: (context: EvictionRequestContext) => ({
    version: context.facts.request.resourceVersion,
    pod: podIn(context.facts.pod),
    // Times count from now: what was long ago is the same as what was longer ago.
    ended: context.facts.endedMs === null ? null : context.nowMs - context.facts.endedMs < 5000,
    untilCheckMs: context.checkAtMs === null ? null : context.checkAtMs - context.nowMs,
    phase: context.step.phase,
    pending: context.pendingWrite?.write,
    refusals: context.progress.refusals,
    hasReported: context.reportedMs !== null,
    isPaced: context.statusWrittenMs !== null && context.nowMs - context.statusWrittenMs < 1000,
    vanished: context.vanished,
    // What else the last write was based on changes no verdict.
    isBase: context.base === context.facts.request.resourceVersion,
    sent: context.sent,
    attempt: triesOf(context.attempt, context.facts.request.resourceVersion === START.version),
    verdict: context.verdict,
  }),
  invariant: (snapshot, actions) => {
    const { context } = snapshot;
    if (snapshot.matches('eviction.wanted')) {
      expect(context.facts.request.requesters).toEqual([DRAIN]);
      expect(context.facts.request.status.active).toBe(IMPERATIVE);
    }
    if (actions.includes('invoke:removeRequest')) {
      expect(isFinal(context.facts.request)).toBe(true);
      expect(context.nowMs).toBeGreaterThanOrEqual(at(FINAL_AT + 60));
    }
  },
  stepInvariant: (step) => {
    checkWriter(step);
    checkStatus(step);
    checkSpacing(step);
    checkEviction(step);
    checkClock(step);
  },
  crash: {
    world: START,
    record: recorded,
    restart: (world) => ({
      input: inputOf(world),
      events: world.vanished ? [{ type: 'request.vanished' }] : [],
    }),
    obligations: (snapshot) => {
      const { facts, vanished }: EvictionRequestContext = snapshot.context;
      return {
        request: facts.request.resourceVersion,
        pod: podIn(facts.pod),
        vanished,
        evicts: snapshot.matches('eviction.wanted'),
      };
    },
  },
  forgets: 'request.observed',
  limit: 30_000,
});
