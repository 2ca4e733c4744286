/**
 * What whoever stands between the operator and its peers does, or an API server or a proxy with a
 * bug.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { textAt } from '../../src/domain/json.ts';
import { listening } from '../../tools/testbed/ports.ts';
import { newAuthority } from '../support/processes/certificates.ts';
import { counter, type CounterReport, log, type OwnAttack } from './attack.ts';
import { HostileShard } from './hostile-shard.ts';
import { type AttackSite, nodeNamed, PATHS, requestNamed, soon } from './site.ts';

const MIB = 1024 * 1024;
const PODS = '/api/v1/pods';
const OK = 200;

type Answer = (response: ServerResponse) => void;
type Matches = (request: IncomingMessage) => boolean;

const isPodList: Matches = ({ url = '' }) => url.startsWith(PODS) && !url.includes('watch=');
const isPodWatch: Matches = ({ url = '' }) => url.startsWith(PODS) && url.includes('watch=');
const isLease: Matches = ({ url = '' }) => url.includes('/leases/tidegate-operator');
const isRenewal: Matches = (request) =>
  isLease(request) && request.method !== 'GET' && request.method !== undefined;

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer => (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

/** Answers such requests, `times` of them, after all connections were cut; waits until it did. */
const answering = async (
  { proxy }: AttackSite,
  { matches, answer, times = 1 }: {
    readonly matches: Matches;
    readonly answer: Answer;
    readonly times?: number;
  },
): Promise<void> => {
  const forgery = proxy.forge({ matches, answer, times });
  proxy.cut();
  await soon('the forged answers to be asked for', () => forgery.answered() === times);
};

const expireWatch = ({ proxy }: AttackSite): void => {
  proxy.forge({ matches: isPodWatch, answer: json(410, { message: 'too old' }), times: 1 });
};

/** Such an answer to a list of all pods; a watch that has expired leads to it. */
const listing = (answer: Answer, times = 1) => async (site: AttackSite): Promise<void> => {
  expireWatch(site);
  await answering(site, { matches: isPodList, answer, times });
};

/**
 * Such an answer to every list of all pods until the metric rises: a reader that asks for a newer
 * list gives up the one before, whatever its answer.
 */
const listingUntil = (answer: Answer, metric: CounterReport) => async (site: AttackSite) => {
  const { proxy, operator } = site;
  const read = (): Promise<number> => operator.metric(metric.name, metric.labels);
  const before = await read();
  expireWatch(site);
  const forgery = proxy.forge({ matches: isPodList, answer });
  proxy.cut();
  await soon('the forged list to be read', async () => await read() > before);
  forgery.lift();
};

const UNREADABLE = counter('tidegate_watch_unreadable_total', { resource: 'pods' });
const CANNOT_LIST = log('Cannot list or watch a collection', '"pods"');

const LISTS: readonly OwnAttack[] = [
  {
    name: 'A list that is a web page',
    bound: 'what is no list is a fault',
    reports: [CANNOT_LIST],
    play: listing((response) => {
      response.writeHead(OK, { 'content-type': 'text/html' });
      response.end('<html>log in first</html>');
    }),
  },
  {
    name: 'A list whose continue token never ends',
    bound: 'a token that is repeated is a fault',
    reports: [CANNOT_LIST],
    play: listing(
      json(OK, { metadata: { continue: 'again', resourceVersion: '1' }, items: [] }),
      2,
    ),
  },
  {
    name: 'A page of a list without end',
    bound: '`pageBytes`',
    reports: [counter('tidegate_list_pages_too_large_total', { resource: 'pods' })],
    play: listing((response) => {
      response.writeHead(OK, { 'content-type': 'application/json' });
      const chunk = Buffer.alloc(MIB, ' ');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    }),
  },
  {
    name: 'A list nested 200,000 levels deep',
    bound: 'what is no list is a fault',
    reports: [CANNOT_LIST],
    play: listing((response) => {
      response.writeHead(OK, { 'content-type': 'application/json' });
      response.end(`${'{"items":['.repeat(200_000)}`);
    }),
  },
  {
    name: 'A list of values that are no objects',
    bound: 'what has no identity is left out',
    reports: [UNREADABLE],
    play: listingUntil(
      json(OK, {
        metadata: { resourceVersion: '1' },
        items: [null, 1, 'x', [], {}, { metadata: null }, { metadata: { name: 7 } }],
      }),
      UNREADABLE,
    ),
  },
  {
    name: 'A list that is redirected to another server',
    bound: 'no redirect is followed',
    reports: [CANNOT_LIST],
    play: async (site) => {
      let stolen = 0;
      const thief = createServer((_request, response) => {
        stolen += 1;
        response.end('{}');
      });
      const port = await listening(thief);
      await listing((response) => {
        response.writeHead(302, { location: `http://127.0.0.1:${port}/` });
        response.end();
      })(site);
      await soon(
        'the list to fail',
        () =>
          site.operator.logs().slice(-50).some(({ message }) =>
            message === 'Cannot list or watch a collection'
          ),
      );
      await new Promise((resolve) => thief.close(resolve));
      if (stolen > 0) throw new Error('the token was sent to another server');
    },
  },
];

