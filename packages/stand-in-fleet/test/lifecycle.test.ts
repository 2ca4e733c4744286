/** A machine's way through the stand-in fleet, as its cluster sees it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { simulatedTime } from './simulated-time.ts';
import { bindingsFile } from '../src/bindings.ts';
import { startFleet } from '../src/fleet.ts';
import { type BootstrapAnswers, cpus, FleetCluster } from './fleet-cluster.ts';

/** Machines of 8 CPUs. */
const STANDARD = {
  requirements: [{
    key: 'node.kubernetes.io/instance-type',
    operator: 1 as const,
    values: ['standard-8'],
  }],
};

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const scratch = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-fleet-'));
  folders.push(folder);
  return folder;
};

const connect = async (bootstraps: BootstrapAnswers = 'answers', seedMachines = 24) => {
  const time = simulatedTime();
  const script = startFleet({ time, seedMachines, seed: 'test' });
  const cluster = new FleetCluster(script, 'prod').hello();
  cluster.bootstraps = bootstraps;
  await time.advance(0);
  return { time, script, cluster };
};

describe('fleet machine', () => {
  test('goes CONFIGURING, pull, CONFIGURED with the fields of the real shard', async () => {
    const { time, cluster } = await connect();
    cluster.wants(cpus(8, { requirements: [{ key: 'kubernetes.io/arch', operator: 3 }] }));
    await time.advance(5000);
    const [pull] = cluster.pulls();
    expect(pull?.requestId).toMatch(/^[0-9a-f]{16}$/);
    expect(pull?.clusterId).toBe('prod');
    expect(pull?.requirements).toMatchObject([{ key: 'kubernetes.io/arch', operator: 3 }]);
    const [, configured] = cluster.updates();
    expect(configured).toMatchObject({ clusterId: '', nodeName: '', taints: [], lastError: '' });
    expect(configured?.supersedesKey).toBe(`node:${configured?.machineId}`);
    expect(configured?.providerId).toBe(`host-${configured?.machineId}`);
    expect(configured?.labels).toHaveProperty('node.kubernetes.io/instance-type');
    expect(configured?.resources?.resources).toHaveProperty('memory');
  });

  test('that boots with its answer is not pulled again by the next roll-ups', async () => {
    const { time, script, cluster } = await connect();
    script.setTiming({ joiningMs: 5000 });
    for (let rollups = 0; rollups < 4; rollups += 1) {
      cluster.wants(cpus(8));
      await time.advance(1000);
    }
    expect(cluster.machinesIn('CONFIGURING')).toHaveLength(1);
    expect(cluster.pulls()).toHaveLength(1);
  });

  test('whose pull is answered with an error becomes FAILED with the reason', async () => {
    const { time, cluster } = await connect({ error: 'no template' });
    cluster.wants(cpus(8));
    await time.advance(3000);
    expect(cluster.machinesIn('FAILED')).toHaveLength(1);
    expect(cluster.updates().at(-1)).toMatchObject({ state: 8, lastError: 'no template' });
  });

  test('whose pull is not answered is IDLE after 30 s, and a new pull follows', async () => {
    const { time, cluster } = await connect('silent');
    cluster.wants(cpus(8));
    await time.advance(30_900);
    expect(cluster.machinesIn('IDLE')).toEqual([]);
    await time.advance(200);
    expect(cluster.machinesIn('IDLE')).toHaveLength(1);
    cluster.bootstraps = 'answers';
    await time.advance(10_000);
    const [first, second] = cluster.pulls().map(({ requestId }) => requestId);
    expect(second).toBeDefined();
    expect(second).not.toBe(first);
    expect(cluster.machinesIn('CONFIGURED')).toHaveLength(1);
  });

  test('ignores an answer that is late, or from another cluster', async () => {
    const { time, script, cluster } = await connect('silent');
    const other = new FleetCluster(script, 'other').hello();
    cluster.wants(cpus(8));
    await time.advance(5000);
    const requestId = cluster.pulls()[0]?.requestId ?? '';
    other.send({ case: 'bootstrapResponse', value: { requestId } });
    await time.advance(1000);
    expect(cluster.machinesIn('CONFIGURED')).toEqual([]);
    await time.advance(26_000);
    cluster.send({ case: 'bootstrapResponse', value: { requestId } });
    await time.advance(1000);
    expect(cluster.machinesIn('CONFIGURED')).toEqual([]);
    expect(script.shard.bootstraps.answered.entries().map(({ late }) => late))
      .toEqual([true, true]);
  });

  test('is not bound while its cluster is away', async () => {
    const { time, script, cluster } = await connect();
    cluster.wants(cpus(8));
    await time.advance(100);
    cluster.close();
    await time.advance(60_000);
    expect(script.shard.inventory.boundTo('prod').size).toBe(0);
  });

  test('drains no longer than its grace', async () => {
    const { time, script, cluster } = await connect();
    script.setTiming({ drainingMs: 3_600_000 });
    cluster.wants(cpus(8));
    await time.advance(5000);
    const [id = ''] = cluster.machinesIn('CONFIGURED');
    script.reclaim(id, { graceSeconds: 30 }, true);
    await time.advance(29_000);
    expect(cluster.machinesIn('DRAINING')).toEqual([id]);
    await time.advance(1500);
    expect(cluster.statesOf(id)[3]).toBe('IDLE');
  });

  test('that a script holds is ignored until it is repaired', async () => {
    const { time, script, cluster } = await connect('answers', 1);
    script.place('m-000001', { state: 'FAILED', cluster: 'prod', lastError: 'disk' });
    cluster.wants(cpus(1));
    await time.advance(60_000);
    expect(cluster.machinesIn('FAILED')).toEqual(['m-000001']);
    script.repair('m-000001');
    await time.advance(5000);
    expect(cluster.statesOf('m-000001'))
      .toEqual(['FAILED', 'IDLE', 'CONFIGURING', 'CONFIGURED']);
  });

  test('that is released is deleted, and bought again when it is needed', async () => {
    const { time, script, cluster } = await connect('answers', 1);
    expect(script.release('m-000001').state).toBe('DELETING');
    await time.advance(2000);
    expect(script.machine('m-000001').state).toBe('SPECULATIVE');
    cluster.wants(cpus(1));
    await time.advance(10_000);
    expect(cluster.statesOf('m-000001')).toEqual(['CONFIGURING', 'CONFIGURED']);
  });

  test('that vanishes is not replayed', async () => {
    const { time, script } = await connect();
    script.place('m-000001', { state: 'CONFIGURED', cluster: 'prod' });
    script.place('m-000002', { state: 'CONFIGURED', cluster: 'prod' });
    script.forget('m-000001');
    const again = new FleetCluster(script, 'prod').hello();
    await time.advance(0);
    expect([...again.machines().keys()]).toEqual(['m-000002']);
  });
});

