/** A request of the core and its objects in `lifecycle.k8s.io`, each from the other. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ControlledStatus,
  isFinal,
  type RequestCondition,
} from '../../../../src/domain/eviction-requests/observed-request.ts';
import { requestStep } from '../../../../src/domain/eviction-requests/request-phase.ts';
import type { JsonRecord } from '../../../../src/domain/json.ts';
import {
  endsWithoutEviction,
  evictionBody,
  evictionStatusBody,
  mirrorBodies,
  nativeReportBody,
  nativeRequestName,
  nativeWantedBody,
} from '../../../../src/domain/native-evictions/writes.ts';
import type { JoinedRequest } from '../../../../src/domain/native-evictions/joined-request.ts';
import {
  joined,
  joinedOf,
  rawNativeEviction,
  rawNativeRequest,
  statusIn,
  withStatusOf,
} from '../../../support/eviction-requests/native-fixture.ts';
import {
  ACTOR_A,
  ACTOR_B,
  atSeconds,
  CREATED_MS,
  factsOf,
  IMPERATIVE,
  targetPod,
  TIMING,
} from '../../../support/eviction-requests/request-fixture.ts';

const DRAIN = 'nodes.example.com/drain';
const OTHER = 'zones.example.com/balance';
const VERSION = { uid: 'uid-of-pod-1-p-1', resourceVersion: '10' };

/** The objects after the controller has written this status. */
const written = (
  request: JoinedRequest,
  status: ControlledStatus,
  { eviction = rawNativeEviction(), requests }: {
    readonly eviction?: JsonRecord;
    readonly requests: readonly JsonRecord[];
  },
) => {
  const mirrors = mirrorBodies(request, status);
  return joined({
    evictions: [withStatusOf(eviction, evictionStatusBody(request, status, VERSION))],
    requests: requests.map((raw) => {
      const name = joined({ requests: [raw] }).native.requests[0]?.name;
      const mirror = mirrors.find((one) => one.name === name);
      return mirror === undefined ? raw : withStatusOf(raw, mirror.body);
    }),
  });
};

const seconds = fc.integer({ min: 0, max: 100_000 }).map((after) => CREATED_MS + after * 1000);

const silent = fc.option(
  fc.record({
    type: fc.constant('InterceptorSilent' as const),
    status: fc.constantFrom('True' as const, 'False' as const),
    reason: fc.constant('InterceptorSilent'),
    message: fc.string({ maxLength: 30 }),
    sinceMs: seconds,
  }),
  { nil: undefined },
);
const final = fc.option(
  fc.oneof(
    fc.record({
      type: fc.constant('Evicted' as const),
      reason: fc.constantFrom('PodDeleted', 'PodTerminal'),
    }),
    fc.record({
      type: fc.constant('Canceled' as const),
      reason: fc.constantFrom('ValidationFailed', 'NoRequesters'),
    }),
  ).chain((cause) =>
    fc.record({ message: fc.string({ maxLength: 30 }), sinceMs: seconds })
      .map((rest): RequestCondition => ({ ...cause, ...rest, status: 'True' }))
  ),
  { nil: undefined },
);

/** A status that the core can decide on. */
const status: fc.Arbitrary<ControlledStatus> = fc.record({
  interceptors: fc.uniqueArray(fc.constantFrom(ACTOR_A, ACTOR_B, 'c.d.example.com'), {
    maxLength: 3,
  }),
  had: fc.nat({ max: 4 }),
  isActive: fc.boolean(),
  silent,
  final,
  start: seconds,
}).map(({ interceptors, had, isActive, start, ...given }) => {
  const targets = [...interceptors, IMPERATIVE];
  const processed = targets.slice(0, Math.min(had, targets.length));
  const next = targets[processed.length];
  const active = isActive && given.final === undefined ? next ?? null : null;
  const started = active === null ? processed : [...processed, active];
  return {
    observedGeneration: 2,
    conditions: [given.final, given.silent].filter((one) => one !== undefined)
      .sort((left, right) => left.type < right.type ? -1 : 1),
    targets,
    active,
    processed,
    starts: Object.fromEntries(started.map((name) => [name, start])),
  };
});

