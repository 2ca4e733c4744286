/** Binding and closing of servers. */
import type { Server } from 'node:net';

/** A listen address. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/** A bound server. */
export interface BoundServer {
  readonly address: BoundAddress;
  /** Accepts no more connections; resolves when the last one has closed. */
  readonly close: () => Promise<void>;
}

/** Binds a server; port 0 picks a free one. */
export const listenOn = (
  server: Pick<Server, 'listen' | 'once' | 'off' | 'address' | 'close'>,
  { host, port }: BoundAddress,
): Promise<BoundServer> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host === '' ? '::' : host, () => {
      server.off('error', reject);
      const bound = server.address();
      resolve({
        address: { host, port: typeof bound === 'object' && bound !== null ? bound.port : port },
        close: () =>
          new Promise((done) => {
            server.close(() => done());
          }),
      });
    });
  });
