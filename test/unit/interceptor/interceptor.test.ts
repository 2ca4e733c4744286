/** Interceptors of the SDK on an embedded cluster with the role evictions, on simulated time. */
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type AbortReason,
  defineInterceptor,
  type Interception,
  InterceptionAborted,
  type InterceptorDefinition,
  type KubernetesClient,
  startInterceptor,
} from '../../../packages/interceptor/mod.ts';
import { type JsonRecord, textAt } from '../../../src/domain/json.ts';
import {
  conditionsOf,
  type EmbeddedCluster,
  embeddedCluster,
  PODS,
  reportOf,
} from '../../support/interceptors/embedded-cluster.ts';
import type { Fault } from '../../support/interceptors/connections.ts';

const NAME = 'backup.example.com';
const OTHER = 'other.example.com';

const createPod = (
  { create, get }: EmbeddedCluster,
  interceptors = NAME,
): JsonRecord => {
  create(PODS, {
    metadata: {
      name: 'db',
      annotations: { 'lifecycle.tidegate.dev/eviction-interceptors': interceptors },
    },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  });
  return get(`${PODS}/db`);
};

/** An interceptor that ends when the test lets it, and what it was called with. */
const recording = (extra: Partial<InterceptorDefinition> = {}) => {
  const calls: Interception[] = [];
  let settle = (_: string | Error): void => {};
  const definition = defineInterceptor({
    name: NAME,
    ...extra,
    intercept: (call) => {
      calls.push(call);
      return new Promise((resolve, reject) => {
        settle = (result) => result instanceof Error ? reject(result) : resolve(result);
        call.signal.addEventListener('abort', () => reject(call.signal.reason));
      });
    },
  });
  const reasons = (): readonly (AbortReason | undefined)[] =>
    calls.map(({ signal: { reason } }) =>
      reason instanceof InterceptionAborted ? reason.reason : undefined
    );
  return { definition, calls, reasons, settle: (result: string | Error) => settle(result) };
};

const start = (
  cluster: EmbeddedCluster,
  definition: InterceptorDefinition,
  fault?: Fault,
) => {
  const { client, sent } = cluster.client(fault);
  const problems: JsonRecord[] = [];
  const running = startInterceptor(definition, {
    client,
    time: cluster.time,
    seed: 1,
    log: (_, fields) => problems.push({ ...fields }),
  });
  onTestFinished(running.stop);
  return { ...running, sent, problems };
};

const isReport = ({ path }: { readonly path: string }): boolean => path.includes('/status?');

