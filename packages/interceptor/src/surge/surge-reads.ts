/**
 * The requests that read what a surge is about.
 *
 * Promises: an API that the cluster does not serve, as that of KEDA, has no objects.
 */
import { textAt } from '../json.ts';
import type { KubernetesApi } from '../kubernetes-api.ts';
import { kubernetesError } from '../kubernetes-client.ts';
import type { Time } from '../time.ts';
import {
  AUTOSCALER_KINDS,
  type AutoscalerKind,
  autoscalerOf,
  autoscalersPath,
  type FoundAutoscaler,
  isRaised,
  scaledDeployment,
} from './autoscaler.ts';
import { factsWithoutDeployment, selectorText, surgeFacts } from './surge-facts.ts';
import { deploymentPath } from './surge-writes.ts';
import type { DeploymentKey, FactsOutcome } from './workload-surge.ts';

/** The value; `undefined` where the API server has no such object or API. */
const unlessAbsent = async <Value>(read: Promise<Value>): Promise<Value | undefined> => {
  try {
    return await read;
  } catch (cause) {
    if (kubernetesError(cause)._tag === 'NotFound') return undefined;
    throw cause;
  }
};

const autoscalersIn = async (
  api: KubernetesApi,
  kind: AutoscalerKind,
  namespace: string | undefined,
): Promise<readonly unknown[]> =>
  (await unlessAbsent(api.list(autoscalersPath(kind, namespace))))?.items ?? [];

const readAutoscaler = async (
  api: KubernetesApi,
  { namespace, name }: DeploymentKey,
): Promise<FoundAutoscaler | null> => {
  const [ScaledObject, HorizontalPodAutoscaler] = await Promise.all([
    autoscalersIn(api, 'ScaledObject', namespace),
    autoscalersIn(api, 'HorizontalPodAutoscaler', namespace),
  ]);
  return autoscalerOf(name, { ScaledObject, HorizontalPodAutoscaler });
};

const readFacts = async (
  api: KubernetesApi,
  time: Time,
  key: DeploymentKey,
): Promise<FactsOutcome> => {
  const found = await unlessAbsent(api.get(deploymentPath(key)));
  // What was raised is restored, whatever owns the replicas since.
  const autoscaler = isRaised(found) ? null : await readAutoscaler(api, key);
  if (found === undefined || textAt(found, 'metadata', 'uid') !== key.uid) {
    return autoscaler === null || autoscaler.baseline === null
      ? { _tag: 'Absent' }
      : { _tag: 'Read', facts: factsWithoutDeployment(autoscaler), nowMs: time.now() };
  }
  const query = new URLSearchParams({ labelSelector: selectorText(found) });
  const { items: pods } = await api.list(`/api/v1/namespaces/${key.namespace}/pods?${query}`);
  const nowMs = time.now();
  return {
    _tag: 'Read',
    facts: surgeFacts({ deployment: found, pods, autoscaler }, nowMs),
    nowMs,
  };
};

/** Reads a Deployment, its pods and what owns its replicas. */
export const readSurgeFacts = async (
  api: KubernetesApi,
  time: Time,
  key: DeploymentKey,
): Promise<FactsOutcome> => {
  try {
    return await readFacts(api, time, key);
  } catch (cause) {
    const { message: problem, retryAfterMs } = kubernetesError(cause);
    return { _tag: 'Failed', problem, retryAfterMs };
  }
};

const keyOf = (deployment: unknown): DeploymentKey => ({
  namespace: textAt(deployment, 'metadata', 'namespace') ?? '',
  name: textAt(deployment, 'metadata', 'name') ?? '',
  uid: textAt(deployment, 'metadata', 'uid') ?? '',
});

/** The Deployments that an earlier process has raised, themselves or by their autoscaler. */
export const raisedDeployments = async (
  api: KubernetesApi,
  namespace: string | undefined,
): Promise<readonly DeploymentKey[]> => {
  const where = namespace === undefined ? '' : `/namespaces/${namespace}`;
  const { items } = await api.list(`/apis/apps/v1${where}/deployments`);
  const scaled = await Promise.all(
    AUTOSCALER_KINDS.map((kind) => autoscalersIn(api, kind, namespace)),
  );
  const names = scaled.flat().filter(isRaised).map((object) => ({
    namespace: textAt(object, 'metadata', 'namespace') ?? '',
    name: scaledDeployment(object) ?? '',
    // Also of a Deployment that is gone since.
    uid: '',
  }));
  const keys = items.map(keyOf);
  return [
    ...items.filter(isRaised).map(keyOf),
    ...names.map((one) =>
      keys.find(({ namespace: its, name }) => its === one.namespace && name === one.name) ?? one
    ),
  ];
};
