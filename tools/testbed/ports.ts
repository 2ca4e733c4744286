/** Port allocation for child processes. */
import { randomInt } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';

/**
 * Below the range from which Linux takes ports for outgoing connections: a server that is stopped
 * for a while finds its port still free.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const ATTEMPTS = 100;

/**
 * A reservation of a port: the same port on another loopback address, so that the port itself stays
 * free. The kernel releases it when the process ends, however it ends.
 */
const KEEPER = '127.0.0.2';

const listen = (port: number, host: string): Promise<Server | string> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (problem) => resolve('code' in problem ? String(problem.code) : ''));
    server.listen(port, host, () => resolve(server));
  });

const canListen = async (port: number): Promise<boolean> => {
  const server = await listen(port, '127.0.0.1');
  if (typeof server === 'string') return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
};

/**
 * Reserves `port` until this process ends. `false` when it is taken. Where loopback has only one
 * address, as on macOS, reservation is impossible.
 */
const kept = async (port: number): Promise<boolean> => {
  const server = await listen(port, KEEPER);
  if (typeof server === 'string') return server !== 'EADDRINUSE';
  server.unref();
  return true;
};

/**
 * A free loopback port, reserved while this process runs: ports are allocated before they are used,
 * and two test beds would eventually get the same one.
 */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    // Kept first: looking whether one can listen takes the port itself for a moment.
    if (await kept(port) && await canListen(port)) return port;
  }
  throw new Error(`Cannot find a free port between ${FIRST_PORT} and ${LAST_PORT}`);
};

/** Whether a process accepts connections there. */
export const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Binds a server to a free loopback port and returns the port. Called once for each. */
export const listening = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('no port'));
      else resolve(address.port);
    });
  });
