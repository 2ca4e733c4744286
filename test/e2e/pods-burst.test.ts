/**
 * Pods in a burst, of which half finish and a fifth are deleted, and a controller that is killed in
 * the middle of it.
 *
 * No scheduler and no nodes: pods stay Pending, which is demand, until the test ends them.
 */
import { expect, it } from 'vitest';
import type { JsonRecord } from '../../src/domain/json.ts';
import { inBatches } from '../../tools/testbed/batches.ts';
import { targetOf, writesBy } from '../support/api/audited-writes.ts';
import {
  type ClusterClient,
  clusterClient,
  COLLECTIONS,
  nameOf,
} from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import {
  countOf,
  PODS,
  requestNameOf,
  startPodsRole,
  untilRequestsOf,
} from '../support/processes/pods-role.ts';
import { atScale } from '../support/scale.ts';

const COUNT = atScale({ commit: 100, release: 10_000 });
const FINISHING = COUNT / 2;
const DELETED = COUNT / 5;
const SIGKILLED = 137;
/** What the API server answers to a request whose client has gone. */
const CUT = 504;
const PATIENT_MS = 240_000;
const AT_ONCE = 32;

/**
 * As fast as the API server allows. The Lease has its default durations: a process that loses it on
 * a busy machine leaves writes without an answer, and some of them are sent again.
 */
const FLAGS = { qps: '5000', burst: '10000' };
/** The API server may read what a client has sent after the client was killed. */
const READ_MS = 10_000;

const podNamed = (name: string): JsonRecord => ({
  metadata: { name },
  spec: {
    containers: [{
      name: 'main',
      image: 'image',
      resources: { requests: { cpu: '100m', memory: '64Mi' } },
    }],
  },
});

const finish = (cluster: ClusterClient, names: readonly string[]): Promise<void> =>
  inBatches(
    names,
    AT_ONCE,
    (name) => cluster.patch(`${PODS}/${name}/status`, { status: { phase: 'Succeeded' } }),
  );

const remove = (cluster: ClusterClient, names: readonly string[]): Promise<void> =>
  inBatches(
    names,
    AT_ONCE,
    (name) => cluster.call('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 0 }),
  );

const names = Array.from({ length: COUNT }, (_, index) => `burst-${index}`);
const finishing = names.slice(0, FINISHING);
const deleted = names.slice(FINISHING, FINISHING + DELETED);

describeWithTestbed('pods in a burst', { controllers: true }, (bed) => {
  it(
    'of which half finish and a fifth are deleted, with a controller killed in the middle, leave the requests of those that live, for at most 2 writes a pod and a deletion for each \
that finished',
    async () => {
      await bed().installCrds();
      const cluster = await clusterClient(bed());
      const first = await startPodsRole({ bed: bed(), flags: FLAGS });
      await first.untilReady();
      const burst = cluster.create(PODS, names.map(podNamed));
      await eventually(async () => await countOf(cluster, COLLECTIONS.requests) > COUNT / 3, {
        what: 'a third of the requests',
        timeoutMs: PATIENT_MS,
      });
      first.signal('KILL');
      expect(await first.exited).toBe(SIGKILLED);
      const killedMs = Date.now();
      // These are created and deleted while no operator runs.
      await burst;
      const born = await cluster.list(PODS);
      await finish(cluster, finishing.slice(0, FINISHING / 2));
      await remove(cluster, deleted.slice(0, DELETED / 2));

      const second = await startPodsRole({ bed: bed(), flags: FLAGS });
      await finish(cluster, finishing.slice(FINISHING / 2));
      await remove(cluster, deleted.slice(DELETED / 2));
      const alive = born.filter((pod) =>
        !finishing.includes(nameOf(pod)) &&
        !deleted.includes(nameOf(pod))
      );
      expect(alive).toHaveLength(COUNT - FINISHING - DELETED);
      await untilRequestsOf(cluster, alive, PATIENT_MS);
      expect(await second.stop()).toBe(0);

      // A write that the kill cut is made again.
      const writes = (await writesBy(bed(), 'pods'))
        .filter(({ code, receivedMs }) => code !== CUT || receivedMs > killedMs + READ_MS);
      expect(new Set(writes.map(({ resource }) => resource))).toEqual(
        new Set(['capacityrequests']),
      );
      const byRequest = Map.groupBy(writes, targetOf);
      const countsOf = (pods: readonly JsonRecord[], deletions: boolean): readonly number[] =>
        pods.map((pod) =>
          (byRequest.get(`capacityrequests/default/${requestNameOf(pod)}`) ?? [])
            .filter(({ verb }) => (verb === 'delete') === deletions).length
        );
      const most = (counts: readonly number[]): number => Math.max(...counts);
      const finished = born.filter((pod) => finishing.includes(nameOf(pod)));
      expect(most(countsOf(born, false))).toBe(2);
      expect(most(countsOf(finished, true))).toBe(1);
      expect(most(countsOf(alive, true))).toBe(0);
      expect(writes.length).toBeLessThanOrEqual(2 * COUNT + FINISHING);
      process.stdout.write(`${writes.length} writes for ${COUNT} pods\n`);
    },
  );
});
