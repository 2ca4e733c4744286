/** The client of a kubeconfig: how often it connects, and over plain HTTP. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, onTestFinished, test, vi } from 'vitest';
import { clientOf } from '../../../packages/interceptor/client-node.ts';
import { newAuthority } from '../../support/processes/certificates.ts';

/** Listens until the test ends; its port. */
const listen = async (
  server: Pick<Server, 'address' | 'close' | 'closeAllConnections' | 'listen'>,
) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' ? address?.port ?? 0 : 0;
};

const answer: RequestListener = ({ headers, url }, response) =>
  void response.end(JSON.stringify({ url, authorization: headers.authorization }));

interface Access {
  readonly server: string;
  readonly user?: Readonly<Record<string, string>>;
  readonly authority?: string;
}

const configOf = ({ server, user = {}, authority }: Access): KubeConfig => {
  const config = new KubeConfig();
  const trust = authority === undefined
    ? {}
    : { 'certificate-authority-data': Buffer.from(authority).toString('base64') };
  config.loadFromString(JSON.stringify({
    'current-context': 'a',
    clusters: [{ name: 'a', cluster: { server, ...trust } }],
    users: [{ name: 'a', user }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  }));
  return config;
};

const TLS = { alternativeNames: ['IP:127.0.0.1'] };

test('requests share a dispatcher until certificates change; the old one is closed', async () => {
  const authority = newAuthority();
  const { certificate, key } = authority.issue({ commonName: 'api', ...TLS });
  const server = createTlsServer({ cert: certificate, key }, answer);
  const closed: Promise<unknown>[] = [];
  server.on('secureConnection', (socket) => closed.push(once(socket, 'close')));
  const port = await listen(server);
  const access = { server: `https://127.0.0.1:${port}`, user: { token: 'first' } };
  const config = configOf({ ...access, authority: authority.certificate });
  const made = vi.spyOn(config, 'applySecurityAuthentication');
  const { request } = clientOf(config);
  const ask = async () => (await request({ method: 'GET', path: '/version' })).body;
  for (const token of ['first', 'second', 'third']) {
    config.users = config.users.map((user) => ({ ...user, token }));
    expect(await ask()).toEqual({ url: '/version', authorization: `Bearer ${token}` });
  }
  expect(made).toHaveBeenCalledTimes(1);
  const before = [...closed];
  const both = `${authority.certificate}\n${newAuthority().certificate}`;
  config.clusters = configOf({ ...access, authority: both }).clusters;
  await ask();
  await Promise.all(before);
  await ask();
  expect(made).toHaveBeenCalledTimes(2);
});

test('requests at once share a dispatcher, and none of them fails', async () => {
  const authority = newAuthority();
  const { certificate, key } = authority.issue({ commonName: 'api', ...TLS });
  const server = createTlsServer({ cert: certificate, key }, answer);
  const port = await listen(server);
  const config = configOf({
    server: `https://127.0.0.1:${port}`,
    authority: authority.certificate,
  });
  const { request } = clientOf(config);
  const paths = ['/a', '/b', '/c', '/d'];
  const answers = await Promise.all(paths.map((path) => request({ method: 'GET', path })));
  expect(answers.map(({ body }) => body)).toEqual(paths.map((url) => ({ url })));
});

test('a server of plain HTTP needs no flag in the kubeconfig', async () => {
  const port = await listen(createServer(answer));
  const user = { username: 'admin', password: 'secret' };
  const { request } = clientOf(configOf({ server: `http://127.0.0.1:${port}`, user }));
  expect((await request({ method: 'GET', path: '/version' })).body).toEqual({
    url: '/version',
    authorization: `Basic ${Buffer.from('admin:secret').toString('base64')}`,
  });
});
