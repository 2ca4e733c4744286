/** Metrics, Events and the alert about EvictionRequests, without an API server. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { startEventRecorder } from '../../../src/actors/event-recorder.ts';
import { evictionRequestEvents } from '../../../src/actors/eviction-requests/eviction-request-actor.ts';
import { RequestMetrics } from '../../../src/actors/eviction-requests/request-metrics.ts';
import { OBJECTS_WITH_SERIES_MAX } from '../../../src/actors/limited-series.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { uid } from '../../../src/domain/ids.ts';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { Events, type EventWriting } from '../../../src/effects/events.ts';
import { liveTelemetry } from '../../../src/observability/live-telemetry.ts';
import { makeMetrics } from '../../../src/observability/metrics.ts';
import {
  ACTOR_A,
  ACTOR_B,
  B_ACTIVE,
  BALANCER,
  CREATED_MS,
  DRAIN,
  entry,
  IMPERATIVE,
  observedRequest,
  statusWith,
} from '../../support/eviction-requests/request-fixture.ts';
import { requestRegistryRig as rig } from '../../support/eviction-requests/request-registry-rig.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { PROJECT } from '../../tidy/source-file.ts';

const NAME = '6f1d2a34-0b1c-4d5e-8f90-a1b2c3d4e5f6';
const OF_REQUEST = `namespace="blueberry",evictionrequest="${NAME}",target="p-1"`;

const A_ACTIVE = statusWith({
  active: ACTOR_A,
  processed: [ACTOR_B],
  interceptors: [entry(ACTOR_B, { startTime: 0 }), entry(ACTOR_A, { startTime: 60 })],
});
const EVICTED = statusWith({
  active: null,
  processed: [ACTOR_B],
  conditions: [{ type: 'Evicted', status: 'True', reason: 'PodDeleted', message: '' }],
});

const version = (resourceVersion: string) => ({ metadata: { resourceVersion } });

test('ER-82: the metrics show requesters, the active interceptor and the processed ones', async () => {
  const { observe, series } = rig();
  observe(observedRequest({ requesters: [DRAIN, BALANCER], status: B_ACTIVE }));
  expect(await series('evictionrequest_controller')).toEqual([
    `evictionrequest_controller_imperative_evictions{${OF_REQUEST}} 0`,
    `evictionrequest_controller_active_interceptor{${OF_REQUEST},interceptor="${ACTOR_B}"} 1`,
    `evictionrequest_controller_processed_interceptor{${OF_REQUEST}} 0`,
    `evictionrequest_controller_active_requester{${OF_REQUEST}} 2`,
    'evictionrequest_controller_pod_interceptors{namespace="blueberry",pod="p-1"} 2',
  ]);
  expect(await series('tidegate_eviction_request_created')).toEqual([
    `tidegate_eviction_request_created_timestamp_seconds{${OF_REQUEST}} ${CREATED_MS / 1000}`,
  ]);
});

test('ER-82: after a hand-over only the next interceptor has a series', async () => {
  const { observe, series } = rig();
  observe(observedRequest({ status: B_ACTIVE }));
  observe(observedRequest({ status: A_ACTIVE, ...version('11') }));
  expect(await series('evictionrequest_controller_active_interceptor')).toEqual([
    `evictionrequest_controller_active_interceptor{${OF_REQUEST},interceptor="${ACTOR_A}"} 1`,
  ]);
  expect(await series('evictionrequest_controller_processed_interceptor')).toEqual([
    `evictionrequest_controller_processed_interceptor{${OF_REQUEST}} 1`,
  ]);
});

test('ER-82: refused evictions of this process and of earlier ones are counted', async () => {
  const { time, observe, refuse, series } = rig();
  const message = 'Could not evict a pod due to failing eviction requests, number of retries: 7.';
  const status = statusWith({
    active: IMPERATIVE,
    processed: [ACTOR_B, ACTOR_A],
    interceptors: [entry(IMPERATIVE, { startTime: 0, heartbeatTime: 0 }, message)],
  });
  observe(observedRequest({ status }));
  await time.settle();
  refuse(2);
  expect(await series('evictionrequest_controller_imperative_evictions')).toEqual([
    `evictionrequest_controller_imperative_evictions{${OF_REQUEST}} 9`,
  ]);
});

/** The series of a request after its end. */
const seriesAfter = async (end: (site: ReturnType<typeof rig>) => void) => {
  const site = rig();
  site.observe(observedRequest({ status: B_ACTIVE }));
  end(site);
  return (await Promise.all(
    [
      'evictionrequest_controller_active',
      'evictionrequest_controller_processed',
      'evictionrequest_controller_imperative',
      'tidegate_eviction_request_created',
    ].map(site.series),
  )).flat();
};

test('ER-82: no series of a request is left when it is final', async () => {
  const final = observedRequest({ status: EVICTED, ...version('11') });
  expect(await seriesAfter(({ observe }) => observe(final))).toEqual([]);
});

test('a registry that has stopped follows nothing', async () => {
  const { registry, follows } = rig();
  expect(follows()).toEqual([true, true, true]);
  await registry.stop();
  expect(follows()).toEqual([false, false, false]);
});

