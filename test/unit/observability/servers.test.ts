/** Probes and metrics over real HTTP on free ports. */
import { afterEach, expect, test } from 'vitest';
import type { Check } from '../../../src/observability/health.ts';
import { makeMetrics } from '../../../src/observability/metrics.ts';
import {
  type ServerOptions,
  type Servers,
  startServers,
} from '../../../src/observability/servers.ts';
import { freePort } from '../../../tools/testbed/ports.ts';

const local = { host: '127.0.0.1', port: 0 };
const good: Check = { name: 'caches', failing: () => undefined };
const bad: Check = { name: 'leadership', failing: () => 'no answer from the API server yet' };

const open: Servers[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((servers) => servers.close()));
});

const start = async (options: Partial<ServerOptions>): Promise<Servers> => {
  const servers = await startServers({
    metricsAddress: undefined,
    healthAddress: local,
    metrics: makeMetrics(),
    health: { live: [], ready: [] },
    ...options,
  });
  open.push(servers);
  return servers;
};

const get = async (address: { readonly port: number } | undefined, path: string) => {
  const response = await fetch(`http://127.0.0.1:${address?.port}${path}`);
  return { status: response.status, text: await response.text() };
};

test('readyz names the check that is not ready and why', async () => {
  const servers = await start({ health: { live: [], ready: [good, bad] } });
  expect(await get(servers.healthAddress, '/readyz')).toEqual({
    status: 503,
    text: '[+] caches\n[-] leadership: no answer from the API server yet\nreadyz failed\n',
  });
});

test('readyz is ok when every check holds, and lists them when asked', async () => {
  const servers = await start({ health: { live: [], ready: [good] } });
  expect(await get(servers.healthAddress, '/readyz')).toEqual({ status: 200, text: 'ok\n' });
  expect(await get(servers.healthAddress, '/readyz?verbose')).toEqual({
    status: 200,
    text: '[+] caches\nreadyz passed\n',
  });
});

test('a notice that fails is shown, and fails no probe', async () => {
  const notice: Check = { name: 'shard', failing: () => 'out of reach', isNotice: true };
  const servers = await start({ health: { live: [], ready: [good, notice] } });
  expect(await get(servers.healthAddress, '/readyz')).toEqual({ status: 200, text: 'ok\n' });
  expect(await get(servers.healthAddress, '/readyz?verbose')).toEqual({
    status: 200,
    text: '[+] caches\n[!] shard: out of reach\nreadyz passed\n',
  });
});

test('healthz fails when a root actor has crashed', async () => {
  const crashed: Check = { name: 'session', failing: () => 'the actor crashed' };
  const servers = await start({ health: { live: [crashed], ready: [] } });
  expect((await get(servers.healthAddress, '/healthz')).status).toBe(503);
  expect((await get(servers.healthAddress, '/livez')).status).toBe(503);
});

test('a check that throws counts as failed', async () => {
  const broken: Check = {
    name: 'caches',
    failing: () => {
      throw new Error('no cache');
    },
  };
  const servers = await start({ health: { live: [], ready: [broken] } });
  expect((await get(servers.healthAddress, '/readyz')).text).toContain('Check failed: no cache');
});

test('--metrics-addr 0 keeps the probes', async () => {
  const servers = await start({ metricsAddress: undefined });
  expect(servers.metricsAddress).toBeUndefined();
  expect((await get(servers.healthAddress, '/healthz')).status).toBe(200);
  expect((await get(servers.healthAddress, '/metrics')).status).toBe(404);
});

test('metrics and probes at different addresses are separate', async () => {
  const servers = await start({ metricsAddress: local });
  const metrics = await get(servers.metricsAddress, '/metrics');
  expect(metrics.status).toBe(200);
  expect(metrics.text).toContain('# TYPE bigfleet_operator_acknowledged_total counter');
  expect((await get(servers.metricsAddress, '/readyz')).status).toBe(404);
});

test('metrics and probes at one address share a server', async () => {
  const address = { host: '127.0.0.1', port: await freePort() };
  const servers = await start({ metricsAddress: address, healthAddress: address });
  expect((await get(servers.metricsAddress, '/metrics')).status).toBe(200);
  expect((await get(servers.healthAddress, '/healthz')).status).toBe(200);
});

test('an address in use is one clear error and leaves no server behind', async () => {
  const first = await start({});
  const taken = { host: '127.0.0.1', port: first.healthAddress?.port ?? 0 };
  await expect(start({ metricsAddress: taken })).rejects.toThrow(
    `Cannot listen on "127.0.0.1:${taken.port}" for /metrics: `,
  );
});

test('servers close at once although a scraper keeps its connection', async () => {
  const servers = await start({ metricsAddress: local });
  await get(servers.metricsAddress, '/metrics');
  await servers.close();
  await expect(get(servers.metricsAddress, '/metrics')).rejects.toThrow();
});

test('other methods than GET are refused', async () => {
  const servers = await start({});
  const url = `http://127.0.0.1:${servers.healthAddress?.port}/healthz`;
  const response = await fetch(url, { method: 'POST', body: 'x' });
  expect(response.status).toBe(405);
  await response.text();
});
