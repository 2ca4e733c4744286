/**
 * The ReplicaSet controller: keeps the wanted number of pods and releases pods whose labels no
 * longer match. It adopts no orphans.
 */
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import { labelsOf } from '../values/object-meta.ts';
import { hasLabels, selects } from '../kinds/label-selector.ts';
import { isActive, isReady } from './pod-reading.ts';
import { podFrom, replicaPlan } from './replicas.ts';
import {
  type Controller,
  type ControllerEnvironment,
  nameOf,
  pathOf,
  remove,
  uidOf,
} from './controller-environment.ts';
import { startWorkloads, wantedReplicas } from './workload-loop.ts';

const statusOf = (set: JsonRecord, pods: readonly JsonRecord[]): JsonRecord => {
  const active = pods.filter(isActive);
  const ready = active.filter(isReady).length;
  const template = labelsOf(recordAt(set, 'spec', 'template'));
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) => hasLabels(template, labelsOf(pod))).length,
    readyReplicas: ready,
    availableReplicas: ready,
  };
};

const letGo = (environment: ControllerEnvironment, pod: JsonRecord, set: JsonRecord): void => {
  const { namespace, name } = nameOf(pod);
  const ownerReferences = listOrEmptyAt(pod, 'metadata', 'ownerReferences')
    .filter((reference) => textAt(reference, 'uid') !== uidOf(set));
  const body = { metadata: { uid: uidOf(pod), ownerReferences } };
  environment.call({ method: 'PATCH', path: pathOf('pods', namespace, name), body });
};

/** Starts the controller. */
export const startReplicaSets = (environment: ControllerEnvironment): Controller =>
  startWorkloads(environment, {
    collection: 'replicasets',
    owns: 'pods',
    step: (set, owned) => {
      const pods = owned.filter((pod) => selects(set, labelsOf(pod)));
      for (const pod of owned) {
        if (isActive(pod) && !pods.includes(pod)) letGo(environment, pod, set);
      }
      const { toMake, toRemove } = replicaPlan(wantedReplicas(set), pods);
      const path = pathOf('pods', nameOf(set).namespace);
      for (let made = 0; made < toMake; made += 1) {
        environment.call({
          method: 'POST',
          path,
          body: podFrom({ owner: set, kind: 'ReplicaSet' }),
        });
      }
      for (const pod of toRemove) remove(environment, 'pods', { object: pod });
      return statusOf(set, pods);
    },
  });
