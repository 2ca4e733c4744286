/**
 * Which budgets cover a pod and which pods a budget covers, kept while both change (DR-30).
 *
 * Promises: follows selectors and labels; a change of one budget looks at the pods of its namespace
 * and at no other, a change of one pod at the budgets of its namespace.
 */
import type { ObjectKey, Uid } from '../ids.ts';
import { compareText } from '../requirements.ts';
import { type Budget, budgetCovers } from './budget.ts';
import type { DrainPod } from './pod.ts';

/** Pods and budgets, each found from the other. */
export interface BudgetIndex {
  /** Takes a pod in, or its new facts. Gives true when other budgets cover it than before. */
  readonly putPod: (pod: DrainPod) => boolean;
  readonly removePod: (uid: Uid) => void;
  /** Takes a budget in, or its new facts. Gives the pods that it began or ceased to cover. */
  readonly putBudget: (budget: Budget) => readonly Uid[];
  /** Gives the pods that it covered. */
  readonly removeBudget: (key: ObjectKey) => readonly Uid[];
  /** The budgets that cover the pod, in the order of their names. */
  readonly budgetsOf: (uid: Uid) => readonly Budget[];
  readonly podsOf: (key: ObjectKey) => readonly DrainPod[];
}

const NO_BUDGETS: ReadonlySet<ObjectKey> = new Set();

/** A map of sets in which no set is empty. */
const groups = <Key, Member>() => {
  const sets = new Map<Key, Set<Member>>();
  return {
    get: (key: Key): Iterable<Member> => sets.get(key) ?? [],
    add: (key: Key, member: Member): void => {
      const known = sets.get(key);
      if (known === undefined) sets.set(key, new Set([member]));
      else known.add(member);
    },
    remove: (key: Key, member: Member): void => {
      const known = sets.get(key);
      if (known?.delete(member) === true && known.size === 0) sets.delete(key);
    },
  };
};

const equalSets = <T>(left: ReadonlySet<T>, right: ReadonlySet<T>): boolean =>
  left.size === right.size && [...left].every((member) => right.has(member));

const sameSelector = (left: Budget, right: Budget): boolean =>
  left.selector === right.selector ||
  JSON.stringify(left.selector) === JSON.stringify(right.selector);

/** An empty index. */
export const budgetIndex = (): BudgetIndex => {
  const pods = new Map<Uid, DrainPod>();
  const budgets = new Map<ObjectKey, Budget>();
  const covering = new Map<Uid, ReadonlySet<ObjectKey>>();
  const covered = groups<ObjectKey, Uid>();
  const podsIn = groups<string, Uid>();
  const budgetsIn = groups<string, ObjectKey>();

  const budgetsFor = (pod: DrainPod): readonly ObjectKey[] =>
    [...budgetsIn.get(pod.namespace)].filter((key) => {
      const budget = budgets.get(key);
      return budget !== undefined && budgetCovers(budget, pod);
    });

  /** True when the budgets of the pod are others than before. */
  const cover = (uid: Uid, keys: readonly ObjectKey[]): boolean => {
    const before = covering.get(uid) ?? NO_BUDGETS;
    const after = keys.length === 0 ? NO_BUDGETS : new Set(keys);
    if (equalSets(before, after)) return false;
    for (const key of before) if (!after.has(key)) covered.remove(key, uid);
    for (const key of after) covered.add(key, uid);
    if (after.size === 0) covering.delete(uid);
    else covering.set(uid, after);
    return true;
  };

  const coverAgain = (uids: Iterable<Uid>): readonly Uid[] =>
    [...uids].filter((uid) => {
      const pod = pods.get(uid);
      return pod !== undefined && cover(uid, budgetsFor(pod));
    });

  return {
    putPod: (pod) => {
      const known = pods.get(pod.uid);
      pods.set(pod.uid, pod);
      if (known === undefined) podsIn.add(pod.namespace, pod.uid);
      else if (known.labels === pod.labels) return false;
      return cover(pod.uid, budgetsFor(pod));
    },
    removePod: (uid) => {
      const known = pods.get(uid);
      if (known === undefined) return;
      cover(uid, []);
      pods.delete(uid);
      podsIn.remove(known.namespace, uid);
    },
    putBudget: (budget) => {
      const known = budgets.get(budget.key);
      budgets.set(budget.key, budget);
      budgetsIn.add(budget.namespace, budget.key);
      if (known !== undefined && sameSelector(known, budget)) return [];
      return coverAgain(podsIn.get(budget.namespace));
    },
    removeBudget: (key) => {
      const known = budgets.get(key);
      if (known === undefined) return [];
      budgets.delete(key);
      budgetsIn.remove(known.namespace, key);
      return coverAgain([...covered.get(key)]);
    },
    budgetsOf: (uid) =>
      [...(covering.get(uid) ?? NO_BUDGETS)].toSorted(compareText).flatMap((key) => {
        const budget = budgets.get(key);
        return budget === undefined ? [] : [budget];
      }),
    podsOf: (key) =>
      [...covered.get(key)].flatMap((uid) => {
        const pod = pods.get(uid);
        return pod === undefined ? [] : [pod];
      }),
  };
};
