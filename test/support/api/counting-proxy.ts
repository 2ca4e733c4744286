/**
 * A proxy in front of an API server without TLS that counts requests.
 *
 * Promises: requests pass unchanged; a watch is counted once, when it begins.
 */
import { createServer, request as forward } from 'node:http';
import { listening } from '../../../tools/testbed/ports.ts';

/** A running proxy. */
export interface CountingProxy {
  /** `http://HOST:PORT`. */
  readonly url: string;
  /** Method and target of each request, oldest first. */
  readonly requests: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** Starts it in front of `target`. */
export const startCountingProxy = async (
  target: { readonly host: string; readonly port: number },
): Promise<CountingProxy> => {
  const requests: string[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push(`${incoming.method ?? ''} ${incoming.url ?? ''}`);
    const { host, port } = target;
    const { method, url: path, headers } = incoming;
    const sent = forward({ host, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    sent.on('error', () => outgoing.destroy());
    outgoing.on('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
