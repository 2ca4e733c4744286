/** The stand-in fleet reconciles Nodes with machines, also when the API server fails. */
import { describe, expect, test } from 'vitest';
import { simulatedTime } from './simulated-time.ts';
import type { ApiServer } from '../src/api-server.ts';
import { startFleet } from '../src/fleet.ts';
import { keepNodes } from '../src/nodes.ts';
import { cpus, FleetCluster } from './fleet-cluster.ts';

interface NodeLike {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
}

/** An API server that keeps Nodes, counts calls and can be away. */
class NodeServer implements ApiServer {
  readonly nodes = new Map<string, unknown>();
  readonly calls: string[] = [];
  readonly leases = new Set<string>();
  away = false;

  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    this.calls.push(`${method} ${path}`);
    if (this.away) return Promise.reject(new Error('connection refused'));
    const answer = (status: number, answered: unknown = {}) =>
      Promise.resolve({ status, body: answered });
    const name = path.split('/')[4] ?? '';
    if (path.includes('/leases/')) return answer(this.leases.size > 0 ? 200 : 404);
    if (method === 'GET') {
      return answer(200, {
        items: [...this.nodes.keys()].map((key) => ({ metadata: { name: key } })),
      });
    }
    if (method === 'DELETE') return answer(this.nodes.delete(name) ? 200 : 404);
    if (method === 'PATCH') return answer(200);
    const node = body as NodeLike;
    this.nodes.set(node.metadata.name, node);
    return answer(201);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const connect = async (api = new NodeServer()) => {
  const time = simulatedTime();
  const keeper = keepNodes({ api, time, log: () => {} });
  const script = startFleet({
    time,
    seedMachines: 24,
    seed: 'test',
    observe: (before, after) => keeper.observe(before, after),
  });
  keeper.begin(script.shard.inventory.values());
  const cluster = new FleetCluster(script, 'prod').hello();
  await time.advance(0);
  return { time, api, script, cluster };
};

describe('fleet node', () => {
  test('exists while its machine runs or drains, with the labels that identify it', async () => {
    const { time, api, script, cluster } = await connect();
    script.setTiming({ drainingMs: 5000 });
    cluster.wants(cpus(1));
    await time.advance(5000);
    const [id = ''] = cluster.machinesIn('CONFIGURED');
    expect(api.nodes.get(id)).toMatchObject({
      metadata: {
        name: id,
        labels: {
          'bigfleet.lucy.sh/machine-id': id,
          'node.kubernetes.io/instance-type': expect.any(String),
        },
      },
      spec: { providerID: expect.stringMatching(`/host-${id}$`) },
      status: {
        allocatable: script.machine(id).kind.resources,
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
    cluster.wants();
    await time.advance(2000);
    expect(cluster.machinesIn('DRAINING')).toEqual([id]);
    expect([...api.nodes.keys()]).toEqual([id]);
    await time.advance(10_000);
    expect(api.nodes.size).toBe(0);
  });

  test('stays when its machine fails, and is deleted when that is repaired', async () => {
    const { time, api, script } = await connect();
    script.place('m-000001', { state: 'CONFIGURED', cluster: 'prod' });
    script.place('m-000001', { state: 'FAILED' });
    await time.advance(1000);
    expect([...api.nodes.keys()]).toEqual(['m-000001']);
    script.repair('m-000001');
    await time.advance(1000);
    expect(api.nodes.size).toBe(0);
  });

  test('is created once the API server is back', async () => {
    const { time, api, cluster } = await connect();
    api.away = true;
    cluster.wants(cpus(1));
    await time.advance(30_000);
    expect(api.nodes.size).toBe(0);
    api.away = false;
    await time.advance(3000);
    expect([...api.nodes.keys()]).toEqual(cluster.machinesIn('CONFIGURED'));
  });

  test('is not created when its machine has left while the API server was away', async () => {
    const { time, api, cluster } = await connect();
    api.away = true;
    cluster.wants(cpus(1));
    await time.advance(5000);
    cluster.wants();
    await time.advance(20_000);
    api.away = false;
    await time.advance(5000);
    expect(api.nodes.size).toBe(0);
  });

  test('of a machine that left while the fleet was down is deleted at its start', async () => {
    const api = new NodeServer();
    api.nodes.set('m-000009', {});
    const { time } = await connect(api);
    await time.advance(1000);
    expect(api.nodes.size).toBe(0);
  });

  test('gets heartbeats unless kwok renews them', async () => {
    const { time, api, cluster } = await connect();
    cluster.wants(cpus(1));
    await time.advance(60_000);
    const beats = () => api.calls.filter((call) => call.startsWith('PATCH')).length;
    expect(beats()).toBeGreaterThan(2);
    api.leases.add('a');
    const before = beats();
    await time.advance(60_000);
    expect(beats()).toBe(before);
  });
});
