/** The cost of an unobstructed drain to the API server. */
import { phasesIn } from '../../support/api/cluster-connection.ts';
import { auditCounts } from '../../support/drains/audited-drains.ts';
import {
  daemonSet,
  deployment,
  DRAIN_COLLECTIONS,
  mirrorPod,
} from '../../support/drains/workloads.ts';
import {
  acksOf,
  codesOf,
  drainSiteOptions,
  evictionsOf,
  podsOf,
  reclaimEach,
  requestsOf,
  setDrainScene,
  untilEnded,
} from './drain-scene.ts';
import type { Scenario } from './scenario.ts';

const PODS = 100;
const DAEMON_PODS = 10;
const MIRROR_PODS = 2;
const GRACE_SECONDS = 600;

const numbered = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const fixture = {
  machines: { count: 1, prefix: 'floor-' },
  objects: ([node = '']: readonly string[]) =>
    [
      [DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]],
      [DRAIN_COLLECTIONS.daemonSets, numbered(DAEMON_PODS, (at) => daemonSet(`ds-${at}`, node))],
      [DRAIN_COLLECTIONS.pods, numbered(MIRROR_PODS, (at) => mirrorPod(`static-${at}`, node))],
    ] as const,
  pods: PODS + DAEMON_PODS + MIRROR_PODS,
  spares: { count: 1 },
};

export const drainFloor: Scenario = {
  name: 'drain-floor',
  shows: 'DR-50: draining 100 pods costs 100 evictions and four writes, and no reads',
  siteOptions: drainSiteOptions(1),
  play: async (harness) => {
    const scene = await setDrainScene(harness, fixture);
    const [node = ''] = scene.machines;
    const before = podsOf(harness);
    const leaving = before.filter((pod) => pod.node === node && !pod.stays);
    const current = harness.following('upcomingnodes.bigfleet.lucy.sh');
    const [instructionId] = reclaimEach(harness, scene.machines, GRACE_SECONDS);

    harness.is('the drain ends', await untilEnded(harness, scene.machines), { [node]: 'Drained' });
    harness.is('only the needed requests', auditCounts(requestsOf(harness, scene)), {
      'create pods/eviction': PODS,
      'patch nodes': 1,
      'patch nodes/status': 1,
      'patch upcomingnodes/status': 2,
    });
    const calls = evictionsOf(harness, scene);
    const uids = (pods: readonly { readonly uid: string }[]) => pods.map(({ uid }) => uid).sort();
    harness.is('each eviction with the UID of its pod', uids(calls), uids(leaving));
    harness.is('every eviction is accepted', codesOf(calls), { 201: PODS });
    harness.is('one ack', acksOf(harness), [{ instructionId, nodesStarted: 1 }]);
    harness.is(
      'DaemonSet and mirror pods stay',
      uids(podsOf(harness).filter((pod) => pod.node === node)),
      uids(before.filter(({ stays }) => stays)),
    );
    harness.is('its phases', phasesIn(current.of(`un-${node}`)), ['Draining', 'Drained']);
  },
};
