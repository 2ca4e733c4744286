/** Web pages that a browser on this machine shows cannot script the fleet. */
import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { simulatedTime } from './simulated-time.ts';
import { startFleet } from '../src/fleet.ts';
import { serveScript } from '../src/script-server.ts';

const served = async (host: string) => {
  const script = startFleet({ time: simulatedTime(), seedMachines: 1, seed: 'test' });
  const { address, stop } = await serveScript(script, { host, port: 0 });
  onTestFinished(stop);
  return { script, port: address.port };
};

/** Uses `node:http`, because `fetch` sets the host header itself. */
const ask = (
  port: number,
  options: { readonly method: string; readonly path: string; readonly body?: string },
  headers: Readonly<Record<string, string>>,
) =>
  new Promise<number>((resolve, reject) => {
    const { method, path, body } = options;
    const asked = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    asked.on('error', reject);
    asked.end(body);
  });

const STATE = { method: 'GET', path: '/state' };
const CYCLE = { method: 'POST', path: '/cycle' };
const JSON_TYPE = { 'content-type': 'application/json' };

test.each(['127.0.0.1', '0.0.0.0'])('names of web sites are refused on %s', async (host) => {
  const { port } = await served(host);
  for (const name of ['evil.example', 'localhost.evil.example', 'x.svc.evil.example']) {
    expect(await ask(port, STATE, { host: `${name}:${port}` }), name).toBe(403);
  }
  for (const name of ['localhost', '127.0.0.1', '[::1]', 'fleet', 'fleet.ns.svc.cluster.local']) {
    expect(await ask(port, STATE, { host: `${name}:${port}` }), name).toBe(200);
  }
});

test('what a web page may send without asking is refused', async () => {
  const { port } = await served('127.0.0.1');
  expect(await ask(port, CYCLE, { origin: 'https://evil.example' })).toBe(403);
  const faults = { method: 'POST', path: '/faults', body: '{"refuseSessions":true}' };
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    expect(await ask(port, faults, { 'content-type': type }), type).toBe(415);
  }
  expect(await ask(port, faults, {})).toBe(415);
  expect(await ask(port, faults, JSON_TYPE)).toBe(200);
  expect(await ask(port, CYCLE, {})).toBe(200);
});
