/**
 * The drains of this process by node and owner, and the computation of their remaining time. Data
 * only.
 */
import type { SnapshotFrom } from 'xstate';
import { type CordonOrder, isOfNextDrain } from '../../domain/drain/cordon-patch.ts';
import {
  annotationOf,
  type CordonAnnotation,
  type DrainOwner,
  isDrainOwner,
  isMaintenanceOwner,
} from '../../domain/drain/cordon.ts';
import { graceOf, lastQuarterMs, tierWaitMs } from '../../domain/drain/deadline.ts';
import type { DrainTime } from '../../domain/drain/drain-state.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import { SHARD_LIMITS } from '../../domain/shard-limits.ts';
import type { Time } from '../../domain/time.ts';
import type { nodeDrain } from '../../machines/node-drain.ts';
import type { NodeDrainContext, PodsObserved } from '../../machines/node-drain-context.ts';
import { innermostState } from '../actor-registry.ts';
import type { DrainPods } from './drain-pods.ts';

/** Nodes that are cordoned at once (DR-11). */
export const CORDONS_AT_ONCE = 32;

/** An owner's request for one node. */
export interface DrainOrder extends CordonOrder {
  readonly owner: DrainOwner;
  /** The machine of the Node; empty when unknown. */
  readonly machineId: string;
}

/** The progress that an owner receives. */
export interface DrainEvent {
  readonly node: string;
  readonly owner: DrainOwner;
  readonly id: string;
  readonly phase: 'Cordoned' | 'Ended';
  /** The node is cordoned for the instruction, or gone. */
  readonly counted: boolean;
}

/** The deadline on the monotonic clock, and the total grace. */
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
  /** Empty while unknown. */
  machineId: string;
  readonly pods: DrainPods;
  /** On the monotonic clock. */
  readonly sinceMs: number;
  deadline: DrainDeadline;
  /** Instructions whose cordon is not reported as landed yet. */
  readonly awaited: Set<string>;
  /** All instructions that ever named it. */
  readonly ids: Set<string>;
  /** Instructions that arrived when it was about to end. */
  readonly queued: DrainOrder[];
  readonly orders: Map<string, DrainOrder>;
  /** Those of joined instructions, by instruction. */
  readonly deadlines: Map<string, DrainDeadline>;
  /** Instructions that released evictions. */
  readonly releasedIds: Set<string>;
  /** Evictions were released. */
  isReleased: boolean;
  /** The pods that remained at its end, and why; empty before. */
  remaining: string;
  /** The owner has left. */
  isWithdrawn: boolean;
  /** The last reported pod counts. */
  observed: PodsObserved | null;
  /** When only pods that it keeps remained; null before, and without such pods. */
  statelessGoneMs: number | null;
  isStartRecorded: boolean;
  /** Its actor crashed before. */
  hasCrashed: boolean;
  /** The budgets that have an Event about it. */
  readonly notedBudgets: Set<string>;
  /** The Node shows a condition about it. */
  hasCondition: boolean;
}

/** The key of a drain. */
export const drainKey = (node: string, owner: string): string => `${node}/${owner}`;

/** The owners whose keys on the Node are drains, without those that other processes drain for. */
export const drainOwnersOf = (
  { cordons }: Pick<DrainedNode, 'cordons'>,
  leftToOthers: readonly DrainOwner[] = [],
): Set<DrainOwner> =>
  new Set(
    Object.keys(cordons).filter(isDrainOwner).filter((owner) => !leftToOthers.includes(owner)),
  );

/** The deadline of a new instruction: read from the wall clock only here. */
export const deadlineOf = (
  time: Time,
  { deadlineMs, graceSeconds }: Pick<DrainOrder, 'deadlineMs' | 'graceSeconds'>,
): DrainDeadline => ({
  atMs: deadlineMs === null ? null : time.monotonic() + (deadlineMs - time.now()),
  graceSeconds,
});

/**
 * The deadline on a Node. A reclaim always has one, by default from the grace; other owners may
 * drain without a deadline.
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

/** The remaining time. */
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
const workState = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'work' in value ? value.work : value;

/** The innermost state of a drain's work. */
export const drainStateOf = ({ value }: { readonly value: unknown }): string =>
  innermostState(workState(value));

/** The state in which only pods that the drain keeps for their data remain (RS-12). */
export const ONLY_KEPT = 'waitingForAcknowledgement';

/** How long it took, and how long until only pods that it kept remained, or none (RS-30). */
export const drainSeconds = ({ sinceMs, statelessGoneMs }: DrainEntry, nowMs: number) => ({
  seconds: (nowMs - sinceMs) / 1000,
  statelessSeconds: ((statelessGoneMs ?? nowMs) - sinceMs) / 1000,
});

/** A maintenance that only cordons drains nothing yet. */
export const isCordonOnly = ({ owner, isReleased }: DrainEntry): boolean =>
  isMaintenanceOwner(owner) && !isReleased;

/** True when the annotation on the Node names the instruction, as far as the drain knows. */
export const hasLanded = ({ annotation }: NodeDrainContext, id: string): boolean =>
  annotation?.ids.includes(id) === true;

