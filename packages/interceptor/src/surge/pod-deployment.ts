/**
 * The Deployment that a pod belongs to.
 *
 * Promises: an API server that does not answer is asked again, because a surge that gives up lets
 * the pod be evicted without a replacement.
 */
import { backoffMs, failedOnce, noFailures, type Seed } from '../backoff.ts';
import { textAt } from '../json.ts';
import type { KubernetesApi } from '../kubernetes-api.ts';
import { KubernetesError } from '../kubernetes-client.ts';
import { podPath, type TargetPod } from '../observed-request.ts';
import type { Time } from '../time.ts';
import type { DeploymentKey } from './surge-context.ts';
import { controllerOf } from './surge-facts.ts';
import { deploymentPath } from './surge-writes.ts';

/** What the Deployment of a pod is read with. */
export interface DeploymentReader {
  readonly api: KubernetesApi;
  readonly time: Time;
  readonly signal: AbortSignal;
  readonly seed: Seed;
  /** Called when it could not be read; it is read again. */
  readonly onProblem: (problem: string) => void;
}

const ownerName = (object: unknown, kind: string, { name: pod }: TargetPod): string => {
  const name = textAt(controllerOf(object, kind), 'name');
  if (name === undefined) throw new Error(`Pod "${pod}" belongs to no Deployment`);
  return name;
};

const readDeployment = async (api: KubernetesApi, pod: TargetPod): Promise<DeploymentKey> => {
  const { namespace } = pod;
  const setName = ownerName(await api.get(podPath(pod)), 'ReplicaSet', pod);
  const set = await api.get(`/apis/apps/v1/namespaces/${namespace}/replicasets/${setName}`);
  const name = ownerName(set, 'Deployment', pod);
  const deployment = await api.get(deploymentPath({ namespace, name }));
  return { namespace, name, uid: textAt(deployment, 'metadata', 'uid') ?? '' };
};

/** Rejects with the reason of the signal. */
const passed = (time: Time, delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const cancel = time.schedule(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });

/** The Deployment of a pod. Throws when it has none, and the reason of an aborted signal. */
export const podDeployment = async (
  { api, time, signal, seed, onProblem }: DeploymentReader,
  pod: TargetPod,
): Promise<DeploymentKey> => {
  for (let attempts = noFailures(seed);;) {
    try {
      const deployment = await readDeployment(api, pod);
      signal.throwIfAborted();
      return deployment;
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof KubernetesError) || cause._tag === 'NotFound') throw cause;
      onProblem(cause.message);
      attempts = failedOnce(attempts, cause.retryAfterMs);
      await passed(time, backoffMs(attempts), signal);
    }
  }
};
