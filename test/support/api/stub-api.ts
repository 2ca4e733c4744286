/**
 * A scripted API server on a real socket: for dropped watches, slow lists, malformed lines,
 * refusals and half-closed connections that a real one does not produce on demand.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeconfigSource } from '../../../src/effects/api-credentials.ts';
import { listening } from '../../../tools/testbed/ports.ts';

/** The test's response to one request. */
export type Handle = (request: StubRequest, response: ServerResponse) => void;

/** A request as the stub received it. */
export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly socket: Socket;
}

/** The stub with its kubeconfig. */
export interface StubApi {
  readonly source: KubeconfigSource;
  readonly port: number;
  readonly requests: StubRequest[];
  /** Replaces the script. */
  readonly script: (handle: Handle) => void;
  /** Writes the kubeconfig again, with another token. */
  readonly useToken: (token: string) => Promise<void>;
  /** Cuts every connection. */
  readonly cut: () => void;
  readonly stop: () => Promise<void>;
}

/** Answers with JSON. */
export const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

/** Sends one event of a watch and keeps the stream open. */
export const event = (response: ServerResponse, type: string, object: unknown): void => {
  response.write(`${JSON.stringify({ type, object })}\n`);
};

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
};

const kubeconfigText = (port: number, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'stub',
    clusters: [{ name: 'stub', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'stub', user: { token } }],
    contexts: [{ name: 'stub', context: { cluster: 'stub', user: 'stub', namespace: 'here' } }],
  });

/** Starts a stub that answers with `first`. */
export const startStubApi = async (first: Handle): Promise<StubApi> => {
  let handle = first;
  const requests: StubRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    response.on('error', () => {});
    bodyOf(incoming).then((body) => {
      const url = new URL(incoming.url ?? '/', 'http://stub');
      const request = {
        method: incoming.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: incoming.headers,
        body,
        socket: incoming.socket,
      };
      requests.push(request);
      handle(request, response);
    }, () => {});
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listening(server);
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-stub-'));
  const path = join(folder, 'kubeconfig');
  const useToken = (token: string) => writeFile(path, kubeconfigText(port, token));
  await useToken('first');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    source: { _tag: 'File', path },
    port,
    requests,
    script: (next) => {
      handle = next;
    },
    useToken,
    cut,
    stop: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
};
