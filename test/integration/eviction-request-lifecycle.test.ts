/** The lifecycle of EvictionRequests as the role leads it on a real API server, rule by rule. */
import { beforeAll, expect, it } from 'vitest';
import { listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import { rfc3339Seconds } from '../../src/domain/time.ts';
import { nameOf, uidOf } from '../support/api/cluster-client.ts';
import { enforcePolicies } from '../support/eviction-requests/enforced-policies.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import {
  ACTOR_A,
  ACTOR_B,
  BALANCER,
  DRAIN,
  IMPERATIVE,
} from '../support/eviction-requests/request-fixture.ts';
import {
  activeIn,
  processedIn,
  reportOf,
  timeIn,
} from '../support/eviction-requests/request-reading.ts';
import {
  requestScene,
  type SceneTraits,
  TIMED,
} from '../support/eviction-requests/request-scene.ts';
import { conditionsIn, noted, REQUESTS } from '../support/eviction-requests/served-requests.ts';

const BOTH = { interceptors: [ACTOR_B, ACTOR_A] };
const SLOW = { ...BOTH, timing: TIMED };
const { deadlineMs, warningMs } = TIMED;
/** Longer than a step of a test takes on a slow machine. */
const MARGIN_MS = 30_000;
/** What an interceptor has for its last report. */
const REPORT_MS = 5000;