/** The requesters that such a status has: a canceled request has none that wants anything. */
const requestsFor = ({ conditions }: ControlledStatus): readonly JsonRecord[] => {
  const isCanceled = conditions.some(({ type }) => type === 'Canceled');
  return [rawNativeRequest(DRAIN, { intent: isCanceled ? 'Withdrawn' : 'Eviction' })];
};

describe('a status of the core', () => {
  test('NE-08: is the same after it was written and read', () => {
    fc.assert(fc.property(status, (wanted) => {
      const requests = requestsFor(wanted);
      const request = joined({ evictions: [rawNativeEviction()], requests });
      expect(written(request, wanted, { requests }).status).toEqual(wanted);
    }));
  });

  test('NE-08: is not written a second time', () => {
    fc.assert(fc.property(status, (wanted) => {
      const requests = requestsFor(wanted);
      const request = joined({ evictions: [rawNativeEviction()], requests });
      const after = written(request, wanted, { requests });
      expect(mirrorBodies(after, after.status)).toEqual([]);
      expect(statusIn(evictionStatusBody(after, after.status, VERSION)))
        .toEqual(statusIn(evictionStatusBody(request, wanted, VERSION)));
    }));
  });

  test('keeps the words of the API: states, conditions and reasons', () => {
    const requests = [rawNativeRequest(DRAIN)];
    const request = joined({ evictions: [rawNativeEviction()], requests });
    const body = statusIn(evictionStatusBody(request, {
      observedGeneration: 2,
      conditions: [],
      targets: [ACTOR_B, ACTOR_A, IMPERATIVE],
      active: ACTOR_A,
      processed: [ACTOR_B],
      starts: { [ACTOR_B]: CREATED_MS, [ACTOR_A]: CREATED_MS + 60_000 },
    }, VERSION));
    expect(body).toEqual({
      observedGeneration: 1,
      conditions: [
        {
          type: 'TargetEvicted',
          status: 'False',
          reason: 'AwaitingEviction',
          message: '',
          lastTransitionTime: atSeconds(0),
        },
        {
          type: 'Failed',
          status: 'False',
          reason: 'AwaitingEviction',
          message: '',
          lastTransitionTime: atSeconds(0),
        },
      ],
      requesters: [{ name: DRAIN, intent: 'Eviction' }],
      targetResponders: [
        { name: 'fruit.example.com/actor-b', priority: 10_000, state: 'Interrupted' },
        { name: 'fruit.example.com/actor-a', priority: 9999, state: 'Active' },
        { name: 'imperative-eviction.k8s.io/evictor', priority: 100, state: 'Inactive' },
      ],
      responders: [
        { name: 'fruit.example.com/actor-b', startTime: atSeconds(0) },
        { name: 'fruit.example.com/actor-a', startTime: atSeconds(60) },
        { name: 'imperative-eviction.k8s.io/evictor' },
      ],
    });
  });
});

const activeStatus = {
  observedGeneration: 1,
  conditions: [],
  targetResponders: [
    { name: 'fruit.example.com/actor-b', priority: 10_000, state: 'Active' },
    { name: 'imperative-eviction.k8s.io/evictor', priority: 100, state: 'Inactive' },
  ],
  responders: [{ name: 'fruit.example.com/actor-b', startTime: atSeconds(0) }],
};

/** The step of the core, `after` seconds. */
const stepOf = (request: JoinedRequest, after: number, pod: ReturnType<typeof targetPod> | null) =>
  requestStep(factsOf(request, pod), {
    nowMs: CREATED_MS + after * 1000,
    timing: TIMING,
  });

const statesAfter = (request: JoinedRequest, after: ControlledStatus): unknown =>
  (statusIn(
    evictionStatusBody(request, after, VERSION),
  )['targetResponders'] as readonly JsonRecord[]).map(({ state }) => state);

