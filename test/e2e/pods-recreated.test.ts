/** A ReplicaSet whose pods are replaced: the fleet must not see demand flicker. */
import { expect, it } from 'vitest';
import { COLLECTIONS, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { listeningShard, totalOf } from '../support/demand/received-rollups.ts';
import { untilPodsReady } from '../support/drains/drain-site.ts';
import { seenPod } from '../support/drains/pod-history.ts';
import { spareNodes } from '../support/drains/reclaims.ts';
import { eventually } from '../support/eventually.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { countOf, ownerOf, PODS, untilRequestsOf } from '../support/processes/pods-role.ts';
import { atScale } from '../support/scale.ts';

const REPLICAS = atScale({ commit: 12, release: 100 });
/** Every so many are torn away without notice. */
const FORCED_EVERY = 4;

const SIGKILLED = 137;
const REPLICA_SETS = '/apis/apps/v1/namespaces/default/replicasets';

/** A successor does not wait long for the Lease. */
const FLAGS = {
  'with-pods': 'true',
  'rollup-interval': '100ms',
  'log-level': 'info',
  'lease-duration': '3s',
  'lease-renew-deadline': '2s',
  'lease-retry-period': '500ms',
};
/** Slowly enough that the requests take some roll-ups to make. */
const UNHURRIED = { qps: '20', burst: '10' };

const replicaSet = {
  metadata: { name: 'web' },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [{ name: 'main', image: 'image', resources: { requests: { cpu: '1' } } }],
      },
    },
  },
};

/** A running ReplicaSet, and an operator whose demand the shard knows. */
const settled = async (bed: Testbed) => {
  const cluster = await freshCluster(bed);
  await cluster.call('DELETE', REPLICA_SETS);
  await cluster.call('DELETE', PODS, { gracePeriodSeconds: 0 });
  const shard = await listeningShard();
  await spareNodes(cluster, { count: 3 });
  await cluster.create(REPLICA_SETS, [replicaSet]);
  await untilPodsReady(cluster, REPLICAS);
  const operator = await startOperator({ bed, shardAddress: shard.address, flags: FLAGS });
  await operator.untilReady();
  await eventually(
    () => shard.rollups().some((rollup) => totalOf(rollup, 'cpu') === REPLICAS),
    { what: 'a roll-up with every pod' },
  );
  return { cluster, shard, operator };
};

describeWithTestbed('pods that are recreated', {
  controllers: true,
  scheduler: true,
  kwok: true,
  podReadyMs: 200,
  podDeleteMs: 200,
}, (bed) => {
  it('all of a ReplicaSet, one by one: no roll-up has more than one pod less', async () => {
    const { cluster, shard, operator } = await settled(bed());
    const since = shard.rollups().length;

    const old = await cluster.list(PODS);
    for (const [index, pod] of old.entries()) {
      const notice = index % FORCED_EVERY === 0 ? { gracePeriodSeconds: 0 } : {};
      await cluster.call('DELETE', `${PODS}/${nameOf(pod)}`, notice);
      await eventually(async () => {
        const up = (await cluster.list(PODS)).map(seenPod)
          .filter(({ ready, terminating }) => ready && !terminating);
        const requested = new Set((await cluster.list(COLLECTIONS.requests)).map(ownerOf));
        return up.length >= REPLICAS && up.every(({ uid }) => requested.has(uid));
      }, { what: `the successor of ${nameOf(pod)}, and its request`, everyMs: 20 });
      const seen = shard.rollups().length;
      await eventually(() => shard.rollups().length > seen, { what: 'the next roll-up' });
    }
    const pods = await eventually(async () => {
      const now = await cluster.list(PODS);
      return now.length === REPLICAS && now;
    }, { what: 'the last to be gone' });
    await untilRequestsOf(cluster, pods);

    const before = new Set(old.map(uidOf));
    expect(pods.filter((pod) => before.has(uidOf(pod)))).toEqual([]);
    const totals = shard.rollups().slice(since).map((rollup) => totalOf(rollup, 'cpu'));
    expect(totals.length).toBeGreaterThanOrEqual(REPLICAS);
    expect(Math.min(...totals)).toBeGreaterThanOrEqual(REPLICAS - 1);
    expect(await cluster.list(COLLECTIONS.upcomingNodes)).toEqual([]);
    expect(await operator.stop()).toBe(0);
  });

  it(
    'all of a ReplicaSet at once, with nobody there to see it: the next operator tells the shard of \
no fewer',
    async () => {
      const { cluster, shard, operator } = await settled(bed());
      operator.signal('KILL');
      expect(await operator.exited).toBe(SIGKILLED);
      await cluster.call('DELETE', PODS, { gracePeriodSeconds: 0 });
      await untilPodsReady(cluster, REPLICAS);
      await eventually(async () => await countOf(cluster, COLLECTIONS.requests) === 0, {
        what: 'the garbage collector to take the requests of the pods that are gone',
      });
      const since = shard.rollups().length;
      await startOperator({
        bed: bed(),
        shardAddress: shard.address,
        flags: { ...FLAGS, ...UNHURRIED },
      });
      const totals = await eventually(() => {
        const received = shard.rollups().slice(since).map((rollup) => totalOf(rollup, 'cpu'));
        return received.length > 2 && received;
      }, { what: 'roll-ups of the next operator' });
      expect(new Set(totals)).toEqual(new Set([REPLICAS]));
    },
  );
});
