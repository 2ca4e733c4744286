/** The fleet's HTTP interface for scripts: JSON in, JSON out. */
import { createServer, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { requestFields, ScriptError } from './request-fields.ts';
import { SCRIPT_ROUTES, type ScriptRoute } from './script-routes.ts';
import type { Script } from './script.ts';
import { type BoundAddress, listenOn } from './sockets.ts';

/** A listening script server. */
export interface ScriptServer {
  readonly address: BoundAddress;
  readonly stop: () => Promise<void>;
}

const BODY_BYTES_MAX = 64 * 1024 * 1024;

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new ScriptError(413, 'The body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const bodyOf = (text: string): unknown => {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    throw new ScriptError(400, 'The body is no JSON');
  }
};

const capture = (route: ScriptRoute, path: string): readonly string[] | undefined => {
  const wanted = route.path.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const captured: string[] = [];
  for (const [index, segment] of wanted.entries()) {
    const actual = given[index] ?? '';
    if (segment === '*') captured.push(decodeURIComponent(actual));
    else if (segment !== actual) return undefined;
  }
  return captured;
};

/** A request as it came over HTTP. */
export interface ScriptCall {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** The body; empty for none. */
  readonly text: string;
}

/** Handles a request and returns the response; throws a `ScriptError` on failure. */
export const answerScript = (script: Script, { method, url, text }: ScriptCall): unknown => {
  const { pathname, searchParams } = new URL(url, 'http://fleet');
  for (const route of SCRIPT_ROUTES) {
    const captured = route.method === method ? capture(route, pathname) : undefined;
    if (captured === undefined) continue;
    const body = requestFields(bodyOf(text));
    return route.answer(script, { captured, query: searchParams, body });
  }
  throw new ScriptError(404, `There is no route "${method} ${pathname}"`);
};

/** Names of this machine, and of a Kubernetes Service; none of them can belong to a web site. */
const isLocalName = (name: string): boolean =>
  isIP(name) !== 0 || !name.includes('.') || /\.svc(\.cluster\.local)?$/.test(name);

/** `[::1]:8773` → `::1`; the requested host without its port. */
const hostIn = (header = ''): string =>
  header.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1').toLowerCase();

/**
 * A web page must not script the fleet: it can neither name another host that resolves here (DNS
 * rebinding) nor send a body that a browser sends without asking.
 */
const assertScripted = ({ headers }: IncomingMessage, { host }: BoundAddress): void => {
  const wanted = hostIn(headers.host);
  if (wanted !== host && !isLocalName(wanted)) {
    throw new ScriptError(403, `The host "${wanted}" is not served here`);
  }
  if (headers.origin !== undefined) throw new ScriptError(403, 'Web pages are not served here');
};

const assertJson = ({ headers }: IncomingMessage, text: string): void => {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (text === '' || type === 'application/json') return;
  throw new ScriptError(415, 'Send the body with "content-type: application/json"');
};

/** Serves a script over HTTP; resolves when it listens. */
export const serveScript = async (script: Script, at: BoundAddress): Promise<ScriptServer> => {
  const server = createServer(async (request, response) => {
    const reply = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(`${JSON.stringify(body)}\n`);
    };
    try {
      assertScripted(request, at);
      const { method = 'GET', url = '/' } = request;
      const text = await textOf(request);
      assertJson(request, text);
      reply(200, answerScript(script, { method, url, text }));
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      reply(cause instanceof ScriptError ? cause.status : 500, { error: message });
    }
  });
  const { address, close } = await listenOn(server, at);
  return {
    address,
    stop: () => {
      const closed = close();
      server.closeAllConnections();
      return closed;
    },
  };
};
