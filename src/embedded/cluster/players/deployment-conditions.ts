/** What a Deployment says of itself: whether enough is available, and whether it gets on. */
import { type JsonRecord, numberAt, textAt, valueAt } from '../../../domain/json.ts';
import { conditionOf, withCondition } from './pod-reading.ts';
import { leeway } from './rollout.ts';
import { wantedReplicas } from './workload-loop.ts';

type Said = { readonly type: string; readonly status: string } & JsonRecord;

const availability = (deployment: JsonRecord, status: JsonRecord): Said => {
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

const progress = (deployment: JsonRecord, status: JsonRecord, set: string): Said => {
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

/** Nothing is written anew that says what it said before. */
const updated = (deployment: JsonRecord, said: Said, now: string): Said => {
  const before = conditionOf(deployment, said.type);
  const same = textAt(before, 'reason') === said['reason'] &&
    textAt(before, 'status') === said.status;
  return { ...said, lastUpdateTime: same ? textAt(before, 'lastUpdateTime') ?? now : now };
};

/** The conditions of a Deployment whose counts are these; `set` is its newest ReplicaSet. */
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