/** A watch of pods that is answered with this text. */
const watching = (text: string) => (site: AttackSite): Promise<void> =>
  answering(site, {
    matches: isPodWatch,
    answer: (response) => {
      response.writeHead(OK, { 'content-type': 'application/json' });
      response.end(text);
    },
  });

const WATCHES: readonly OwnAttack[] = [
  {
    name: 'A watch line of 40 MB',
    bound: '32 MiB a line',
    reports: [CANNOT_LIST],
    play: watching('x'.repeat(40 * MIB)),
  },
  {
    name: 'A watch that sends no JSON',
    bound: 'a malformed line ends the watch',
    reports: [CANNOT_LIST],
    play: watching('{"type":"ADDED","object":\n<html>\n'),
  },
  {
    name: 'A watch event about nothing',
    bound: 'what has no identity is left out',
    reports: [UNREADABLE],
    play: watching(
      ['null', '{}', '{"metadata":{"name":[]}}'].map((object) =>
        `{"type":"ADDED","object":${object}}\n`
      ).join(''),
    ),
  },
  {
    name: 'Every watch is expired, three times',
    bound: 'a new list, with backoff',
    reports: [counter('tidegate_watch_relists_total')],
    play: (site) =>
      answering(site, {
        matches: ({ url = '' }) => url.includes('watch='),
        answer: json(410, { kind: 'Status', message: 'too old resource version' }),
        times: 30,
      }),
  },
  {
    name: 'Every connection to the API server is cut',
    bound: 'backoff',
    reports: [counter('tidegate_watch_endings_total', { resource: 'nodes' })],
    play: ({ proxy }) => Promise.resolve(proxy.cut()),
  },
];

const rest = (code: string) => counter('rest_client_requests_total', { code });

