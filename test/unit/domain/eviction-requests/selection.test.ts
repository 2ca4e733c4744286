/** Which interceptor is active, when the next one takes over, and how a request ends. */
import { describe, expect, test } from 'vitest';
import { mayEvict } from '../../../../src/domain/eviction-requests/request-phase.ts';
import {
  ACTOR_A,
  ACTOR_B,
  atSeconds,
  B_ACTIVE,
  BALANCER,
  conditionsOf,
  CREATED_MS,
  DRAIN,
  entry,
  factsOf,
  IMPERATIVE,
  observedRequest,
  statusWith,
  stepAt,
  targetPod,
} from '../../../support/eviction-requests/request-fixture.ts';

/** B is active, and its entry has these times. */
const bActive = (times: Readonly<Record<string, number>>) =>
  observedRequest({
    status: statusWith({ active: ACTOR_B, interceptors: [entry(ACTOR_B, times)] }),
  });

const imperativeActive = (traits: Parameters<typeof observedRequest>[0] = {}) =>
  observedRequest({
    status: statusWith({
      active: IMPERATIVE,
      processed: [ACTOR_B, ACTOR_A],
      interceptors: [entry(IMPERATIVE, { startTime: 60 })],
    }),
    ...traits,
  });

const GROUPS = [
  ['workloadRef', { workloadRef: { name: 'w' } }],
  ['schedulingGroup', { schedulingGroup: { podGroupName: 'g' } }],
] as const;

const FINISHED = ['Succeeded', 'Failed'];
const FINAL_TYPES = ['Canceled', 'Evicted'];

const FINAL = { status: 'True', reason: 'x', message: '', lastTransitionTime: atSeconds(1) };

describe('the first sync', () => {
  test('ER-43: a request whose pod does not exist is canceled', () => {
    const step = stepAt(0, factsOf(observedRequest(), null));
    expect(conditionsOf(step)).toEqual(['Canceled=True ValidationFailed']);
    expect(step.status.conditions[0]?.message).toBe('Target Pod p-1 was not found.');
  });

  test('ER-43: a pod that disappears later counts as evicted', () => {
    const request = observedRequest({ status: statusWith({ active: null }) });
    expect(conditionsOf(stepAt(0, factsOf(request, null)))).toEqual(['Evicted=True PodDeleted']);
  });

  test('ER-44: a pod of the same name with another UID is another pod', () => {
    const step = stepAt(0, factsOf(observedRequest(), targetPod({ uid: 'other' })));
    expect(conditionsOf(step)).toEqual(['Canceled=True ValidationFailed']);
  });

  test.each(GROUPS)('ER-45: a pod of a group is refused: spec.%s', (_, spec) => {
    const step = stepAt(0, factsOf(observedRequest(), targetPod({ spec })));
    expect(conditionsOf(step)).toEqual(['Canceled=True ValidationFailed']);
    expect(step.status.conditions[0]?.message).toBe(
      'Target Pod p-1 is part of a Workload/PodGroup. ' +
        'Eviction of such pods is currently not supported.',
    );
  });

  test('ER-55: the interceptors of the pod are frozen in order, the imperative one last', () => {
    const { status } = stepAt(0, factsOf(observedRequest()));
    expect(status.targets).toEqual([ACTOR_B, ACTOR_A, IMPERATIVE]);
  });

  test('ER-55: defaults of the owner come before the imperative one, once', () => {
    const defaults = ['surge.tidegate.dev', ACTOR_A];
    const { status } = stepAt(0, factsOf(observedRequest(), { ...targetPod(), defaults }));
    expect(status.targets).toEqual([ACTOR_B, ACTOR_A, 'surge.tidegate.dev', IMPERATIVE]);
  });

  test('ER-56: the eviction of a pod without interceptors is active at once', () => {
    const { status } = stepAt(0, factsOf(observedRequest(), targetPod({ annotation: '' })));
    expect(status).toMatchObject({ targets: [IMPERATIVE], active: IMPERATIVE });
  });

  test('ER-57: the first interceptor is active first', () => {
    const { status, phase } = stepAt(3, factsOf(observedRequest()));
    expect(status).toMatchObject({ active: ACTOR_B, processed: [] });
    expect(status.starts).toEqual({ [ACTOR_B]: CREATED_MS + 3000 });
    expect(phase).toBe('Intercepting');
  });

  test('ER-60: a later change of the registration has no effect', () => {
    const request = observedRequest({ status: B_ACTIVE });
    const { status } = stepAt(1, factsOf(request, targetPod({ annotation: '' })));
    expect(status.targets).toEqual([ACTOR_B, ACTOR_A, IMPERATIVE]);
  });
});

