/**
 * The budget of nodes of a maintenance: how many are cordoned and drained at once.
 *
 * Promises: never more nodes at once than the budget, and at least one, so that a maintenance goes
 * on; nodes are admitted in the order of their names, those that joined since last; an admitted
 * node stays admitted, also when the budget shrinks. No node is admitted for which the status has
 * no room: one that was left out of it would be uncordoned half empty, or drained again after its
 * work was done.
 */
import { compareText } from '../requirements.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';
import type {
  NodeCount,
  NodeState,
  NodeStatus,
  ObservedMaintenance,
  ReleaseWhen,
} from './observed-maintenance.ts';

/** The annotation of a node whose work is done: the names of its maintenances, by commas. */
export const DONE_ANNOTATION = 'maintenance.tidegate.dev/done';

/** A node of a maintenance, as its budget regards it. */
export interface BudgetedNode {
  readonly name: string;
  /** The value of the topology label; empty without one. */
  readonly topology: string;
  readonly state: NodeState;
  /**
   * It joined after the work began. One that was deleted and joins again under its name, as after a
   * reinstallation, must not keep the others waiting for ever.
   */
  readonly joinedSince?: boolean;
}

const byTurn = (left: BudgetedNode, right: BudgetedNode): number =>
  Number(left.joinedSince ?? false) - Number(right.joinedSince ?? false) ||
  compareText(left.name, right.name);

/** The nodes that may be under way at once, of so many that match. */
export const nodesAtOnce = (count: NodeCount | null, matching: number): number => {
  if (count === null) return Math.min(matching, NODE_MAINTENANCE_LIMITS.nodes);
  const wanted = count._tag === 'Number' ? count.nodes : Math.floor(matching * count.percent / 100);
  return Math.min(Math.max(1, wanted), NODE_MAINTENANCE_LIMITS.nodes);
};

/** A node that takes a slot: it yields to another maintenance only for a while. */
const isUnderWay = ({ state }: BudgetedNode): boolean =>
  state === 'Admitted' || state === 'Yielding';

const admittedIn = (nodes: readonly BudgetedNode[], count: NodeCount | null): readonly string[] => {
  const free = nodesAtOnce(count, nodes.length) - nodes.filter(isUnderWay).length;
  return nodes.filter(({ state }) => state === 'Waiting').toSorted(byTurn).map(({ name }) => name)
    .slice(0, Math.max(0, free));
};

/**
 * The nodes to admit now, as one wave. With a topology key the budget holds for each of its values;
 * a percentage is of the nodes with that value. Those that had their turn keep their places in the
 * status, where alone it is known.
 */
export const nodesToAdmit = (
  nodes: readonly BudgetedNode[],
  count: NodeCount | null,
): readonly string[] => {
  const groups = Map.groupBy(nodes, ({ topology }) => topology);
  const room = NODE_MAINTENANCE_LIMITS.nodes -
    nodes.filter(({ state }) => state !== 'Waiting').length;
  return [...groups].toSorted(([left], [right]) => compareText(left, right))
    .flatMap(([, group]) => admittedIn(group, count)).slice(0, Math.max(0, room));
};

/** Why a maintenance does not carry out its whole selection; empty when its status has room. */
export const tooManyNodesText = (
  { name }: Pick<ObservedMaintenance, 'name'>,
  selected: number,
): string => {
  const { nodes: room } = NODE_MAINTENANCE_LIMITS;
  return selected <= room
    ? ''
    : `spec.nodeSelector of NodeMaintenance "${name}" selects ${selected} nodes, and its status ` +
      `has room for ${room}: ${selected - room} do not begin. Split the selector among ` +
      `NodeMaintenances of at most ${room} nodes each`;
};

/** The number of the next wave. */
export const nextWave = (nodes: readonly Pick<NodeStatus, 'wave'>[]): number =>
  nodes.reduce((highest, { wave }) => Math.max(highest, wave), 0) + 1;

/** What decides whether a node gives its slot to another. */
export interface ReleaseFacts {
  /** Every pod that must leave has left. */
  readonly drained: boolean;
  /** The boot when it was drained; empty when that was not seen. */
  readonly drainedBootId: string;
  readonly bootId: string;
  /** The value of its annotation; empty without one. */
  readonly doneFor: string;
}

/** Several maintenances may have work on one node. */
const names = (doneFor: string, maintenance: string): boolean =>
  doneFor.split(',').some((name) => name.trim() === maintenance);

/**
 * Whether another node may follow: after the drain, or after the work on the drained node, which
 * another boot or the annotation shows. A deleted node takes no slot anyway.
 */
export const isReleased = (
  { drained, drainedBootId, bootId, doneFor }: ReleaseFacts,
  releaseWhen: ReleaseWhen,
  maintenance: string,
): boolean => {
  if (names(doneFor, maintenance)) return true;
  if (!drained) return false;
  if (releaseWhen === 'Drained') return true;
  return drainedBootId !== '' && bootId !== '' && bootId !== drainedBootId;
};
