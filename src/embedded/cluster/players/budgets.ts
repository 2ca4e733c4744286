/**
 * Plays the disruption controller: keeps the status of every PodDisruptionBudget.
 *
 * Promises: a status is worked out some time after a budget, a covered pod or its controller has
 * changed, and again when a counted eviction is to be forgotten; a budget that cannot be worked out
 * allows nothing and says why (`SyncFailed`).
 */
import { type JsonRecord, numberAt, recordAt, textAt } from '../../../domain/json.ts';
import { labelsOf } from '../../../domain/object-meta.ts';
import { rfc3339Seconds } from '../../../domain/time.ts';
import { budgetCounts, sameCounts } from './budget-status.ts';
import { keyQueue } from './key-queue.ts';
import { selects } from './label-selector.ts';
import { conditionOf, controllerOf, withCondition } from './pod-reading.ts';
import {
  type CollectionName,
  keyOf,
  nameIn,
  nameOf,
  patchStatus,
  type Player,
  type Stage,
  type StageChange,
  within,
} from './stage.ts';
import { wantedReplicas } from './workload-loop.ts';

const SCALED: Readonly<Record<string, CollectionName>> = {
  ReplicaSet: 'replicasets',
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
};

const lookUp = (stage: Stage, namespace: string, owner: unknown): JsonRecord | undefined => {
  const collection = SCALED[textAt(owner, 'kind') ?? ''];
  const name = textAt(owner, 'name') ?? '';
  const found = collection === undefined ? undefined : stage.get(collection, { namespace, name });
  return textAt(found, 'metadata', 'uid') === textAt(owner, 'uid') ? found : undefined;
};

/** The workload whose replicas count: a Deployment before its ReplicaSet. */
const scaleOf = (stage: Stage, pod: JsonRecord): JsonRecord | 'bare' | 'unknown' => {
  const { namespace } = nameOf(pod);
  const owner = controllerOf(pod);
  if (owner === undefined) return 'bare';
  const found = lookUp(stage, namespace, owner);
  if (found === undefined) return 'unknown';
  const above = controllerOf(found);
  return above === undefined ? found : lookUp(stage, namespace, above) ?? 'unknown';
};

/** The replicas that the controllers of these pods want, each counted once. */
const wantedBy = (
  stage: Stage,
  pods: readonly JsonRecord[],
): { readonly wanted: number } | { readonly problem: string } => {
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const scale = scaleOf(stage, pod);
    if (scale === 'bare') continue;
    if (scale === 'unknown') {
      return { problem: `found no controllers for pod "${nameOf(pod).name}"` };
    }
    scales.set(textAt(scale, 'metadata', 'uid') ?? '', wantedReplicas(scale));
  }
  return { wanted: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0) };
};

/** Pods by namespace, kept from the changes. */
const podsByNamespace = () => {
  const rooms = new Map<string, Map<string, JsonRecord>>();
  return {
    in: (namespace: string): Iterable<JsonRecord> => rooms.get(namespace)?.values() ?? [],
    put: ({ type, object }: StageChange): void => {
      const { namespace, name } = nameOf(object);
      const room = rooms.get(namespace) ?? new Map<string, JsonRecord>();
      rooms.set(namespace, room);
      if (type === 'DELETED') room.delete(name);
      else room.set(name, object);
    },
  };
};

const condition = (allowed: number, problem: string | undefined) => {
  const [status, reason] = problem !== undefined
    ? ['False', 'SyncFailed']
    : allowed > 0
    ? ['True', 'SufficientPods']
    : ['False', 'InsufficientPods'];
  return { type: 'DisruptionAllowed', status, reason, message: problem ?? '' };
};

/** Starts the controller. */
export const startBudgets = (stage: Stage): Player => {
  const pods = podsByNamespace();
  const budgets = new Map<string, JsonRecord>();

  const say = (budget: JsonRecord, status: JsonRecord, problem?: string): void => {
    const now = rfc3339Seconds(stage.time.now());
    const allowed = numberAt(status, 'disruptionsAllowed') ?? 0;
    const conditions = withCondition(budget, condition(allowed, problem), now);
    patchStatus(stage, 'poddisruptionbudgets', {
      object: budget,
      status: { ...status, conditions },
    });
  };
  const look = (key: string): void => {
    const budget = stage.get('poddisruptionbudgets', nameIn(key));
    if (budget === undefined) return;
    const covered = [...pods.in(nameOf(budget).namespace)]
      .filter((pod) => selects(budget, labelsOf(pod)));
    const sum = wantedBy(stage, covered);
    const nowMs = stage.time.now();
    const wanted = 'wanted' in sum ? sum.wanted : undefined;
    const counts = budgetCounts({ budget, pods: covered, wanted, nowMs });
    const observedGeneration = numberAt(budget, 'metadata', 'generation') ?? 0;
    const before = recordAt(budget, 'status');
    if (counts === undefined) {
      const problem = 'problem' in sum ? sum.problem : 'the budget has no amount';
      if (textAt(conditionOf(budget, 'DisruptionAllowed'), 'message') === problem) return;
      return say(budget, { disruptionsAllowed: 0, observedGeneration }, problem);
    }
    const { againInMs, disruptedPods, ...numbers } = counts;
    if (againInMs !== undefined) queue.wake(key, againInMs);
    const seen = numberAt(before, 'observedGeneration') === observedGeneration;
    if (seen && sameCounts(before, counts)) return;
    const gone = Object.keys(recordAt(before, 'disruptedPods') ?? {})
      .filter((name) => !Object.hasOwn(disruptedPods, name))
      .map((name) => [name, null]);
    say(budget, {
      ...numbers,
      disruptedPods: { ...Object.fromEntries(gone), ...disruptedPods },
      observedGeneration,
    });
  };
  const queue = keyQueue(stage.time, look);
  const wake = (key: string): void => queue.wake(key, within(stage, stage.pace.controllerMs));
  const wakeFor = (concerns: (budget: JsonRecord) => boolean): void => {
    for (const [key, budget] of budgets) if (concerns(budget)) wake(key);
  };

  const hear = (change: StageChange): void => {
    const { type, collection, object } = change;
    const { namespace } = nameOf(object);
    const near = (budget: JsonRecord) => nameOf(budget).namespace === namespace;
    if (collection === 'poddisruptionbudgets') {
      if (type === 'DELETED') budgets.delete(keyOf(object));
      else budgets.set(keyOf(object), object);
      if (type !== 'DELETED') wake(keyOf(object));
    } else if (collection === 'pods') {
      pods.put(change);
      wakeFor((budget) => near(budget) && selects(budget, labelsOf(object)));
    } else if (Object.values(SCALED).some((scaled) => scaled === collection)) wakeFor(near);
  };
  const silence = stage.hear(hear);
  return {
    stop: () => {
      silence();
      queue.stop();
    },
  };
};