describe('fleet bindings', () => {
  test('outlive a killed fleet, and requests get new ids', async () => {
    const path = join(scratch(), 'bindings');
    const time = simulatedTime();
    const run = (seed: string) =>
      startFleet({ time, seedMachines: 24, seed, store: bindingsFile(path) });
    const first = new FleetCluster(run('one'), 'prod').hello();
    first.wants(cpus(24, STANDARD));
    await time.advance(5000);
    const running = first.machinesIn('CONFIGURED');
    expect(running).toHaveLength(3);

    const script = run('two');
    const second = new FleetCluster(script, 'prod').hello();
    await time.advance(60_000);
    expect(second.machinesIn('CONFIGURED')).toEqual(running);
    second.wants(cpus(32, STANDARD));
    await time.advance(10_000);
    expect(second.machinesIn('CONFIGURED')).toHaveLength(4);
    expect(second.reclaims()).toEqual([]);
    expect(second.pulls()[0]?.requestId).not.toBe(first.pulls()[0]?.requestId);
  });

  test('of machines in transition resume where they were', async () => {
    const path = join(scratch(), 'bindings');
    const time = simulatedTime();
    const run = (seed: string) =>
      startFleet({ time, seedMachines: 24, seed, store: bindingsFile(path) });
    const script = run('one');
    const first = new FleetCluster(script, 'prod').hello();
    first.wants(cpus(24, STANDARD));
    await time.advance(5000);
    const [drained = ''] = first.machinesIn('CONFIGURED');
    first.bootstraps = 'silent';
    first.wants(cpus(32, STANDARD));
    await time.advance(3000);
    script.reclaim(drained, { graceSeconds: 600 }, true);
    const [configured = ''] = first.machinesIn('CONFIGURING');

    const second = new FleetCluster(run('two'), 'prod').hello();
    second.wants(cpus(32, STANDARD));
    await time.advance(10_000);
    expect(second.statesOf(configured).slice(0, 2)).toEqual(['CONFIGURING', 'CONFIGURED']);
    expect(second.statesOf(drained).slice(0, 2)).toEqual(['DRAINING', 'IDLE']);
    expect(second.machinesIn('CONFIGURED')).toHaveLength(4);
  });

  test('are read despite a truncated line and removed machines', () => {
    const path = join(scratch(), 'bindings');
    const time = simulatedTime();
    const script = startFleet({ time, seedMachines: 2, seed: 's', store: bindingsFile(path) });
    script.place('m-000001', { state: 'CONFIGURED', cluster: 'prod' });
    script.forget('m-000002');
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"id":"m-00`);
    const again = startFleet({ time, seedMachines: 2, seed: 't', store: bindingsFile(path) });
    expect(again.machine('m-000001')).toMatchObject({ state: 'CONFIGURED', cluster: 'prod' });
    expect(() => again.machine('m-000002')).toThrow('There is no machine');
    expect(readFileSync(path, 'utf8')).toMatch(/\n$/);
  });
});
