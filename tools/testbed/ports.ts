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

/**
 * Where a port is kept for whoever it was given to: another address of loopback, so that the port
 * itself stays free. The kernel gives it back when the process ends, however it ends.
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
 * Keeps `port` for this process until it ends. `false` when another has it. Where loopback has one
 * address only, as on macOS, nobody can keep a port.
 */
const kept = async (port: number): Promise<boolean> => {
  const server = await listen(port, KEEPER);
  if (typeof server === 'string') return server !== 'EADDRINUSE';
  server.unref();
  return true;
};

/**
 * A port of loopback that nobody listens on, and that is given to nobody else while this process
 * runs: ports are given before they are used, and two test beds would be told the same one day.
 */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    // Kept first: looking whether one can listen takes the port itself for a moment.
    if (await kept(port) && await canListen(port)) return port;
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
