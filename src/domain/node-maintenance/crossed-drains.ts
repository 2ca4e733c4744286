/**
 * Drains that wait for each other through budgets: each keeps the nodes cordoned on which the pods
 * could run that the other's budget misses.
 *
 * Promises: pure. One of each set of drains that wait for each other yields, by a fixed rule: that
 * of the lowest class, then the youngest, then the last by UID. It yields to one that waits for it,
 * which is older or of a higher class; so nobody yields in a circle, and the first of all never
 * yields. A set without a maintenance is left alone: a reclaim ends at its deadline.
 */
import type { DrainOwner } from '../drain/cordon.ts';
import { compareText } from '../requirements.ts';

/** Who drains, in the order in which they go first (DR-34). */
const DRAIN_CLASSES = ['Emergency', 'Reclaim', 'Maintenance'] as const;
type DrainClass = (typeof DRAIN_CLASSES)[number];

/** One maintenance with its nodes, or one other drain with its own. */
export interface DrainParty {
  /** The owner; with its node, unless it is a maintenance. */
  readonly id: string;
  /** The owner of its cordons. */
  readonly owner: DrainOwner;
  /** For people, such as `NodeMaintenance "kernel"`. */
  readonly name: string;
  readonly drainClass: DrainClass;
  readonly createdMs: number;
  readonly uid: string;
}

/** A party waits for another one. */
export interface DrainWait {
  readonly from: DrainParty;
  readonly to: DrainParty;
  /** The node of `from` that waits. */
  readonly node: string;
  /** The node of `to` that it waits for. */
  readonly wantedNode: string;
  readonly cause: WaitCause;
}

/** Why a party waits. */
export type WaitCause =
  /** Pods cannot leave: a budget misses a pod, which could run on the wanted node; both as keys. */
  | { readonly _tag: 'Budget'; readonly budget: string; readonly pod: string }
  /** The wanted node is behind in the plan (NM-35). */
  | { readonly _tag: 'Plan' }
  /** The node yields to the drain of the wanted one. */
  | { readonly _tag: 'Yield' };

/** Parties that wait for each other, as one of them shows it. */
export interface Crossing {
  /** What it waits for among the others. */
  readonly wait: DrainWait;
  /** Who yields which node, and for what. */
  readonly yields: DrainWait;
}

const classOf = ({ drainClass }: DrainParty): number => DRAIN_CLASSES.indexOf(drainClass);

/** Who goes first; the last yields. */
const byPrecedence = (left: DrainParty, right: DrainParty): number =>
  classOf(left) - classOf(right) || left.createdMs - right.createdMs ||
  compareText(left.uid, right.uid);

const CAUSES = ['Budget', 'Plan', 'Yield'] as const;

const causeOf = ({ cause }: DrainWait): number => CAUSES.indexOf(cause._tag);

/** Waits for budgets first: to yield helps those. */
const byCause = (left: DrainWait, right: DrainWait): number =>
  causeOf(left) - causeOf(right) || compareText(left.wantedNode, right.wantedNode) ||
  compareText(left.from.id, right.from.id) || compareText(left.node, right.node);

/** What can be reached from a party, itself included. */
const reachable = (
  start: string,
  next: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> => {
  const seen = new Set([start]);
  // Grows while it is iterated.
  for (const one of seen) for (const other of next.get(one) ?? []) seen.add(other);
  return seen;
};

const neighboursBy = (
  waits: readonly DrainWait[],
  ends: (wait: DrainWait) => readonly [string, string],
): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, Set<string>>();
  for (const wait of waits) {
    const [from, to] = ends(wait);
    found.set(from, (found.get(from) ?? new Set()).add(to));
  }
  return new Map([...found].map(([id, others]) => [id, [...others]]));
};

/** The sets of parties that wait for each other, each as its waits. */
const circles = (waits: readonly DrainWait[]): readonly (readonly DrainWait[])[] => {
  const forward = neighboursBy(waits, ({ from, to }) => [from.id, to.id]);
  const backward = neighboursBy(waits, ({ from, to }) => [to.id, from.id]);
  const done = new Set<string>();
  return [...forward.keys()].flatMap((id) => {
    if (done.has(id) || !backward.has(id)) return [];
    const before = reachable(id, backward);
    const circle = new Set([...reachable(id, forward)].filter((one) => before.has(one)));
    for (const one of circle) done.add(one);
    return [waits.filter(({ from, to }) => circle.has(from.id) && circle.has(to.id))]
      .filter(({ length }) => length > 0);
  });
};

/** The crossings of all parties, by id. */
export const crossings = (waits: readonly DrainWait[]): ReadonlyMap<string, Crossing> => {
  const found = new Map<string, Crossing>();
  const between = waits.filter(({ from, to }) => from.id !== to.id);
  for (const circle of circles(between)) {
    const inOrder = circle.toSorted(byCause);
    const last = inOrder.map(({ from }) => from).toSorted(byPrecedence).at(-1);
    const yields = inOrder.find(({ to }) => to.id === last?.id);
    if (yields?.to.drainClass !== 'Maintenance') continue;
    for (const wait of inOrder) {
      const known = found.get(wait.from.id);
      if (known === undefined) found.set(wait.from.id, { wait, yields });
    }
  }
  return found;
};

/** For people: what a wait is for. */
const waitText = ({ node, wantedNode, to, cause }: DrainWait): string => {
  const wanted = `node "${wantedNode}" of ${to.name}`;
  switch (cause._tag) {
    case 'Budget':
      return `Node "${node}" waits for budget "${cause.budget}": its pod "${cause.pod}" could ` +
        `run on ${wanted}`;
    case 'Plan':
      return `Node "${node}" waits for ${wanted}, which is behind in the plan`;
    case 'Yield':
      return `Node "${node}" yields to ${wanted}`;
  }
};

/** For people: who waits for what, and who yields. */
export const crossingText = ({ wait, yields }: Crossing): string =>
  `${waitText(wait)}, and that one waits for this maintenance; ` +
  `${yields.to.name} yields node "${yields.wantedNode}"`;

/** For people: why a node is not drained. */
export const yieldText = (wait: DrainWait): string => {
  const { from, node, cause } = wait;
  const why = cause._tag === 'Budget'
    ? `waits for budget "${cause.budget}", whose pod "${cause.pod}" could run here`
    : 'waits for this one';
  return `Yielding to ${from.name}: its node "${node}" ${why}`;
};
