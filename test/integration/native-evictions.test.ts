/**
 * EvictionRequests and Evictions of `lifecycle.k8s.io`, on a real API server and on an embedded
 * cluster, both with kinds of the shape that Kubernetes 1.37 has.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCluster, type RunningCluster } from '../../packages/embedded-kubernetes/src/run.ts';
import { listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import { rfc3339Seconds } from '../../src/domain/time.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { evictionCommands } from '../support/eviction-requests/eviction-commands.ts';
import { nativeSite, statesIn } from '../support/eviction-requests/native-site.ts';
import { ACTOR_A, ACTOR_B, TIMING } from '../support/eviction-requests/request-fixture.ts';
import {
  askingDrain,
  conditionsIn,
  noted,
  serveChosenRequests,
} from '../support/eviction-requests/served-requests.ts';
import { eventually } from '../support/eventually.ts';
import { roleKubeconfig } from '../support/rights/role-account.ts';
import { forwardedTime } from '../support/time/forwarded-time.ts';

const DRAIN = 'nodes.example.com/drain';
const BALANCER = 'zones.example.com/balance';
const B = 'fruit.example.com/actor-b';
const A = 'fruit.example.com/actor-a';
const EVICTOR = 'imperative-eviction.k8s.io/evictor';
const LIMIT_MS = 300_000;

const now = (): string => rfc3339Seconds(Date.now());

const isActive = (responder: string) => (eviction: unknown): boolean =>
  statesIn(eviction).includes(`${responder} Active`);

const hasEnded = (type: string) => (eviction: unknown): boolean =>
  conditionsIn(eviction).some((condition) => condition.startsWith(`${type}=True`));

/** Kubeconfigs of an administrator, and of the role evictions. */
interface Access {
  readonly kubeconfigOf: () => string;
  readonly ofRole: () => Promise<string>;
}

