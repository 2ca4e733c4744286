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
import {
  claimNames,
  controllerOf,
  factsWithoutDeployment,
  selectorText,
  surgeFacts,
} from './surge-facts.ts';
import type {
  AcceptsDowntimeOn,
  DeploymentKey,
  FactsOutcome,
  SurgeQuestion,
} from './surge-context.ts';
import { deploymentPath } from './surge-writes.ts';

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

/** The claims of a Deployment that exist. */
const readClaims = async (
  api: KubernetesApi,
  { namespace }: DeploymentKey,
  deployment: unknown,
): Promise<readonly unknown[]> =>
  await Promise.all(
    claimNames(deployment).map((name) =>
      unlessAbsent(api.get(`/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`))
    ),
  );

/** The ReplicaSets that control pods, each read once; without those that are gone. */
const readReplicaSets = async (
  api: KubernetesApi,
  { namespace }: DeploymentKey,
  pods: readonly unknown[],
): Promise<readonly unknown[]> => {
  const names = new Set(
    pods.flatMap((pod) => textAt(controllerOf(pod, 'ReplicaSet'), 'name') ?? []),
  );
  return await Promise.all(
    [...names].map((name) =>
      unlessAbsent(api.get(`/apis/apps/v1/namespaces/${namespace}/replicasets/${name}`))
    ),
  );
};

/** What a surge reads with. */
export interface SurgeReader {
  readonly api: KubernetesApi;
  readonly time: Time;
  readonly acceptsDowntimeOn: AcceptsDowntimeOn | undefined;
}

/** False where the Node is gone or may not be read: nothing is accepted that cannot be seen. */
const isAcceptedOn = async (
  api: KubernetesApi,
  name: string,
  accepts: AcceptsDowntimeOn,
): Promise<boolean> => {
  try {
    return accepts(await api.get(`/api/v1/nodes/${encodeURIComponent(name)}`));
  } catch (cause) {
    if (['NotFound', 'Forbidden'].includes(kubernetesError(cause)._tag)) return false;
    throw cause;
  }
};

/** Those of the requested pods for whose Node downtime is accepted; each Node is read once. */
const readDowntimePods = async (
  { api, acceptsDowntimeOn }: SurgeReader,
  pods: readonly unknown[],
  requested: readonly string[],
): Promise<readonly string[]> => {
  if (acceptsDowntimeOn === undefined) return [];
  const nodeOf = new Map(
    pods.map((pod) => [textAt(pod, 'metadata', 'uid') ?? '', textAt(pod, 'spec', 'nodeName')]),
  );
  const names = new Set(requested.flatMap((uid) => nodeOf.get(uid) ?? []));
  const accepting = await Promise.all(
    [...names].map(async (name) => await isAcceptedOn(api, name, acceptsDowntimeOn) ? [name] : []),
  );
  const nodes = new Set(accepting.flat());
  return requested.filter((uid) => nodes.has(nodeOf.get(uid) ?? ''));
};

const readFacts = async (
  reader: SurgeReader,
  { deployment: key, stuck }: SurgeQuestion,
): Promise<FactsOutcome> => {
  const { api, time } = reader;
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
  const replicaSets = await readReplicaSets(api, key, pods);
  const claims = await readClaims(api, key, found);
  const downtimePods = await readDowntimePods(reader, pods, stuck);
  const nowMs = time.now();
  return {
    _tag: 'Read',
    facts: surgeFacts(
      { deployment: found, pods, replicaSets, autoscaler, claims, downtimePods },
      nowMs,
    ),
    nowMs,
  };
};

/** Reads a Deployment, its pods, what owns its replicas, and the Nodes of pods that are stuck. */
export const readSurgeFacts = async (
  reader: SurgeReader,
  question: SurgeQuestion,
): Promise<FactsOutcome> => {
  try {
    return await readFacts(reader, question);
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
