/**
 * An HTTP proxy in front of the embedded cluster that answers chosen requests itself.
 *
 * Promises: other requests pass unchanged; `cut` ends every connection, watches included.
 */
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as forward,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { listening } from '../../tools/testbed/ports.ts';

/** Which requests are answered here, and how often. */
export interface Forgery {
  readonly matches: (request: IncomingMessage) => boolean;
  readonly answer: (response: ServerResponse) => void;
  /** Default: until it is lifted. */
  readonly times?: number;
}

/** A forgery that was set. */
export interface SetForgery {
  readonly lift: () => void;
  /** How many requests it has answered. */
  readonly answered: () => number;
}

/** A running proxy. */
export interface ApiProxy {
  readonly port: number;
  readonly forge: (forgery: Forgery) => SetForgery;
  readonly cut: () => void;
  /** Lifts every forgery. */
  readonly clear: () => void;
  readonly stop: () => Promise<void>;
}

const BAD_GATEWAY = 502;

/** Starts one in front of `target`, a port of this machine. */
export const startApiProxy = async (target: number): Promise<ApiProxy> => {
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  const forgeries = new Set<{ readonly forgery: Forgery; answered: number }>();

  const pass = (incoming: IncomingMessage, response: ServerResponse): void => {
    const { method, url, headers } = incoming;
    const options = { port: target, host: '127.0.0.1', path: url, method, headers, agent };
    const outgoing = forward(options, (answer) => {
      response.writeHead(answer.statusCode ?? BAD_GATEWAY, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer((incoming, response) => {
    const found = [...forgeries].find(({ forgery, answered }) =>
      answered < (forgery.times ?? Infinity) && forgery.matches(incoming)
    );
    if (found === undefined) return pass(incoming, response);
    found.answered += 1;
    incoming.resume();
    response.on('error', () => {});
    found.forgery.answer(response);
  });
  server.requestTimeout = 0;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listening(server);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    forge: (forgery) => {
      const entry = { forgery, answered: 0 };
      forgeries.add(entry);
      return { lift: () => void forgeries.delete(entry), answered: () => entry.answered };
    },
    cut,
    clear: () => forgeries.clear(),
    stop: async () => {
      const stopped = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      cut();
      agent.destroy();
      await stopped;
    },
  };
};
