/**
 * The composition root of every operator: turns settings into layers, an environment, servers and
 * an operator with the selected roles.
 */
import { Layer, ManagedRuntime } from 'effect';
import { startOperator } from '../../actors/operator.ts';
import { operatorServices } from '../../effects/operator-services.ts';
import { makeRoles, type RolesOptions } from '../../actors/roles.ts';
import type { DrainPolicy } from '../../actors/node-drains/drain-engine.ts';
import type { LeadershipOptions } from '../../actors/leadership.ts';
import { logStreamDefects } from '../../streams/stream-defects.ts';
import { makeActorEnvironment } from '../../actors/actor-environment.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import { type ClusterTime, clusterTime } from '../../domain/cluster-time.ts';
import { type Intern, textPool } from '../../domain/text-pool.ts';
import { credentialsLayer } from '../../effects/credentials.ts';
import { kubeConnection } from '../../effects/kube-connection.ts';
import type { DrainSettings } from '../../effects/drain-settings.ts';
import { machineClocks, realTime } from '../../effects/real-time.ts';
import type { LeaseSettings, OperatorSettings } from '../../effects/settings.ts';
import { shardCallsLayer } from '../../effects/shard-call.ts';
import { tracedApi, type TraceKubeCall } from '../../effects/traced-api.ts';
import type { Inspector } from '../../observability/inspector.ts';
import type { Tracing } from '../../observability/otlp-tracing.ts';
import { makeObservability, type Observability } from '../../observability/observability.ts';
import { checkedStreams } from '../../observability/stream-check.ts';
import { firstSeed } from './first-seed.ts';
import { MACHINE_LEVELS } from './machine-levels.ts';
import type { RunningOperator } from './operator.ts';
import { startHeartbeat } from './heartbeat.ts';
import { inspectorTitle, startInspectors } from './inspectors.ts';
import { exitOnUnhandledErrors } from '../unhandled-errors.ts';
import { VERSION } from '../version.ts';

const STDOUT = 1;
/** The number of interned specs of machines and requests; above the number of distinct ones. */
const SHARED_TEXTS_MAX = 20_000;

/** What layers and actors share. */
interface Shared {
  readonly time: ClusterTime;
  readonly telemetry: Telemetry;
  readonly intern: Intern;
}

const layersOf = (
  settings: OperatorSettings,
  { time, telemetry, intern }: Shared,
  trace: TraceKubeCall | undefined,
) => {
  const { kubeconfig, writesPerSecond: qps, writeBurst: burst } = settings;
  const connection = kubeConnection({
    source: kubeconfig === undefined ? { _tag: 'Default' } : { _tag: 'File', path: kubeconfig },
    version: VERSION,
    telemetry,
    onServerDate: time.observe,
  });
  const services = operatorServices(
    { time, seed: firstSeed(), clocks: machineClocks, telemetry, intern, qps, burst },
    trace === undefined ? connection : tracedApi(connection, trace),
  );
  return Layer.mergeAll(services, shardCallsLayer, credentialsLayer);
};

const drainPolicyOf = (
  { ownPod: own, isPaused: paused, evictionsPerBudget: callsPerBudget, ...rest }: DrainSettings,
): DrainPolicy => ({ ...rest, own, paused, callsPerBudget });

/** The inputs of the selected roles. */
const rolesOptions = (
  { fleet, lease, pods, evictions, maintenance, availability, interceptors }: OperatorSettings,
  intern: Intern,
): RolesOptions => ({
  fleet: fleet && {
    clusterId: fleet.clusterId,
    shardAddress: fleet.shardAddress,
    rollupIntervalMs: fleet.rollupIntervalMs,
    renewalDelayMs: fleet.tlsRenewalDelayMs,
    ackConcurrency: fleet.acknowledgeConcurrency,
    bootstrapTemplateFile: fleet.bootstrapTemplateFile,
    credentialFiles: fleet.tls && {
      certificate: fleet.tls.certFile,
      key: fleet.tls.keyFile,
      authority: fleet.tls.caFile,
    },
    drains: drainPolicyOf(fleet.drains),
    leaseMs: lease.durationMs,
    intern,
  },
  pods,
  evictions,
  maintenance: maintenance && drainPolicyOf(maintenance),
  availability: availability && {
    policy: availability.policy,
    drains: drainPolicyOf(availability.drains),
  },
  interceptors,
});

const leaseOptions = (settings: LeaseSettings): LeadershipOptions => {
  const { durationMs, renewDeadlineMs, retryPeriodMs, ...lease } = settings;
  return { ...lease, leaseMs: durationMs, renewMs: renewDeadlineMs, retryMs: retryPeriodMs };
};

const observabilityOf = (
  { logLevel: level, fleet }: OperatorSettings,
  inspectors: readonly Inspector[],
): Observability =>
  makeObservability({
    level,
    target: STDOUT,
    ...(fleet === undefined ? {} : { cluster: fleet.clusterId }),
    time: realTime,
    machineLevels: MACHINE_LEVELS,
    inspectors,
  });

/** Tracing of reclaims, loaded only when it is asked for. */
const tracingOf = async (
  { otlpEndpoint: endpoint, fleet }: OperatorSettings,
  time: ClusterTime,
): Promise<Tracing | undefined> => {
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import('../../observability/otlp-tracing.ts');
  return await startTracing({ endpoint, version: VERSION, cluster: fleet?.clusterId, time });
};

/** Starts an operator in this process; throws when the cluster is not usable. */
export const startOperatorProcess = async (
  settings: OperatorSettings,
): Promise<RunningOperator> => {
  const time = clusterTime(realTime);
  const inspectors = await startInspectors({ ...settings, title: inspectorTitle(settings), time });
  const tracing = await tracingOf(settings, time);
  const observability = observabilityOf(settings, [
    ...inspectors.all,
    ...(tracing === undefined ? [] : [tracing.observe]),
  ]);
  const { inspect } = observability;
  const { telemetry, check: streams } = checkedStreams(observability.telemetry);
  const endHandling = exitOnUnhandledErrors(telemetry);
  logStreamDefects(telemetry);
  const intern = textPool(SHARED_TEXTS_MAX);
  const runtime = ManagedRuntime.make(
    layersOf(settings, { time, telemetry, intern }, tracing?.traceCall).pipe(Layer.orDie),
  );
  // Rejects when the kubeconfig is invalid.
  await runtime.context();
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry,
    inspect,
    firstSeed: firstSeed(),
  });
  const heartbeat = startHeartbeat(environment);
  const operator = startOperator(environment, {
    lease: leaseOptions(settings.lease),
    roles: makeRoles(environment, rolesOptions(settings, intern)),
  });
  const servers = await observability.serve({
    metricsAddress: settings.metricsAddress,
    healthAddress: settings.healthAddress,
    health: {
      live: [...operator.liveChecks, heartbeat.check, streams],
      ready: operator.checks,
    },
  });
  await inspectors.open(telemetry);
  telemetry.log('info', 'Operator started', {
    version: VERSION,
    roles: operator.roles.join(','),
    ...(settings.fleet === undefined ? {} : { shard: settings.fleet.shardAddress }),
  });
  const closed = operator.done.finally(async () => {
    heartbeat.stop();
    await Promise.all([servers.close(), inspectors.close(), tracing?.close()]);
    await runtime.dispose();
    endHandling();
  });
  return {
    done: closed,
    stop: async (reason) => {
      telemetry.log('info', 'Operator stopping', { reason });
      await operator.stop();
    },
  };
};
