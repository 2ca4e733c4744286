/**
 * The disruption controller: maintains the status of every PodDisruptionBudget.
 *
 * Promises: recomputes a status after a delay when the budget, a selected pod or its controller
 * changes, and when an entry of `disruptedPods` expires; a budget that cannot be computed allows 0
 * disruptions and reports `SyncFailed`.
 */
import { type JsonRecord, numberAt, recordAt, textAt } from '../values/json.ts';
import { rfc3339Seconds } from '../values/time.ts';
import { budgetCounts, sameCounts } from './budget-status.ts';
import { keyQueue } from './key-queue.ts';
import { conditionOf, controllerOf, withCondition } from './pod-reading.ts';
import { makeSelection } from './selection.ts';
import {
  type CollectionName,
  type Controller,
  type ControllerEnvironment,
  keyOf,
  nameIn,
  nameOf,
  type ObjectChange,
  patchStatus,
  uidOf,
  within,
} from './controller-environment.ts';
import { wantedReplicas } from './workload-loop.ts';

const SCALED: Readonly<Record<string, CollectionName>> = {
  ReplicaSet: 'replicasets',
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
};

const lookUp = (
  environment: ControllerEnvironment,
  namespace: string,
  owner: unknown,
): JsonRecord | undefined => {
  const collection = SCALED[textAt(owner, 'kind') ?? ''];
  const name = textAt(owner, 'name') ?? '';
  const found = collection === undefined
    ? undefined
    : environment.get(collection, { namespace, name });
  return textAt(found, 'metadata', 'uid') === textAt(owner, 'uid') ? found : undefined;
};

/** The workload whose replicas count: a Deployment before its ReplicaSet. */
const scaleOf = (
  environment: ControllerEnvironment,
  pod: JsonRecord,
): JsonRecord | 'bare' | 'unknown' => {
  const { namespace } = nameOf(pod);
  const owner = controllerOf(pod);
  if (owner === undefined) return 'bare';
  const found = lookUp(environment, namespace, owner);
  if (found === undefined) return 'unknown';
  const above = controllerOf(found);
  // Whoever owns a StatefulSet, or a ReplicaSet without a Deployment, is not asked.
  if (textAt(above, 'kind') !== 'Deployment') return found;
  return lookUp(environment, namespace, above) ?? 'unknown';
};

/** The sum of the replicas of the pods' controllers, each controller counted once. */
const wantedBy = (
  environment: ControllerEnvironment,
  pods: readonly JsonRecord[],
): { readonly wanted: number } | { readonly problem: string } => {
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const scale = scaleOf(environment, pod);
    if (scale === 'bare') continue;
    if (scale === 'unknown') {
      return { problem: `found no controllers for pod "${nameOf(pod).name}"` };
    }
    scales.set(textAt(scale, 'metadata', 'uid') ?? '', wantedReplicas(scale));
  }
  return { wanted: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0) };
};

/** The fields of a workload that budgets depend on: replicas and controller. */
const wishOf = (scale: JsonRecord): string =>
  `${uidOf(scale)} ${wantedReplicas(scale)} ${textAt(controllerOf(scale), 'uid') ?? ''}`;

/** The budgets whose status may have changed. */
const makeDoubts = () => {
  const settled = new Set<string>();
  const wishes = new Map<string, string>();
  return {
    holds: (key: string): boolean => !settled.has(key),
    raise: (key: string): void => void settled.delete(key),
    settle: (key: string): void => void settled.add(key),
    /** Most changes of a workload are status updates, which budgets ignore. */
    onChange: ({ type, collection, object }: ObjectChange): void => {
      const name = `${collection} ${keyOf(object)}`;
      const wish = type === 'DELETED' ? '' : wishOf(object);
      if (wishes.get(name) === wish) return;
      wishes.set(name, wish);
      settled.clear();
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
export const startBudgets = (environment: ControllerEnvironment): Controller => {
  const { pods, budgets, podsUnder, budgetsOver } = makeSelection();
  const doubts = makeDoubts();

  const writeStatus = (budget: JsonRecord, status: JsonRecord, problem?: string): void => {
    const now = rfc3339Seconds(environment.time.now());
    const allowed = numberAt(status, 'disruptionsAllowed') ?? 0;
    const conditions = withCondition(budget, condition(allowed, problem), now);
    patchStatus(environment, 'poddisruptionbudgets', {
      object: budget,
      status: { ...status, conditions },
    });
  };
  const look = (key: string): void => {
    const budget = environment.get('poddisruptionbudgets', nameIn(key));
    if (budget === undefined || !doubts.holds(key)) return;
    const covered = podsUnder(budget);
    const sum = wantedBy(environment, covered);
    const nowMs = environment.time.now();
    const wanted = 'wanted' in sum ? sum.wanted : undefined;
    const counts = budgetCounts({ budget, pods: covered, wanted, nowMs });
    const observedGeneration = numberAt(budget, 'metadata', 'generation') ?? 0;
    const before = recordAt(budget, 'status');
    if (counts === undefined) {
      const problem = 'problem' in sum ? sum.problem : 'the budget has no amount';
      if (textAt(conditionOf(budget, 'DisruptionAllowed'), 'message') === problem) return;
      return writeStatus(budget, { disruptionsAllowed: 0, observedGeneration }, problem);
    }
    const { againInMs, disruptedPods, ...numbers } = counts;
    if (againInMs === undefined) doubts.settle(key);
    else queue.schedule(key, againInMs);
    const seen = numberAt(before, 'observedGeneration') === observedGeneration;
    if (seen && sameCounts(before, counts)) return;
    const gone = Object.keys(recordAt(before, 'disruptedPods') ?? {})
      .filter((name) => !Object.hasOwn(disruptedPods, name))
      .map((name) => [name, null]);
    writeStatus(budget, {
      ...numbers,
      disruptedPods: { ...Object.fromEntries(gone), ...disruptedPods },
      observedGeneration,
    });
  };
  const queue = keyQueue(environment.time, look);
  const enqueue = (key: string): void =>
    queue.schedule(key, within(environment, environment.timing.controllerMs));
  const doubt = (key: string): void => {
    doubts.raise(key);
    enqueue(key);
  };

  const onChange = (change: ObjectChange): void => {
    const { type, collection, object } = change;
    if (collection === 'poddisruptionbudgets') {
      if (type === 'DELETED') budgets.remove(object);
      else {
        budgets.put(object);
        doubt(keyOf(object));
      }
    } else if (collection === 'pods') {
      if (type === 'DELETED') pods.remove(object);
      else pods.put(object);
      for (const budget of budgetsOver(object)) doubt(keyOf(budget));
    } else if (Object.values(SCALED).some((scaled) => scaled === collection)) {
      doubts.onChange(change);
      const room = `${nameOf(object).namespace}/`;
      for (const key of budgets.all.keys()) if (key.startsWith(room)) enqueue(key);
    }
  };
  const unsubscribe = environment.subscribe(onChange);
  return {
    stop: () => {
      unsubscribe();
      queue.stop();
    },
  };
};
