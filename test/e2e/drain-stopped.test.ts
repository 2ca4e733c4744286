/** An operator that stops in the middle of a drain, and its successor. */
import { expect, it } from 'vitest';
import { textAt } from '../../src/domain/json.ts';
import { startFaultProxy } from '../support/api/fault-proxy.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { deadlinesWritten, evictionsIn, requestsBy } from '../support/drains/audited-drains.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { expectAcks } from '../support/drains/expected-acks.ts';
import { reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import { deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { sessionsAt } from '../support/fleet/fleet-sessions.ts';
import { startOperator } from '../support/processes/operator-process.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 500 };
const PODS = 10;
const GRACE_SECONDS = 600;
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/tidegate-operator';
const EVICTION = /\/eviction(?:\?|$)/;

describeWithTestbed('a drain whose operator stops', BED, (bed) => {
  it(
    'DR-15: evictions under way get their answers before the lease is given back, and the next \
operator goes on',
    async () => {
      const proxy = await startFaultProxy(bed());
      const site = await drainSite(bed(), {
        machines: { count: 1, prefix: 'stopped-' },
        objects: () => [[DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]]],
        pods: PODS,
        spares: { count: 1 },
      }, { flags: { kubeconfig: proxy.kubeconfig } });
      const { cluster, fleet, operator, machines, readyMs } = site;
      const [machine = ''] = machines;
      const holder = async () =>
        textAt((await cluster.call('GET', LEASE)).body, 'spec', 'holderIdentity') ?? '';

      proxy.hold((target) => EVICTION.test(target));
      const [instructionId = ''] = await reclaimEach(fleet, machines, GRACE_SECONDS);
      await eventually(() => Promise.resolve(proxy.held().length === PODS), {
        what: 'every eviction to be under way',
      });
      const leader = await holder();
      let code: number | null | undefined;
      const stopped = operator.stop().then((ended) => {
        code = ended;
      });
      await eventually(async () => (await sessionsAt(fleet)).length === 0, {
        what: 'the session to be closed',
      });
      expect(code, 'it waits for the answers').toBeUndefined();
      expect(await holder()).toBe(leader);

      proxy.release();
      await stopped;
      expect(code).toBe(0);
      expect(await holder()).toBe('');
      const sent = evictionsIn(await requestsBy(bed(), 'tidegate', readyMs));
      expect(sent.map((eviction) => eviction.code)).toEqual(
        Array.from({ length: PODS }, () => 201),
      );

      const next = await startOperator({ bed: bed(), shardAddress: fleet.address });
      await next.untilReady();
      expect(await untilEnded(cluster, machines)).toEqual({ [machine]: 'Drained' });
      const requests = await requestsBy(bed(), 'tidegate', readyMs);
      expect(evictionsIn(requests).length).toBe(PODS);
      expect(new Set(deadlinesWritten(requests, machine)).size).toBe(1);
      // The next operator acknowledges it again.
      await expectAcks(fleet, [instructionId, instructionId]);
    },
  );
});
