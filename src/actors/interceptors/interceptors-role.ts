/**
 * The role that runs the interceptor `surge.tidegate.dev`: pods of Deployments leave after their
 * replacement is available.
 *
 * Promises: intercepts only while this process leads; the next leader resumes what it has begun,
 * from the cluster alone.
 */
import { startInterceptor, surge, type WithoutSurge } from '@tidegate/interceptor';
import { SURGE } from '../../domain/eviction-requests/qualified-name.ts';
import { surgeReasonCounts } from '../../domain/surge-reasons.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import type { Writes } from '../../effects/writes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { startWhereServed } from '../eviction-requests/served-requests.ts';
import { type Role, roleDefaults } from '../role.ts';
import { interceptorClient } from './interceptor-client.ts';

/** How surges go. */
export interface InterceptorsPolicy {
  /** `--without-surge`. */
  readonly withoutSurge: WithoutSurge;
}

/** A reason is in the status this soon; what has not changed is not written. */
const PROGRESS_PERIOD_MS = 1000;

/** A surge while this process leads; returns how to leave it to the next leader. */
const startSurge = (
  { time, telemetry, seed }: Pick<ActorEnvironment<never>, 'time' | 'telemetry' | 'seed'>,
  client: ReturnType<typeof interceptorClient>,
  { withoutSurge }: InterceptorsPolicy,
): () => void => {
  const options = {
    client,
    time,
    timing: { progressPeriodMs: PROGRESS_PERIOD_MS },
    log: (message: string, fields: Readonly<Record<string, unknown>>) =>
      telemetry.log('warn', message, { interceptor: SURGE, ...fields }),
  };
  const onBlocked = (reasons: ReadonlyMap<string, number>): void => {
    for (const [reason, count] of surgeReasonCounts(reasons)) {
      telemetry.gauge('tidegate_surges_blocked', count, { reason });
    }
  };
  const definition = surge({
    client,
    time,
    log: options.log,
    withoutSurge,
    onBlocked,
    seed: seed(),
  });
  const running = startInterceptor(definition, { ...options, seed: seed() });
  return () => {
    running.stop();
    definition.stop();
  };
};

/** Creates the role, not leading. */
export const interceptorsRole = (
  environment: ActorEnvironment<EvictionRequests | KubeApi | Writes>,
  policy: InterceptorsPolicy,
): Role => {
  const client = interceptorClient(environment.runtime);
  let end = (): void => {};
  const onLeadershipLost = (): void => {
    end();
    end = () => {};
  };
  return {
    ...roleDefaults('interceptors', []),
    start: () => startWhereServed(environment, 'interceptors'),
    onLeading: () => {
      end();
      end = startSurge(environment, client, policy);
    },
    onLeadershipLost,
    close: () => Promise.resolve(onLeadershipLost()),
    stop: async () => {
      onLeadershipLost();
      await client.settled();
    },
  };
};
