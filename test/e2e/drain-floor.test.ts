/** The cost of an unobstructed drain to the API server. */
import { expect, it } from 'vitest';
import { COLLECTIONS, phasesIn } from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { auditCounts, evictionsIn, requestsBy, total } from '../support/drains/audited-drains.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { seenPod } from '../support/drains/pod-history.ts';
import { expectAcks } from '../support/drains/expected-acks.ts';
import { reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import {
  daemonSet,
  deployment,
  DRAIN_COLLECTIONS,
  mirrorPod,
} from '../support/drains/workloads.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 1000 };
const PODS = 100;
const DAEMON_PODS = 10;
const MIRROR_PODS = 2;
const STAYING = DAEMON_PODS + MIRROR_PODS;
const GRACE_SECONDS = 600;
/** Cordon and end of the Node, Draining and Drained of the UpcomingNode. */
const WRITES_BESIDE = 4;

const numbered = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describeWithTestbed('a drain that nothing blocks', BED, (bed) => {
  it('DR-50: drains 100 pods by 100 evictions and four writes, and reads nothing', async () => {
    const site = await drainSite(bed(), {
      machines: { count: 1, prefix: 'floor-' },
      objects: ([node = '']) => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]],
        [DRAIN_COLLECTIONS.daemonSets, numbered(DAEMON_PODS, (at) => daemonSet(`ds-${at}`, node))],
        [DRAIN_COLLECTIONS.pods, numbered(MIRROR_PODS, (at) => mirrorPod(`static-${at}`, node))],
      ],
      pods: PODS + STAYING,
      spares: { count: 1 },
    });
    const { cluster, fleet, machines } = site;
    const [node = ''] = machines;
    const before = (await cluster.list(DRAIN_COLLECTIONS.pods)).map(seenPod);
    const leaving = before.filter((pod) => pod.node === node && !pod.stays);
    expect(leaving.length).toBe(PODS);
    const current = await cluster.history(COLLECTIONS.upcomingNodes);

    const [instructionId = ''] = await reclaimEach(fleet, machines, GRACE_SECONDS);

    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Drained' });
    const requests = await requestsBy(bed(), 'tidegate', site.readyMs);
    const counts = auditCounts(requests);
    expect(counts).toEqual({
      'create pods/eviction': PODS,
      'patch nodes': 1,
      'patch nodes/status': 1,
      'patch upcomingnodes/status': 2,
    });
    expect(total(counts)).toBe(PODS + WRITES_BESIDE);
    const evictions = evictionsIn(requests);
    expect(evictions.map(({ uid }) => uid).sort()).toEqual(leaving.map(({ uid }) => uid).sort());
    expect(evictions.filter(({ code }) => code !== 201)).toEqual([]);
    await expectAcks(fleet, [instructionId]);

    const after = (await cluster.list(DRAIN_COLLECTIONS.pods)).map(seenPod);
    const onNode = after.filter((pod) => pod.node === node);
    expect(onNode.map(({ uid }) => uid).sort())
      .toEqual(before.filter(({ stays }) => stays).map(({ uid }) => uid).sort());
    expect(phasesIn(current.of(`un-${node}`))).toEqual(['Draining', 'Drained']);
  });
});
