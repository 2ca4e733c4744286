/** The embedded cluster over sockets: the whole contract again, and connection handling. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { numberAt } from '../../src/domain/json.ts';
import { SERVER_AREAS } from '../contract/areas.ts';
import { contractSuite } from '../contract/suite.ts';
import { type EmbeddedHttp, embeddedHttp } from '../support/api/embedded-http.ts';
import { eventually } from '../support/eventually.ts';

describe('embedded API server over HTTP', () => {
  let site: EmbeddedHttp;
  contractSuite(SERVER_AREAS, {
    open: async () => {
      site = await embeddedHttp({ hasUsers: true });
      return site.contract;
    },
    close: () => site.stop(),
  });
});

describe('embedded API server and its connections', () => {
  let site: EmbeddedHttp;
  const put = (name: string, data: string) =>
    site.contract.request({
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      body: { metadata: { name }, data: { data } },
    });
  const sim = (path: string, body: unknown) =>
    site.contract.request({ method: 'POST', path: `/_sim/${path}`, body });

  beforeAll(async () => {
    site = await embeddedHttp();
  });
  afterAll(() => site.stop());

  const watchesOf = async (resource: string): Promise<number | undefined> => {
    const { body } = await site.contract.request({ method: 'GET', path: '/_sim/state' });
    return numberAt(body, 'resources', resource, 'watches');
  };

  test('a watch delivers each change, and ends with its reader', async () => {
    const watch = await site.contract.watch('/api/v1/configmaps?watch=true');
    await put('told', 'x');
    await eventually(() => watch.lines.length > 0, { what: 'the change is sent' });
    expect(watch.lines.map(({ type }) => type)).toEqual(['ADDED']);
    watch.close();
    await eventually(async () => await watchesOf('configmaps') === 0, {
      what: 'the watch is closed',
    });
  });

  test('a dropped watch is over for its reader', async () => {
    const watch = await site.contract.watch('/api/v1/namespaces?watch=true');
    await sim('watches', { resource: 'namespaces' });
    await eventually(() => watch.isOver(), { what: 'the watch is over' });
  });

  test('a cut connection gives no answer, though the request was processed', async () => {
    await sim('faults', {
      kind: 'cut',
      done: true,
      methods: ['POST'],
      path: '/configmaps',
      times: 1,
    });
    await expect(put('cut', 'x')).rejects.toThrow();
    const { status } = await site.contract.request({
      method: 'GET',
      path: '/api/v1/namespaces/default/configmaps/cut',
    });
    expect(status).toBe(200);
  });

  test('a body that is not JSON is a bad request', async () => {
    const { status, body } = await site.contract.request({
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      body: '{',
    });
    expect([status, body['reason']]).toEqual([400, 'BadRequest']);
  });

  test('a body that is too large is refused', async () => {
    const { status } = await put('large', 'x'.repeat(4 * 1024 * 1024));
    expect(status).toBe(413);
  });

  // Deno's `node:http` accepts all bytes at once, however slowly they are sent.
  test.skipIf('Deno' in globalThis)('a watcher that does not read is cut off', async () => {
    const { hostname, port } = new URL(site.server);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write('GET /api/v1/configmaps?watch=true HTTP/1.1\r\nhost: x\r\n\r\n');
    socket.pause();
    await eventually(async () => await watchesOf('configmaps') === 1, {
      what: 'the watch is open',
    });
    for (let count = 0; count < 40; count += 1) await put(`big-${count}`, 'x'.repeat(900_000));
    expect(await watchesOf('configmaps')).toBe(0);
    socket.destroy();
  });
});
