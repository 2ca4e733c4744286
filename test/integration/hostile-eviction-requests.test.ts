/**
 * Hostile users against the EvictionRequests of others' pods, on a real API server with the
 * policies of the chart.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  recordAt,
  textAt,
} from '../../src/domain/json.ts';
import { rfc3339Seconds } from '../../src/domain/time.ts';
import { type ClusterClient, clusterClient, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { enforcePolicies } from '../support/eviction-requests/enforced-policies.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import {
  APPLY,
  type HostileCase,
  pathOf,
  RAISING,
  requestOf,
  requestsIn,
  type Victim,
} from '../support/eviction-requests/hostile-cases.ts';
import {
  CANCELLING,
  FIRST_STATUS,
  REPORTING,
  withStatus,
} from '../support/eviction-requests/hostile-changes.ts';
import {
  askingUsers,
  type AskWithToken,
  hostileUsers,
  TENANT_SPACE,
  VICTIM_SPACE,
} from '../support/eviction-requests/hostile-users.ts';
import {
  ACTOR_A,
  ACTOR_B,
  BALANCER,
  DRAIN,
  entry,
  TIMING,
} from '../support/eviction-requests/request-fixture.ts';
import { activeIn } from '../support/eviction-requests/request-reading.ts';
import {
  conditionsIn,
  createPod,
  serveRequests,
  untilRequest,
} from '../support/eviction-requests/served-requests.ts';
import { eventually } from '../support/eventually.ts';
import { forwardedTime } from '../support/time/forwarded-time.ts';

const REQUESTS = requestsIn(VICTIM_SPACE);
const PODS = `/api/v1/namespaces/${VICTIM_SPACE}/pods`;

let pods = 0;

interface Scene extends Victim {
  readonly cluster: ClusterClient;
  readonly ask: AskWithToken;
}

/** A pod that somebody else owns. */
const withPod = async (bed: Testbed): Promise<Scene> => {
  const cluster = await clusterClient(bed);
  const ask = await askingUsers(bed);
  const pod = await createPod(cluster, `victim-${pods += 1}`, [ACTOR_B, ACTOR_A]);
  return { cluster, ask, pod, request: {} };
};

const stored = async ({ cluster, pod }: Scene): Promise<JsonRecord> =>
  (await cluster.call('GET', `${REQUESTS}/${uidOf(pod)}`)).body;

/** The same with the open request of two requesters, in which B is active. */
const withRequest = async (bed: Testbed): Promise<Scene> => {
  const scene = await withPod(bed);
  const { ask, pod } = scene;
  for (const requester of [DRAIN, BALANCER]) {
    const path = `${REQUESTS}/${uidOf(pod)}?fieldManager=${requester}`;
    const body = requestOf(pod, { requesters: [requester] });
    const joining = await ask('drainer', { method: 'PATCH', path, body, contentType: APPLY });
    expect(joining.message).toBe('');
  }
  expect((await ask('controller', withStatus(FIRST_STATUS)(scene))).message).toBe('');
  return { ...scene, request: await stored(scene) };
};

