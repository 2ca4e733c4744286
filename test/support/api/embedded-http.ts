/** An embedded cluster behind a socket, as a client sees it. */
import { Agent } from 'undici';
import { realTime } from '../../../src/effects/real-time.ts';
import { serveCluster } from '../../../src/embedded/cluster/answers/http.ts';
import { withSimulation } from '../../../src/embedded/cluster/answers/simulation-routes.ts';
import { makeCluster } from '../../../src/embedded/cluster/cluster.ts';
import { startGarbage } from '../../../src/embedded/cluster/players/garbage.ts';
import type { Span } from '../../../src/embedded/cluster/players/stage.ts';
import { storeStage } from '../../../src/embedded/cluster/players/store-stage.ts';
import { warpedTime } from '../../../src/embedded/cluster/warped-time.ts';
import type { ContractCluster } from '../../contract/cluster.ts';
import { clusterBehind } from './contract-bed.ts';

const SOON: Span = [1, 5];
/** Not before a client had time to look: no collector of garbage is that quick. */
const DELAYED: Span = [300, 400];
const PACE = {
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

/** Serves a cluster with a garbage collector. */
export const embeddedHttp = async (): Promise<EmbeddedHttp> => {
  const time = warpedTime(realTime);
  const cluster = makeCluster({ time, seed: 3 });
  const garbage = startGarbage(storeStage({ cluster, time, random: () => 0, pace: PACE }));
  const at = { host: '127.0.0.1', port: 0 };
  const http = await serveCluster(withSimulation({ cluster, time }), at);
  const server = `http://${http.address.host}:${http.address.port}`;
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const forget = () => Promise.resolve(cluster.store.compact());
  return {
    contract: clusterBehind({ server, authorization: '', dispatcher }, forget),
    server,
    stop: async () => {
      garbage.stop();
      await dispatcher.destroy();
      await http.stop();
    },
  };
};
