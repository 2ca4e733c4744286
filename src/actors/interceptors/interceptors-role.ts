/**
 * The role that runs the interceptor `surge.tidegate.dev`: pods of Deployments leave after their
 * replacement is available.
 *
 * Promises: intercepts only while this process leads; the next leader resumes what it has begun,
 * from the cluster alone.
 */
import { startInterceptor, surge } from '@tidegate/interceptor';
import { SURGE } from '../../domain/eviction-requests/qualified-name.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import type { Writes } from '../../effects/writes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { startWhereServed } from '../eviction-requests/served-requests.ts';
import { type Role, roleDefaults } from '../role.ts';
import { interceptorClient } from './interceptor-client.ts';

/** A surge while this process leads; returns how to leave it to the next leader. */
const startSurge = (
  { time, telemetry, seed }: Pick<ActorEnvironment<never>, 'time' | 'telemetry' | 'seed'>,
  client: ReturnType<typeof interceptorClient>,
): () => void => {
  const options = {
    client,
    time,
    log: (message: string, fields: Readonly<Record<string, unknown>>) =>
      telemetry.log('warn', message, { interceptor: SURGE, ...fields }),
  };
  const definition = surge({ ...options, seed: seed() });
  const running = startInterceptor(definition, { ...options, seed: seed() });
  return () => {
    running.stop();
    definition.stop();
  };
};

/** Creates the role, not leading. */
export const interceptorsRole = (
  environment: ActorEnvironment<EvictionRequests | KubeApi | Writes>,
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
      end = startSurge(environment, client);
    },
    onLeadershipLost,
    close: () => Promise.resolve(onLeadershipLost()),
    stop: async () => {
      onLeadershipLost();
      await client.settled();
    },
  };
};
