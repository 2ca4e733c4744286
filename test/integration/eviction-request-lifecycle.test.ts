/** The lifecycle of EvictionRequests as the role leads it on a real API server, rule by rule. */
import { beforeAll, expect, it } from 'vitest';
import { listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import { rfc3339Seconds } from '../../src/domain/time.ts';
import { nameOf } from '../support/api/cluster-client.ts';
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
  now,
  requestScene,
  type SceneTraits,
  SHORT,
} from '../support/eviction-requests/request-scene.ts';
import { conditionsIn, noted, REQUESTS } from '../support/eviction-requests/served-requests.ts';
import { pause } from '../support/eventually.ts';

const BOTH = { interceptors: [ACTOR_B, ACTOR_A] };
/** Longer than anything that the role still has to do. */
const CALM_MS = 1500;

describeWithTestbed('the lifecycle of EvictionRequests on a real API server', {}, (bed) => {
  // The role must satisfy them, too.
  beforeAll(async () => {
    await bed().installCrds();
    await enforcePolicies(bed());
  });

  const scene = (traits: SceneTraits = {}) => requestScene(bed(), traits);

  it('ER-20: nothing is written to a request that was deleted', async () => {
    const { cluster, join, until, path, podStatus } = await scene(BOTH);
    await join();
    // The labels are copied after the first interceptor is active.
    await until('the labels', (one) => textAt(one, 'metadata', 'labels', 'app') !== undefined);
    const { changes } = await cluster.history(REQUESTS);
    await cluster.call('DELETE', path);
    await pause(CALM_MS);
    expect(changes().map(({ type }) => type)).toEqual(['DELETED']);
    expect(await podStatus()).toBe(200);
  });

  it('ER-27: an interceptor that reports in time is not replaced', async () => {
    const { join, untilActive, report, stored } = await scene({ ...BOTH, timing: SHORT });
    await join();
    const active = await untilActive(ACTOR_B);
    await pause(2500);
    await report(ACTOR_B, { heartbeatTime: now() });
    await pause(timeIn(active, ACTOR_B, 'startTime') + 5000 - Date.now());
    expect(activeIn(await stored())).toBe(ACTOR_B);
  });

  it('ER-39: an expected finish changes no deadline', async () => {
    const { join, untilActive, report } = await scene({ ...BOTH, timing: SHORT });
    await join();
    const active = await untilActive(ACTOR_B);
    await report(ACTOR_B, { expectedFinishTime: rfc3339Seconds(Date.now() + 3_600_000) });
    const next = await untilActive(ACTOR_A);
    const tookMs = timeIn(next, ACTOR_A, 'startTime') - timeIn(active, ACTOR_B, 'startTime');
    expect(tookMs).toBeLessThanOrEqual(6000);
  });

  it('ER-40: who never reports is warned of, and replaced at the deadline', async () => {
    const { join, untilActive, until, notes } = await scene({ ...BOTH, timing: SHORT });
    await join();
    await untilActive(ACTOR_B);
    const warned = await until('the warning', (one) => conditionsIn(one).length > 0);
    expect(conditionsIn(warned)).toEqual(['InterceptorSilent=True InterceptorSilent']);
    expect(activeIn(warned)).toBe(ACTOR_B);
    await untilActive(ACTOR_A);
    await noted({ notes }, [
      'InterceptorActive',
      'InterceptorSilent',
      'InterceptorTimedOut',
      'InterceptorActive',
    ]);
  });

  it('ER-42: who has reported is not warned of after the first warning time', async () => {
    const timing = { ...SHORT, warningMs: 4000, deadlineMs: 60_000 };
    const { join, untilActive, report, stored } = await scene({ ...BOTH, timing });
    await join();
    const active = await untilActive(ACTOR_B);
    await report(ACTOR_B, { heartbeatTime: now() });
    await pause(timeIn(active, ACTOR_B, 'startTime') + 6000 - Date.now());
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
    const { join, removePod, serve, untilFinal, stored } = await scene({ isServed: false });
    await removePod();
    await join();
    serve();
    const canceled = await untilFinal('Canceled=True ValidationFailed');
    await join(BALANCER);
    await pause(CALM_MS);
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
    const { cluster, podPath, join, untilActive, untilFinal } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    await cluster.call('PATCH', `${podPath}/status`, { status: { phase: 'Succeeded' } });
    await untilFinal('Evicted=True PodTerminal');
  });

  it('ER-49: a pod that was replaced by one of the same name counts as evicted', async () => {
    const { join, untilActive, untilFinal, replacePod, podStatus } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    await replacePod();
    await untilFinal('Evicted=True PodDeleted');
    expect(await podStatus()).toBe(200);
  });

  it('ER-50: the end of the pod wins over a cancellation', async () => {
    const { join, leave, untilActive, untilFinal, removePod, stop, serve } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    await stop();
    await leave();
    await removePod();
    serve();
    const ended = await untilFinal('Evicted=True PodDeleted');
    expect(conditionsIn(ended)).toEqual(['Evicted=True PodDeleted']);
  });

  it('ER-51: at the end the active interceptor is processed, without a completion', async () => {
    const { join, untilActive, untilFinal, report, removePod } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    const heartbeatTime = now();
    await report(ACTOR_B, { heartbeatTime });
    await removePod();
    const ended = await untilFinal('Evicted=True PodDeleted');
    expect([activeIn(ended), processedIn(ended)]).toEqual([undefined, [ACTOR_B]]);
    expect(reportOf(ended, ACTOR_B)).toMatchObject({ heartbeatTime });
    expect(reportOf(ended, ACTOR_B)).not.toHaveProperty('completionTime');
  });

  it('ER-52: after its pod is gone the interceptor has five seconds for its report', async () => {
    const { join, untilActive, untilFinal, complete, removePod, stored } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    await removePod();
    await pause(3000);
    expect(conditionsIn(await stored())).toEqual([]);
    await complete(ACTOR_B);
    const ended = await untilFinal('Evicted=True PodDeleted');
    expect(reportOf(ended, ACTOR_B)).toHaveProperty('completionTime');
    expect(processedIn(ended)).toEqual([ACTOR_B]);
  });

  it('ER-53: a final request is left alone', async () => {
    const { cluster, path, join, leave, untilActive, untilFinal, stored } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    await leave();
    const final = await untilFinal('Canceled=True NoRequesters');
    const labels = { app: 'touched' };
    await cluster.call('PATCH', path, { metadata: { labels } });
    await pause(CALM_MS);
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
    const { cluster, join, untilActive, complete, pod } = await scene(BOTH);
    await join();
    await untilActive(ACTOR_B);
    const { of } = await cluster.history(REQUESTS);
    await complete(ACTOR_B);
    await untilActive(ACTOR_A);
    await pause(500);
    const orders = of(textAt(pod, 'metadata', 'uid') ?? '')
      .map((one) => [processedIn(one), activeIn(one)]);
    expect(new Set(orders.map((order) => JSON.stringify(order))))
      .toEqual(new Set(['[[],"' + ACTOR_B + '"]', `[["${ACTOR_B}"],"${ACTOR_A}"]`]));
  });

  it('ER-59: after the last interceptor the request stays open', async () => {
    const { cluster, path, join, untilActive, stop, serve, stored } = await scene({
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
    await pause(CALM_MS);
    const open = await stored();
    expect([activeIn(open), conditionsIn(open)]).toEqual([undefined, []]);
  });

  it('ER-61: the hand-over is within a second of the deadline', async () => {
    const { cluster, join, untilActive, pod } = await scene({ ...BOTH, timing: SHORT });
    await join();
    const active = await untilActive(ACTOR_B);
    const { of } = await cluster.history(REQUESTS);
    const dueMs = timeIn(active, ACTOR_B, 'startTime') + 4000;
    await pause(dueMs - 100 - Date.now());
    const name = textAt(pod, 'metadata', 'uid') ?? '';
    expect(activeIn(of(name).at(-1) ?? active)).toBe(ACTOR_B);
    // Times in the status are whole seconds.
    await pause(2100);
    expect(activeIn(of(name).at(-1))).toBe(ACTOR_A);
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
