/**
 * `tidegate fleet`: the stand-in fleet with its sockets, its journal and, optionally, its Nodes.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { apiServer } from './api-server.ts';
import { bindingsFile, noBindings } from './bindings.ts';
import type { FleetTime, FleetTiming } from './fleet-time.ts';
import { startFleet } from './fleet.ts';
import { type FleetTls, serveGrpc } from './grpc-server.ts';
import { clusterAccess } from './kubeconfig.ts';
import { keepNodes, type NodeKeeper } from './nodes.ts';
import type { Script } from './script.ts';
import { serveScript } from './script-server.ts';
import type { FleetLog } from './shard.ts';
import type { BoundAddress } from './sockets.ts';

/** Options of a run. Paths are files. */
export interface FleetRunOptions {
  readonly time: FleetTime;
  /** The gRPC listen address; port 0 picks a free one. */
  readonly listen: BoundAddress;
  /** The script server's listen address; undefined turns it off. */
  readonly scriptListen?: BoundAddress;
  readonly bindingsFile?: string;
  readonly seedMachines: number;
  /** The cluster in which Nodes are created. */
  readonly kubeconfig?: string;
  /** All three together turn mTLS on. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly timing?: Partial<FleetTiming>;
  /** False disables the guard against vanishing demand. */
  readonly guarded?: boolean;
  readonly log?: FleetLog;
}

/** A running fleet. */
export interface RunningFleet {
  readonly address: BoundAddress;
  readonly scriptAddress: BoundAddress | undefined;
  /** The script actions, for callers in the same process. */
  readonly script: Script;
  readonly stop: () => Promise<void>;
}

const SEED_BYTES = 8;

const tlsOf = ({ tls }: FleetRunOptions): FleetTls | undefined =>
  tls === undefined ? undefined : {
    cert: readFileSync(tls.cert, 'utf8'),
    key: readFileSync(tls.key, 'utf8'),
    ca: readFileSync(tls.ca, 'utf8'),
  };

const keeperOf = ({ kubeconfig, time }: FleetRunOptions, log: FleetLog): NodeKeeper | undefined =>
  kubeconfig === undefined
    ? undefined
    : keepNodes({ api: apiServer(clusterAccess(kubeconfig)), time, log });

/**
 * Runs a fleet; resolves when it accepts connections, rejects with a message when it cannot start.
 */
export const runFleet = async (options: FleetRunOptions): Promise<RunningFleet> => {
  const { time, listen, scriptListen } = options;
  const log = options.log ?? (() => {});
  const tls = tlsOf(options);
  const keeper = keeperOf(options, log);
  const script = startFleet({
    time,
    log,
    seedMachines: options.seedMachines,
    seed: randomBytes(SEED_BYTES).toString('hex'),
    timing: options.timing ?? {},
    guarded: options.guarded ?? true,
    store: options.bindingsFile === undefined ? noBindings : bindingsFile(options.bindingsFile),
    observe: (before, after) => keeper?.observe(before, after),
  });
  const stopAll: (() => unknown)[] = [() => script.shard.stop(), () => keeper?.stop()];
  const stop = async (): Promise<void> => {
    await Promise.all(stopAll.splice(0).map((one) => one()));
  };
  try {
    keeper?.begin(script.shard.inventory.values());
    const grpc = await serveGrpc(script, { ...listen, tls, time });
    stopAll.push(grpc.stop);
    const http = scriptListen === undefined ? undefined : await serveScript(script, scriptListen);
    if (http !== undefined) stopAll.push(http.stop);
    log('The fleet listens', {
      address: grpc.address,
      scriptAddress: http?.address,
      machines: script.shard.inventory.size(),
      tls: tls !== undefined,
    });
    return { address: grpc.address, scriptAddress: http?.address, script, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
};
