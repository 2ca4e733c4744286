/**
 * Indexes pods and the budgets that select them, in both directions.
 *
 * Promises: finds exactly the selected objects, in insertion order; a selector is looked up by its
 * first label, and one without labels is tried on the whole namespace.
 */
import { type JsonRecord, textRecordOrEmptyAt } from '../values/json.ts';
import { labelsOf } from '../values/object-meta.ts';
import { selects } from '../kinds/label-selector.ts';
import { keyOf, nameOf } from './controller-environment.ts';

/** A multimap that indexes objects by several keys. */
interface Filed {
  readonly object: JsonRecord;
  readonly order: number;
  readonly under: readonly string[];
}

const cabinet = (keysOf: (object: JsonRecord) => readonly string[]) => {
  const all = new Map<string, Filed>();
  const drawers = new Map<string, Map<string, Filed>>();
  let made = 0;
  const takeOut = (name: string, { under }: Filed): void => {
    for (const key of under) {
      const drawer = drawers.get(key);
      drawer?.delete(name);
      if (drawer?.size === 0) drawers.delete(key);
    }
  };
  return {
    all,
    in: (key: string): Iterable<Filed> => drawers.get(key)?.values() ?? [],
    put: (object: JsonRecord): void => {
      const name = keyOf(object);
      const known = all.get(name);
      const under = keysOf(object);
      const filed = { object, order: known?.order ?? made++, under };
      if (known !== undefined && known.under.join() !== under.join()) takeOut(name, known);
      all.set(name, filed);
      for (const key of under) {
        const drawer = drawers.get(key) ?? new Map<string, Filed>();
        drawers.set(key, drawer.set(name, filed));
      }
    },
    remove: (object: JsonRecord): void => {
      const name = keyOf(object);
      const known = all.get(name);
      if (known !== undefined) takeOut(name, known);
      all.delete(name);
    },
  };
};

const inOrder = (filed: readonly Filed[]): readonly JsonRecord[] =>
  filed.toSorted((one, other) => one.order - other.order).map(({ object }) => object);

/** All objects of a namespace, and those with a given label. */
const ROOM = '';
const drawerOf = (namespace: string, label: string): string => `${namespace} ${label}`;
const labelsIn = (labels: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(labels).map(([key, value]) => `${key}=${value}`);

/** The index key of a budget: its first label, if any. */
const drawerOfBudget = (budget: JsonRecord): string => {
  const wanted = textRecordOrEmptyAt(budget, 'spec', 'selector', 'matchLabels');
  return drawerOf(nameOf(budget).namespace, labelsIn(wanted)[0] ?? ROOM);
};

const drawersOfPod = (pod: JsonRecord): readonly string[] => {
  const { namespace } = nameOf(pod);
  return [ROOM, ...labelsIn(labelsOf(pod))].map((label) => drawerOf(namespace, label));
};

/** No pods, no budgets. */
export const makeSelection = () => {
  const pods = cabinet(drawersOfPod);
  const budgets = cabinet((budget) => [drawerOfBudget(budget)]);
  return {
    pods,
    budgets,
    /** The pods that this budget selects. */
    podsUnder: (budget: JsonRecord): readonly JsonRecord[] =>
      inOrder(
        [...pods.in(drawerOfBudget(budget))]
          .filter(({ object }) => selects(budget, labelsOf(object))),
      ),
    /** The budgets that select this pod. */
    budgetsOver: (pod: JsonRecord): readonly JsonRecord[] =>
      inOrder(
        drawersOfPod(pod).flatMap((drawer) => [...budgets.in(drawer)])
          .filter(({ object }) => selects(object, labelsOf(pod))),
      ),
  };
};
