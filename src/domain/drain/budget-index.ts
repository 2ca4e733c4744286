/**
 * Indexes which budgets cover which pods, while both change (DR-30).
 *
 * Promises: follows selectors and labels; a new selector is matched only against pods of its
 * namespace, a changed pod only against budgets that select one of its labels.
 */
import type { ObjectKey, Uid } from '../ids.ts';
import { sameJson } from '../json-equality.ts';
import { compareText } from '../requirements.ts';
import { type Budget, budgetCovers } from './budget.ts';
import type { DrainPod } from './pod.ts';

/** Pods and budgets, each found from the other. */
export interface BudgetIndex {
  /** Adds or updates a pod. Returns true when its set of budgets changed. */
  readonly putPod: (pod: DrainPod) => boolean;
  readonly removePod: (uid: Uid) => void;
  /** Adds or updates a budget. Returns the pods whose coverage changed. */
  readonly putBudget: (budget: Budget) => readonly Uid[];
  /** Returns the pods that it covered. */
  readonly removeBudget: (key: ObjectKey) => readonly Uid[];
  /** The budgets that cover the pod, sorted by name. */
  readonly budgetsOf: (uid: Uid) => readonly Budget[];
  readonly podsOf: (key: ObjectKey) => readonly DrainPod[];
  readonly coversAny: (key: ObjectKey) => boolean;
}

const NO_BUDGETS: ReadonlySet<ObjectKey> = new Set();

/** A map of sets without empty sets. */
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
  sameJson(left.selector, right.selector);

/** A key shared by pods and budgets of one namespace; namespaces and labels contain no NUL. */
const labelKey = (namespace: string, label: string, value: string): string =>
  [namespace, label, value].join('\0');

/** The keys of the budget: the labels that it selects, or its whole namespace. */
const placesOf = ({ namespace, selector }: Budget): readonly string[] => {
  const wanted = selector?.find(({ operator }) => operator === 'In');
  if (wanted === undefined) return selector === null ? [] : [namespace];
  return wanted.values.map((value) => labelKey(namespace, wanted.key, value));
};

/** The keys where the budgets of a pod may be. */
const placesFor = ({ namespace, labels }: DrainPod): readonly string[] => [
  namespace,
  ...Object.entries(labels).map(([label, value]) => labelKey(namespace, label, value)),
];

/** Which budgets cover which pods, indexed both ways. */
const coverage = () => {
  const covering = new Map<Uid, ReadonlySet<ObjectKey>>();
  const covered = groups<ObjectKey, Uid>();
  const budgetsOf = (uid: Uid): ReadonlySet<ObjectKey> => covering.get(uid) ?? NO_BUDGETS;

  /** True when the set of budgets of the pod changed. */
  const cover = (uid: Uid, after: ReadonlySet<ObjectKey>): boolean => {
    const before = budgetsOf(uid);
    if (equalSets(before, after)) return false;
    for (const key of before) if (!after.has(key)) covered.remove(key, uid);
    for (const key of after) covered.add(key, uid);
    if (after.size === 0) covering.delete(uid);
    else covering.set(uid, after);
    return true;
  };

  /** Sets whether the budget covers the pod; true when that changed. */
  const coverBy = (key: ObjectKey, uid: Uid, covers: boolean): boolean => {
    const before = budgetsOf(uid);
    if (before.has(key) === covers) return false;
    const others = [...before].filter((other) => other !== key);
    return cover(uid, new Set(covers ? [...others, key] : others));
  };

  return { budgetsOf, podsOf: covered.get, cover, coverBy };
};

/** Creates an empty index. */
export const budgetIndex = (): BudgetIndex => {
  const pods = new Map<Uid, DrainPod>();
  const budgets = new Map<ObjectKey, Budget>();
  const coverings = coverage();
  const podsIn = groups<string, Uid>();
  const budgetsAt = groups<string, ObjectKey>();

  const budgetsFor = (pod: DrainPod): ReadonlySet<ObjectKey> => {
    const found = new Set<ObjectKey>();
    for (const place of placesFor(pod)) {
      for (const key of budgetsAt.get(place)) {
        const budget = budgets.get(key);
        if (budget !== undefined && budgetCovers(budget, pod)) found.add(key);
      }
    }
    return found.size === 0 ? NO_BUDGETS : found;
  };

  const place = (budget: Budget, change: 'add' | 'remove'): void => {
    for (const at of placesOf(budget)) budgetsAt[change](at, budget.key);
  };

  return {
    putPod: (pod) => {
      const known = pods.get(pod.uid);
      pods.set(pod.uid, pod);
      if (known === undefined) podsIn.add(pod.namespace, pod.uid);
      else if (known.labels === pod.labels) return false;
      return coverings.cover(pod.uid, budgetsFor(pod));
    },
    removePod: (uid) => {
      const known = pods.get(uid);
      if (known === undefined) return;
      coverings.cover(uid, NO_BUDGETS);
      pods.delete(uid);
      podsIn.remove(known.namespace, uid);
    },
    putBudget: (budget) => {
      const known = budgets.get(budget.key);
      budgets.set(budget.key, budget);
      if (known !== undefined && sameSelector(known, budget)) return [];
      if (known !== undefined) place(known, 'remove');
      place(budget, 'add');
      return [...podsIn.get(budget.namespace)].filter((uid) => {
        const pod = pods.get(uid);
        return pod !== undefined && coverings.coverBy(budget.key, uid, budgetCovers(budget, pod));
      });
    },
    removeBudget: (key) => {
      const known = budgets.get(key);
      if (known === undefined) return [];
      budgets.delete(key);
      place(known, 'remove');
      return [...coverings.podsOf(key)].filter((uid) => coverings.coverBy(key, uid, false));
    },
    budgetsOf: (uid) => {
      const found: Budget[] = [];
      for (const key of coverings.budgetsOf(uid)) {
        const budget = budgets.get(key);
        if (budget !== undefined) found.push(budget);
      }
      return found.length < 2 ? found : found.sort((one, other) => compareText(one.key, other.key));
    },
    coversAny: (key) => {
      const [first] = coverings.podsOf(key);
      return first !== undefined;
    },
    podsOf: (key) =>
      [...coverings.podsOf(key)].flatMap((uid) => {
        const pod = pods.get(uid);
        return pod === undefined ? [] : [pod];
      }),
  };
};
