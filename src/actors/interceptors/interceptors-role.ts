/**
 * The role that runs two interceptors. With `surge.tidegate.dev` pods of Deployments leave after
 * their replacement is available; with `daemonset.tidegate.dev` pods of DaemonSets leave when a
 * maintenance has reached them (NM-44, NM-45).
 *
 * Promises: intercepts only while this process leads; the next leader resumes what it has begun,
 * from the cluster alone.
 */
import {
  type InterceptorDefinition,
  removal,
  type RemovalGate,
  startInterceptor,
  surge,
  type WithoutSurge,
} from '@tidegate/interceptor';
import { DAEMON_SET, SURGE } from '../../domain/eviction-requests/qualified-name.ts';
import { acceptsDowntimeOn } from '../../domain/node-availability/disabled-node.ts';
import { projectMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { surgeReasonCounts } from '../../domain/surge-reasons.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import { NODE_MAINTENANCES_PATH, NodeMaintenances } from '../../effects/node-maintenance.ts';
import type { Writes } from '../../effects/writes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { startWhereServed } from '../eviction-requests/served-requests.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import { daemonSetGate } from './daemon-set-gate.ts';
import { interceptorClient } from './interceptor-client.ts';

/** How surges go. */
export interface InterceptorsPolicy {
  /** `--without-surge`. */
  readonly withoutSurge: WithoutSurge;
}

/** A reason is in the status this soon; what has not changed is not written. */
const PROGRESS_PERIOD_MS = 1000;

type Leading = Pick<ActorEnvironment<never>, 'time' | 'telemetry' | 'seed'>;
type Client = ReturnType<typeof interceptorClient>;

const logOf =
  ({ telemetry }: Pick<Leading, 'telemetry'>, interceptor: string) =>
  (message: string, fields: Readonly<Record<string, unknown>>): void =>
    telemetry.log('warn', message, { interceptor, ...fields });

/** Runs an interceptor while this process leads; returns how to leave it to the next leader. */
const start = (
  environment: Leading,
  client: Client,
  definition: InterceptorDefinition,
): () => void => {
  const { time, seed } = environment;
  const running = startInterceptor(definition, {
    client,
    time,
    timing: { progressPeriodMs: PROGRESS_PERIOD_MS },
    log: logOf(environment, definition.name),
    seed: seed(),
  });
  return running.stop;
};

const startSurge = (
  environment: Leading,
  client: Client,
  { withoutSurge }: InterceptorsPolicy,
): () => void => {
  const { time, telemetry, seed } = environment;
  const onBlocked = (reasons: ReadonlyMap<string, number>): void => {
    for (const [reason, count] of surgeReasonCounts(reasons)) {
      telemetry.gauge('tidegate_surges_blocked', count, { reason });
    }
  };
  const definition = surge({
    client,
    time,
    log: logOf(environment, SURGE),
    withoutSurge,
    acceptsDowntimeOn,
    onBlocked,
    seed: seed(),
  });
  // Its series begin at 0, not with the first Deployment that is blocked.
  onBlocked(new Map());
  const stop = start(environment, client, definition);
  return () => {
    stop();
    definition.stop();
  };
};

const startRemovals = (environment: Leading, client: Client, gate: RemovalGate): () => void => {
  const { time, seed } = environment;
  const definition = removal({ name: DAEMON_SET, gate, client, time, seed: seed() });
  return start(environment, client, definition);
};

/** Creates the role, not leading. */
export const interceptorsRole = (
  environment: ActorEnvironment<EvictionRequests | KubeApi | NodeMaintenances | Writes>,
  policy: InterceptorsPolicy,
  { informers }: Pick<RoleContext, 'informers'>,
): Role => {
  const client = interceptorClient(environment.runtime);
  let hasMaintenances = true;
  const maintenances = informers.collection({
    id: 'nodemaintenances',
    path: NODE_MAINTENANCES_PATH,
    project: projectMaintenance,
    isWanted: () => hasMaintenances,
  });
  const gate = daemonSetGate(maintenances);
  let ends: readonly (() => void)[] = [];
  const onLeadershipLost = (): void => {
    for (const end of ends) end();
    ends = [];
  };
  return {
    ...roleDefaults('interceptors', []),
    discover: async () => {
      hasMaintenances = await environment.runtime.runPromise(
        NodeMaintenances.use((service) => service.areServed),
      );
      return startWhereServed(environment, 'interceptors');
    },
    onLeading: () => {
      onLeadershipLost();
      ends = [startSurge(environment, client, policy), startRemovals(environment, client, gate)];
    },
    onLeadershipLost,
    close: () => Promise.resolve(onLeadershipLost()),
    stop: async () => {
      onLeadershipLost();
      await client.settled();
    },
  };
};
