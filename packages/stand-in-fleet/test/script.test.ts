/** What scripts can ask of the stand-in fleet, route by route, and the answers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { simulatedTime } from './simulated-time.ts';
import { startFleet } from '../src/fleet.ts';
import { dial } from '../src/in-process.ts';
import { ODD_FRAMES } from '../src/odd-frames.ts';
import { SCRIPT_ROUTES } from '../src/script-routes.ts';
import { answerScript } from '../src/script-server.ts';
import { cpus, FleetCluster } from './fleet-cluster.ts';

const connect = async () => {
  const time = simulatedTime();
  const script = startFleet({ time, seedMachines: 24, seed: 'test' });
  const cluster = new FleetCluster(script, 'prod').hello();
  await time.advance(0);
  const ask = (method: string, url: string, body?: unknown): unknown =>
    answerScript(script, { method, url, text: body === undefined ? '' : JSON.stringify(body) });
  return { time, script, cluster, ask };
};

describe('fleet script', () => {
  test('returns a summary', async () => {
    const { time, cluster, ask } = await connect();
    cluster.wants(cpus(1));
    await time.advance(5000);
    expect(ask('GET', '/state')).toMatchObject({
      machines: { total: 24, byState: { CONFIGURED: 1, IDLE: 23 } },
      clusters: [{ id: 'prod', needs: 1, satisfiedNeeds: 1, machines: { CONFIGURED: 1 } }],
      sessions: [{ clusterId: 'prod', state: 'reading', muted: false, rollupAcks: 1 }],
      rollups: 1,
      bootstraps: { open: 0, answered: 1 },
    });
    expect(ask('GET', '/rollups')).toMatchObject({ total: 1, rollups: [{ verdict: 'accepted' }] });
    expect(ask('GET', '/bootstraps')).toMatchObject({
      answered: [{ userData: '#cloud-config', ttlSeconds: 600, late: false }],
    });
    expect(ask('GET', '/needs?cluster=prod')).toMatchObject({
      frames: [{ header: { totalNeeds: 1 } }, { need: { satisfied: true } }],
    });
    expect(ask('GET', '/machines?cluster=prod&state=CONFIGURED')).toMatchObject({
      machines: [{ state: 'CONFIGURED', cluster: 'prod' }],
    });
  });

  test('adds, places, repairs and removes machines', async () => {
    const { time, cluster, ask } = await connect();
    expect(ask('POST', '/machines', { count: 2, kind: 'highmem-8', zone: 'zone-b' }))
      .toEqual({ ids: ['x-000001', 'x-000002'] });
    ask('POST', '/machines', { prefix: 'y-', resources: { cpu: '3' }, labels: { a: 'b' } });
    expect(ask('GET', '/machines/y-000003')).toMatchObject({ resources: { cpu: '3' } });
    ask('POST', '/machines/x-000001/state', { state: 'FAILED', cluster: 'prod', lastError: 'x' });
    ask('POST', '/machines/x-000001/repair');
    ask('DELETE', '/machines/x-000002');
    await time.advance(0);
    expect(cluster.statesOf('x-000001')).toEqual(['FAILED', 'IDLE']);
    expect(() => ask('GET', '/machines/x-000002')).toThrow('There is no machine "x-000002"');
  });

  test('reports an unknown machine as idle to its cluster', async () => {
    const { time, cluster, ask } = await connect();
    ask('POST', '/machines/new-1/state', { state: 'IDLE', cluster: 'prod' });
    await time.advance(0);
    expect(cluster.statesOf('new-1')).toEqual(['IDLE']);
  });

  test('moves thousands of machines through states at once', async () => {
    const { time, cluster, ask } = await connect();
    expect(ask('POST', '/mass', { cluster: 'prod', count: 1000, order: 'machine' }))
      .toEqual({ machines: 1000, frames: 3000 });
    await time.advance(0);
    expect(cluster.machinesIn('DRAINING')).toHaveLength(1000);
  });

  test('sends reclaims and bootstrap pulls', async () => {
    const { time, cluster, ask } = await connect();
    ask('POST', '/machines/m-000001/state', { state: 'CONFIGURED', cluster: 'prod' });
    ask('POST', '/reclaim', { machine: 'm-000001', graceSeconds: 30, node: 'some-node' });
    const requirements = [{ key: 'zone', operator: 'OPERATOR_IN', values: ['a'] }];
    const pulled = ask('POST', '/bootstrap', { cluster: 'prod', requirements });
    await time.advance(0);
    expect(cluster.reclaims()).toMatchObject([{ nodes: ['some-node'], gracePeriodSeconds: 30n }]);
    expect(cluster.pulls()).toMatchObject([pulled]);
    expect(ask('GET', '/bootstraps')).toMatchObject({ answered: [pulled] });
    expect(ask('GET', '/reclaims')).toMatchObject({ sent: [{ node: 'some-node' }] });
  });

  test.each([
    ['leaves the drain of a reclaimed machine to the operator', {}, 'CONFIGURED'],
    ['drains a reclaimed machine when it is asked to', { drain: true }, 'DRAINING'],
  ])('%s', async (_, more, state) => {
    const { time, cluster, ask } = await connect();
    cluster.wants(cpus(8));
    await time.advance(5000);
    const [machine = ''] = cluster.machinesIn('CONFIGURED');
    ask('POST', '/reclaim', { machine, graceSeconds: 30, ...more });
    await time.advance(100);
    expect(ask('GET', `/machines/${machine}`)).toMatchObject({ state });
  });

  test('sends any frame, good or bad', async () => {
    const { time, script, ask } = await connect();
    const stream = dial(script);
    const received: Uint8Array[] = [];
    const listening = (async () => {
      for await (const frame of stream.frames) received.push(frame);
    })();
    stream.send(Buffer.from('0a060a0470726f64', 'hex'));
    for (const odd of ODD_FRAMES) ask('POST', '/frames', { cluster: 'prod', odd });
    ask('POST', '/frames', { cluster: 'prod', hex: 'ff00' });
    ask('POST', '/frames', { cluster: 'prod', frame: { ack: { echo: 'hello' } } });
    await time.advance(0);
    stream.close();
    await listening;
    const [, ...odd] = received;
    expect(odd).toHaveLength(ODD_FRAMES.length + 2);
    const enormous = odd[ODD_FRAMES.indexOf('enormous-labels')];
    expect(enormous?.length).toBeGreaterThan(10 * 1024 * 1024);
    expect(odd.slice(-2).map((frame) => Buffer.from(frame).toString('hex')))
      .toEqual(['ff00', '0a070a0568656c6c6f']);
  });

  test('injects faults into roll-ups, sessions and time', async () => {
    const { time, script, cluster, ask } = await connect();
    expect(ask('POST', '/faults', { rejectNextRollups: 1, refuseSessions: true }))
      .toEqual({ rejectNextRollups: 1, ackRollups: true, refuseSessions: true });
    cluster.wants();
    expect(ask('POST', '/timing', { drainingMs: 7 })).toMatchObject({
      drainingMs: 7,
      joiningMs: 500,
    });
    await time.advance(100);
    expect(cluster.acks('rollup')).toBe(0);
    ask('POST', '/sessions/end', { cluster: 'prod', status: 'UNAVAILABLE', message: 'bye' });
    const refused = new FleetCluster(script, 'prod').hello();
    await time.advance(0);
    expect(cluster.refused).toMatchObject({ status: 14, message: 'bye' });
    expect(refused.refused).toMatchObject({ status: 14 });
    expect(ask('POST', '/cycle')).toEqual({ cycle: expect.any(Number) });
  });

  test.each([
    ['POST', '/machines', '{', 400, 'The body is no JSON'],
    ['POST', '/machines', '[]', 400, 'The body must be a JSON object'],
    ['POST', '/machines', '{"count":"2"}', 400, 'Field "count" must be a number'],
    ['POST', '/machines', '{"resources":{"cpu":"x y"}}', 400, '"x y" is no quantity'],
    ['POST', '/machines', '{"kind":"huge"}', 404, 'There is no kind "huge"'],
    ['POST', '/machines/a/state', '{"state":"idle"}', 400, 'Field "state" must be one of'],
    ['POST', '/frames', '{"cluster":"prod","frame":{"x":1}}', 400, 'no ShardMessage'],
    ['POST', '/frames', '{"cluster":"test","hex":""}', 404, 'Cluster "test" has no session'],
    ['POST', '/reclaim', '{"machine":"m-000001"}', 409, 'bound to no cluster'],
    ['GET', '/nowhere', '', 404, 'There is no route "GET /nowhere"'],
  ])('%s %s with %s is answered %i: %s', async (method, url, text, status, message) => {
    const { script } = await connect();
    let caught: unknown;
    try {
      answerScript(script, { method, url, text });
    } catch (cause) {
      caught = cause;
    }
    expect(caught).toMatchObject({ status, message: expect.stringContaining(message) });
  });

  test('has a description for each of its routes', () => {
    for (const { does } of SCRIPT_ROUTES) expect(does).toMatch(/^[A-Z].*\.$/s);
  });
});

describe('fleet session', () => {
  test('survives whatever bytes a cluster sends', async () => {
    const time = simulatedTime();
    const script = startFleet({ time, seedMachines: 1, seed: 'test' });
    const heads = [Buffer.alloc(0), Buffer.from('0a060a0470726f64', 'hex')];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...heads),
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 4 }),
        (head, frames) => {
          const stream = dial(script);
          if (head.length > 0) stream.send(head);
          for (const frame of frames) stream.send(frame);
          stream.close();
          return Promise.resolve();
        },
      ),
      { numRuns: 10_000 },
    );
    await time.advance(10_000);
    expect(script.shard.sessions.size).toBe(0);
  });
});
