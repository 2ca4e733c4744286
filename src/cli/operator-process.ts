/**
 * The composition root of `tidegate operator`: settings become layers, an environment, servers and
 * a running operator.
 */
import { Layer, ManagedRuntime } from 'effect';
import { type Operator, startOperator } from '../actors/operator.ts';
import type { OperatorOptions } from '../actors/operator-roles.ts';
import { operatorServices } from '../actors/operator-services.ts';
import { sayStreamDefects } from '../actors/fleet-session/stream-defects.ts';
import { makeActorEnvironment } from '../actors/actor-environment.ts';
import type { Telemetry } from '../api/telemetry.ts';
import { type Intern, textPool } from '../domain/text-pool.ts';
import { credentialsLayer } from '../effects/credentials.ts';
import { kubeConnection } from '../effects/kube-connection.ts';
import { realTime } from '../effects/real-time.ts';
import type { OperatorSettings } from '../effects/settings.ts';
import { shardCallsLayer } from '../effects/shard-call.ts';
import type { Check } from '../observability/health.ts';
import { makeObservability } from '../observability/observability.ts';
import { firstSeed } from './first-seed.ts';
import { MACHINE_LEVELS } from './machine-levels.ts';
import type { RunningOperator } from './operator.ts';
import { startInspectors } from './inspectors.ts';
import { VERSION } from './version.ts';

const STDOUT = 1;
/** Specs of machines that are kept once; a fleet has fewer kinds than this. */
const SHARED_TEXTS_MAX = 10_000;

/** What layers and actors share. */
interface Shared {
  readonly telemetry: Telemetry;
  readonly intern: Intern;
}

const layersOf = (settings: OperatorSettings, { telemetry, intern }: Shared) => {
  const { kubeconfig, writesPerSecond: qps, writeBurst: burst } = settings;
  const connection = kubeConnection({
    source: kubeconfig === undefined ? { _tag: 'Default' } : { _tag: 'File', path: kubeconfig },
    version: VERSION,
    telemetry,
  });
  const services = operatorServices({ time: realTime, telemetry, intern, qps, burst }, connection);
  return Layer.mergeAll(services, shardCallsLayer, credentialsLayer);
};

/** A crashed root actor decides nothing any more, however well the process answers. */
const isAlive = ({ actor }: Pick<Operator, 'actor'>): Check => ({
  name: 'operator',
  failing: () => actor.getSnapshot().status === 'error' ? 'its statechart has crashed' : undefined,
});

/** What the operator is started with, in its own words. */
const operatorOptions = (settings: OperatorSettings, intern: Intern): OperatorOptions => {
  const { durationMs, renewDeadlineMs, retryPeriodMs, ...lease } = settings.lease;
  return {
    clusterId: settings.clusterId,
    shardAddress: settings.shardAddress,
    rollupIntervalMs: settings.rollupIntervalMs,
    ackConcurrency: settings.acknowledgeConcurrency,
    bootstrapTemplateFile: settings.bootstrapTemplateFile,
    credentialFiles: settings.tls && {
      certificate: settings.tls.certFile,
      key: settings.tls.keyFile,
      authority: settings.tls.caFile,
    },
    lease: { ...lease, leaseMs: durationMs, renewMs: renewDeadlineMs, retryMs: retryPeriodMs },
    drains: {
      own: settings.drains.ownPod,
      tierWaitMs: settings.drains.tierWaitMs,
      paused: settings.drains.isPaused,
      callsPerBudget: settings.drains.evictionsPerBudget,
    },
    pods: settings.pods,
    intern,
  };
};

/** Starts an operator of this process; fails with a sentence when it cannot be reached at all. */
export const startOperatorProcess = async (
  settings: OperatorSettings,
): Promise<RunningOperator> => {
  const inspectors = await startInspectors({
    inspectAddress: settings.inspectAddress,
    recordFile: settings.recordFile,
    title: `Tidegate · ${settings.clusterId}`,
  });
  const observability = makeObservability({
    level: settings.logLevel,
    target: STDOUT,
    cluster: settings.clusterId,
    time: realTime,
    machineLevels: MACHINE_LEVELS,
    inspectors: inspectors.all,
  });
  const { telemetry, inspect } = observability;
  sayStreamDefects(telemetry);
  const intern = textPool(SHARED_TEXTS_MAX);
  const runtime = ManagedRuntime.make(layersOf(settings, { telemetry, intern }).pipe(Layer.orDie));
  // Rejects with a sentence when the kubeconfig cannot be used.
  await runtime.context();
  const environment = makeActorEnvironment({
    time: realTime,
    runtime,
    telemetry,
    inspect,
    firstSeed: firstSeed(),
  });
  const operator = startOperator(environment, operatorOptions(settings, intern));
  const servers = await observability.serve({
    metricsAddress: settings.metricsAddress,
    healthAddress: settings.healthAddress,
    health: { live: [isAlive(operator)], ready: operator.checks },
  });
  await inspectors.open(telemetry);
  telemetry.log('info', 'Operator started', { version: VERSION, shard: settings.shardAddress });
  const closed = operator.done.finally(async () => {
    await Promise.all([servers.close(), inspectors.close()]);
    await runtime.dispose();
  });
  return {
    done: closed,
    stop: async (reason) => {
      telemetry.log('info', 'Operator stops', { reason });
      await operator.stop();
    },
  };
};