describe('an interceptor that had its turn', () => {
  const objects = { requests: [rawNativeRequest(DRAIN)] };

  test('is Interrupted when it was silent until its deadline', () => {
    const request = joined({
      ...objects,
      evictions: [rawNativeEviction({ status: activeStatus })],
    });
    const { status: after } = stepOf(request, 1200, targetPod());
    expect(statesAfter(request, after)).toEqual(['Interrupted', 'Active']);
  });

  test('is Completed when it said so', () => {
    const responders = [{
      name: 'fruit.example.com/actor-b',
      startTime: atSeconds(0),
      completionTime: atSeconds(30),
    }];
    const request = joined({
      ...objects,
      evictions: [rawNativeEviction({ status: { ...activeStatus, responders } })],
    });
    expect(statesAfter(request, stepOf(request, 31, targetPod()).status))
      .toEqual(['Completed', 'Active']);
  });

  test('is Canceled when the last requester left meanwhile', () => {
    const request = joined({
      requests: [rawNativeRequest(DRAIN, { intent: 'Withdrawn' })],
      evictions: [rawNativeEviction({ status: activeStatus })],
    });
    const { status: after } = stepOf(request, 31, targetPod());
    expect(statesAfter(request, after)).toEqual(['Canceled', 'Inactive']);
    expect(statusIn(evictionStatusBody(request, after, VERSION))['conditions']).toMatchObject([
      { type: 'TargetEvicted', status: 'False', reason: 'EvictionFailed' },
      { type: 'Failed', status: 'True', reason: 'CanceledDueToNoRequesters' },
    ]);
  });
});

describe('requesters', () => {
  test('are those whose objects ask for the eviction', () => {
    const request = joined({
      requests: [
        rawNativeRequest(DRAIN),
        rawNativeRequest(OTHER, { intent: 'Withdrawn' }),
        rawNativeRequest('single/key', { metadata: { deletionTimestamp: atSeconds(1) } }),
      ],
    });
    expect(request.requesters).toEqual(['drain.nodes.example.com']);
  });

  test('stay in the Eviction as Withdrawn when their objects are gone', () => {
    const eviction = rawNativeEviction({
      status: { ...activeStatus, requesters: [{ name: OTHER, intent: 'Eviction' }] },
    });
    const request = joined({ requests: [rawNativeRequest(DRAIN)], evictions: [eviction] });
    expect(statusIn(evictionStatusBody(request, request.status, VERSION))['requesters']).toEqual([
      { name: DRAIN, intent: 'Eviction' },
      { name: OTHER, intent: 'Withdrawn' },
    ]);
  });

  test('a new one makes the status stale until it can read it in its own object', () => {
    const first = [rawNativeRequest(DRAIN)];
    const request = joined({ requests: first, evictions: [rawNativeEviction()] });
    const { status: decided } = stepOf(request, 1, targetPod());
    expect(written(request, decided, { requests: first }).status.observedGeneration).toBe(2);
    const both = [...first, rawNativeRequest(OTHER)];
    expect(written(request, decided, { requests: both }).status.observedGeneration).toBe(1);
  });

  test('have an object of their own, whose name says whose', () => {
    const pod = { namespace: 'blueberry', name: 'p-1', uid: 'u-1' };
    expect(nativeWantedBody(pod, 'reclaim.tidegate.dev')).toEqual({
      apiVersion: 'lifecycle.k8s.io/v1alpha1',
      kind: 'EvictionRequest',
      metadata: { name: 'u-1.reclaim.tidegate.dev', namespace: 'blueberry' },
      spec: {
        target: { pod: { name: 'p-1', uid: 'u-1' } },
        requester: 'tidegate.dev/reclaim',
        intent: 'Eviction',
      },
    });
    const long = `${'a.'.repeat(126)}b`;
    expect(nativeRequestName('u-1', long)).toMatch(/^u-1\.[0-9a-f]{16}$/);
    expect(nativeRequestName('u-1', 'a/b')).not.toBe(nativeRequestName('u-1', 'a-b'));
  });
});