test('ER-82: no series of a request is left when it is deleted', async () => {
  const last = observedRequest({ status: B_ACTIVE });
  expect(await seriesAfter(({ remove }) => remove(last))).toEqual([]);
});

test('ER-82: no series of a request is left when another process leads', async () => {
  expect(await seriesAfter(({ registry }) => registry.onLeadershipLost())).toEqual([]);
});

test('ER-82: the interceptors of a pod have no series when it is gone', async () => {
  const { removePod, series } = rig();
  expect(await series('evictionrequest_controller_pod_interceptors')).toHaveLength(1);
  removePod();
  expect(await series('evictionrequest_controller_pod_interceptors')).toEqual([]);
});

test('ER-82: there are series for a thousand requests, and the rest is counted', async () => {
  const metrics = makeMetrics();
  const requestMetrics = new RequestMetrics(liveTelemetry({ log: () => {} }, metrics));
  const request = observedRequest({ status: B_ACTIVE });
  const many = Array.from({ length: OBJECTS_WITH_SERIES_MAX + 5 }, (_, index) => ({
    ...request,
    uid: uid(`u-${index}`),
    name: `name-${index}`,
  }));
  for (const one of many) requestMetrics.observe(one, 0);
  const count = async (metric: string): Promise<number> =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(`${metric}{`)).length;
  const leftOut = async () =>
    /series_left_out\{object="evictionrequest"\} (\d+)/.exec(await metrics.text())?.[1];
  expect(await count('evictionrequest_controller_active_interceptor')).toBe(1000);
  expect(await leftOut()).toBe('5');
  const [first] = many;
  if (first === undefined) throw new Error('No request');
  requestMetrics.forget(first.uid);
  for (const one of many.slice(-5)) requestMetrics.observe(one, 0);
  expect(await count('evictionrequest_controller_active_interceptor')).toBe(1000);
  expect(await leftOut()).toBe('4');
  requestMetrics.clear();
  expect(await count('evictionrequest_controller_active_interceptor')).toBe(0);
  expect(await leftOut()).toBe('0');
});

test('ER-82: the queue of writes has depth, durations and retries', async () => {
  const { time, observe, series } = rig();
  for (const name of ['workqueue_depth', 'workqueue_adds_total', 'workqueue_retries_total']) {
    expect(await series(name)).toEqual([`${name}{name="evictionrequests"} 0`]);
  }
  observe(observedRequest());
  await time.settle();
  expect(await series('workqueue_depth')).toEqual(['workqueue_depth{name="evictionrequests"} 0']);
  expect(await series('workqueue_adds_total')).toEqual([
    'workqueue_adds_total{name="evictionrequests"} 1',
  ]);
  expect(await series('workqueue_queue_duration_seconds_count')).toEqual([
    'workqueue_queue_duration_seconds_count{name="evictionrequests"} 1',
  ]);
  await time.advance(60_000);
  const [retries = ''] = await series('workqueue_retries_total');
  expect(Number(retries.split(' ')[1])).toBeGreaterThanOrEqual(5);
  expect(await series('workqueue_work_duration_seconds_count')).toHaveLength(1);
});

/** The Events that the role records for a request whose interceptors flap. */
test('ER-83: Events are about the EvictionRequest, and at most 25 in five minutes', async () => {
  const written: EventWriting[] = [];
  const time = simulatedTime(CREATED_MS);
  const events = Layer.succeed(Events, {
    write: (writing) => Effect.sync(() => (written.push(writing), 'written' as const)),
  });
  const runtime = ManagedRuntime.make(Layer.merge(events, clockLayer(time)));
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const recorder = startEventRecorder(environment, { instance: 'test' });
  const { onWritten } = evictionRequestEvents(environment, recorder.record);
  const request = observedRequest({ status: B_ACTIVE });
  const { status } = request;
  for (let index = 0; index < 200; index += 1) {
    const notes = [{ reason: 'InterceptorActive', text: `Interceptor ${index}` } as const];
    onWritten({ request, write: { write: 'setStatus', status, notes, unlessPodExists: false } });
  }
  await recorder.idle();
  expect(written).toHaveLength(25);
  expect(written[0]?.regarding).toEqual({
    apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
    kind: 'EvictionRequest',
    namespace: 'blueberry',
    name: NAME,
    uid: 'request-uid',
  });
  recorder.stop();
});

test('ER-84: an alert joins the age of a request and its active interceptor', () => {
  const rules = listOrEmptyAt(
    parse(readFileSync(`${PROJECT}docs/tasks/alerts.yaml`, 'utf8')),
    'groups',
  ).flatMap((group) => listOrEmptyAt(group, 'rules'));
  const alert = rules.find((rule) => textAt(rule, 'alert') === 'TidegateInterceptorSlow');
  const expr = textAt(alert, 'expr')?.replaceAll(/\s+/g, ' ');
  expect(expr).toBe(
    `evictionrequest_controller_active_interceptor{interceptor!="${IMPERATIVE}"} == 1 ` +
      'and on (namespace, evictionrequest) ' +
      '(time() - tidegate_eviction_request_created_timestamp_seconds > 3600)',
  );
});
