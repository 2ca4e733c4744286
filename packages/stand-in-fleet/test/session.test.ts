/** The stand-in fleet's side of a session: the frames it sends, and when. */
import { describe, expect, test } from 'vitest';
import { simulatedTime } from './simulated-time.ts';
import { startFleet } from '../src/fleet.ts';
import { fleetIdentities } from '../src/grpc-server.ts';
import { cpus, FleetCluster } from './fleet-cluster.ts';

const fleet = (seedMachines = 24) => {
  const time = simulatedTime();
  return { time, script: startFleet({ time, seedMachines, seed: 'test' }) };
};

describe('fleet session', () => {
  test('acks hello, replays every machine of the cluster, and only then reads on', async () => {
    const { time, script } = fleet();
    script.place('m-000001', { state: 'CONFIGURED', cluster: 'prod' });
    script.place('m-000002', { state: 'DRAINING', cluster: 'prod' });
    script.place('m-000003', { state: 'CONFIGURED', cluster: 'other' });
    const cluster = new FleetCluster(script, 'prod').hello();
    cluster.wants();
    await time.advance(100);
    expect(cluster.received.map(({ payload }) => payload.case)).toEqual([
      'ack',
      'nodeStateUpdate',
      'nodeStateUpdate',
      'ack',
    ]);
    expect(cluster.updates().map(({ machineId }) => machineId)).toEqual(['m-000001', 'm-000002']);
    expect(cluster.acks('rollup')).toBe(1);
  });

  test('may send a live frame before the hello ack', async () => {
    const { time, script } = fleet();
    script.setTiming({ helloMs: 1000 });
    const cluster = new FleetCluster(script, 'prod').hello();
    cluster.wants();
    await time.advance(100);
    script.place('m-000001', { state: 'CONFIGURED', cluster: 'prod' });
    await time.advance(100);
    expect(cluster.statesOf('m-000001')).toEqual(['CONFIGURED']);
    expect(cluster.acks('hello')).toBe(0);
    await time.advance(1000);
    expect(cluster.acks('hello')).toBe(1);
    expect(cluster.statesOf('m-000001')).toEqual(['CONFIGURED', 'CONFIGURED']);
    expect(cluster.acks('rollup')).toBe(1);
  });

  test.each([
    ['a roll-up', 'prod', 'rollup'],
    ['a hello without a cluster', '', 'hello'],
  ])('that begins with %s is refused as INVALID_ARGUMENT', async (_, id, first) => {
    const { time, script } = fleet();
    const cluster = new FleetCluster(script, id);
    if (first === 'hello') cluster.hello();
    else cluster.wants();
    await time.advance(0);
    expect(cluster.refused?.status).toBe(3);
  });

  test.each([
    ['of another cluster', ['bigfleet://cluster/test'], 7],
    ['with two clusters', ['bigfleet://cluster/prod', 'bigfleet://cluster/test'], 7],
    ['with another identity besides', ['bigfleet://cluster/prod', 'bigfleet://shard/a'], 7],
    ['with no cluster', [], 7],
    ['of this cluster', ['bigfleet://cluster/prod'], undefined],
  ])('of a client certificate %s ends with status %s', async (_, certified, status) => {
    const { time, script } = fleet();
    const cluster = new FleetCluster(script, 'prod', certified).hello();
    await time.advance(0);
    expect(cluster.refused?.status).toBe(status);
  });

  test('counts every bigfleet URI of a client certificate, and nothing else', () => {
    const names = 'DNS:a, URI:bigfleet://cluster/prod, URI:bigfleet://shard/a, ' +
      'URI:spiffe://b/c, URI:"bigfleet://cluster/x,y"';
    expect(fleetIdentities(names)).toEqual([
      'bigfleet://cluster/prod',
      'bigfleet://shard/a',
      'bigfleet://cluster/x,y',
    ]);
  });

  test('that comes second mutes the first without a frame', async () => {
    const { time, script } = fleet();
    const first = new FleetCluster(script, 'prod').hello();
    await time.advance(0);
    const second = new FleetCluster(script, 'prod').hello();
    await time.advance(0);
    script.place('m-000001', { state: 'CONFIGURED', cluster: 'prod' });
    first.wants(cpus(1));
    await time.advance(100);
    expect(first.ended).toBe(false);
    expect(first.received).toHaveLength(1);
    expect(second.statesOf('m-000001')).toEqual(['CONFIGURED']);
    second.close();
    await time.advance(0);
    script.place('m-000001', { state: 'DRAINING', cluster: 'prod' });
    await time.advance(0);
    expect(first.received).toHaveLength(1);
  });

  test('reads reclaim acks, and they change nothing', async () => {
    const { time, script } = fleet();
    script.place('m-000001', { state: 'CONFIGURED', cluster: 'prod' });
    const cluster = new FleetCluster(script, 'prod').hello();
    cluster.send({ case: 'reclaimAck', value: { instructionId: 'x', nodesStarted: 1 } });
    await time.advance(60_000);
    expect(script.shard.reclaimAcks.entries()).toMatchObject([
      { cluster: 'prod', instructionId: 'x', nodesStarted: 1 },
    ]);
    expect(cluster.machines()).toEqual(new Map([['m-000001', 'CONFIGURED']]));
  });

  test('that ends leaves the machines unchanged, and the next one replays them', async () => {
    const { time, script } = fleet();
    const first = new FleetCluster(script, 'prod').hello();
    first.wants(cpus(8));
    await time.advance(5000);
    const running = first.machinesIn('CONFIGURED');
    expect(running).toHaveLength(1);
    first.close();
    await time.advance(60_000);
    const second = new FleetCluster(script, 'prod').hello();
    await time.advance(100);
    expect(second.machinesIn('CONFIGURED')).toEqual(running);
  });

  test('is refused, ended and cut when a script requests it', async () => {
    const { time, script } = fleet();
    const ended = new FleetCluster(script, 'prod').hello();
    await time.advance(0);
    script.end('prod', { status: 14, message: 'going away' });
    await time.advance(0);
    expect(ended.refused).toMatchObject({ status: 14, message: 'going away' });
    script.admission.refuse = true;
    const refused = new FleetCluster(script, 'prod').hello();
    await time.advance(0);
    expect(refused.refused?.status).toBe(14);
  });

  test('that stalls holds up the decisions for all clusters until it reads on', async () => {
    const { time, script } = fleet();
    let stalled = true;
    const link = {
      send: () => {},
      end: () => {},
      cut: () => {},
      congested: () => stalled,
    };
    const peer = { address: 'somewhere', certified: undefined };
    script.shard.connect(link, peer).receive(Buffer.from('0a060a0474657374', 'hex'));
    const cluster = new FleetCluster(script, 'prod').hello();
    cluster.wants(cpus(1));
    await time.advance(10_000);
    expect(cluster.acks('rollup')).toBe(1);
    expect(cluster.machines().size).toBe(0);
    stalled = false;
    await time.advance(5000);
    expect(cluster.machinesIn('CONFIGURED')).toHaveLength(1);
  });

  test('carries 5,000 machines through 3 states at once, all of them, in order', async () => {
    const { time, script } = fleet(0);
    const cluster = new FleetCluster(script, 'prod').hello();
    await time.advance(0);
    script.mass({
      cluster: 'prod',
      count: 5000,
      prefix: 'mass-',
      states: ['CONFIGURING', 'CONFIGURED', 'DRAINING'],
      order: 'state',
    });
    await time.advance(0);
    expect(cluster.updates()).toHaveLength(15_000);
    expect(cluster.machinesIn('DRAINING')).toHaveLength(5000);
    expect(cluster.statesOf('mass-004711')).toEqual(['CONFIGURING', 'CONFIGURED', 'DRAINING']);
  });
});
