/** How the stand-in fleet gives machines to needs and takes them back. */
import { describe, expect, test } from 'vitest';
import { simulatedTime } from './simulated-time.ts';
import { preemptionGraceSeconds } from '../src/allocation.ts';
import { startFleet } from '../src/fleet.ts';
import { machineKind } from '../src/machine-kind.ts';
import { cpus, FleetCluster, type NeedInit } from './fleet-cluster.ts';

const kind = (cpu: string, labels: Readonly<Record<string, string>> = {}) =>
  machineKind({ labels, resources: { cpu, memory: '32Gi', pods: '110' }, costPerHour: 1 });

/** A fleet of machines of 8 CPUs in three zones, and a connected cluster. */
const connect = async (perZone = 4) => {
  const time = simulatedTime();
  const script = startFleet({ time, seedMachines: 0, seed: 'test' });
  for (const zone of ['a', 'b', 'c']) {
    script.addMachines({
      count: perZone,
      prefix: `${zone}-`,
      kind: kind('8', { zone }),
      state: 'IDLE',
    });
  }
  const cluster = new FleetCluster(script, 'prod').hello();
  await time.advance(0);
  const want = async (...needs: readonly NeedInit[]): Promise<void> => {
    cluster.wants(...needs);
    await time.advance(10_000);
  };
  const zoneOf = (id: string): string => script.machine(id).kind.labels['zone'] ?? '';
  const running = (): readonly string[] => cluster.machinesIn('CONFIGURED');
  return { time, script, cluster, want, zoneOf, running };
};

