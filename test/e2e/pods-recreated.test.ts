/** A ReplicaSet whose pods are replaced one by one: the fleet must not see demand flicker. */
import { expect, it } from 'vitest';
import { COLLECTIONS, nameOf, uidOf } from '../support/cluster-client.ts';
import { untilPodsReady } from '../support/drain-site.ts';
import { eventually } from '../support/eventually.ts';
import { freshCluster } from '../support/fresh-cluster.ts';
import { listeningShard, totalOf } from '../support/heard-rollups.ts';
import { startOperator } from '../support/operator-process.ts';
import { PODS, untilRequestsOf } from '../support/pods-role.ts';
import { seenPod } from '../support/pod-history.ts';
import { spareNodes } from '../support/reclaims.ts';
import { describeWithTestbed } from '../support/testbed.ts';

const REPLICAS = 100;
/** Every so many are torn away without notice. */
const FORCED_EVERY = 4;

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

describeWithTestbed('pods that are recreated', {
  say: () => {},
  controllers: true,
  scheduler: true,
  kwok: true,
  podReadyMs: 200,
  podDeleteMs: 200,
}, (bed) => {
  it('100 of a ReplicaSet, one by one: no roll-up shows fewer than 99', async () => {
    const cluster = await freshCluster(bed());
    const shard = await listeningShard();
    await spareNodes(cluster, { count: 3 });
    await cluster.create('/apis/apps/v1/namespaces/default/replicasets', [replicaSet]);
    await untilPodsReady(cluster, REPLICAS);
    const operator = await startOperator({
      bed: bed(),
      shardAddress: shard.address,
      flags: { 'with-pods': 'true', 'rollup-interval': '100ms', 'log-level': 'info' },
    });
    await operator.untilReady();
    await eventually(
      () => shard.rollups().some((rollup) => totalOf(rollup, 'cpu') === REPLICAS),
      { what: 'a roll-up with every pod' },
    );
    const since = shard.rollups().length;

    const old = await cluster.list(PODS);
    for (const [index, pod] of old.entries()) {
      const notice = index % FORCED_EVERY === 0 ? { gracePeriodSeconds: 0 } : {};
      await cluster.call('DELETE', `${PODS}/${nameOf(pod)}`, notice);
      await eventually(async () => {
        const up = (await cluster.list(PODS)).map(seenPod)
          .filter(({ ready, terminating }) => ready && !terminating);
        return up.length >= REPLICAS;
      }, { what: `the successor of ${nameOf(pod)}`, everyMs: 20 });
    }
    const pods = await eventually(async () => {
      const now = await cluster.list(PODS);
      return now.length === REPLICAS && now;
    }, { what: 'the last to be gone' });
    await untilRequestsOf(cluster, pods);

    const before = new Set(old.map(uidOf));
    expect(pods.filter((pod) => before.has(uidOf(pod)))).toEqual([]);
    const totals = shard.rollups().slice(since).map((rollup) => totalOf(rollup, 'cpu'));
    expect(totals.length).toBeGreaterThan(REPLICAS);
    expect(Math.min(...totals)).toBeGreaterThanOrEqual(REPLICAS - 1);
    expect(await cluster.list(COLLECTIONS.upcomingNodes)).toEqual([]);
    expect(await operator.stop()).toBe(0);
  });
});