const suite = ({ kubeconfigOf, ofRole }: Access): void => {
  const site = async (options: Parameters<typeof serveChosenRequests>[1] = {}) => {
    const kubeconfig = kubeconfigOf();
    const cluster = await nativeSite({ kubeconfig });
    const served = await serveChosenRequests({ kubeconfig }, {
      api: 'native',
      kubeconfig: await ofRole(),
      ...options,
    });
    expect(served.start).toEqual({ _tag: 'Started' });
    return { ...cluster, ...served };
  };

  it(
    'NE-01: responders act in turn, a silent one is passed over, and the pod is evicted',
    async () => {
      const time = forwardedTime();
      const { createPod, request, report, untilEviction, requestsOf, hasPod, notes } = await site({
        timing: TIMING,
        time,
      });
      const pod = await createPod('in-turn', [ACTOR_B, ACTOR_A]);
      await request(pod, DRAIN);
      const first = await untilEviction(pod, 'B is active', isActive(B));
      expect(statesIn(first)).toEqual([`${B} Active`, `${A} Inactive`, `${EVICTOR} Inactive`]);
      expect(valueAt(first, 'status', 'requesters')).toEqual([{ name: DRAIN, intent: 'Eviction' }]);
      expect(conditionsIn(first))
        .toEqual(['Failed=False AwaitingEviction', 'TargetEvicted=False AwaitingEviction']);
      expect(valueAt(first, 'metadata', 'labels')).toEqual({
        [DRAIN]: 'requester',
        [B]: 'responder',
        [A]: 'responder',
        [EVICTOR]: 'responder',
      });
      await report(pod, B, { heartbeatTime: now(), completionTime: now(), message: 'moved' });
      const next = await untilEviction(pod, 'A is active', isActive(A));
      expect(statesIn(next)).toEqual([`${B} Completed`, `${A} Active`, `${EVICTOR} Inactive`]);
      expect(listOrEmptyAt(next, 'status', 'responders')[0]).toMatchObject({ message: 'moved' });
      // A never reports.
      time.forward(TIMING.warningMs);
      const active = ['InterceptorActive', 'InterceptorActive'];
      await noted({ notes }, [...active, 'InterceptorSilent']);
      time.forward(TIMING.deadlineMs - TIMING.warningMs);
      const last = await untilEviction(pod, 'the pod is evicted', hasEnded('TargetEvicted'));
      expect(statesIn(last)).toEqual([
        `${B} Completed`,
        `${A} Interrupted`,
        `${EVICTOR} Completed`,
      ]);
      expect(conditionsIn(last).filter((one) => !one.startsWith('lifecycle.tidegate.dev')))
        .toEqual(['Failed=False Succeeded', 'TargetEvicted=True PodDeleted']);
      expect(await hasPod(pod)).toBe(false);
      const [mirrored] = await requestsOf(pod);
      expect(conditionsIn(mirrored)).toEqual([
        'Failed=False Succeeded',
        'TargetEvicted=True PodDeleted',
      ]);
      await noted({ notes }, [
        ...active,
        'InterceptorSilent',
        'InterceptorTimedOut',
        'ImperativeEviction',
        'PodDeleted',
      ]);
      expect(notes[0]?.regarding).toMatchObject({
        apiVersion: 'lifecycle.k8s.io/v1alpha1',
        kind: 'Eviction',
        name: textAt(first, 'metadata', 'name'),
        uid: textAt(first, 'metadata', 'uid'),
      });
    },
    LIMIT_MS,
  );

  it(
    'NE-02: of two requesters one withdraws and nothing changes; the last one cancels',
    async () => {
      const { createPod, request, untilEviction, requestsOf, hasPod } = await site();
      const pod = await createPod('withdrawn', [ACTOR_B]);
      await Promise.all([request(pod, DRAIN), request(pod, BALANCER)]);
      await untilEviction(
        pod,
        'both are requesters',
        (one) => listOrEmptyAt(one, 'status', 'requesters').length === 2,
      );
      await request(pod, DRAIN, 'Withdrawn');
      const one = await untilEviction(
        pod,
        'one is left',
        (eviction) =>
          listOrEmptyAt(eviction, 'status', 'requesters')
            .some((requester) => textAt(requester, 'intent') === 'Withdrawn'),
      );
      expect(statesIn(one)).toEqual([`${B} Active`, `${EVICTOR} Inactive`]);
      await request(pod, BALANCER, 'Withdrawn');
      const canceled = await untilEviction(pod, 'it is canceled', hasEnded('Failed'));
      expect(statesIn(canceled)).toEqual([`${B} Canceled`, `${EVICTOR} Inactive`]);
      expect(conditionsIn(canceled))
        .toEqual(['Failed=True CanceledDueToNoRequesters', 'TargetEvicted=False EvictionFailed']);
      expect((await requestsOf(pod)).map(conditionsIn)).toEqual([
        ['Failed=True CanceledDueToNoRequesters', 'TargetEvicted=False EvictionFailed'],
        ['Failed=True CanceledDueToNoRequesters', 'TargetEvicted=False EvictionFailed'],
      ]);
      // Another intent is a new Eviction: the failed one stays as it is.
      await request(pod, DRAIN);
      const anew = await untilEviction(pod, 'a new one has begun', isActive(B));
      expect(textAt(anew, 'metadata', 'name')).toBe('pod-2-withdrawn');
      expect(await hasPod(pod)).toBe(true);
    },
    LIMIT_MS,
  );

  it('NE-03: a request for a pod that does not exist fails without an Eviction', async () => {
    const { request, requestsOf, evictionsOf } = await site();
    const pod = { name: 'missing', uid: '00000000-0000-4000-8000-000000000000' };
    await request(pod, DRAIN);
    await eventually(async () => {
      const [first] = await requestsOf(pod);
      return hasEnded('Failed')(first) || undefined;
    }, { what: 'the request fails', everyMs: 100 });
    expect(conditionsIn((await requestsOf(pod))[0]))
      .toEqual(['Failed=True EvictionInvalid', 'TargetEvicted=False EvictionFailed']);
    expect(await evictionsOf(pod)).toEqual([]);
  }, LIMIT_MS);

  it('NE-04: a new process goes on where the one before it stopped', async () => {
    const before = await site();
    const pod = await before.createPod('restarted', [ACTOR_B]);
    await before.request(pod, DRAIN);
    await before.untilEviction(pod, 'B is active', isActive(B));
    await before.stop();
    await before.report(pod, B, { heartbeatTime: now(), completionTime: now() });
    const kubeconfig = await ofRole();
    await serveChosenRequests({ kubeconfig: kubeconfigOf() }, { api: 'native', kubeconfig });
    const last = await before.untilEviction(pod, 'the pod is evicted', hasEnded('TargetEvicted'));
    expect(statesIn(last)).toEqual([`${B} Completed`, `${EVICTOR} Completed`]);
  }, LIMIT_MS);

  it('NE-05: an Eviction that another controller serves is left to it', async () => {
    const { call, createPod, request, evictionsOf, untilEviction } = await site();
    const pod = await createPod('others', [ACTOR_B]);
    const own = await createPod('own', [ACTOR_B]);
    const path = '/apis/lifecycle.k8s.io/v1alpha1/namespaces/default/evictions';
    const identity = {
      apiVersion: 'lifecycle.k8s.io/v1alpha1',
      kind: 'Eviction',
      metadata: { name: 'pod-1-others' },
    };
    const query = { fieldManager: 'evictionrequest-controller' };
    await call({
      method: 'POST',
      path,
      query,
      body: { ...identity, spec: { target: { pod: { name: pod.name, uid: pod.uid } } } },
    });
    // What is asked for later is served, so the Eviction without a status has been seen.
    await request(own, DRAIN);
    await untilEviction(own, 'B is active', isActive(B));
    const [created] = await evictionsOf(pod);
    expect(valueAt(created, 'status')).toBeUndefined();
    await call({
      method: 'PATCH',
      path: `${path}/pod-1-others/status`,
      query: { ...query, force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: {
        ...identity,
        status: { targetResponders: [{ name: EVICTOR, priority: 100, state: 'Active' }] },
      },
    });
    const [before] = await evictionsOf(pod);
    await request(pod, DRAIN);
    await request(own, BALANCER);
    await untilEviction(
      own,
      'both are requesters',
      (one) => listOrEmptyAt(one, 'status', 'requesters').length === 2,
    );
    expect(await evictionsOf(pod)).toEqual([before]);
  }, LIMIT_MS);

  it('NE-10: after its time to live everything about a request is deleted', async () => {
    const { createPod, request, evictionsOf, requestsOf, untilEviction, call } = await site({
      ttlMs: 3000,
    });
    const pod = await createPod('expiring', [ACTOR_B]);
    await request(pod, DRAIN);
    await request(pod, BALANCER);
    await untilEviction(pod, 'B is active', isActive(B));
    await call({ method: 'DELETE', path: '/api/v1/namespaces/default/pods/expiring' });
    await eventually(async () => {
      const left = [...await evictionsOf(pod), ...await requestsOf(pod)];
      return left.length === 0 || undefined;
    }, { what: 'everything is deleted', everyMs: 100 });
  }, LIMIT_MS);

  it('NE-07: commands request, show, explain and withdraw an eviction', async () => {
    const { createPod, untilEviction, requestsOf, evictionsOf, hasPod } = await site();
    const pod = await createPod('commanded', [ACTOR_B]);
    const { evict, evictions, explain } = evictionCommands(kubeconfigOf(), { api: 'native' });
    const requester = 'drain.nodes.example.com';
    expect(await evict('default/commanded', { requester }).run).toMatchObject({ code: 0 });
    await untilEviction(pod, 'B is active', isActive(B));
    expect((await requestsOf(pod)).map((one) => textAt(one, 'spec', 'requester'))).toEqual([DRAIN]);
    expect((await evictions()).stdout).toMatch(
      /commanded +drain\.nodes\.example\.com +actor-b\.fruit\.example\.com/,
    );
    const name = 'eviction.lifecycle.k8s.io/pod-1-commanded';
    expect((await evictions({ format: 'name' })).stdout).toContain(`${name}\n`);
    expect((await evict('default/commanded', { requester, format: 'name' }).run).stdout)
      .toBe(`${name}\n`);
    expect(await evict('default/commanded', { requester, cancel: true }).run)
      .toMatchObject({ code: 0 });
    expect(await requestsOf(pod)).toEqual([]);
    await eventually(async () => {
      const [eviction] = await evictionsOf(pod);
      // A cluster with a garbage collector deletes it with its last requester.
      return eviction === undefined || hasEnded('Failed')(eviction) || undefined;
    }, { what: 'it is canceled', everyMs: 100 });
    expect(await evictions({ selector: 'app=web' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('have no labels of pods'),
    });
    expect((await explain('pod', 'default/commanded')).code).toBe(0);
    expect(await hasPod(pod)).toBe(true);
  }, LIMIT_MS);

  it('NE-06: a drain asks, and its own object goes when the pod has gone', async () => {
    const kubeconfig = kubeconfigOf();
    const { createPod, report, untilEviction, requestsOf, hasPod } = await nativeSite({
      kubeconfig,
    });
    const drain = await askingDrain({ kubeconfig }, { api: 'native' });
    const pod = await createPod('drained', [ACTOR_B]);
    await drain.want({ metadata: { name: pod.name, namespace: 'default', uid: pod.uid } });
    const asked = await untilEviction(pod, 'B is active', isActive(B));
    expect(valueAt(asked, 'status', 'requesters'))
      .toEqual([{ name: 'tidegate.dev/reclaim', intent: 'Eviction' }]);
    expect(await hasPod(pod)).toBe(true);
    await report(pod, B, { heartbeatTime: now(), completionTime: now() });
    await eventually(async () => (await hasPod(pod)) ? undefined : true, {
      what: 'the pod is evicted',
      everyMs: 100,
    });
    await eventually(async () => (await requestsOf(pod)).length === 0 || undefined, {
      what: 'its request is deleted',
      everyMs: 100,
    });
  }, LIMIT_MS);
};

describeWithTestbed('native EvictionRequests on a real API server', { own: true }, (bed) => {
  suite({
    kubeconfigOf: () => bed().kubeconfig,
    ofRole: () => roleKubeconfig(bed(), { user: 'tidegate', roles: ['evictions'] }),
  });
});

describe('native EvictionRequests on an embedded cluster', () => {
  let running: RunningCluster | undefined;
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tidegate-native-'));
    running = await runCluster({
      time: realTime,
      listen: { host: '127.0.0.1', port: 0 },
      seed: 1,
      nodes: 1,
      rate: 20,
      definitions: [],
    });
    await writeFile(join(folder, 'kubeconfig'), running.kubeconfig);
  });
  afterAll(async () => {
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const kubeconfigOf = (): string => join(folder, 'kubeconfig');
  suite({ kubeconfigOf, ofRole: () => Promise.resolve(kubeconfigOf()) });
});
