/**
 * The drains of this process by node and owner, and how the time of a drain is computed. Data only:
 * nothing here waits or acts.
 */
import type { CordonOrder } from '../../domain/drain/cordon-patch.ts';
import type { CordonAnnotation, DrainOwner } from '../../domain/drain/cordon.ts';
import { graceOf, lastQuarterMs, tierWaitMs } from '../../domain/drain/deadline.ts';
import type { DrainTime } from '../../domain/drain/drain-state.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { Time } from '../../domain/time.ts';
import type { NodeDrainContext } from '../../machines/node-drain-context.ts';
import type { DrainPods } from './drain-pods.ts';

/** What an owner asks of one node. */
export interface DrainOrder extends CordonOrder {
  readonly owner: DrainOwner;
  /** The machine whose Node it is; empty when nobody knows. */
  readonly machineId: string;
}

/** What an owner learns of a node. */
export interface DrainEvent {
  readonly node: string;
  readonly owner: DrainOwner;
  readonly id: string;
  readonly phase: 'Cordoned' | 'Ended';
  /** The node is cordoned for the instruction, or gone. */
  readonly counted: boolean;
}

/** When a drain is over, on the monotonic clock, and out of how much time. */
export interface DrainDeadline {
  /** Null without a deadline. */
  readonly atMs: number | null;
  readonly graceSeconds: number;
}

/** One drain. */
export interface DrainEntry {
  readonly key: string;
  readonly owner: DrainOwner;
  /** The Node as it was when the drain began. */
  readonly node: DrainedNode;
  /** Empty while nobody knows it. */
  machineId: string;
  readonly pods: DrainPods;
  /** On the monotonic clock. */
  readonly sinceMs: number;
  deadline: DrainDeadline;
  /** Instructions whose cordon has not landed yet, as far as was reported. */
  readonly awaited: Set<string>;
  /** All instructions that ever named it. */
  readonly ids: Set<string>;
  /** Orders that came when it was about to end. */
  readonly queued: DrainOrder[];
  readonly orders: Map<string, DrainOrder>;
  /** Those of orders that joined, by instruction. */
  readonly deadlines: Map<string, DrainDeadline>;
  /** Instructions that released evictions. */
  readonly releasedIds: Set<string>;
  /** Evictions were released. */
  isReleased: boolean;
  /** The owner has left. */
  isWithdrawn: boolean;
  /** What was last reported about the pods. */
  observed: string;
  isStartRecorded: boolean;
  /** Its actor crashed before. */
  hasCrashed: boolean;
}

/** The key of a drain. */
export const drainKey = (node: string, owner: string): string => `${node}/${owner}`;

/** The deadline of a new order: read from the wall clock here and never again. */
export const deadlineOf = (
  time: Time,
  { deadlineMs, graceSeconds }: Pick<DrainOrder, 'deadlineMs' | 'graceSeconds'>,
): DrainDeadline => ({
  atMs: deadlineMs === null ? null : time.monotonic() + (deadlineMs - time.now()),
  graceSeconds,
});

/**
 * The deadline that stands on a Node. A reclaim always has one: without it the grace decides; other
 * owners may drain without a deadline.
 */
export const deadlineOfAnnotation = (
  time: Time,
  owner: DrainOwner,
  annotation: CordonAnnotation,
): DrainDeadline => {
  if (annotation.deadlineMs === null && owner !== 'reclaim') return { atMs: null, graceSeconds: 0 };
  const { seconds } = graceOf(annotation.graceSeconds);
  const deadlineMs = annotation.deadlineMs ?? annotation.sinceMs + seconds * 1000;
  return deadlineOf(time, { deadlineMs, graceSeconds: seconds });
};

/** What is left of the time. */
export const drainTime = (
  time: Time,
  { atMs, graceSeconds }: DrainDeadline,
  configuredTierWaitMs: number | undefined,
): DrainTime => {
  if (atMs === null) {
    const waitMs = tierWaitMs(Number.MAX_SAFE_INTEGER, configuredTierWaitMs);
    return { leftMs: null, quarterMs: 0, tierWaitMs: waitMs };
  }
  const leftMs = atMs - time.monotonic();
  return {
    leftMs,
    quarterMs: leftMs - (lastQuarterMs(atMs, graceSeconds) - time.monotonic()),
    tierWaitMs: tierWaitMs(graceSeconds, configuredTierWaitMs),
  };
};

