/** Listening and stopping to. */
import type { Server } from 'node:net';

/** Where a server listens. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/** A bound server. */
export interface BoundServer {
  readonly address: BoundAddress;
  /** Takes no more connections; resolves when the last one is gone. */
  readonly close: () => Promise<void>;
}

/** Binds a server; port 0 takes a free one. */
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
