/**
 * One operator process in a simulated world: the real roles, on the world's time, with transports
 * that can be cut.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import type { InspectionEvent } from 'xstate';
import { operatorServices } from '../../src/effects/operator-services.ts';
import type { EvictionRequestPolicy } from '../../src/actors/eviction-requests/eviction-requests.ts';
import type { AvailabilityPolicy } from '../../src/actors/node-availability/node-availabilities.ts';
import { DEGRADED_CONDITIONS_DEFAULT } from '../../src/domain/node-availability/available-node.ts';
import type { EvictionMode } from '../../src/domain/eviction-requests/drain-requester.ts';
import { type Operator, startOperator } from '../../src/actors/operator.ts';
import { makeRoles } from '../../src/actors/roles.ts';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import {
  type LogFields,
  type LogLevel,
  silentTelemetry,
  type Telemetry,
} from '../../src/api/telemetry.ts';
import { type ClusterTime, clusterTime } from '../../src/domain/cluster-time.ts';
import { clusterId } from '../../src/domain/ids.ts';
import { textPool } from '../../src/domain/text-pool.ts';
import type { Time } from '../../src/domain/time.ts';
import { Credentials } from '../../src/effects/credentials.ts';
import type {
  ClusterRequest,
  ClusterResponse,
} from '../../packages/embedded-kubernetes/src/api.ts';
import type { Script } from '../../packages/stand-in-fleet/src/script.ts';
import {
  type ApiLine,
  apiLine,
  type ApiTap,
  type RequestInterceptor,
  type Weather,
} from './api-line.ts';
import { type Chance, chanceOf, derived } from './chance.ts';
import { type ProcessLine, processLine } from './process-line.ts';
import { type ShardLine, shardLine } from './shard-line.ts';

export const CLUSTER = 'simulated';
export const NAMESPACE = 'tidegate-system';
export const LEASE = 'tidegate';

/** The flags of a process that scenarios change. */
export interface ProcessFlags {
  /** `--lease-duration`, `--lease-renew-deadline`, `--lease-retry-period`. */
  readonly lease: { readonly leaseMs: number; readonly renewMs: number; readonly retryMs: number };
  readonly qps: number;
  readonly burst: number;
  readonly rollupIntervalMs: number;
  readonly tierWaitMs: number | undefined;
  readonly bootstrapTemplateFile: string | undefined;
  /** `--with-pods`. */
  readonly withPods: boolean;
  /** The role that serves EvictionRequests, if it runs. */
  readonly evictions: EvictionRequestPolicy | undefined;
  /** The role that works on NodeMaintenances runs. */
  readonly maintenance: boolean;
  /** The role that handles Nodes that fail runs. */
  readonly availability: boolean;
  /** `--via` */
  readonly via: EvictionMode;
  /** How wrong the wall clock of each process is, by its number from 1; others are right. */
  readonly skewsMs: readonly number[];
}

/** Creates the environment of a process. */
export interface SimulatedEnvironment {
  readonly time: Time;
  readonly seed: number;
  readonly handle: (request: ClusterRequest) => ClusterResponse;
  readonly script: () => Script;
  readonly interceptor: RequestInterceptor;
  readonly weather: Weather;
  readonly flags: ProcessFlags;
  readonly witness: ProcessWitness;
}

/** Observes processes. */
export interface ProcessWitness {
  readonly tap: (process: string) => ApiTap;
  /** The fleet has received a frame of this process. */
  readonly frame: (process: string, frame: Uint8Array) => void;
  /** The process has received a frame of the fleet. */
  readonly delivered: (process: string, frame: Uint8Array) => void;
  readonly logged: (process: string, entry: LogEntry) => void;
  /** An actor processed an event; undefined without an observer. */
  readonly inspection?: (process: string, event: InspectionEvent) => void;
}

/** One line of a process's log. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

/** A running process. */
export interface SimulatedProcess {
  readonly identity: string;
  readonly line: ProcessLine;
  readonly api: ApiLine;
  readonly shard: Pick<ShardLine, 'hold' | 'letThrough'>;
  readonly startedMs: number;
  /** As by SIGKILL. */
  readonly crash: () => void;
  /** As by SIGTERM; resolves when it is gone. */
  readonly stop: () => Promise<void>;
}

const SHARED_TEXTS_MAX = 10_000;