describeWithTestbed('the lifecycle of EvictionRequests on a real API server', {}, (bed) => {
  // The role must satisfy them, too.
  beforeAll(async () => {
    await bed().installCrds();
    await enforcePolicies(bed());
  });

  const scene = (traits: SceneTraits = {}) => requestScene(bed(), traits);

  it('ER-20: nothing is written to a request that was deleted', async () => {
    const { cluster, join, until, path, podStatus, pod, caughtUp } = await scene(BOTH);
    await join();
    // The labels are copied after the first interceptor is active.
    await until('the labels', (one) => textAt(one, 'metadata', 'labels', 'app') !== undefined);
    const { changes } = await cluster.history(REQUESTS);
    await cluster.call('DELETE', path);
    await caughtUp();
    const own = changes().filter(({ object }) => nameOf(object) === uidOf(pod));
    expect(own.map(({ type }) => type)).toEqual(['DELETED']);
    expect(await podStatus()).toBe(200);
  });

  it('ER-27: an interceptor that reports in time is not replaced', async () => {
    const { join, untilActive, report, stored, now, forward, caughtUp } = await scene(SLOW);
    await join();
    await untilActive(ACTOR_B);
    forward(deadlineMs / 2);
    await report(ACTOR_B, { heartbeatTime: now() });
    await caughtUp();
    forward(deadlineMs - MARGIN_MS);
    await caughtUp();
    expect(activeIn(await stored())).toBe(ACTOR_B);
    forward(MARGIN_MS);
    await untilActive(ACTOR_A);
  });

  it('ER-39: an expected finish changes no deadline', async () => {
    const { join, untilActive, report, forward, caughtUp } = await scene(SLOW);
    await join();
    const active = await untilActive(ACTOR_B);
    const expectedMs = timeIn(active, ACTOR_B, 'startTime') + 3_600_000;
    await report(ACTOR_B, { expectedFinishTime: rfc3339Seconds(expectedMs) });
    await caughtUp();
    forward(deadlineMs);
    await untilActive(ACTOR_A);
  });

  it('ER-40: who never reports is warned of, and replaced at the deadline', async () => {
    const { join, untilActive, until, notes, forward } = await scene(SLOW);
    await join();
    await untilActive(ACTOR_B);
    forward(warningMs);
    const warned = await until('the warning', (one) => conditionsIn(one).length > 0);
    expect(conditionsIn(warned)).toEqual(['InterceptorSilent=True InterceptorSilent']);
    expect(activeIn(warned)).toBe(ACTOR_B);
    forward(deadlineMs - warningMs);
    await untilActive(ACTOR_A);
    await noted({ notes }, [
      'InterceptorActive',
      'InterceptorSilent',
      'InterceptorTimedOut',
      'InterceptorActive',
    ]);
  });

  it('ER-42: who has reported is not warned of after the first warning time', async () => {
    const { join, untilActive, report, stored, now, forward, caughtUp } = await scene(SLOW);
    await join();
    await untilActive(ACTOR_B);
    await report(ACTOR_B, { heartbeatTime: now() });
    await caughtUp();
    forward(warningMs);
    await caughtUp();
    expect(conditionsIn(await stored())).toEqual([]);
  });

  it('ER-43: a request whose pod is absent at the first sync is canceled', async () => {
    const { join, removePod, serve, untilFinal } = await scene({ isServed: false });
    await removePod();
    await join();
    serve();
    const canceled = await untilFinal('Canceled=True ValidationFailed');
    expect(textAt(listOrEmptyAt(canceled, 'status', 'conditions')[0], 'message'))
      .toContain('was not found');
  });

  it('ER-46: a request that failed validation is not processed any more', async () => {
    const { join, removePod, serve, untilFinal, stored, caughtUp } = await scene({
      isServed: false,
    });
    await removePod();
    await join();
    serve();
    const canceled = await untilFinal('Canceled=True ValidationFailed');
    await join(BALANCER);
    await caughtUp();
    expect((await stored())['status']).toEqual(canceled['status']);
  });

  it('ER-47: without requesters the request is canceled, and nothing is active', async () => {
    const { join, leave, untilActive, untilFinal, podStatus } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    await leave();
    const canceled = await untilFinal('Canceled=True NoRequesters');
    expect(activeIn(canceled)).toBeUndefined();
    expect(await podStatus()).toBe(200);
  });

  it('ER-48: a pod that succeeded counts as evicted', async () => {
    const { cluster, podPath, join, untilActive, untilFinal, forward, caughtUp } = await scene(
      BOTH,
    );
    await join();
    await untilActive(ACTOR_B);
    await cluster.call('PATCH', `${podPath}/status`, { status: { phase: 'Succeeded' } });
    await caughtUp();
    forward(REPORT_MS);
    await untilFinal('Evicted=True PodTerminal');
  });

  it('ER-49: a pod that was replaced by one of the same name counts as evicted', async () => {
    const { join, untilActive, untilFinal, replacePod, podStatus, forward, caughtUp } = await scene(
      BOTH,
    );
    await join();
    await untilActive(ACTOR_B);
    await replacePod();
    await caughtUp();
    forward(REPORT_MS);
    await untilFinal('Evicted=True PodDeleted');
    expect(await podStatus()).toBe(200);
  });

  it('ER-50: the end of the pod wins over a cancellation', async () => {
    const { join, leave, untilActive, untilFinal, removePod, stop, serve, forward, caughtUp } =
      await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    await stop();
    await leave();
    await removePod();
    serve();
    await caughtUp();
    forward(REPORT_MS);
    const ended = await untilFinal('Evicted=True PodDeleted');
    expect(conditionsIn(ended)).toEqual(['Evicted=True PodDeleted']);
  });

  it('ER-51: at the end the active interceptor is processed, without a completion', async () => {
    const { join, untilActive, untilFinal, report, removePod, now, forward, caughtUp } =
      await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    const heartbeatTime = now();
    await report(ACTOR_B, { heartbeatTime });
    const removedMs = Date.parse(now());
    await removePod();
    await caughtUp();
    forward(REPORT_MS);
    const ended = await untilFinal('Evicted=True PodDeleted');
    const [evicted] = listOrEmptyAt(ended, 'status', 'conditions');
    // Both are whole seconds.
    expect(Date.parse(textAt(evicted, 'lastTransitionTime') ?? '') - removedMs)
      .toBeGreaterThanOrEqual(REPORT_MS);
    expect([activeIn(ended), processedIn(ended)]).toEqual([undefined, [ACTOR_B]]);
    expect(reportOf(ended, ACTOR_B)).toMatchObject({ heartbeatTime });
    expect(reportOf(ended, ACTOR_B)).not.toHaveProperty('completionTime');
  });

  it('ER-52: after its pod is gone the interceptor has five seconds for its report', async () => {
    const { join, untilActive, untilFinal, complete, removePod } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    await removePod();
    await complete(ACTOR_B);
    const ended = await untilFinal('Evicted=True PodDeleted');
    expect(reportOf(ended, ACTOR_B)).toHaveProperty('completionTime');
    expect(processedIn(ended)).toEqual([ACTOR_B]);
  });

  it('ER-53: a final request is left alone', async () => {
    const { cluster, path, join, leave, untilActive, untilFinal, stored, caughtUp } = await scene(
      BOTH,
    );
    await join();
    await untilActive(ACTOR_B);
    await leave();
    const final = await untilFinal('Canceled=True NoRequesters');
    const labels = { app: 'touched' };
    await cluster.call('PATCH', path, { metadata: { labels } });
    await caughtUp();
    const after = await stored();
    expect(after['status']).toEqual(final['status']);
    expect(valueAt(after, 'metadata', 'labels', 'app')).toBe('touched');
  });

  it('ER-54: the observed generation follows the generation', async () => {
    const { join, untilActive, until } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    await join(BALANCER);
    const seen = await until(
      'the second generation',
      (one) => valueAt(one, 'status', 'observedGeneration') === 2,
    );
    expect(valueAt(seen, 'metadata', 'generation')).toBe(2);
  });

  it('ER-55: the first sync freezes the interceptors, without broken names', async () => {
    const { join, untilActive, notes } = await scene({
      interceptors: [ACTOR_B, 'Broken', ACTOR_B, 'a.kubernetes.io', ACTOR_A],
    });
    await join();
    const active = await untilActive(ACTOR_B);
    const named = listOrEmptyAt(active, 'status', 'targetInterceptors')
      .map((one) => textAt(one, 'name'));
    expect(named).toEqual([ACTOR_B, ACTOR_A, IMPERATIVE]);
    const dropped = () => notes.filter(({ note }) => note.includes('Broken'));
    await expect.poll(() => dropped().map(({ regarding }) => regarding.kind))
      .toEqual(['EvictionRequest']);
  });

  it('ER-57: the first interceptor is active first', async () => {
    const { join, until } = await scene({ interceptors: [ACTOR_A, ACTOR_B] });
    await join();
    const first = await until('anybody is active', (one) => activeIn(one) !== undefined);
    expect(activeIn(first)).toBe(ACTOR_A);
    expect(reportOf(first, ACTOR_A)).toHaveProperty('startTime');
    expect(reportOf(first, ACTOR_B)).not.toHaveProperty('startTime');
  });

  it('ER-58: one update makes the active interceptor processed and the next active', async () => {
    const { cluster, join, untilActive, complete, pod, caughtUp } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    const { of } = await cluster.history(REQUESTS);
    await complete(ACTOR_B);
    await untilActive(ACTOR_A);
    await caughtUp();
    const orders = of(uidOf(pod))
      .map((one) => [processedIn(one), activeIn(one)]);
    expect(new Set(orders.map((order) => JSON.stringify(order))))
      .toEqual(new Set(['[[],"' + ACTOR_B + '"]', `[["${ACTOR_B}"],"${ACTOR_A}"]`]));
  });

  it('ER-59: after the last interceptor the request stays open', async () => {
    const { cluster, path, join, untilActive, stop, serve, stored, caughtUp } = await scene({
      interceptors: [ACTOR_B],
    });
    await join();
    await untilActive(ACTOR_B);
    await stop();
    for (
      const status of [
        { processedInterceptors: [ACTOR_B], activeInterceptors: [IMPERATIVE] },
        { processedInterceptors: [ACTOR_B, IMPERATIVE], activeInterceptors: [] },
      ]
    ) {
      expect((await cluster.call('PATCH', `${path}/status`, { status })).status).toBe(200);
    }
    serve();
    await caughtUp();
    const open = await stored();
    expect([activeIn(open), conditionsIn(open)]).toEqual([undefined, []]);
  });

  it('ER-61: the hand-over is at the deadline', async () => {
    const { join, untilActive, stored, forward, caughtUp } = await scene(SLOW);
    await join();
    const active = await untilActive(ACTOR_B);
    forward(deadlineMs - MARGIN_MS);
    await caughtUp();
    expect(activeIn(await stored())).toBe(ACTOR_B);
    forward(MARGIN_MS);
    const next = await untilActive(ACTOR_A);
    const [fromMs, toMs] = [
      timeIn(active, ACTOR_B, 'startTime'),
      timeIn(next, ACTOR_A, 'startTime'),
    ];
    expect(toMs - fromMs).toBeGreaterThanOrEqual(deadlineMs);
  });

  it('ER-64: a copied label that leaves the pod leaves the request', async () => {
    const { cluster, podPath, path, join, until, pod } = await scene(BOTH);
    await join();
    await cluster.call('PATCH', podPath, { metadata: { labels: { zone: 'a' } } });
    await until('the label', (one) => textAt(one, 'metadata', 'labels', 'zone') === 'a');
    await cluster.call('PATCH', path, { metadata: { labels: { mine: 'stays' } } });
    await cluster.call('PATCH', podPath, { metadata: { labels: { zone: null } } });
    const left = await until(
      'the label is gone',
      (one) => textAt(one, 'metadata', 'labels', 'zone') === undefined,
    );
    expect(valueAt(left, 'metadata', 'labels')).toEqual({ app: nameOf(pod), mine: 'stays' });
  });

  it('ER-76: the request is canceled only when the last requester leaves', async () => {
    const { join, leave, untilActive, until, untilFinal } = await scene(BOTH);
    await join(DRAIN);
    await untilActive(ACTOR_B);
    await join(BALANCER);
    await leave(DRAIN);
    const open = await until(
      'the third generation',
      (one) => valueAt(one, 'status', 'observedGeneration') === 3,
    );
    expect([activeIn(open), conditionsIn(open)]).toEqual([ACTOR_B, []]);
    await leave(BALANCER);
    await untilFinal('Canceled=True NoRequesters');
  });
});
