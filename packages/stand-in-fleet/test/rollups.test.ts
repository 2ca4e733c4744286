/** What the stand-in fleet makes of roll-ups. */
import { describe, expect, test } from 'vitest';
import { simulatedTime } from './simulated-time.ts';
import { startFleet } from '../src/fleet.ts';
import { inspectNeeds } from '../src/needs-view.ts';
import { cpus, FleetCluster, type NeedInit } from './fleet-cluster.ts';

const connect = async (guarded = true) => {
  const time = simulatedTime();
  const script = startFleet({ time, seedMachines: 48, seed: 'test', guarded });
  const cluster = new FleetCluster(script, 'prod').hello();
  await time.advance(0);
  const send = async (...needs: readonly NeedInit[]): Promise<void> => {
    cluster.wants(...needs);
    await time.advance(100);
  };
  const accepted = (): number => script.shard.clusters.get('prod')?.needs?.length ?? 0;
  return { time, script, cluster, send, accepted };
};

const rows = (count: number): readonly NeedInit[] =>
  Array.from({ length: count }, (_, priority) => cpus(1, { priority }));

describe('fleet roll-up', () => {
  test('that is good counts, is acked, and shows in InspectNeeds', async () => {
    const { cluster, send, script, time } = await connect();
    await send(cpus('1500m', { group: 'g' }));
    await time.advance(2000);
    expect(cluster.acks('rollup')).toBe(1);
    const [header, need, ...more] = inspectNeeds(script.shard, { clusterId: 'prod', limit: 0 });
    expect(more).toEqual([]);
    expect(header?.payload).toMatchObject({ case: 'header', value: { totalNeeds: 1 } });
    expect(need?.payload).toMatchObject({
      case: 'need',
      value: {
        clusterId: 'prod',
        satisfied: true,
        profileFingerprint: 'p=0|ipb=0|rpb=0|reqs=|spr=',
        need: { aggregateResources: { cpu: '1500m' }, group: 'g' },
      },
    });
  });

  test.each<readonly [string, NeedInit]>([
    ['a sum that is no quantity', { aggregateResources: { cpu: '1 core' } }],
    ['a unit that is no quantity', { minUnit: { cpu: '' } }],
    ['a bucket out of range', { interruptionPenaltyBucket: 28 as 27 }],
    ['another bucket out of range', { reclamationPenaltyBucket: -1 as 0 }],
  ])('with %s is rejected whole and gets no ack', async (_, bad) => {
    const { cluster, send, accepted } = await connect();
    await send(cpus(1), cpus(1, { priority: 5 }), cpus(1, { priority: 6 }));
    await send(cpus(1), bad);
    expect(cluster.acks('rollup')).toBe(1);
    expect(accepted()).toBe(3);
    expect(cluster.ended).toBe(false);
  });

  test('of another cluster is rejected', async () => {
    const { cluster, time, accepted } = await connect();
    cluster.send({ case: 'rollup', value: { clusterId: 'test', needs: [cpus(1)] } });
    await time.advance(100);
    expect(cluster.acks('rollup')).toBe(0);
    expect(accepted()).toBe(0);
  });

  test('that a newer one supersedes gets no ack', async () => {
    const { cluster, send, accepted, script } = await connect();
    cluster.wants(cpus(1));
    await send(cpus(1), cpus(1, { priority: 5 }));
    expect(cluster.acks('rollup')).toBe(1);
    expect(accepted()).toBe(2);
    expect(script.shard.rollups.records.entries().map(({ verdict }) => verdict))
      .toEqual(['superseded', 'accepted']);
  });

  test('that falls below a tenth is acked, and applied the third time in a row', async () => {
    const { cluster, send, accepted } = await connect();
    await send(...rows(11));
    await send(...rows(1));
    await send(...rows(1));
    expect(cluster.acks('rollup')).toBe(3);
    expect(accepted()).toBe(11);
    await send(...rows(1));
    expect(accepted()).toBe(1);
  });

  test('that falls below a tenth starts over after one that does not', async () => {
    const { send, accepted } = await connect();
    await send(...rows(11));
    await send();
    await send();
    await send(...rows(11));
    await send();
    await send();
    expect(accepted()).toBe(11);
    await send();
    expect(accepted()).toBe(0);
  });

  test('that falls from fewer than ten rows, or to a tenth, is applied at once', async () => {
    const { send, accepted } = await connect();
    await send(...rows(9));
    await send();
    expect(accepted()).toBe(0);
    await send(...rows(10));
    await send(...rows(1));
    expect(accepted()).toBe(1);
  });

  test('that vanishes is applied at once when the guard is off', async () => {
    const { send, accepted } = await connect(false);
    await send(...rows(20));
    await send();
    expect(accepted()).toBe(0);
  });

  test('is rejected, or not acked, when a script configures it', async () => {
    const { cluster, send, script, accepted } = await connect();
    script.shard.rollups.faults.rejectNext = 2;
    await send(cpus(1));
    await send(cpus(1));
    expect(cluster.acks('rollup')).toBe(0);
    expect(accepted()).toBe(0);
    await send(cpus(1));
    expect(cluster.acks('rollup')).toBe(1);
    script.shard.rollups.faults.acks = false;
    await send(cpus(1), cpus(1, { priority: 1 }));
    expect(cluster.acks('rollup')).toBe(1);
    expect(accepted()).toBe(2);
  });
});