/** True when `left` ends before `right`. */
export const isEarlier = (left: DrainDeadline, right: DrainDeadline): boolean =>
  left.atMs !== null && (right.atMs === null || left.atMs < right.atMs);

/** The innermost state of the drain's work, such as `cordoning`. */
export const workState = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'work' in value ? value.work : value;

/** True when the annotation on the Node names the instruction, as far as the drain knows. */
export const hasLanded = ({ annotation }: NodeDrainContext, id: string): boolean =>
  annotation?.ids.includes(id) === true;

/** Orders that the drain did not carry out and that have time left. */
export const ordersLeft = (
  entry: DrainEntry,
  { orders }: Pick<NodeDrainContext, 'orders'>,
  nowMs: number,
): readonly DrainOrder[] => {
  const pending = orders.flatMap(({ id }) => entry.orders.get(id) ?? []);
  return [
    ...pending.filter(({ deadlineMs }) => deadlineMs === null || deadlineMs > nowMs),
    ...entry.queued,
  ];
};

/** The order without what only the process knows. */
export const cordonOrderOf = (
  { id, deadlineMs, graceSeconds, sinceMs }: CordonOrder,
): CordonOrder => ({ id, deadlineMs, graceSeconds, sinceMs });

/** What a drain begins with. */
export interface DrainBeginning {
  readonly owner: DrainOwner;
  readonly orders: readonly DrainOrder[];
  readonly ids: readonly string[];
  readonly deadline: DrainDeadline;
  readonly sinceMs: number;
  readonly machineId: string;
  readonly isReleased: boolean;
  readonly isWithdrawn: boolean;
}

/** A drain that begins. */
export const drainEntry = (
  node: DrainedNode,
  { ids, orders, ...beginning }: DrainBeginning,
  pods: DrainPods,
): DrainEntry => ({
  ...beginning,
  key: drainKey(node.name, beginning.owner),
  node,
  pods,
  awaited: new Set(),
  ids: new Set(ids),
  queued: [],
  orders: new Map(orders.map((order) => [order.id, order])),
  deadlines: new Map(),
  releasedIds: new Set(),
  observed: '',
  isStartRecorded: orders.length === 0,
  hasCrashed: false,
});

/** What begins from the annotation that a Node shows. */
export const resumedDrain = (
  time: Time,
  annotation: CordonAnnotation,
  { owner, isWithdrawn }: Pick<DrainBeginning, 'owner' | 'isWithdrawn'>,
): DrainBeginning => ({
  owner,
  orders: [],
  ids: annotation.ids,
  deadline: deadlineOfAnnotation(time, owner, annotation),
  sinceMs: time.monotonic() - Math.max(0, time.now() - annotation.sinceMs),
  machineId: '',
  isReleased: true,
  isWithdrawn,
});

/** What begins with an order. */
export const orderedDrain = (time: Time, order: DrainOrder): DrainBeginning => ({
  owner: order.owner,
  orders: [order],
  ids: [order.id],
  deadline: deadlineOf(time, order),
  sinceMs: time.monotonic(),
  machineId: order.machineId,
  isReleased: false,
  isWithdrawn: false,
});

/** Drains by node. */
export class DrainsByNode {
  readonly #drains = new Map<string, Set<DrainEntry>>();

  readonly nodes = (): readonly string[] => [...this.#drains.keys()];
  readonly of = (node: string): readonly DrainEntry[] => [...this.#drains.get(node) ?? []];

  readonly add = (entry: DrainEntry): void => {
    const { name } = entry.node;
    this.#drains.set(name, (this.#drains.get(name) ?? new Set()).add(entry));
  };

  readonly remove = (entry: DrainEntry): void => {
    const { name } = entry.node;
    const drains = this.#drains.get(name);
    drains?.delete(entry);
    if (drains?.size === 0) this.#drains.delete(name);
  };
}
