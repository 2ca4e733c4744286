/**
 * A TCP door in front of a server, which a test opens, closes, or turns into something hostile.
 *
 * Promises: every connection of either side ends with `stop`.
 */
import { connect, createServer, type Socket } from 'node:net';
import { listening } from '../../tools/testbed/ports.ts';

/** What becomes of new connections. */
export type FrontMode =
  | { readonly _tag: 'Pass' }
  /** Closed at once. */
  | { readonly _tag: 'Refuse' }
  /** Accepted, and never answered. */
  | { readonly _tag: 'Swallow' }
  /** Led to another server of this machine. */
  | { readonly _tag: 'Divert'; readonly port: number }
  /** Answered with these bytes, then closed. */
  | { readonly _tag: 'Say'; readonly bytes: Uint8Array };

/** A running door. */
export interface TcpFront {
  readonly port: number;
  readonly set: (mode: FrontMode) => void;
  /** Ends the connections that stand. */
  readonly cut: () => void;
  /** Sends these bytes to the clients between those of the server. */
  readonly inject: (bytes: Uint8Array) => void;
  /** Connections so far. */
  readonly accepted: () => number;
  readonly stop: () => Promise<void>;
}

/** Opens a door to `target`, a port of this machine. */
export const openFront = async (target: number): Promise<TcpFront> => {
  const sockets = new Set<Socket>();
  const nears = new Set<Socket>();
  let mode: FrontMode = { _tag: 'Pass' };
  let accepted = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((given) => {
    accepted += 1;
    const near = keep(given);
    if (mode._tag === 'Refuse') near.destroy();
    if (mode._tag === 'Say') near.end(mode.bytes);
    if (mode._tag !== 'Pass' && mode._tag !== 'Divert') return;
    const far = keep(connect(mode._tag === 'Pass' ? target : mode.port, '127.0.0.1'));
    nears.add(near);
    near.on('close', () => nears.delete(near));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  const port = await listening(server);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    set: (next) => {
      mode = next;
    },
    cut,
    inject: (bytes) => {
      for (const near of nears) near.write(bytes);
    },
    accepted: () => accepted,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
};