describe('hand-over', () => {
  test('ER-58: the next interceptor takes over in the update that ends the one before', () => {
    const request = bActive({ startTime: 0, heartbeatTime: 0, completionTime: 30 });
    const { status } = stepAt(31, factsOf(request));
    expect(status).toMatchObject({ active: ACTOR_A, processed: [ACTOR_B] });
    expect(status.starts[ACTOR_A]).toBe(CREATED_MS + 31_000);
  });

  test('ER-58: nobody takes over from an interceptor that finished while its pod leaves', () => {
    const request = bActive({ startTime: 0, heartbeatTime: 0, completionTime: 30 });
    const leaving = targetPod({ metadata: { deletionTimestamp: atSeconds(20) } });
    const { status, phase } = stepAt(31, factsOf(request, leaving));
    expect(status.active).toBe(ACTOR_B);
    expect(phase).toBe('Leaving');
  });

  test.each([[1199, ACTOR_B], [1200, ACTOR_A]])(
    'ER-40: a silent interceptor is passed over 20 minutes after its start: %i s',
    (seconds, active) => {
      expect(stepAt(seconds, factsOf(bActive({ startTime: 0 }))).status.active).toBe(active);
    },
  );

  test.each([[1499, ACTOR_B], [1500, ACTOR_A]])(
    'ER-40: the deadline counts from the last heartbeat: %i s',
    (seconds, active) => {
      const request = bActive({ startTime: 0, heartbeatTime: 300 });
      expect(stepAt(seconds, factsOf(request)).status.active).toBe(active);
    },
  );

  test('ER-40: without a start the deadline counts from the creation', () => {
    const request = bActive({});
    expect(stepAt(1199, factsOf(request)).status.active).toBe(ACTOR_B);
    expect(stepAt(1200, factsOf(request)).status.active).toBe(ACTOR_A);
  });

  test('ER-27: an interceptor that reports in time is not replaced', () => {
    const request = bActive({ startTime: 0, heartbeatTime: 1190 });
    expect(stepAt(1200, factsOf(request)).status).toMatchObject({ active: ACTOR_B, processed: [] });
  });

  test('ER-34: a heartbeat beyond now and the skew never extends the deadline', () => {
    expect(stepAt(1205, factsOf(bActive({ startTime: 0, heartbeatTime: 1210 }))).status.active)
      .toBe(ACTOR_B);
    expect(stepAt(1205, factsOf(bActive({ startTime: 0, heartbeatTime: 1216 }))).status.active)
      .toBe(ACTOR_A);
  });

  test('ER-34: a heartbeat from before the start counts for nothing', () => {
    const { checkAtMs } = stepAt(101, factsOf(bActive({ startTime: 100, heartbeatTime: 80 })));
    expect(checkAtMs).toBe(CREATED_MS + 160_000);
  });

  test('ER-39: an expected finish changes no deadline', () => {
    const request = bActive({ startTime: 0, expectedFinishTime: 7200 });
    expect(stepAt(1200, factsOf(request)).status.active).toBe(ACTOR_A);
  });

  test('ER-61: time is looked at again at the warning and at the deadline', () => {
    const request = bActive({ startTime: 0 });
    expect(stepAt(10, factsOf(request)).checkAtMs).toBe(CREATED_MS + 60_000);
    expect(stepAt(60, factsOf(request)).checkAtMs).toBe(CREATED_MS + 1_200_000);
  });

  test('ER-59: after the last interceptor none is active, and the request stays open', () => {
    const times = { startTime: 0, completionTime: 5 };
    const request = observedRequest({
      status: statusWith({
        active: IMPERATIVE,
        processed: [ACTOR_B, ACTOR_A],
        interceptors: [entry(IMPERATIVE, times)],
      }),
    });
    const { status, phase } = stepAt(6, factsOf(request));
    expect(status).toMatchObject({ active: null, processed: [ACTOR_B, ACTOR_A, IMPERATIVE] });
    expect(phase).toBe('Processed');
    expect(conditionsOf({ status })).toEqual([]);
  });

  test('ER-85: an outage of the operator passes the imperative eviction over for nobody', () => {
    const { status, phase } = stepAt(90_000, factsOf(imperativeActive()));
    expect(status.active).toBe(IMPERATIVE);
    expect(phase).toBe('Evicting');
  });

  test('ER-54: the observed generation follows the generation', () => {
    const request = observedRequest({ status: B_ACTIVE, generation: 4 });
    expect(stepAt(1, factsOf(request)).status.observedGeneration).toBe(4);
  });
});

