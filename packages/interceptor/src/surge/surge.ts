/**
 * The interceptor `surge.tidegate.dev`: a pod of a Deployment leaves after its replacement is
 * available.
 *
 * Promises: as many pods as the Deployment had stay available; the pods that leave are those that
 * were requested; what was changed for it is restored, by this process or the next one.
 */
import { nextSeed, type Seed } from '../backoff.ts';
import { type Interception, type InterceptorDefinition } from '../interceptor-definition.ts';
import { defineInterceptor } from '../interceptor-definition.ts';
import { kubernetesApi } from '../kubernetes-api.ts';
import type { KubernetesClient } from '../kubernetes-client.ts';
import type { Log } from '../running-interceptor.ts';
import type { Time } from '../time.ts';
import { podDeployment } from './pod-deployment.ts';
import {
  type AcceptsDowntimeOn,
  DEFAULT_SURGE_TIMING,
  type DeploymentKey,
  type SurgeTiming,
} from './surge-context.ts';
import { raisedDeployments } from './surge-reads.ts';
import type { WithoutSurge } from './surge-refusal.ts';
import { SurgeRegistry } from './surge-registry.ts';
import { SURGE_NAME } from './surge-writes.ts';

/** What a surge runs with. */
export interface SurgeOptions {
  readonly client: KubernetesClient;
  readonly time: Time;
  /** Determines the jitter of waits. */
  readonly seed: number;
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly timing?: Partial<SurgeTiming>;
  /** What becomes of pods that no surge can replace; default: they are evicted. */
  readonly withoutSurge?: WithoutSurge;
  /**
   * Whether a person accepts for a Node that its pods are down while they move. It is asked about
   * the Nodes of pods that cannot be replaced; without it no Node is read.
   */
  readonly acceptsDowntimeOn?: AcceptsDowntimeOn;
  /** How many workloads cannot be surged now, by reason. */
  readonly onBlocked?: (counts: ReadonlyMap<string, number>) => void;
  readonly log?: Log;
}

/** The interceptor, and how to stop what it has begun. */
export interface Surge extends InterceptorDefinition {
  /** Leaves surges as they are; the next process goes on. */
  readonly stop: () => void;
}

/** Makes the interceptor. */
export const surge = (options: SurgeOptions): Surge => {
  const { client, time, seed, namespace, timing, onBlocked = () => {}, log = () => {} } = options;
  const api = kubernetesApi(client);
  const registry = new SurgeRegistry({
    api,
    time,
    seed,
    withoutSurge: options.withoutSurge ?? 'evict',
    acceptsDowntimeOn: options.acceptsDowntimeOn,
    onBlocked,
    log,
    timing: { ...DEFAULT_SURGE_TIMING, ...timing },
  });
  /** Why the Deployment of a pod is not known yet, by the UID of the pod. */
  const problems = new Map<string, string>();
  let nextReaderSeed: Seed = seed;
  const deploymentOf = async ({ pod, signal }: Interception): Promise<DeploymentKey> => {
    nextReaderSeed = nextSeed(nextReaderSeed);
    const onProblem = (problem: string): void => {
      problems.set(pod.uid, problem);
      log('Cannot read the Deployment of the pod', {
        pod: `${pod.namespace}/${pod.name}`,
        problem,
      });
    };
    try {
      return await podDeployment({ api, time, signal, seed: nextReaderSeed, onProblem }, pod);
    } finally {
      problems.delete(pod.uid);
    }
  };
  const definition = defineInterceptor({
    name: SURGE_NAME,
    progress: (pod) => {
      const message = problems.get(pod.uid) ?? registry.message(pod);
      return message === '' ? {} : { message };
    },
    intercept: async (interception: Interception) => {
      const { pod, signal } = interception;
      const deployment = await deploymentOf(interception);
      await registry.replace(deployment, pod, signal);
      return `Pod "${pod.name}" left after its replacement was available`;
    },
    recover: async () => {
      for (const deployment of await raisedDeployments(api, namespace)) {
        registry.recover(deployment);
      }
    },
  });
  return { ...definition, stop: registry.stop };
};