/** The permissions of read-only users. */
export const ORDINARY_FLAGS: ProcessFlags = {
  lease: { leaseMs: 15_000, renewMs: 10_000, retryMs: 2000 },
  qps: 200,
  burst: 400,
  rollupIntervalMs: 10_000,
  tierWaitMs: undefined,
  bootstrapTemplateFile: undefined,
  withPods: false,
  evictions: undefined,
  maintenance: false,
  availability: false,
  via: 'evictions',
  skewsMs: [],
};

/** The defaults of `tidegate operator`. */
const AVAILABILITY: AvailabilityPolicy = {
  offlineAfterMs: 60_000,
  degradedAfterMs: 30_000,
  cleanAfterMs: 60_000,
  degradedBy: DEGRADED_CONDITIONS_DEFAULT,
  stormLimitPercent: 20,
};

const startRoles = (
  identity: string,
  { line, time, telemetry, seed, api, shard, flags, inspect }: {
    readonly line: ProcessLine;
    readonly time: ClusterTime;
    readonly telemetry: Telemetry;
    readonly seed: number;
    readonly api: ApiLine;
    readonly shard: ReturnType<typeof shardLine>;
    readonly flags: ProcessFlags;
    readonly inspect: ((event: InspectionEvent) => void) | undefined;
  },
): Operator => {
  const intern = textPool(SHARED_TEXTS_MAX);
  const { lease, qps, burst, rollupIntervalMs, tierWaitMs, bootstrapTemplateFile } = flags;
  const runtime = ManagedRuntime.make(Layer.mergeAll(
    operatorServices(
      {
        time,
        seed,
        clocks: { wallClock: line.time.now, suspendedMs: line.suspendedMs },
        telemetry,
        intern,
        qps,
        burst,
      },
      api.layer,
    ),
    shard.layer,
    Layer.succeed(Credentials, { read: () => Effect.never }),
  ));
  const world = makeActorEnvironment({
    time,
    runtime,
    telemetry,
    firstSeed: seed,
    ...(inspect === undefined ? {} : { inspect }),
  });
  const drains = { own: null, paused: false, tierWaitMs, via: flags.via };
  const roles = makeRoles(world, {
    fleet: {
      clusterId: clusterId(CLUSTER),
      shardAddress: 'simulated',
      rollupIntervalMs,
      ackConcurrency: 16,
      bootstrapTemplateFile,
      credentialFiles: undefined,
      drains,
      leaseMs: lease.leaseMs,
      intern,
    },
    pods: flags.withPods
      ? { penaltyDefaultsFile: undefined, selectsPod: () => true, selectsNamespace: undefined }
      : undefined,
    evictions: flags.evictions,
    maintenance: flags.maintenance ? drains : undefined,
    availability: flags.availability ? { policy: AVAILABILITY, drains } : undefined,
  });
  return startOperator(world, {
    lease: { identity, namespace: NAMESPACE, name: LEASE, ...lease },
    roles,
  });
};

/** Starts the process of a number. */
export const startProcess = (
  processEnvironment: SimulatedEnvironment,
  number: number,
): SimulatedProcess => {
  const { time: world, handle, script, interceptor, weather, witness, seed, flags } =
    processEnvironment;
  const { inspection } = witness;
  const identity = `process-${number}`;
  const chance: Chance = chanceOf(derived(seed, 100 + number));
  const line = processLine(world, flags.skewsMs[number - 1]);
  const time = clusterTime(line.time);
  const tap = witness.tap(identity);
  const api = apiLine({
    line,
    world,
    handle,
    interceptor,
    weather,
    chance,
    tap,
    onServerDate: time.observe,
  });
  const shard = shardLine({
    line,
    world,
    script,
    chance,
    frameMs: () => weather.frameMs,
    delivered: (frame) => witness.delivered(identity, frame),
    received: (frame) => witness.frame(identity, frame),
  });
  const telemetry: Telemetry = {
    ...silentTelemetry,
    log: (level, message, fields) => witness.logged(identity, { level, message, fields }),
  };
  const operator = startRoles(identity, {
    line,
    time,
    telemetry,
    seed: derived(seed, 200 + number),
    api,
    shard,
    flags,
    inspect: inspection && ((event) => inspection(identity, event)),
  });
  const crash = (): void => {
    line.kill();
    shard.hangUp();
    api.dropWatches('cut');
  };
  return {
    identity,
    line,
    api,
    shard,
    startedMs: world.monotonic(),
    crash,
    stop: async () => {
      await operator.stop();
      crash();
    },
  };
};