describe('fleet allocation', () => {
  test('gives whole machines until they cover the aggregate', async () => {
    const { want, running } = await connect();
    await want(cpus(17));
    expect(running()).toHaveLength(3);
  });

  test('gives the available machines, and the rest when they arrive', async () => {
    const { want, running, script, time } = await connect(1);
    await want(cpus(40));
    expect(running()).toHaveLength(3);
    script.addMachines({ count: 9, prefix: 'x-', kind: kind('8'), state: 'IDLE' });
    await time.advance(5000);
    expect(running()).toHaveLength(5);
  });

  test('provisions speculative machines when none are idle', async () => {
    const { want, running, script } = await connect(1);
    script.addMachines({ count: 4, prefix: 's-', kind: kind('8'), state: 'SPECULATIVE' });
    await want(cpus(32));
    expect(running()).toHaveLength(4);
    expect(running()[3]).toMatch(/^s-/);
  });

  test('gives only machines on which the largest unit fits', async () => {
    const { want, running, script } = await connect();
    const [big] = script.addMachines({
      count: 1,
      prefix: 'big-',
      kind: kind('64'),
      state: 'IDLE',
    });
    await want({ aggregateResources: { cpu: '10' }, minUnit: { cpu: '9' } });
    expect(running()).toEqual([big]);
  });

  test.each<readonly [string, NonNullable<NeedInit['requirements']>[number], readonly string[]]>([
    ['In', { key: 'zone', operator: 1, values: ['b'] }, ['b']],
    ['NotIn', { key: 'zone', operator: 2, values: ['a', 'c'] }, ['b', '']],
    ['Exists', { key: 'gpu', operator: 3, values: [] }, ['']],
    ['DoesNotExist', { key: 'zone', operator: 4, values: [] }, ['']],
  ])('keeps to a requirement with %s', async (_, requirement, zones) => {
    const { want, running, zoneOf, script } = await connect();
    script.addMachines({ count: 2, prefix: 'g-', kind: kind('8', { gpu: '1' }), state: 'IDLE' });
    await want(cpus(16, { requirements: [requirement] }));
    expect(running()).toHaveLength(2);
    for (const id of running()) expect(zones).toContain(zoneOf(id));
  });

  test('puts a need with Same on one value of its label', async () => {
    const { want, running, zoneOf, script } = await connect(2);
    script.addMachines({ count: 2, prefix: 'b+', kind: kind('8', { zone: 'b' }), state: 'IDLE' });
    await want(cpus(32, { requirements: [{ key: 'zone', operator: 5, values: [] }] }));
    expect(running().map(zoneOf)).toEqual(['b', 'b', 'b', 'b']);
  });

  test('gives a need with Same nothing when no single value can cover it', async () => {
    const { want, running } = await connect(2);
    await want(cpus(24, { requirements: [{ key: 'zone', operator: 5, values: [] }] }));
    expect(running()).toEqual([]);
  });

  test('spreads machines evenly for DoNotSchedule', async () => {
    const { want, running, zoneOf } = await connect();
    await want(cpus(48, { spread: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 1 }] }));
    expect(running().map(zoneOf).sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
  });

  test('reclaims what shrunken demand no longer needs: one machine each, once, 600 s', async () => {
    const { want, running, cluster, time } = await connect();
    await want(cpus(32));
    await want(cpus(8));
    const reclaims = cluster.reclaims();
    expect(reclaims).toHaveLength(3);
    for (const { nodes, gracePeriodSeconds, preemptorPriority } of reclaims) {
      expect(nodes).toHaveLength(1);
      expect(gracePeriodSeconds).toBe(600n);
      expect(preemptorPriority).toBe(0);
    }
    const reclaimed = reclaims.map(({ nodes }) => nodes[0] ?? '').sort();
    for (const id of reclaimed) {
      expect(cluster.statesOf(id)).toEqual(['CONFIGURING', 'CONFIGURED', 'DRAINING', 'IDLE']);
    }
    expect(running()).toHaveLength(1);
    await time.advance(3_600_000);
    expect(cluster.reclaims()).toHaveLength(3);
  });

  test('begins the drain at once and does not wait for an ack', async () => {
    const { want, cluster } = await connect();
    await want(cpus(8));
    await want();
    const cases = cluster.received.map(({ payload }) => payload.case);
    const at = cases.indexOf('reclaimInstruction');
    expect(cases[at + 1]).toBe('nodeStateUpdate');
    expect(cluster.machines().size).toBe(1);
    expect(cluster.machinesIn('IDLE')).toHaveLength(1);
  });

  test('lets running machines serve another need instead of reclaiming them', async () => {
    const { want, running, cluster } = await connect();
    await want(cpus(16, { priority: 1 }));
    const before = running();
    await want(cpus(16, { priority: 2 }));
    expect(running()).toEqual(before);
    expect(cluster.reclaims()).toEqual([]);
  });

  test('reclaims nothing before a roll-up was accepted', async () => {
    const { time, script, cluster } = await connect();
    script.shard.inventory.restore({
      ...script.machine('a-000001'),
      state: 'CONFIGURED',
      cluster: 'prod',
    });
    await time.advance(60_000);
    expect(cluster.reclaims()).toEqual([]);
    cluster.wants();
    await time.advance(5000);
    expect(cluster.reclaims()).toHaveLength(1);
  });

  test('preempts lower priorities across clusters, but never pinned machines', async () => {
    const { time, script, cluster, want, running } = await connect(1);
    await want(
      cpus(8, { priority: 10, interruptionPenaltyBucket: 27 }),
      cpus(8, { priority: 20 }),
      cpus(8, { priority: 30 }),
    );
    expect(running()).toHaveLength(3);
    const other = new FleetCluster(script, 'important').hello();
    other.wants(cpus(24, { priority: 2_000_000 }));
    await time.advance(20_000);
    expect(
      cluster.reclaims().map((reclaim) => [
        reclaim.gracePeriodSeconds,
        reclaim.preemptorPriority,
      ]),
    ).toEqual([[10n, 2_000_000], [10n, 2_000_000]]);
    expect(other.machinesIn('CONFIGURED')).toHaveLength(2);
    expect(running()).toHaveLength(1);
  });

  test.each([
    [1_000_000, 10],
    [100_000, 30],
    [1000, 120],
    [999, 600],
  ])('preempts over a gap of %i with a grace of %i s', (gap, seconds) => {
    expect(preemptionGraceSeconds(gap + 7, 7)).toBe(seconds);
  });

  test('reports available capacity, and again only when it changes', async () => {
    const { want, cluster, time } = await connect();
    await want(cpus(8));
    const updates = cluster.capacity();
    expect(updates.map(({ availableCount }) => availableCount)).toEqual([11]);
    expect(updates.at(-1)).toMatchObject({
      supersedesKey: 'available:p=0|ipb=0|rpb=0|reqs=|spr=',
      resources: { resources: { cpu: '8', memory: '32Gi', pods: '110' } },
      confidence: 3,
      costPerHour: 1,
    });
    await time.advance(60_000);
    expect(cluster.capacity()).toHaveLength(1);
    await want();
    expect(cluster.capacity().at(-1)).toMatchObject({ availableCount: 0, confidence: 1 });
  });
});
