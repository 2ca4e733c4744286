/**
 * What somebody does who reaches the ports of the operator: the live page, the metrics and the
 * probes, with a browser on a foreign page or with raw sockets.
 */
import { closed, type OwnAttack, someStatus, status } from './attack.ts';
import { type AttackSite, soon } from './site.ts';
import { hold, openVisit, sendRaw, visit } from './visits.ts';

const PAGE = 'the live page is read-only';
const HOSTS = '`--inspect-hosts`';
const TOKEN = '`--inspect-token-file`';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Visits the page with its token. */
const onPage = async (
  { ports, token }: AttackSite,
  paths: readonly string[],
  more: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<readonly number[]> =>
  await Promise.all(
    paths.map((path) =>
      visit({ port: ports.page, path, ...more, headers: { ...bearer(token), ...more.headers } })
    ),
  );

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** `GET path` as raw bytes, with the token, so that clients do not correct it. */
const rawGet = (token: string, more = ''): string =>
  `GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${more}`;

const ACCESS: readonly OwnAttack[] = [
  {
    name: 'A foreign host name that resolves to this machine (DNS rebinding)',
    bound: HOSTS,
    reports: [status(403)],
    play: async (site) => [
      ...await onPage(site, ['/', '/live', '/catalogue.json'], {
        headers: { host: 'evil.example' },
      }),
      ...await onPage(site, ['/'], { headers: { host: 'localhost.evil.example:80' } }),
      ...await onPage(site, ['/'], { headers: { host: '10.1.2.3' } }),
    ],
  },
  {
    name: 'The page without its token',
    bound: TOKEN,
    reports: [status(401)],
    play: async ({ ports: { page: port } }) =>
      await Promise.all(['/', '/live', '/page.js'].map((path) => visit({ port, path }))),
  },
  {
    name: 'A thousand guesses of the token',
    bound: TOKEN,
    reports: [status(401)],
    play: async ({ ports: { page: port } }) => {
      const answers: number[] = [];
      for (let round = 0; round < 20; round += 1) {
        answers.push(
          ...await Promise.all(
            times(50, (index) => visit({ port, headers: bearer(`guess-${round}-${index}`) })),
          ),
        );
      }
      return answers;
    },
  },
  {
    name: 'Malformed authorizations: no scheme, no colon, 8 KiB of base64',
    bound: TOKEN,
    reports: [status(401)],
    play: async ({ ports: { page: port } }) =>
      await Promise.all(
        ['', 'Bearer', 'Basic', 'Basic ====', `Basic ${'QUFB'.repeat(2000)}`, 'Digest x="'].map(
          (authorization) => visit({ port, headers: { authorization } }),
        ),
      ),
  },
  {
    name: 'A web page that writes to the live page',
    bound: PAGE,
    reports: [status(405)],
    play: async (site) =>
      (await Promise.all(
        ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) =>
          onPage(site, ['/', '/live'], { method, headers: { origin: 'http://localhost' } })
        ),
      )).flat(),
  },
];

const PATHS: readonly OwnAttack[] = [
  {
    name: 'Paths out of the page, and names of prototypes',
    bound: 'a closed list of files',
    reports: [status(404)],
    play: async (site) =>
      await onPage(site, [
        '/../../etc/passwd',
        '/%2e%2e/%2e%2e/etc/passwd',
        '/charts/__proto__.svg',
        '/charts/constructor.svg',
        '/charts/..%2fnodeDrain.svg',
        '/page.js%00.html',
        `/${'a'.repeat(4000)}`,
      ]),
  },
  {
    name: 'Addresses that are no URL',
    bound: 'a refused request is no error',
    reports: [status(400)],
    play: async (site) => await onPage(site, ['//', '//[', 'http://[']),
  },
  {
    name: 'Streams of actors that do not exist, with names of 4 KB',
    bound: 'the streams of a peer',
    reports: [status(200)],
    play: async (site) =>
      await onPage(site, [
        '/live?actor=__proto__',
        `/live?actor=${'nodeDrain%2F'.repeat(300)}`,
        '/live?actor=nodeDrain/%00%ff%0a',
      ]),
  },
];

