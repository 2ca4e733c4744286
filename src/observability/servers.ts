/**
 * The HTTP servers for metrics and probes.
 *
 * Promises: equal addresses share one server; an unavailable address is one clear error at the
 * start; closing does not wait for clients, because a scraper keeps its connection open.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import process from 'node:process';
import { type HealthChecks, runChecks } from './health.ts';
import type { Metrics } from './metrics.ts';

/** Not imported: an import reads every export, and so loads fetch and web sockets (13 MiB). */
const { createServer } = process.getBuiltinModule('node:http');

/** A listen address; an empty host means all interfaces. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The content of each address. */
export interface ServerOptions {
  /** Undefined: no metrics. */
  readonly metricsAddress: Address | undefined;
  /** Undefined: no probes. */
  readonly healthAddress: Address | undefined;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly health: HealthChecks;
}

/** Running servers. */
export interface Servers {
  /** The bound addresses, with the port that the system chose for port 0. */
  readonly metricsAddress: Address | undefined;
  readonly healthAddress: Address | undefined;
  readonly close: () => Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

type Route = (verbose: boolean) => Promise<Answer> | Answer;
type Routes = Readonly<Record<string, Route>>;

const plain = (status: number, body: string): Answer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body,
});

const metricsRoutes = (metrics: ServerOptions['metrics']): Routes => ({
  '/metrics': async () => ({
    status: 200,
    contentType: metrics.contentType,
    body: await metrics.text(),
  }),
});

const probe = (name: string, checks: HealthChecks['live']): Route => (verbose) => {
  const verdict = runChecks(name, checks, verbose);
  return plain(verdict.holds ? 200 : 503, verdict.text);
};

const healthRoutes = (health: HealthChecks): Routes => ({
  '/healthz': probe('healthz', health.live),
  '/livez': probe('livez', health.live),
  '/readyz': probe('readyz', health.ready),
});

const answer = async (routes: Routes, request: IncomingMessage): Promise<Answer> => {
  const path = request.url ?? '/';
  if (!URL.canParse(path, 'http://localhost')) return plain(400, 'Bad request\n');
  const url = new URL(path, 'http://localhost');
  const route = Object.hasOwn(routes, url.pathname) ? routes[url.pathname] : undefined;
  if (route === undefined) return plain(404, `Try ${Object.keys(routes).join(', ')}\n`);
  if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'Use GET\n');
  return await route(url.searchParams.has('verbose'));
};

const respond = async (
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { status, contentType, body } = await answer(routes, request)
    .catch((error: unknown) => plain(500, `Cannot answer: ${String(error)}\n`));
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
};

/** The time limit of a slow or silent client. */
const CLIENT_TIMEOUT_MS = 10_000;

const listen = (routes: Routes, address: Address): Promise<Server> => {
  const server = createServer((request, response) => void respond(routes, request, response));
  server.headersTimeout = CLIENT_TIMEOUT_MS;
  server.requestTimeout = CLIENT_TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const where = `${address.host}:${address.port}`;
      const what = Object.keys(routes).join(', ');
      reject(new Error(`Cannot listen on "${where}" for ${what}: ${error.message}`));
    });
    server.listen(
      { port: address.port, ...(address.host === '' ? {} : { host: address.host }) },
      () => resolve(server),
    );
  });
};

const boundAddress = (server: Server, asked: Address): Address => {
  const bound = server.address();
  return {
    host: asked.host,
    port: typeof bound === 'object' && bound !== null ? bound.port : asked.port,
  };
};

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

const sameAddress = (left: Address, right: Address): boolean =>
  left.host === right.host && left.port === right.port && left.port !== 0;

/** Starts the servers; fails when an address is not available, and leaves none behind. */
export const startServers = async (options: ServerOptions): Promise<Servers> => {
  const { metricsAddress, healthAddress } = options;
  const forMetrics = metricsRoutes(options.metrics);
  const forHealth = healthRoutes(options.health);
  if (
    metricsAddress !== undefined && healthAddress !== undefined &&
    sameAddress(metricsAddress, healthAddress)
  ) {
    const server = await listen({ ...forMetrics, ...forHealth }, healthAddress);
    return { metricsAddress, healthAddress, close: () => close(server) };
  }
  const health = healthAddress && await listen(forHealth, healthAddress);
  const metrics = metricsAddress &&
    await listen(forMetrics, metricsAddress).catch(async (error: unknown) => {
      if (health !== undefined) await close(health);
      throw error;
    });
  return {
    metricsAddress: metrics && metricsAddress && boundAddress(metrics, metricsAddress),
    healthAddress: health && healthAddress && boundAddress(health, healthAddress),
    close: async () => {
      await Promise.all([metrics, health].map((server) => server && close(server)));
    },
  };
};
