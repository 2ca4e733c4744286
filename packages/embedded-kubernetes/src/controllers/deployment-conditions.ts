/** The conditions of a Deployment: `Available` and `Progressing`. */
import { type JsonRecord, numberAt, textAt, valueAt } from '../values/json.ts';
import { conditionOf, withCondition } from './pod-reading.ts';
import { leeway } from './rollout.ts';
import { wantedReplicas } from './workload-loop.ts';

type Condition = { readonly type: string; readonly status: string } & JsonRecord;

const availability = (deployment: JsonRecord, status: JsonRecord): Condition => {
  const replicas = wantedReplicas(deployment);
  const strategy = valueAt(deployment, 'spec', 'strategy');
  const rolls = textAt(strategy, 'type') !== 'Recreate';
  const least = replicas - (rolls ? leeway(strategy, replicas).unavailable : 0);
  const enough = (numberAt(status, 'availableReplicas') ?? 0) >= least;
  return {
    type: 'Available',
    status: enough ? 'True' : 'False',
    reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: enough
      ? 'Deployment has minimum availability.'
      : 'Deployment does not have minimum availability.',
  };
};

const progress = (deployment: JsonRecord, status: JsonRecord, set: string): Condition => {
  const replicas = wantedReplicas(deployment);
  const done = ['replicas', 'updatedReplicas', 'availableReplicas'].every((count) =>
    numberAt(status, count) === replicas
  );
  return {
    type: 'Progressing',
    status: 'True',
    reason: done ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
    message: done
      ? `ReplicaSet "${set}" has successfully progressed.`
      : `ReplicaSet "${set}" is progressing.`,
  };
};

/** An unchanged condition keeps its transition time. */
const updated = (deployment: JsonRecord, condition: Condition, now: string): Condition => {
  const before = conditionOf(deployment, condition.type);
  const same = textAt(before, 'reason') === condition['reason'] &&
    textAt(before, 'status') === condition.status;
  return { ...condition, lastUpdateTime: same ? textAt(before, 'lastUpdateTime') ?? now : now };
};

/** The conditions of a Deployment with these counts; `set` is its newest ReplicaSet. */
export const deploymentConditions = (
  deployment: JsonRecord,
  status: JsonRecord,
  { set, now }: { readonly set: string; readonly now: string },
): readonly unknown[] => {
  const available = updated(deployment, availability(deployment, status), now);
  const conditions = withCondition(deployment, available, now);
  const progressing = updated(deployment, progress(deployment, status, set), now);
  return withCondition({ status: { conditions } }, progressing, now);
};
