/** Plays the ReplicaSet controller: as many pods as wanted. Adopts no orphans. */
import { type JsonRecord, recordAt } from '../../../domain/json.ts';
import { labelsOf } from '../../../domain/object-meta.ts';
import { hasLabels } from './label-selector.ts';
import { isActive, isReady } from './pod-reading.ts';
import { podFrom, replicaPlan } from './replicas.ts';
import { nameOf, pathOf, type Player, remove, type Stage } from './stage.ts';
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

/** Starts the controller. */
export const startReplicaSets = (stage: Stage): Player =>
  startWorkloads(stage, {
    collection: 'replicasets',
    owns: 'pods',
    step: (set, pods) => {
      const { toMake, toRemove } = replicaPlan(wantedReplicas(set), pods);
      const path = pathOf('pods', nameOf(set).namespace);
      for (let made = 0; made < toMake; made += 1) {
        stage.call({ method: 'POST', path, body: podFrom({ owner: set, kind: 'ReplicaSet' }) });
      }
      for (const pod of toRemove) remove(stage, 'pods', { object: pod });
      return statusOf(set, pods);
    },
  });
