/**
 * The embedded API server over HTTP, for kubectl, other processes and scripts.
 *
 * Promises: bodies are JSON, or protobuf as Go clients send it; responses are JSON, and watches
 * send one line per change; a fault that cuts a connection resets the socket, and so does a watcher
 * that reads too slowly; nothing is sent after `stop`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { isIP } from 'node:net';
import { REPEATED_HEADER } from '../authentication/impersonation.ts';
import { parseJson } from '../values/json.ts';
import {
  type ClusterAnswer,
  type ClusterRequest,
  type ClusterResponse,
  type ClusterWatch,
  ConnectionCut,
} from '../api.ts';
import {
  ApiProblem,
  badRequest,
  internalError,
  unsupportedMediaType,
} from '../validation/problem.ts';
import type { ServerCertificate } from './certificates.ts';
import { peerOf } from './peers.ts';
import { PROTOBUF } from './protobuf-bodies.ts';
import { answerOf } from './requests.ts';

/** Handles requests: a cluster's `handle`, or a wrapper of it. */
export type Handle = (request: ClusterRequest) => Promise<ClusterResponse>;

/** Listening options. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/** A listening server. */
export interface HttpCluster {
  readonly address: BoundAddress;
  readonly stop: () => Promise<void>;
}

/** After a shorter time a process that stood still closed connections with requests on them. */
const KEEP_ALIVE_MS = 90_000;
const BODY_BYTES_MAX = 3 * 1024 * 1024;
/** A watcher with more unread data is disconnected, as the real server does. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;

/** What is too large is read to its end, too: the next request comes on the same connection. */
const bytesOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes: Uint8Array = chunk;
    length += bytes.length;
    if (length <= BODY_BYTES_MAX) chunks.push(bytes);
  }
  if (length <= BODY_BYTES_MAX) return Buffer.concat(chunks);
  throw new ApiProblem({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: limit is ${BODY_BYTES_MAX}`,
  });
};

/** Values of a header that is sent several times, unjoined. */
const valuesOf = (rawHeaders: readonly string[], wanted: string): readonly string[] =>
  rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === wanted);

const headersOf = ({ headers, rawHeaders }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      REPEATED_HEADER.test(name)
        ? valuesOf(rawHeaders, name).join('\n')
        : [value].flat().join(', '),
    ]),
  );

/** Names of this machine, and of a Kubernetes Service; none of them can belong to a web site. */
const isLocalName = (name: string): boolean =>
  isIP(name) !== 0 || !name.includes('.') || /\.svc(\.cluster\.local)?$/.test(name);

/** `[::1]:8773` → `::1`; the requested host without its port. */
const hostIn = (header = ''): string =>
  header.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1').toLowerCase();

/** Bodies that a browser sends to any server without asking. */
const BROWSER_TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'];

const forbidden = (message: string): ApiProblem =>
  new ApiProblem({ code: 403, reason: 'Forbidden', message });

/** A web page must not use the cluster, which has no other authentication. */
const assertNoWebPage = ({ headers }: IncomingMessage, { host }: BoundAddress): void => {
  const wanted = hostIn(headers.host);
  if (wanted !== host && !isLocalName(wanted)) {
    throw forbidden(`the host "${wanted}" is not served here`);
  }
  if (headers.origin !== undefined) throw forbidden('web pages are not served here');
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!BROWSER_TYPES.includes(type)) return;
  throw unsupportedMediaType(`the body is "${type}"; send "application/json"`);
};

const bodyOf = ({ headers }: IncomingMessage, bytes: Buffer): unknown => {
  if (bytes.length === 0) return undefined;
  const type = headers['content-type'] ?? 'application/json';
  if (type.startsWith(PROTOBUF)) return bytes;
  const text = bytes.toString('utf8');
  const body = parseJson(text);
  // An applied configuration may be YAML, of which only JSON is read.
  if (!type.includes('json')) return body ?? text;
  if (body === undefined) {
    throw badRequest('the object provided is unrecognized: the body is no JSON');
  }
  return body;
};

const requestOf = async (request: IncomingMessage): Promise<ClusterRequest> => {
  const body = bodyOf(request, await bytesOf(request));
  return {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: headersOf(request),
    peer: peerOf(request),
    ...(body === undefined ? {} : { body }),
  };
};

const reply = (response: ServerResponse, { status, headers, body }: ClusterAnswer): void => {
  const text = typeof body === 'string' ? body : `${JSON.stringify(body)}\n`;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) });
  response.end(text);
};

const stream = (response: ServerResponse, watch: ClusterWatch): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  let unread = 0;
  const close = watch.open({
    lines: (lines) => {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      unread += text.length;
      response.write(text, () => {
        unread -= text.length;
      });
      if (unread > UNREAD_BYTES_MAX) response.destroy();
    },
    ended: () => response.end(),
    cut: () => response.destroy(),
  });
  response.once('close', close);
};

const serve = async (
  handle: Handle,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const answer = await handle(await requestOf(request));
  if (response.destroyed) return;
  if (answer._tag === 'Watch') stream(response, answer);
  else reply(response, answer);
};

/** TLS of a server. */
export interface ServerTls extends ServerCertificate {
  /** Authorities in PEM whose client certificates prove who a user is. */
  readonly clientAuthority?: string;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const serverOf = (listener: Listener, tls: ServerTls | undefined): Server => {
  if (tls === undefined) return createServer(listener);
  const { certificate: cert, key, clientAuthority: ca } = tls;
  // Clients may come without a certificate, so an unknown one is refused by its request.
  const clients = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: false };
  return createSecureServer({ cert, key, ...clients }, listener);
};

/** What serves: an address, and TLS if it has any. */
export interface ServingOptions extends BoundAddress {
  readonly tls?: ServerTls;
}

/**
 * Starts listening: port 0 picks a free one, an empty host means all addresses. Resolves when
 * requests are accepted.
 */
export const serveCluster = (
  handle: Handle,
  { host, port, tls }: ServingOptions,
): Promise<HttpCluster> => {
  const served = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    assertNoWebPage(request, { host, port });
    await serve(handle, request, response);
  };
  const server = serverOf((request, response) => {
    served(request, response).catch((cause: unknown) => {
      if (cause instanceof ConnectionCut || response.headersSent) {
        response.destroy();
        return;
      }
      const problem = cause instanceof ApiProblem ? cause : internalError(String(cause));
      reply(response, answerOf(problem.code, problem.status));
    });
  }, tls);
  server.requestTimeout = 0;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host === '' ? '::' : host, () => {
      server.off('error', reject);
      const bound = server.address();
      resolve({
        address: { host, port: typeof bound === 'object' && bound !== null ? bound.port : port },
        stop: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
};