describeWithTestbed('the EvictionRequest of another’s pod on a real API server', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await bed().apply(hostileUsers());
    await enforcePolicies(bed());
  });

  /** The case is refused, and nothing has changed by it. */
  const refuses = async (
    { by, call, status, message }: HostileCase,
    scene: Scene,
  ): Promise<void> => {
    const before = await stored(scene);
    const pod = await scene.cluster.call('GET', `${PODS}/${nameOf(scene.pod)}`);
    const answer = await scene.ask(by, call(scene));
    expect(answer.message).toContain(message);
    expect(answer.status).toBe(status);
    expect(await stored(scene)).toEqual(before);
    expect(await scene.cluster.call('GET', `${PODS}/${nameOf(scene.pod)}`)).toEqual(pod);
  };

  describe('that does not exist: nobody raises it who', () => {
    it.each(RAISING)('ER-11: $title ($by)', async (one) => {
      await refuses(one, await withPod(bed()));
    });

    it('ER-11: but may delete the pod', async () => {
      const { ask, pod } = await withPod(bed());
      const body = requestOf(pod);
      expect(await ask('drainer', { method: 'POST', path: REQUESTS, body }))
        .toMatchObject({ status: 201 });
    });
  });

  describe('that is open: nobody ends, keeps or redirects it who', () => {
    it.each(CANCELLING)('ER-17: $title ($by)', async (one) => {
      await refuses(one, await withRequest(bed()));
    });

    it('ER-17: but may delete the pod', async () => {
      const { ask, pod } = await withRequest(bed());
      const path = `${REQUESTS}/${uidOf(pod)}`;
      for (
        const body of [
          { spec: { requesters: [{ name: BALANCER }] } },
          { metadata: { labels: { app: 'other' } } },
          { metadata: { finalizers: ['example.com/keep'] } },
          { metadata: { finalizers: null } },
        ]
      ) {
        expect(await ask('drainer', { method: 'PATCH', path, body })).toMatchObject({
          status: 200,
        });
      }
      expect(await ask('drainer', { method: 'DELETE', path })).toMatchObject({ status: 200 });
    });

    it('ER-17: but writes what is there already', async () => {
      const { ask, pod, request } = await withRequest(bed());
      const path = `${REQUESTS}/${uidOf(pod)}`;
      expect(await ask('writer', { method: 'PUT', path, body: request }))
        .toMatchObject({ status: 200 });
    });

    it('ER-63: but is the controller, which copies labels', async () => {
      const { ask, pod } = await withRequest(bed());
      const path = `${REQUESTS}/${uidOf(pod)}`;
      const body = { metadata: { labels: { app: 'other' } } };
      expect(await ask('controller', { method: 'PATCH', path, body }))
        .toMatchObject({ status: 200 });
    });
  });

  describe('in which B is active: nobody writes its status who', () => {
    it.each(REPORTING)('ER-31: $title ($by)', async (one) => {
      await refuses(one, await withRequest(bed()));
    });

    it('ER-31: forges its field managers by a write of the status', async () => {
      const scene = await withRequest(bed());
      const forged = listOrEmptyAt(scene.request, 'metadata', 'managedFields')
        .map((one) => ({ ...asRecord(one), manager: 'mine' }));
      for (const managedFields of [forged, forged.slice(1), [{}]]) {
        const metadata = { ...recordAt(scene.request, 'metadata'), managedFields };
        const body = { ...scene.request, metadata };
        const path = `${pathOf(scene)}/status`;
        // Accepted, and without effect.
        expect(await scene.ask('writer', { method: 'PUT', path, body }))
          .toMatchObject({ status: 200 });
        expect(await stored(scene)).toEqual(scene.request);
      }
    });

    it('ER-31: but may report as B, or act as the controller', async () => {
      const scene = await withRequest(bed());
      const report = {
        interceptors: [
          entry(ACTOR_B, { startTime: 0, heartbeatTime: 100, completionTime: 100 }, 'ready'),
          ...listOrEmptyAt(scene.request, 'status', 'interceptors').slice(1),
        ],
      };
      expect(await scene.ask('actor-b', withStatus(report)(scene))).toMatchObject({ status: 200 });
      const next = { processedInterceptors: [ACTOR_B], activeInterceptors: [ACTOR_A] };
      expect(await scene.ask('controller', withStatus(next)(scene)))
        .toMatchObject({ status: 200 });
    });
  });

  it('ER-60: is not redirected by another annotation of the pod after the first sync', async () => {
    const scene = await withPod(bed());
    const { cluster, ask, pod } = scene;
    serveRequests(bed());
    await ask('drainer', { method: 'POST', path: REQUESTS, body: requestOf(pod) });
    const before = await untilRequest(scene, 'B is active', (one) => activeIn(one) === ACTOR_B);
    const annotations = { 'lifecycle.tidegate.dev/eviction-interceptors': 'mine.example.com' };
    const labels = { app: 'moved' };
    const path = `${PODS}/${nameOf(pod)}`;
    const body = { metadata: { annotations, labels } };
    expect(await ask('neighbour', { method: 'PATCH', path, body })).toMatchObject({ status: 200 });
    // The labels come with the same change of the pod.
    const after = await untilRequest(
      scene,
      'the change is observed',
      (one) => textAt(one, 'metadata', 'labels', 'app') === 'moved',
    );
    expect(after['status']).toEqual(before['status']);
    expect((await cluster.call('GET', path)).status).toBe(200);
  });

  it('ER-34: is not prolonged by a heartbeat in the future, even one of B', async () => {
    const scene = await withPod(bed());
    const time = forwardedTime();
    serveRequests(bed(), { timing: TIMING, time });
    const { ask, pod } = scene;
    await ask('drainer', { method: 'POST', path: REQUESTS, body: requestOf(pod) });
    const active = await untilRequest(scene, 'B is active', (one) => activeIn(one) === ACTOR_B);
    const [first, ...others] = listOrEmptyAt(active, 'status', 'interceptors');
    const heartbeatTime = rfc3339Seconds(time.now() + 2 * TIMING.deadlineMs);
    const report = { interceptors: [{ ...asRecord(first), heartbeatTime }, ...others] };
    expect(await ask('actor-b', withStatus(report)(scene))).toMatchObject({ status: 200 });
    time.forward(TIMING.deadlineMs);
    await untilRequest(scene, 'A is active', (one) => activeIn(one) === ACTOR_A);
  });

  it('ER-44: a request that forges its UID in another namespace is canceled', async () => {
    const { cluster, ask, pod } = await withPod(bed());
    serveRequests(bed());
    const path = requestsIn(TENANT_SPACE);
    expect(await ask('writer', { method: 'POST', path, body: requestOf(pod) }))
      .toMatchObject({ status: 201 });
    const canceled = await eventually(async () => {
      const { body } = await cluster.call('GET', `${path}/${uidOf(pod)}`);
      if (conditionsIn(body).length > 0) return body;
      throw new Error(JSON.stringify(body));
    }, { what: 'the request is canceled' });
    expect(conditionsIn(canceled)).toEqual(['Canceled=True ValidationFailed']);
    expect(listOrEmptyAt(canceled, 'status', 'activeInterceptors')).toEqual([]);
    expect((await cluster.call('GET', `${PODS}/${nameOf(pod)}`)).status).toBe(200);
  });

  it('ER-44: a request that names a pod of its own under that UID is canceled', async () => {
    const scene = await withPod(bed());
    const { cluster, ask, pod } = scene;
    await createPod(cluster, 'own');
    serveRequests(bed());
    const body = requestOf(pod, { target: { name: 'own' } });
    expect(await ask('owner-of-one', { method: 'POST', path: REQUESTS, body }))
      .toMatchObject({ status: 201 });
    const canceled = await untilRequest(
      scene,
      'the request is canceled',
      (one) => conditionsIn(one).length > 0,
    );
    expect(conditionsIn(canceled)).toEqual(['Canceled=True ValidationFailed']);
    // Whoever may delete the pod replaces it.
    const path = `${REQUESTS}/${uidOf(pod)}`;
    expect(await ask('drainer', { method: 'DELETE', path })).toMatchObject({ status: 200 });
    expect(await ask('drainer', { method: 'POST', path: REQUESTS, body: requestOf(pod) }))
      .toMatchObject({ status: 201 });
    await untilRequest(scene, 'B is active', (one) => activeIn(one) === ACTOR_B);
  });
});
