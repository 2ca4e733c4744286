/** A TCP proxy before the fleet that counts who dials. */
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listening } from '../../../tools/testbed/ports.ts';

/** The way through it. */
export interface DialCounter {
  /** `host:port` for `--shard-addr`. */
  readonly address: string;
  readonly port: number;
  /** Connections made so far, whatever their outcome. */
  readonly dials: () => number;
}

/** Counts dials of the server on `target`, a port of this machine. Ends with its test. */
export const countDials = async (target: number): Promise<DialCounter> => {
  const sockets = new Set<Socket>();
  let dials = 0;
  const joined = (from: Socket, to: Socket): void => {
    sockets.add(from);
    // A connection that breaks also closes, and then so does the other half.
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    from.pipe(to);
  };
  const server = createServer((near) => {
    dials += 1;
    const far = connect(target, '127.0.0.1');
    joined(near, far);
    joined(far, near);
  });
  const port = await listening(server);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { address: `localhost:${port}`, port, dials: () => dials };
};