const WRITES: readonly OwnAttack[] = [
  {
    name: 'Renewals of the Lease that fail five times',
    bound: '`--lease-renew-deadline`',
    reports: [rest('500')],
    play: (site) =>
      answering(site, { matches: isRenewal, answer: json(500, { message: 'no' }), times: 5 }),
  },
  {
    name: 'A renewal whose answer never comes',
    bound: '`--lease-renew-deadline`',
    reports: [counter('tidegate_watch_endings_total')],
    play: (site) => answering(site, { matches: isRenewal, answer: () => {} }),
  },
  {
    name: 'A clock of the API server that shows the year 2099',
    bound: 'the newest answer sets the offset',
    reports: [counter('rest_client_requests_total')],
    play: (site) =>
      answering(site, {
        matches: isRenewal,
        answer: json(500, { message: 'no' }, { date: 'Thu, 01 Jan 2099 00:00:00 GMT' }),
        times: 1,
      }),
  },
  {
    name: 'An acknowledgement that must wait for a billion seconds',
    bound: 'Retry-After counts for a minute, in its class',
    reports: [rest('429')],
    play: async (site) => {
      const forgery = site.proxy.forge({
        matches: ({ method, url = '' }) => method === 'POST' && url.includes('/events'),
        answer: json(429, { message: 'later' }, { 'retry-after': '1000000000' }),
        times: 1,
      });
      site.api.ask(
        'POST',
        PATHS.requests,
        requestNamed(`attack-${site.number()}`, {
          priority: 2 ** 40,
        }),
      );
      await soon('the Event to be refused', () => forgery.answered() === 1);
    },
  },
  {
    name: 'Credentials that are refused twenty times',
    bound: 'they are read again',
    reports: [rest('401')],
    play: (site) =>
      answering(site, {
        matches: ({ url = '' }) => !url.includes('/leases/'),
        answer: json(401, { message: 'Unauthorized' }),
        times: 20,
      }),
  },
  {
    name: 'An eviction that is refused with a message of 2 MB',
    bound: 'messages are cut',
    reports: [counter('tidegate_evictions_total')],
    play: async (site) => {
      const name = `attack-${site.number()}`;
      const { api, shard, proxy } = site;
      api.ask('POST', PATHS.nodes, nodeNamed(name));
      shard.bind(name);
      api.ask('POST', PATHS.pods, {
        metadata: { name },
        spec: { nodeName: name, containers: [{ name: 'main', image: 'image' }] },
      });
      await soon(
        'the machine to be listed',
        () =>
          api.list(PATHS.upcomingNodes).some((one) =>
            textAt(one, 'status', 'nodeRef', 'name') === name
          ),
      );
      const forgery = proxy.forge({
        matches: ({ url = '' }) => url.includes('/eviction'),
        answer: json(403, { reason: 'Forbidden', message: 'no\n\u001b[2J'.repeat(300_000) }),
        times: 1,
      });
      shard.instruct(`order-${name}`, [name]);
      await soon('the eviction to be refused', () => forgery.answered() === 1);
    },
  },
];

const ENDINGS = counter('tidegate_session_endings_total');

/** Cuts the session, and lets the next dial meet this. */
const dialling = (
  mode: Parameters<AttackSite['shardFront']['set']>[0],
) =>
async ({ shardFront }: AttackSite): Promise<void> => {
  const before = shardFront.accepted();
  shardFront.set(mode);
  shardFront.cut();
  await soon('the next dial', () => shardFront.accepted() > before);
  shardFront.set({ _tag: 'Pass' });
  shardFront.cut();
};

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

const SESSIONS: readonly OwnAttack[] = [
  {
    name: 'The session is cut',
    bound: 'backoff',
    reports: [ENDINGS],
    play: dialling({ _tag: 'Pass' }),
  },
  {
    name: 'The shard’s port answers with HTTP/1.1',
    bound: 'TLS 1.3',
    reports: [ENDINGS],
    play: dialling({ _tag: 'Say', bytes: text('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n') }),
  },
  {
    name: 'The shard’s port answers with a megabyte of noise',
    bound: 'TLS 1.3',
    reports: [ENDINGS],
    play: dialling({
      _tag: 'Say',
      bytes: Uint8Array.from({ length: MIB }, (_, index) => (index * 131) & 255),
    }),
  },
  {
    name: 'The shard’s port accepts and says nothing',
    bound: 'the timeout of a dial',
    reports: [ENDINGS],
    play: dialling({ _tag: 'Swallow' }),
  },
  {
    name: 'Bytes between those of the session',
    bound: 'TLS 1.3',
    reports: [ENDINGS],
    play: async ({ shardFront, operator }) => {
      const before = await operator.metric('tidegate_session_endings_total');
      shardFront.inject(text('forged'.repeat(100)));
      await soon(
        'the session to end',
        async () => await operator.metric('tidegate_session_endings_total') > before,
      );
    },
  },
  {
    name: 'A shard with a certificate of another authority',
    bound: '`--tls-ca`',
    reports: [ENDINGS],
    play: async (site) => {
      const authority = newAuthority('impostor');
      const pair = authority.issue({ commonName: 'shard', alternativeNames: ['DNS:localhost'] });
      const impostor = await HostileShard.start({ ...pair, authority: authority.certificate });
      await dialling({ _tag: 'Divert', port: impostor.port })(site);
      const got = impostor.received().length;
      impostor.stop();
      if (got > 0) throw new Error('the operator spoke to an impostor');
    },
  },
];

export const NETWORK_ATTACKS: readonly OwnAttack[] = [
  ...LISTS,
  ...WATCHES,
  ...WRITES,
  ...SESSIONS,
];
