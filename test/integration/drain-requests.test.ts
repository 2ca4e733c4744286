/** Drains as requesters of EvictionRequests, on a real API server with the policies. */
import { beforeAll, expect, it } from 'vitest';
import { rfc3339Seconds } from '../../src/domain/time.ts';
import { type ClusterClient, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { enforcePolicies } from '../support/eviction-requests/enforced-policies.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { ACTOR_B, BALANCER } from '../support/eviction-requests/request-fixture.ts';
import { activeIn, requestersOf } from '../support/eviction-requests/request-reading.ts';
import {
  askingDrain,
  createPod,
  noted,
  REQUESTS,
  untilRequest,
  writers,
} from '../support/eviction-requests/served-requests.ts';
import { eventually } from '../support/eventually.ts';

const OURS = 'reclaim.tidegate.dev';
const PODS = '/api/v1/namespaces/default/pods';

const now = (): string => rfc3339Seconds(Date.now());

const untilGone = (cluster: ClusterClient, path: string, what: string): Promise<true> =>
  eventually(async () => {
    const { status } = await cluster.call('GET', path);
    return status === 404 || undefined;
  }, { what, everyMs: 100 });

describeWithTestbed('drains that ask by EvictionRequest', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await enforcePolicies(bed());
  });

  const site = async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    return { cluster, ...writers(bed()) };
  };

  it('ER-74: a drain asks the interceptor, and its pod is evicted once after it', async () => {
    const { cluster, report } = await site();
    const drain = await askingDrain(bed());
    const pod = await createPod(cluster, 'asked', [ACTOR_B]);
    await drain.want(pod);
    const asked = await untilRequest(
      { cluster, pod },
      'the interceptor is active',
      (one) => activeIn(one) === ACTOR_B,
    );
    expect(requestersOf(asked)).toEqual([OURS]);
    expect((await cluster.call('GET', `${PODS}/asked`)).status).toBe(200);
    await report(pod, ACTOR_B, { heartbeatTime: now(), completionTime: now(), message: 'moved' });
    await untilGone(cluster, `${PODS}/asked`, 'the pod is evicted');
    await untilGone(cluster, `${REQUESTS}/${uidOf(pod)}`, 'ER-78: the request is deleted');
    await noted(drain, ['InterceptorActive', 'ImperativeEviction', 'PodDeleted']);
  });

  it('ER-75: a drain adds its entry again when another writer removed it', async () => {
    const { cluster, request } = await site();
    const drain = await askingDrain(bed());
    const pod = await createPod(cluster, 'removed', [ACTOR_B]);
    await drain.want(pod);
    await untilRequest({ cluster, pod }, 'it is active', (one) => activeIn(one) === ACTOR_B);
    await request(pod, BALANCER);
    await request(pod, OURS, { isWanted: false });
    const again = await untilRequest(
      { cluster, pod },
      'both request it',
      (one) => requestersOf(one).length === 2,
    );
    expect(requestersOf(again)).toEqual([BALANCER, OURS]);
    expect(activeIn(again)).toBe(ACTOR_B);
  });

  it('ER-75: a drain makes the request anew when its last entry was removed', async () => {
    const { cluster, request } = await site();
    const drain = await askingDrain(bed());
    const pod = await createPod(cluster, 'anew', [ACTOR_B]);
    await drain.want(pod);
    const first = await untilRequest(
      { cluster, pod },
      'it is active',
      (one) => activeIn(one) === ACTOR_B,
    );
    await request(pod, OURS, { isWanted: false });
    const second = await untilRequest(
      { cluster, pod },
      'there is another one',
      (one) => uidOf(one) !== uidOf(first) && activeIn(one) === ACTOR_B,
    );
    expect(requestersOf(second)).toEqual([OURS]);
  });

  it('ER-76: a cancelled drain leaves, and the other requester stays', async () => {
    const { cluster, request } = await site();
    const drain = await askingDrain(bed());
    const pod = await createPod(cluster, 'left', [ACTOR_B]);
    await drain.want(pod);
    await untilRequest({ cluster, pod }, 'it is active', (one) => activeIn(one) === ACTOR_B);
    await request(pod, BALANCER);
    drain.cancel(pod);
    const left = await untilRequest(
      { cluster, pod },
      'one requester is left',
      (one) => requestersOf(one).length === 1,
    );
    expect(requestersOf(left)).toEqual([BALANCER]);
    expect((await cluster.call('GET', `${PODS}/left`)).status).toBe(200);
  });

  it('ER-78: the last drain that leaves deletes the canceled request', async () => {
    const { cluster } = await site();
    const drain = await askingDrain(bed());
    const pod = await createPod(cluster, 'kept', [ACTOR_B]);
    await drain.want(pod);
    await untilRequest({ cluster, pod }, 'it is active', (one) => activeIn(one) === ACTOR_B);
    drain.cancel(pod);
    await untilGone(cluster, `${REQUESTS}/${uidOf(pod)}`, 'the request is deleted');
    expect((await cluster.call('GET', `${PODS}/${nameOf(pod)}`)).status).toBe(200);
    await noted(drain, ['InterceptorActive', 'NoRequesters']);
  });

  it(
    'ER-56: with --via eviction-requests a pod without interceptors leaves by request',
    async () => {
      const { cluster } = await site();
      const drain = await askingDrain(bed(), { mode: 'eviction-requests' });
      const pod = await createPod(cluster, 'plain');
      await drain.want(pod);
      await untilGone(cluster, `${PODS}/plain`, 'the pod is evicted');
      await untilGone(cluster, `${REQUESTS}/${uidOf(pod)}`, 'the request is deleted');
      await noted(drain, ['ImperativeEviction', 'PodDeleted']);
    },
  );
});