/** Opens more of them than one peer may have; closes them all. */
const openMany = async ({ ports, token }: AttackSite): Promise<readonly number[]> => {
  const visits = await Promise.all(
    times(40, () => openVisit({ port: ports.page, path: '/live', headers: bearer(token) })),
  );
  for (const { leave } of visits) leave();
  return visits.map((one) => one.status);
};

const FLOODS: readonly OwnAttack[] = [
  {
    name: 'Forty streams of one peer, none of them read',
    bound: '16 streams of a peer, 64 in all',
    reports: [someStatus(503)],
    play: openMany,
  },
  {
    name: 'Two hundred connections of one peer that send nothing',
    bound: '64 connections of a peer, 256 in all',
    reports: [closed],
    play: async ({ ports }) => {
      const held = await Promise.all(times(200, () => hold(ports.page, '')));
      await soon(
        'connections beyond the limit to be closed',
        () => held.filter(({ isOpen }) => isOpen()).length <= 64,
      );
      const beyond = held.filter(({ isOpen }) => !isOpen()).map(() => 0);
      for (const { leave } of held) leave();
      return beyond;
    },
  },
  {
    name: 'Sixty headers that arrive byte by byte (slow loris)',
    bound: 'others are served meanwhile',
    reports: [status(200)],
    play: async (site) => {
      const { ports, token } = site;
      const held = await Promise.all(times(60, () => hold(ports.page, 'GET / HTTP/1.1\r\nX-A: ')));
      for (const letter of 'slowly') for (const { write } of held) write(letter);
      const served = await visit({ port: ports.page, headers: bearer(token) });
      for (const { leave } of held) leave();
      return [served];
    },
  },
  {
    name: 'Headers of 100 KB',
    bound: '16 KiB of headers',
    reports: [status(431)],
    play: async ({ ports, token }) =>
      await Promise.all(
        [ports.page, ports.metrics, ports.health].map((port) =>
          sendRaw(port, rawGet(token, `X-A: ${'a'.repeat(100_000)}\r\n\r\n`))
        ),
      ),
  },
  {
    name: 'Two lengths of one body (request smuggling)',
    bound: 'strict HTTP/1.1',
    reports: [status(400)],
    play: async ({ ports, token }) =>
      await Promise.all([ports.page, ports.metrics, ports.health].map((port) =>
        sendRaw(
          port,
          rawGet(token, 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / X'),
        )
      )),
  },
  {
    name: 'HTTP/2, TLS and random bytes in place of HTTP/1.1',
    bound: 'strict HTTP/1.1',
    reports: [status(400)],
    play: async ({ ports }) =>
      await Promise.all([ports.page, ports.metrics, ports.health].flatMap((port) => [
        sendRaw(port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
        sendRaw(port, Uint8Array.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])),
        sendRaw(port, Uint8Array.from({ length: 512 }, (_, index) => (index * 37) % 256)),
      ])),
  },
];

const PORTS: readonly OwnAttack[] = [
  {
    name: 'Writes to the metrics and the probes',
    bound: 'GET and HEAD',
    reports: [status(405)],
    play: async ({ ports }) =>
      await Promise.all([
        visit({ port: ports.metrics, path: '/metrics', method: 'POST', body: 'x'.repeat(10_000) }),
        visit({ port: ports.health, path: '/healthz', method: 'DELETE' }),
        visit({ port: ports.health, path: '/readyz', method: 'PUT' }),
      ]),
  },
  {
    name: 'Other paths of the metrics and the probes',
    bound: 'a closed list of paths',
    reports: [status(404)],
    play: async ({ ports }) =>
      await Promise.all([
        visit({ port: ports.metrics, path: '/debug/pprof' }),
        visit({ port: ports.metrics, path: '/__proto__' }),
        visit({ port: ports.health, path: '/constructor' }),
        visit({ port: ports.health, path: '/healthz/../metrics' }),
      ]),
  },
  {
    name: 'Sixty scrapes of the metrics at once',
    bound: '2,000 series of a metric',
    reports: [status(200)],
    play: async ({ ports }) =>
      await Promise.all(times(60, () => visit({ port: ports.metrics, path: '/metrics' }))),
  },
];

export const VISITOR_ATTACKS: readonly OwnAttack[] = [...ACCESS, ...PATHS, ...FLOODS, ...PORTS];
