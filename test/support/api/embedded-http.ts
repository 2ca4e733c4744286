/** An embedded cluster behind a socket, as a client sees it. */
import { Agent } from 'undici';
import { realTime } from '../../../src/effects/real-time.ts';
import { serveCluster } from '../../../packages/embedded-kubernetes/src/http/server.ts';
import { withSimulation } from '../../../packages/embedded-kubernetes/src/http/simulation-routes.ts';
import { makeCluster } from '../../../packages/embedded-kubernetes/src/cluster.ts';
import { startGarbageCollector } from '../../../packages/embedded-kubernetes/src/controllers/garbage-collector.ts';
import type { Span } from '../../../packages/embedded-kubernetes/src/controllers/controller-environment.ts';
import { storeEnvironment } from '../../../packages/embedded-kubernetes/src/controllers/store-environment.ts';
import { scaledClock } from '../../../packages/embedded-kubernetes/src/scaled-clock.ts';
import type { ContractCluster } from '../../contract/cluster.ts';
import { clusterBehind } from './contract-bed.ts';
import { CONTRACT_ADMIN } from './contract-embedded.ts';

const SOON: Span = [1, 5];
/** Not before a client had time to look: no collector of garbage is that quick. */
const DELAYED: Span = [300, 400];
const TIMING = {
  controllerMs: DELAYED,
  schedulerMs: SOON,
  startMs: SOON,
  stopMs: SOON,
  joinMs: SOON,
};

/** A cluster that is served. */
export interface EmbeddedHttp {
  readonly contract: ContractCluster;
  readonly server: string;
  readonly stop: () => Promise<void>;
}

/** Serves a cluster with a garbage collector; with users, the contract's client has a token. */
export const embeddedHttp = async ({ hasUsers = false } = {}): Promise<EmbeddedHttp> => {
  const authorization = hasUsers ? `Bearer ${CONTRACT_ADMIN.token}` : '';
  const time = scaledClock(realTime);
  const cluster = makeCluster({
    time,
    seed: 3,
    ...(hasUsers ? { authorization: 'RBAC', users: [CONTRACT_ADMIN] } : {}),
  });
  const garbage = startGarbageCollector(
    storeEnvironment({ cluster, time, random: () => 0, timing: TIMING }),
  );
  const at = { host: '127.0.0.1', port: 0 };
  const http = await serveCluster(withSimulation({ cluster, time }), at);
  const server = `http://${http.address.host}:${http.address.port}`;
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const forget = () => Promise.resolve(cluster.store.compact());
  return {
    contract: clusterBehind({ server, authorization, dispatcher }, forget),
    server,
    stop: async () => {
      garbage.stop();
      await dispatcher.destroy();
      await http.stop();
    },
  };
};