describe('the early warning', () => {
  test('ER-40: an interceptor that never reported is warned of after a minute', () => {
    const step = stepAt(60, factsOf(bActive({ startTime: 0 })));
    expect(step.phase).toBe('Silent');
    expect(conditionsOf(step)).toEqual(['InterceptorSilent=True InterceptorSilent']);
    expect(step.notes).toEqual([{
      reason: 'InterceptorSilent',
      text: `Interceptor "${ACTOR_B}" does not report; ` +
        `the next one takes over at ${atSeconds(1200)}`,
    }]);
  });

  test('ER-42: an interceptor that reports every three minutes is never silent', () => {
    const request = bActive({ startTime: 0, heartbeatTime: 180 });
    expect(stepAt(419, factsOf(request)).phase).toBe('Intercepting');
    expect(stepAt(420, factsOf(request)).phase).toBe('Silent');
  });

  test('ER-40: the warning ends with the next heartbeat, and with the hand-over', () => {
    const warned = {
      type: 'InterceptorSilent',
      status: 'True',
      reason: 'InterceptorSilent',
      message: '',
      lastTransitionTime: atSeconds(60),
    };
    const request = (times: Readonly<Record<string, number>>) =>
      observedRequest({
        status: statusWith({
          active: ACTOR_B,
          interceptors: [entry(ACTOR_B, { startTime: 0, ...times })],
          conditions: [warned],
        }),
      });
    const ended = ['InterceptorSilent=False InterceptorActive'];
    expect(conditionsOf(stepAt(100, factsOf(request({ heartbeatTime: 99 }))))).toEqual(ended);
    expect(conditionsOf(stepAt(1200, factsOf(request({}))))).toEqual(ended);
  });
});

