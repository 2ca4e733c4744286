/** Ports for processes that are told where to listen. */
import { randomInt } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';

/**
 * Below the range from which Linux takes ports for outgoing connections: a server that is stopped
 * for a while finds its port still free.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const ATTEMPTS = 100;

const canListen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** A port of the loopback address that nobody listens on now. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await canListen(port)) return port;
  }
  throw new Error(`Cannot find a free port between ${FIRST_PORT} and ${LAST_PORT}`);
};

/** Whether somebody accepts connections there. */
export const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Lets a server listen on a free port of loopback, and gives the port. Called once for each. */
export const listening = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('no port'));
      else resolve(address.port);
    });
  });