/** True when the annotation names the instruction and was not cancelled. */
export const isNamedIn = (annotation: CordonAnnotation | undefined, id: string): boolean =>
  annotation?.ids.includes(id) === true && annotation.ended !== 'Cancelled';

/** Whether the ended drain counts for an instruction: its node is cordoned for it, or gone. */
export const countedAtEnd = (
  context: NodeDrainContext,
  owner: DrainOwner,
): (id: string) => boolean => {
  const current = context.node === null ? undefined : annotationOf(context.node, owner);
  return (id) => context.node === null || hasLanded(context, id) || isNamedIn(current, id);
};

/**
 * True when the owner left and its annotation is gone, or is of its next drain; after a written end
 * it is still there.
 */
export const hasLeft = ({ withdrawn, node, owner, annotation }: NodeDrainContext): boolean =>
  withdrawn && (
    node === null || annotationOf(node, owner) === undefined ||
    isOfNextDrain(node, owner, annotation)
  );

/** Instructions that the drain did not carry out and that have time left. */
export const ordersLeft = (
  entry: DrainEntry,
  context: NodeDrainContext,
  time: Time,
): readonly DrainOrder[] => {
  const nowMs = time.now();
  const pending = context.orders.filter(({ id }) => !hasLanded(context, id))
    .flatMap(({ id }) => entry.orders.get(id) ?? []);
  return [
    ...pending.filter(({ deadlineMs }) => deadlineMs === null || deadlineMs > nowMs),
    ...entry.queued,
  ];
};

/** The instruction without process-local fields. */
export const cordonOrderOf = (
  { id, deadlineMs, graceSeconds, sinceMs }: CordonOrder,
): CordonOrder => ({ id, deadlineMs, graceSeconds, sinceMs });

/** The input of a drain. */
export interface DrainBeginning {
  readonly owner: DrainOwner;
  readonly orders: readonly DrainOrder[];
  readonly ids: readonly string[];
  readonly deadline: DrainDeadline;
  readonly sinceMs: number;
  /** When another process began it, on the wall clock; null for a new drain. */
  readonly resumedSinceMs: number | null;
  readonly machineId: string;
  readonly isReleased: boolean;
  readonly isWithdrawn: boolean;
}

/** A new drain. */
export const drainEntry = (
  node: DrainedNode,
  { ids, orders, resumedSinceMs: _, ...beginning }: DrainBeginning,
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
  observed: null,
  remaining: '',
  statelessGoneMs: null,
  isStartRecorded: orders.length === 0 && beginning.isReleased,
  hasCrashed: false,
  notedBudgets: new Set(),
  hasCondition: false,
});

/** An instruction joins the drain. */
export const addOrder = (time: Time, entry: DrainEntry, order: DrainOrder): void => {
  entry.ids.add(order.id);
  entry.orders.set(order.id, order);
  entry.deadlines.set(order.id, deadlineOf(time, order));
  if (entry.machineId === '') entry.machineId = order.machineId;
};

/** A drain from the annotation on a Node. */
export const resumedDrain = (
  time: Time,
  annotation: CordonAnnotation,
  { owner, isWithdrawn, isReleased }: Pick<
    DrainBeginning,
    'owner' | 'isWithdrawn' | 'isReleased'
  >,
): DrainBeginning => ({
  owner,
  orders: [],
  ids: annotation.ids,
  deadline: deadlineOfAnnotation(time, owner, annotation),
  sinceMs: time.monotonic() - Math.max(0, time.now() - annotation.sinceMs),
  resumedSinceMs: annotation.sinceMs,
  machineId: '',
  isReleased,
  isWithdrawn,
});

/** A drain from an instruction. */
export const orderedDrain = (time: Time, order: DrainOrder): DrainBeginning => ({
  owner: order.owner,
  orders: [order],
  ids: [order.id],
  deadline: deadlineOf(time, order),
  sinceMs: time.monotonic(),
  resumedSinceMs: null,
  machineId: order.machineId,
  isReleased: false,
  isWithdrawn: false,
});

/** True when the instruction is one of the drain, or one more may join. */
export const takesInstruction = (entry: DrainEntry | undefined, id: string): boolean =>
  entry === undefined || entry.ids.has(id) ||
  entry.ids.size + entry.queued.length < SHARD_LIMITS.node_instructions.max;

/** True while a further instruction can join; a restarting drain joins those that come then. */
export const canJoin = (snapshot: SnapshotFrom<typeof nodeDrain> | undefined): boolean =>
  snapshot === undefined ||
  (snapshot.status === 'active' && snapshot.context.node !== null &&
    !snapshot.hasTag('ending') && !snapshot.hasTag('settled'));

/** Drains by node. */
export class DrainsByNode {
  readonly #drains = new Map<string, Set<DrainEntry>>();

  readonly nodes = (): readonly string[] => [...this.#drains.keys()];
  readonly has = (node: string): boolean => this.#drains.has(node);
  readonly draining = (): ReadonlySet<string> =>
    new Set(this.nodes().filter((node) => this.of(node).some((entry) => !isCordonOnly(entry))));
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
