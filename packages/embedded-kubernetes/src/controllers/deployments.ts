/** The Deployment controller: one ReplicaSet for each template, with rolling updates. */
import { type JsonRecord, numberAt, recordAt, textAt, valueAt } from '../values/json.ts';
import { rfc3339Seconds } from '../values/time.ts';
import { labelsOf } from '../values/object-meta.ts';
import { deploymentConditions } from './deployment-conditions.ts';
import { ownerReference, templateHash } from './replicas.ts';
import { rolloutStep, type SetFacts } from './rollout.ts';
import {
  type Controller,
  type ControllerEnvironment,
  nameOf,
  pathOf,
} from './controller-environment.ts';
import { startWorkloads, wantedReplicas } from './workload-loop.ts';

const HASH = 'pod-template-hash';

const factsOf = (set: JsonRecord): SetFacts => ({
  name: nameOf(set).name,
  wanted: wantedReplicas(set),
  available: numberAt(set, 'status', 'availableReplicas') ?? 0,
});

const setFrom = (deployment: JsonRecord, hash: string, replicas: number) => {
  const { namespace, name } = nameOf(deployment);
  const template = recordAt(deployment, 'spec', 'template');
  const labels = { ...labelsOf(template), [HASH]: hash };
  const selector = recordAt(deployment, 'spec', 'selector');
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      ownerReferences: [ownerReference(deployment, 'apps/v1', 'Deployment')],
    },
    spec: {
      replicas,
      selector: {
        ...selector,
        matchLabels: { ...recordAt(selector, 'matchLabels'), [HASH]: hash },
      },
      template: { ...template, metadata: { ...recordAt(template, 'metadata'), labels } },
    },
  };
};

const resize = (environment: ControllerEnvironment, set: JsonRecord, replicas: number): void => {
  if (wantedReplicas(set) === replicas) return;
  const { namespace, name } = nameOf(set);
  const path = pathOf('replicasets', namespace, name);
  environment.call({ method: 'PATCH', path, body: { spec: { replicas } } });
};

const byAge = (left: JsonRecord, right: JsonRecord): number =>
  (numberAt({ at: Number(textAt(left, 'metadata', 'resourceVersion')) }, 'at') ?? 0) -
  (numberAt({ at: Number(textAt(right, 'metadata', 'resourceVersion')) }, 'at') ?? 0);

const sum = (sets: readonly JsonRecord[], field: string): number =>
  sets.reduce((total, set) => total + (numberAt(set, 'status', field) ?? 0), 0);

const statusOf = (
  deployment: JsonRecord,
  sets: readonly JsonRecord[],
  next: JsonRecord | undefined,
): JsonRecord => {
  const available = sum(sets, 'availableReplicas');
  return {
    replicas: sum(sets, 'replicas'),
    readyReplicas: sum(sets, 'readyReplicas'),
    availableReplicas: available,
    updatedReplicas: numberAt(next, 'status', 'replicas') ?? 0,
    unavailableReplicas: Math.max(0, wantedReplicas(deployment) - available),
  };
};

/**
 * Whether a set has the template of the deployment, whatever its name and hash are
 * (`EqualIgnoreHash`): another controller may have made it.
 */
const hasTemplateOf = (set: JsonRecord, deployment: JsonRecord): boolean => {
  const template = recordAt(set, 'spec', 'template');
  const { [HASH]: _, ...labels } = labelsOf(template);
  const own = { ...template, metadata: { ...recordAt(template, 'metadata'), labels } };
  const wanted = recordAt(deployment, 'spec', 'template');
  const normal = (one: JsonRecord | undefined): string =>
    templateHash({
      ...one,
      metadata: { ...recordAt(one, 'metadata'), labels: labelsOf(one), creationTimestamp: null },
    });
  return normal(own) === normal(wanted);
};

/** Starts the controller. */
export const startDeployments = (environment: ControllerEnvironment): Controller =>
  startWorkloads(environment, {
    collection: 'deployments',
    owns: 'replicasets',
    step: (deployment, sets) => {
      const hash = templateHash(recordAt(deployment, 'spec', 'template'));
      const next = sets.find((set) => labelsOf(set)[HASH] === hash) ??
        sets.find((set) => hasTemplateOf(set, deployment));
      const old = sets.filter((set) => set !== next).toSorted(byAge);
      const step = rolloutStep({
        replicas: wantedReplicas(deployment),
        strategy: valueAt(deployment, 'spec', 'strategy'),
        next: next === undefined ? undefined : factsOf(next),
        old: old.map(factsOf),
      });
      if (next === undefined) {
        const path = pathOf('replicasets', nameOf(deployment).namespace);
        environment.call({ method: 'POST', path, body: setFrom(deployment, hash, step.next) });
      } else resize(environment, next, step.next);
      for (const set of old) resize(environment, set, step.old.get(nameOf(set).name) ?? 0);
      const status = statusOf(deployment, sets, next);
      const set = next === undefined ? `${nameOf(deployment).name}-${hash}` : nameOf(next).name;
      const now = rfc3339Seconds(environment.time.now());
      return { ...status, conditions: deploymentConditions(deployment, status, { set, now }) };
    },
  });