describe('an interceptor', () => {
  test('ER-62: does nothing while another interceptor is active', async () => {
    const cluster = await embeddedCluster();
    const pod = createPod(cluster, `${OTHER},${NAME}`);
    const { definition, calls } = recording();
    const { sent } = start(cluster, definition);
    cluster.request(pod);
    await cluster.time.advance(60_000);
    expect(calls).toEqual([]);
    expect(sent.filter(isReport)).toEqual([]);
  });

  test('ER-62: acts once it is active, after its first heartbeat', async () => {
    const cluster = await embeddedCluster();
    const pod = createPod(cluster);
    const { definition, calls, settle } = recording();
    start(cluster, definition);
    const path = cluster.request(pod);
    await cluster.until(() => calls.length > 0, 'it is called');
    expect(calls[0]).toMatchObject({ pod: { name: 'db', namespace: 'default' }, resumed: false });
    expect(reportOf(cluster.get(path), NAME)).toHaveProperty('heartbeatTime');
    settle('The backup is complete');
    await cluster.until(() => conditionsOf(cluster.get(path)).length > 0, 'the pod leaves');
    expect(reportOf(cluster.get(path), NAME)).toMatchObject({
      message: 'The backup is complete',
      completionTime: expect.any(String),
    });
    expect(conditionsOf(cluster.get(path))).toEqual(['Evicted']);
  });

  test('ER-08: acts under a name of 253 characters, too', async () => {
    // The API server takes 128 characters of a field manager, so every report was refused.
    const name = [...'abc'].map((letter) => letter.repeat(63)).join('.') + `.${'d'.repeat(61)}`;
    const cluster = await embeddedCluster();
    const pod = createPod(cluster, name);
    const { definition, calls, settle } = recording({ name });
    start(cluster, definition);
    const path = cluster.request(pod);
    await cluster.until(() => calls.length > 0, 'it is called');
    settle('The backup is complete');
    await cluster.until(() => conditionsOf(cluster.get(path)).length > 0, 'the pod leaves');
    expect([name.length, textAt(reportOf(cluster.get(path), name), 'message')])
      .toEqual([253, 'The backup is complete']);
  });

  test('ER-62: never acts for a pod of the same name with another UID', async () => {
    const cluster = await embeddedCluster();
    const pod = createPod(cluster);
    const { definition, calls } = recording();
    const isOther: Fault = ({ path }) =>
      path === `${PODS}/db`
        ? { status: 200, body: { metadata: { name: 'db', uid: 'of another pod' } } }
        : undefined;
    const { sent } = start(cluster, definition, isOther);
    cluster.request(pod);
    await cluster.time.advance(120_000);
    expect(calls).toEqual([]);
    expect(sent.filter(isReport)).toEqual([]);
  });

  test('ER-62: aborts when the last requester leaves', async () => {
    const cluster = await embeddedCluster();
    const pod = createPod(cluster);
    const { definition, calls, reasons } = recording();
    const { interceptions } = start(cluster, definition);
    const path = cluster.request(pod);
    await cluster.until(() => calls.length > 0, 'it is called');
    cluster.request(pod, false);
    await cluster.time.advance(2000);
    expect(reasons()).toEqual(['Canceled']);
    expect(interceptions()).toEqual([]);
    expect(reportOf(cluster.get(path), NAME)).not.toHaveProperty('completionTime');
  });

  test('aborts when the request is deleted, and when the pod is', async () => {
    for (const what of ['request', 'pod'] as const) {
      const cluster = await embeddedCluster();
      const pod = createPod(cluster);
      const { definition, calls, reasons } = recording();
      start(cluster, definition);
      const path = cluster.request(pod);
      await cluster.until(() => calls.length > 0, 'it is called');
      cluster.ask('DELETE', what === 'pod' ? `${PODS}/db` : path);
      await cluster.time.advance(60_000);
      expect(reasons()).toEqual([what === 'pod' ? 'PodLeft' : 'RequestDeleted']);
    }
  });

  test('ER-20: aborts with RequestDeleted when a report finds that first', async () => {
    // Its signal had the reason PodLeft: the watch had not reported the deletion yet.
    const cluster = await embeddedCluster();
    const pod = createPod(cluster);
    let message = 'One of two';
    const { definition, calls, reasons } = recording({ progress: () => ({ message }) });
    const { client } = cluster.client();
    let isHeld = false;
    const watch: KubernetesClient['watch'] = async function* (path, signal) {
      for await (const lines of client.watch(path, signal)) if (!isHeld) yield lines;
    };
    const running = startInterceptor(definition, {
      client: { ...client, watch },
      time: cluster.time,
      seed: 1,
    });
    onTestFinished(running.stop);
    const path = cluster.request(pod);
    await cluster.until(() => calls.length > 0, 'it is called');
    isHeld = true;
    cluster.ask('DELETE', path);
    message = 'Two of two';
    await cluster.time.advance(20_000);
    expect(reasons()).toEqual(['RequestDeleted']);
  });

  test('that hangs in its progress sends no heartbeat and is replaced', async () => {
    const cluster = await embeddedCluster();
    const pod = createPod(cluster);
    const { definition, calls, reasons } = recording({ progress: () => new Promise(() => {}) });
    start(cluster, definition);
    cluster.request(pod);
    await cluster.until(() => calls.length > 0, 'it is called');
    await cluster.time.advance(21 * 60_000);
    expect(reasons()).toEqual([expect.stringMatching(/HandedOver|PodLeft/)]);
  });

  test('keeps its turn for hours with heartbeats three minutes apart', async () => {
    const cluster = await embeddedCluster();
    const pod = createPod(cluster);
    const { definition, calls, reasons } = recording({ progress: () => ({ message: 'Copying' }) });
    const { sent } = start(cluster, definition);
    const path = cluster.request(pod);
    await cluster.until(() => calls.length > 0, 'it is called');
    await cluster.time.advance(2 * 3_600_000);
    expect(reasons()).toEqual([undefined]);
    expect(reportOf(cluster.get(path), NAME)).toMatchObject({ message: 'Copying' });
    // The first one, the message, and forty heartbeats.
    expect(sent.filter(isReport).length).toBeLessThanOrEqual(42);
    expect(sent.filter(isReport).length).toBeGreaterThanOrEqual(39);
  });

  test('reports a new message within 15 seconds, with the same heartbeat', async () => {
    const cluster = await embeddedCluster();
    const pod = createPod(cluster);
    let message = 'One of two';
    const finish = new Date(cluster.time.now() + 3_600_000);
    const { definition, calls } = recording({
      progress: () => ({ message, expectedFinishTime: finish }),
    });
    start(cluster, definition);
    const path = cluster.request(pod);
    await cluster.until(() => calls.length > 0, 'it is called');
    const heartbeat = textAt(reportOf(cluster.get(path), NAME), 'heartbeatTime');
    message = 'Two of two';
    await cluster.time.advance(16_000);
    expect(reportOf(cluster.get(path), NAME)).toMatchObject({
      message: 'Two of two',
      heartbeatTime: heartbeat,
      expectedFinishTime: expect.stringMatching(/Z$/),
    });
  });

  test('that throws gives up with the reason, and the next one takes over', async () => {
    const cluster = await embeddedCluster();
    const pod = createPod(cluster, `${NAME},${OTHER}`);
    const { definition, calls, settle } = recording();
    start(cluster, definition);
    const path = cluster.request(pod);
    await cluster.until(() => calls.length > 0, 'it is called');
    settle(new Error('the disk is full'));
    await cluster.time.advance(2000);
    expect(reportOf(cluster.get(path), NAME)).toMatchObject({
      message: 'Gave up: the disk is full',
    });
    expect(cluster.get(path)).toHaveProperty('status.activeInterceptors', [OTHER]);
  });

  test('resumes in the next process, and does not act again once it has completed', async () => {
    const cluster = await embeddedCluster();
    const pod = createPod(cluster, `${NAME},${OTHER}`);
    const before = recording();
    const first = start(cluster, before.definition);
    const path = cluster.request(pod);
    await cluster.until(() => before.calls.length > 0, 'it is called');
    const heartbeat = textAt(reportOf(cluster.get(path), NAME), 'heartbeatTime');
    first.stop();
    expect(before.reasons()).toEqual(['Stopped']);
    await cluster.time.advance(10_000);
    const next = recording();
    const second = start(cluster, next.definition);
    await cluster.until(() => next.calls.length > 0, 'it is called again');
    expect(next.calls[0]?.resumed).toBe(true);
    // Less than a minute has passed: the heartbeat stays.
    expect(reportOf(cluster.get(path), NAME)).toMatchObject({ heartbeatTime: heartbeat });
    next.settle('Done');
    await cluster.time.advance(1000);
    second.stop();
    const last = recording();
    start(cluster, last.definition);
    await cluster.time.advance(60_000);
    expect(last.calls).toEqual([]);
  });

  test('retries its reports when the API server refuses or does not answer', async () => {
    const cluster = await embeddedCluster();
    const pod = createPod(cluster);
    let failures = 0;
    const faults = [{ status: 409 }, { status: 403 }, { status: 500 }, 'cut'] as const;
    const { definition, calls, settle } = recording();
    const { problems } = start(
      cluster,
      definition,
      (request) => isReport(request) ? faults[failures++] : undefined,
    );
    const path = cluster.request(pod);
    await cluster.until(() => calls.length > 0, 'it is called');
    expect(problems.map(({ tag }) => tag))
      .toEqual(['Conflict', 'Forbidden', 'Unavailable', 'Unavailable']);
    failures = 0;
    settle('Done');
    await cluster.until(() => conditionsOf(cluster.get(path)).length > 0, 'it has ended');
    expect(reportOf(cluster.get(path), NAME)).toHaveProperty('completionTime');
  });

  test('has a qualified name that is not reserved', () => {
    const intercept = () => Promise.resolve();
    for (const name of ['backup', 'example.com', 'A.example.com', 'a.b.k8s.io']) {
      expect(() => defineInterceptor({ name, intercept })).toThrow(name);
    }
  });
});