describe('the Eviction of a request', () => {
  test('is created with its participants as labels and its requesters as owners', () => {
    const request = joined({ requests: [rawNativeRequest(DRAIN)] });
    expect(request.native).toMatchObject({ eviction: null, evictionName: 'pod-1-p-1' });
    expect(evictionBody(request, { targets: [ACTOR_B, IMPERATIVE] })).toEqual({
      apiVersion: 'lifecycle.k8s.io/v1alpha1',
      kind: 'Eviction',
      metadata: {
        name: 'pod-1-p-1',
        namespace: 'blueberry',
        labels: {
          'nodes.example.com/drain': 'requester',
          'fruit.example.com/actor-b': 'responder',
          'imperative-eviction.k8s.io/evictor': 'responder',
        },
        ownerReferences: [{
          apiVersion: 'lifecycle.k8s.io/v1alpha1',
          kind: 'EvictionRequest',
          name: 'request-of-nodes.example.com-drain',
          uid: 'uid-of-request-of-nodes.example.com-drain',
        }],
      },
      spec: { target: { pod: { name: 'p-1', uid: request.pod.uid } } },
    });
  });

  test('is not created for a pod that does not exist: the requester alone learns of it', () => {
    const requests = [rawNativeRequest(DRAIN)];
    const request = joined({ requests });
    const { status: after } = stepOf(request, 0, null);
    expect(endsWithoutEviction(request, after)).toBe(true);
    const [mirror] = mirrorBodies(request, after);
    expect(statusIn(mirror?.body ?? {})['conditions']).toMatchObject([
      { type: 'TargetEvicted', status: 'False', reason: 'EvictionFailed' },
      { type: 'Failed', status: 'True', reason: 'EvictionInvalid' },
    ]);
    const ended = joined({
      requests: requests.map((raw) => withStatusOf(raw, mirror?.body ?? {})),
    });
    expect(isFinal(ended)).toBe(true);
    expect(ended.status.conditions[0]).toMatchObject({ reason: 'ValidationFailed' });
  });

  test('is a new one after one that failed, while somebody still wants the pod to leave', () => {
    const failed = rawNativeEviction({
      status: {
        ...activeStatus,
        conditions: [{ type: 'Failed', status: 'True', reason: 'CanceledDueToNoRequesters' }],
      },
    });
    const request = joined({ requests: [rawNativeRequest(DRAIN)], evictions: [failed] });
    expect(request.native).toMatchObject({ eviction: null, evictionName: 'pod-2-p-1' });
    expect(request.status.targets).toEqual([]);
  });

  test('its end does not count before every requester can read it', () => {
    const evicted = rawNativeEviction({
      status: {
        ...activeStatus,
        targetResponders: activeStatus.targetResponders
          .map((one) => ({ ...one, state: 'Completed' })),
        requesters: [{ name: DRAIN, intent: 'Eviction' }],
        conditions: [
          { type: 'TargetEvicted', status: 'True', reason: 'PodDeleted', message: '' },
          { type: 'Failed', status: 'False', reason: 'Succeeded', message: '' },
        ],
      },
    });
    const requests = [rawNativeRequest(DRAIN)];
    const request = joined({ requests, evictions: [evicted] });
    expect(isFinal(request)).toBe(false);
    const { status: after } = stepOf(request, 60, null);
    const [mirror] = mirrorBodies(request, after);
    const mirrored = requests.map((raw) => withStatusOf(raw, mirror?.body ?? {}));
    expect(isFinal(joined({ requests: mirrored, evictions: [evicted] }))).toBe(true);
  });

  test('belongs to the controller that wrote its responders', () => {
    const eviction = rawNativeEviction({
      status: activeStatus,
      manager: 'evictionrequest-controller',
    });
    const request = joined({ requests: [rawNativeRequest(DRAIN)], evictions: [eviction] });
    expect(request.native.eviction?.isServedByOther).toBe(true);
  });
});

test('nobody has a request of a pod without EvictionRequests and without an Eviction', () => {
  expect(joinedOf({})).toBeUndefined();
});

test('a report of the imperative eviction is cut at the length that the API accepts', () => {
  const request = joined({ requests: [rawNativeRequest(DRAIN)], evictions: [rawNativeEviction()] });
  const body = nativeReportBody(request, { heartbeatMs: CREATED_MS, message: 'x'.repeat(5000) });
  expect(statusIn(body)['responders']).toEqual([{
    name: 'imperative-eviction.k8s.io/evictor',
    heartbeatTime: atSeconds(0),
    message: 'x'.repeat(4000),
  }]);
});
