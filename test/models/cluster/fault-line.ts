/**
 * A fault-injecting proxy between an actor and an API server.
 *
 * Promises: requests pass unchanged without a pending order; orders apply to the next requests, one
 * each, first in first out; a request that did not reach the server had no effect. Works for the
 * embedded cluster and a real API server alike.
 */
import { writeFile } from 'node:fs/promises';
import {
  Agent as PlainAgent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { KubeconfigSource } from '../../../src/effects/api-credentials.ts';
import type { SiteAddress } from './site.ts';

/** What happens to one request. */
export type Order =
  /** Answered by the proxy, without effect. */
  | {
    readonly kind: 'refuse';
    readonly status: number;
    readonly message: string;
    readonly headers?: Readonly<Record<string, string>>;
  }
  /** The connection breaks, after or before the request was done. */
  | { readonly kind: 'cut'; readonly done: boolean }
  /** Forwards with another Authorization header. */
  | { readonly kind: 'disguise'; readonly authorization: string }
  /** Forwards after a concurrent change. */
  | { readonly kind: 'after'; readonly act: () => Promise<unknown> }
  /** Forwards with other query parameters. */
  | { readonly kind: 'ask'; readonly query: Readonly<Record<string, string>> };

/** A wire that is up. */
export interface FaultLine {
  readonly source: KubeconfigSource;
  /** Orders for the next requests. */
  readonly order: (...orders: readonly Order[]) => void;
  /** Drops unused orders; returns how many. */
  readonly forget: () => number;
  /** Refuses new connections. */
  readonly disconnect: () => Promise<void>;
  readonly reconnect: () => Promise<void>;
  /** Breaks open connections. */
  readonly cut: () => void;
  /** Resolves when the next answer begins to be sent. */
  readonly nextAnswer: () => Promise<void>;
  /** Ends the answers that are still being sent, in good order. */
  readonly end: () => void;
  /** Answers that the server itself gave. */
  readonly answers: () => number;
  readonly stop: () => Promise<void>;
}

type PassOn = (
  target: string,
  options: { readonly method: string; readonly headers: IncomingHttpHeaders },
  onAnswer: (answer: IncomingMessage) => void,
) => ReturnType<typeof plainRequest>;

/** Sends requests on to the server of a site; `close` ends its connections. */
const carrier = ({ server, authority }: SiteAddress) => {
  const secure = server.startsWith('https:');
  const agent = secure
    ? new SecureAgent({ keepAlive: false, ca: authority })
    : new PlainAgent({ keepAlive: false });
  const passOn: PassOn = (target, options, onAnswer) =>
    secure
      ? secureRequest(`${server}${target}`, { ...options, agent }, onAnswer)
      : plainRequest(`${server}${target}`, { ...options, agent }, onAnswer);
  return { passOn, close: () => agent.destroy() };
};

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('no port'));
      else resolve(address.port);
    });
  });

const refuse = (
  response: ServerResponse,
  { status, message, headers = {} }: Extract<Order, { kind: 'refuse' }>,
): void => {
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code: status };
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

const targetOf = (url: string, order: Order | undefined): string => {
  if (order?.kind !== 'ask') return url;
  const asked = new URL(url, 'http://line');
  for (const [name, value] of Object.entries(order.query)) asked.searchParams.set(name, value);
  return `${asked.pathname}${asked.search}`;
};

const headersOf = (headers: IncomingHttpHeaders, order: Order | undefined): IncomingHttpHeaders =>
  order?.kind === 'disguise' ? { ...headers, authorization: order.authorization } : headers;

const kubeconfigOf = (server: string, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'line', cluster: { server } }],
    users: [{ name: 'line', user: token === '' ? {} : { token } }],
    contexts: [{ name: 'line', context: { cluster: 'line', user: 'line' } }],
    'current-context': 'line',
  });

/** Starts a proxy in front of the site's server; writes its kubeconfig to `directory`. */
export const startFaultLine = async (site: SiteAddress, directory: string): Promise<FaultLine> => {
  const { passOn, close } = carrier(site);
  const sockets = new Set<Socket>();
  const open = new Set<ServerResponse>();
  const looking = new Set<() => void>();
  let orders: readonly Order[] = [];
  let answers = 0;

  const send = (
    incoming: IncomingMessage,
    response: ServerResponse,
    order: Order | undefined,
  ): void => {
    const { method = 'GET', url = '' } = incoming;
    const headers = headersOf(incoming.headers, order);
    const outgoing = passOn(targetOf(url, order), { method, headers }, (answer) => {
      answers += 1;
      if (order?.kind === 'cut') {
        answer.resume();
        answer.once('end', () => response.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
      open.add(response);
      for (const seen of looking) seen();
      looking.clear();
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => {
      open.delete(response);
      outgoing.destroy();
    });
    incoming.pipe(outgoing);
  };
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    const [order, ...rest] = orders;
    orders = rest;
    if (order?.kind === 'refuse') {
      incoming.resume();
      refuse(response, order);
    } else if (order?.kind === 'cut' && !order.done) response.destroy();
    else if (order?.kind === 'after') {
      order.act().then(() => send(incoming, response, order), () => response.destroy());
    } else send(incoming, response, order);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server, 0);
  const path = join(directory, `line-${port}`);
  await writeFile(path, kubeconfigOf(`http://127.0.0.1:${port}`, site.operatorToken));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const disconnect = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      cut();
    });
  return {
    source: { _tag: 'File', path },
    order: (...more) => {
      orders = [...orders, ...more];
    },
    forget: () => {
      const left = orders.length;
      orders = [];
      return left;
    },
    disconnect,
    reconnect: async () => {
      if (!server.listening) await listen(server, port);
    },
    cut,
    nextAnswer: () => new Promise((resolve) => void looking.add(resolve)),
    end: () => {
      for (const response of open) response.end();
    },
    answers: () => answers,
    stop: async () => {
      close();
      if (server.listening) await disconnect();
    },
  };
};
