/** Web pages that a browser on this machine shows cannot use the cluster. */
import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { serveCluster } from '../src/http/server.ts';

const served = async (host: string) => {
  const { address, stop } = await serveCluster(
    () => Promise.resolve({ _tag: 'Answer', status: 200, headers: {}, body: {} }),
    { host, port: 0 },
  );
  onTestFinished(stop);
  return address;
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

const NODES = { method: 'GET', path: '/api/v1/nodes' };

test.each(['127.0.0.1', '0.0.0.0'])('names of web sites are refused on %s', async (host) => {
  const { port } = await served(host);
  for (const name of ['evil.example', 'localhost.evil.example', 'x.svc.evil.example']) {
    expect(await ask(port, NODES, { host: `${name}:${port}` }), name).toBe(403);
  }
  for (const name of ['localhost', '127.0.0.1', '[::1]', 'kubernetes.default.svc']) {
    expect(await ask(port, NODES, { host: `${name}:${port}` }), name).toBe(200);
  }
});

test('what a web page may send without asking is refused', async () => {
  const { port } = await served('127.0.0.1');
  const creation = { method: 'POST', path: '/api/v1/namespaces/a/pods', body: '{}' };
  expect(await ask(port, creation, { origin: 'https://evil.example' })).toBe(403);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    expect(await ask(port, creation, { 'content-type': `${type}; charset=utf-8` }), type).toBe(415);
  }
  for (const type of ['application/json', 'application/merge-patch+json']) {
    expect(await ask(port, creation, { 'content-type': type }), type).toBe(200);
  }
});
