/**
 * The requests that write the steps of a surge.
 *
 * Promises: each is on the version, or the UID, that its step was decided on; a stale one is
 * refused by the API server.
 */
import type { JsonRecord } from '../json.ts';
import type { KubernetesApi } from '../kubernetes-api.ts';
import { kubernetesError } from '../kubernetes-client.ts';
import { podPath } from '../observed-request.ts';
import { autoscalersPath, leastField } from './autoscaler.ts';
import { BASELINE_ANNOTATION, baselineText, type SurgeBaseline } from './surge-baseline.ts';
import {
  COST_ANNOTATION,
  COST_BEFORE_ANNOTATION,
  LOWEST_COST,
  type SurgeFacts,
  type SurgePod,
} from './surge-facts.ts';
import type { RestoredCount } from './surge-step.ts';
import type { DeploymentKey, SurgeWrite, SurgeWriteOutcome } from './surge-context.ts';

/** The field manager of what the surge writes. */
export const SURGE_NAME = 'surge.tidegate.dev';

const DEPLOYMENTS = '/apis/apps/v1';

/** The path of a Deployment. */
export const deploymentPath = ({ namespace, name }: Omit<DeploymentKey, 'uid'>): string =>
  `${DEPLOYMENTS}/namespaces/${namespace}/deployments/${name}`;

/** The object whose count is raised. */
const countedObject = (deployment: DeploymentKey, { autoscaler, resourceVersion }: SurgeFacts) =>
  autoscaler === null ? { path: deploymentPath(deployment), field: 'replicas', resourceVersion } : {
    path: `${autoscalersPath(autoscaler.kind, deployment.namespace)}/${autoscaler.name}`,
    field: leastField(autoscaler.kind),
    resourceVersion: autoscaler.resourceVersion,
  };

/** In one write: no count is changed without the number to restore. */
const countChange = (
  { field, resourceVersion }: Omit<ReturnType<typeof countedObject>, 'path'>,
  baseline: SurgeBaseline | null,
  to: RestoredCount,
): JsonRecord => ({
  metadata: {
    resourceVersion,
    annotations: {
      [BASELINE_ANNOTATION]: baseline === null ? null : baselineText(baseline),
    },
  },
  ...(to === 'kept' ? {} : { spec: { [field]: to === 'absent' ? null : to } }),
});

const podChange = ({ resourceVersion, uid }: SurgePod, annotations: JsonRecord): JsonRecord => ({
  metadata: { resourceVersion, uid, annotations },
});

const lowestCost = (pod: SurgePod): JsonRecord =>
  podChange(pod, {
    [COST_ANNOTATION]: `${LOWEST_COST}`,
    [COST_BEFORE_ANNOTATION]: pod.costText,
  });

/** A deletion cost that somebody else has set since stays. */
const costBefore = (pod: SurgePod): JsonRecord => {
  const { costChange } = pod;
  const cost = costChange === null || costChange.before === '' ? null : costChange.before;
  return podChange(pod, {
    [COST_BEFORE_ANNOTATION]: null,
    ...(costChange?.isKept === true ? { [COST_ANNOTATION]: cost } : {}),
  });
};

const request = async (
  api: KubernetesApi,
  { deployment, facts, step }: SurgeWrite,
): Promise<void> => {
  const { namespace } = deployment;
  const setCount = (baseline: SurgeBaseline | null, to: RestoredCount) => {
    const { path, ...counted } = countedObject(deployment, facts);
    return api.patch(path, countChange(counted, baseline, to), SURGE_NAME);
  };
  const setPod = ({ name }: SurgePod, change: JsonRecord) =>
    api.patch(podPath({ namespace, name }), change, SURGE_NAME);
  switch (step._tag) {
    case 'Raise':
    case 'Lower':
      await setCount(step.baseline, step.baseline.raisedTo);
      break;
    case 'Restore':
      await setCount(null, step.to);
      break;
    case 'Scale': {
      const { resourceVersion } = facts;
      const change = { metadata: { resourceVersion }, spec: { replicas: step.replicas } };
      await api.patch(deploymentPath(deployment), change, SURGE_NAME);
      break;
    }
    case 'LowerCost':
      await setPod(step.pod, lowestCost(step.pod));
      break;
    case 'RestoreCost':
      await setPod(step.pod, costBefore(step.pod));
      break;
    case 'Delete':
      await api.remove(podPath({ namespace, name: step.pod.name }), step.pod.uid);
      break;
    case 'Wait':
    case 'Done':
  }
};

/** Nothing was written; a request that timed out (408) may have been. */
const isRefusal = (status: number): boolean => status >= 400 && status < 500 && status !== 408;

/** Writes a step; what is gone or has changed is read again. */
export const writeStep = async (
  api: KubernetesApi,
  write: SurgeWrite,
): Promise<SurgeWriteOutcome> => {
  try {
    await request(api, write);
    return { _tag: 'Written' };
  } catch (cause) {
    const { _tag, status, message: problem, retryAfterMs } = kubernetesError(cause);
    if (_tag === 'NotFound') return { _tag: 'Written' };
    return { _tag: isRefusal(status) ? 'Refused' : 'Failed', problem, retryAfterMs };
  }
};