describe('the end', () => {
  test('ER-47: without requesters the request is canceled and nothing is active', () => {
    const request = observedRequest({ status: B_ACTIVE, requesters: [] });
    const step = stepAt(9, factsOf(request));
    expect(conditionsOf(step)).toEqual(['Canceled=True NoRequesters']);
    expect(step.status.active).toBe(null);
  });

  test('ER-76: one of two requesters leaves, and the request goes on', () => {
    const request = observedRequest({ status: B_ACTIVE, requesters: [BALANCER], generation: 1 });
    expect(stepAt(9, factsOf(request)).status).toEqual(request.status);
  });

  test.each(FINISHED)('ER-48: a pod that is %s counts as evicted', (phase) => {
    const step = stepAt(9, factsOf(imperativeActive(), targetPod({ phase }), 9));
    expect(conditionsOf(step)).toEqual(['Evicted=True PodTerminal']);
  });

  test('ER-49: a pod that is gone, or was replaced, counts as evicted', () => {
    for (const pod of [null, targetPod({ uid: 'other' })]) {
      expect(conditionsOf(stepAt(9, factsOf(imperativeActive(), pod, 9))))
        .toEqual(['Evicted=True PodDeleted']);
    }
  });

  test('ER-50: the end of the pod wins over the cancellation', () => {
    const request = imperativeActive({ requesters: [] });
    expect(conditionsOf(stepAt(9, factsOf(request, null, 9)))).toEqual(['Evicted=True PodDeleted']);
  });

  test('ER-51: the active interceptor is processed at the end, without a completion', () => {
    const request = observedRequest({ status: B_ACTIVE, requesters: [] });
    const { status } = stepAt(9, factsOf(request));
    expect(status).toMatchObject({ active: null, processed: [ACTOR_B] });
    expect(status.starts).toEqual({ [ACTOR_B]: CREATED_MS });
  });

  test('ER-52: an interceptor has five seconds for its last report', () => {
    const request = bActive({ startTime: 0 });
    const step = stepAt(14, factsOf(request, null, 10));
    expect(step).toMatchObject({ phase: 'Leaving', checkAtMs: CREATED_MS + 15_000 });
    expect(step.status.active).toBe(ACTOR_B);
    expect(conditionsOf(stepAt(15, factsOf(request, null, 10))))
      .toEqual(['Evicted=True PodDeleted']);
  });

  test('ER-52: one that has reported its end is not waited for', () => {
    const request = bActive({ startTime: 0, completionTime: 9 });
    expect(conditionsOf(stepAt(10, factsOf(request, null, 10))))
      .toEqual(['Evicted=True PodDeleted']);
  });

  test.each(FINAL_TYPES)('ER-53: a request that is %s is left alone', (type) => {
    const status = statusWith({
      active: null,
      processed: [ACTOR_B],
      conditions: [{ type, ...FINAL }],
    });
    const request = observedRequest({ status, generation: 8 });
    expect(stepAt(90_000, factsOf(request, null)).status).toEqual(request.status);
  });

  test('ER-46: a request that failed validation stays so when a pod of the name appears', () => {
    const status = { observedGeneration: 1, conditions: [{ type: 'Canceled', ...FINAL }] };
    const request = observedRequest({ status });
    expect(stepAt(9, factsOf(request)).phase).toBe('Final');
  });
});

describe('the imperative eviction', () => {
  test('ER-65: the pod is evicted when the eviction is active and all others are processed', () => {
    expect(mayEvict(factsOf(imperativeActive()))).toBe(true);
    expect(mayEvict(factsOf(observedRequest({ status: B_ACTIVE })))).toBe(false);
    const early = statusWith({ active: IMPERATIVE, processed: [ACTOR_B] });
    expect(mayEvict(factsOf(observedRequest({ status: early })))).toBe(false);
  });

  test('ER-66: pods of DaemonSets and static pods are never evicted', () => {
    const owner = { kind: 'DaemonSet', name: 'd', uid: 'd' };
    const mirror = { 'kubernetes.io/config.mirror': 'x' };
    for (const metadata of [{ ownerReferences: [owner] }, { annotations: mirror }]) {
      expect(mayEvict(factsOf(imperativeActive(), targetPod({ metadata })))).toBe(false);
    }
  });

  test('ER-67: a terminating pod is not evicted again', () => {
    const pod = targetPod({ metadata: { deletionTimestamp: atSeconds(1) } });
    expect(mayEvict(factsOf(imperativeActive(), pod))).toBe(false);
  });

  test('ER-69: pods with an emptyDir and pods without an owner are evicted', () => {
    const pod = targetPod({ spec: { volumes: [{ name: 'v', emptyDir: {} }] } });
    expect(mayEvict(factsOf(imperativeActive(), pod))).toBe(true);
  });

  test('ER-70: a new pod of the same name is not evicted', () => {
    expect(mayEvict(factsOf(imperativeActive(), targetPod({ uid: 'other' })))).toBe(false);
  });

  test('ER-73: nothing is evicted once the last requester has left', () => {
    expect(mayEvict(factsOf(imperativeActive({ requesters: [] })))).toBe(false);
    expect(mayEvict(factsOf(imperativeActive({ requesters: [DRAIN] })))).toBe(true);
  });
});
