/**
 * Which maintenances are crossed with other drains, which of their nodes yield, and until when.
 *
 * Promises: pure; a node yields only after its maintenance was crossed for the time that its
 * statechart waits; it queues again when the drain to which it yields is over. What yields is in
 * the status, for the next process.
 */
import {
  annotationOf,
  type CordonFacts,
  type DrainOwner,
  isDrainUnderWay,
  isMaintenanceOwner,
  maintenanceOwner,
} from '../drain/cordon.ts';
import type { Budget } from '../drain/budget.ts';
import type { DrainPod } from '../drain/pod.ts';
import {
  type Crossing,
  crossings,
  type DrainParty,
  type DrainWait,
  yieldText,
} from './crossed-drains.ts';
import { mustLeave } from './drain-step.ts';
import { type DrainHold, drainWaits } from './drain-waits.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';
import type { MaintenanceName } from './maintenance-name.ts';
import { holdsNode, isTargetedBy, storedTargets } from './node-status.ts';
import type { NodeStatus, ObservedMaintenance } from './observed-maintenance.ts';
import { workedStage } from './stage.ts';
import { podTypeOf } from './typed-pods.ts';
import type { UnschedulablePod } from './unschedulable-pod.ts';
import { cutText, listed } from '../text.ts';

/** Names in one message. */
const NAMED_MAX = 3;

/** A Node, as crossed drains regard it. */
export interface CordonedNode extends Pick<CordonFacts, 'cordons' | 'hasUnreadCordons'> {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ready: boolean;
}

/** What crossings follow from. */
export interface CrossingFacts {
  readonly cordoned: readonly CordonedNode[];
  readonly budgets: Iterable<Budget>;
  readonly unschedulable: Iterable<UnschedulablePod>;
  /** The pods of a Node, without those that stay for the owner. */
  readonly podsOn: (node: string, owner: DrainOwner) => readonly DrainPod[];
}

const waitingNode = ({ name, labels, ready, cordons }: CordonedNode) => ({
  name,
  labels,
  ready,
  owners: Object.keys(cordons),
});

/** What a maintenance in Drain holds; nothing that is not cordoned yet. */
const maintenanceHold = (
  maintenance: ObservedMaintenance,
  { cordoned, podsOn }: CrossingFacts,
): DrainHold => {
  const { uid, name, createdMs, spec } = maintenance;
  const owner = maintenanceOwner(uid);
  return {
    party: {
      id: owner,
      owner,
      name: `NodeMaintenance "${name}"`,
      drainClass: 'Maintenance',
      createdMs,
      uid,
    },
    nodes: cordoned
      .filter((node) => Object.hasOwn(node.cordons, owner) && holdsNode(maintenance, node.name))
      .map(waitingNode),
    leaving: (node) => {
      const targets = storedTargets(maintenance, node);
      return targets.length === 0 ? [] : podsOn(node, owner)
        .filter((pod) => mustLeave(pod, spec) && isTargetedBy(targets, pod));
    },
  };
};

const OTHERS = [
  { owner: 'disabled', drainClass: 'Emergency', name: 'the drain of a disabled node' },
  { owner: 'reclaim', drainClass: 'Reclaim', name: 'a reclaim' },
] as const;

/** The other drains, each on its own Node. */
const otherHolds = ({ cordoned, podsOn }: CrossingFacts): readonly DrainHold[] =>
  cordoned.flatMap((node) =>
    OTHERS.filter(({ owner }) => isDrainUnderWay(node, owner)).map(({ owner, ...kind }) => ({
      party: {
        ...kind,
        id: `${owner}@${node.name}`,
        owner,
        createdMs: annotationOf(node, owner)?.sinceMs ?? 0,
        uid: node.name,
      },
      nodes: [waitingNode(node)],
      leaving: (name: string) =>
        podsOn(name, owner).filter((pod) => !pod.finished && podTypeOf(pod) === 'Default'),
    }))
  );

/** Nodes that yield wait for the drains to which they yield. */
const yieldWaits = (
  draining: readonly ObservedMaintenance[],
  parties: readonly DrainParty[],
): readonly DrainWait[] =>
  draining.flatMap(({ uid, status }) =>
    status.nodes.flatMap(({ name, state, yieldsTo }) => {
      if (state !== 'Yielding' || yieldsTo === null) return [];
      const from = parties.find(({ id }) => id === maintenanceOwner(uid));
      const to = parties.find(({ id, owner }) =>
        owner === yieldsTo.owner && (isMaintenanceOwner(id) || id === `${owner}@${yieldsTo.node}`)
      );
      if (from === undefined || to === undefined) return [];
      return [{ from, to, node: name, wantedNode: yieldsTo.node, cause: { _tag: 'Yield' } }];
    })
  );

/** A maintenance waits for another one, which is behind in the plan: by their names. */
export interface PlanWait {
  readonly from: MaintenanceName;
  readonly node: string;
  readonly to: MaintenanceName;
  readonly wantedNode: string;
}

/** The crossings of the maintenances that drain, by owner. */
export const maintenanceCrossings = (
  draining: readonly ObservedMaintenance[],
  planWaits: readonly PlanWait[],
  facts: CrossingFacts,
): ReadonlyMap<string, Crossing> => {
  const { budgets, unschedulable } = facts;
  const holds = [
    ...draining.map((maintenance) => maintenanceHold(maintenance, facts)),
    ...otherHolds(facts),
  ];
  const atBudgets = drainWaits({ holds, budgets, unschedulable });
  if (atBudgets.length === 0) return new Map();
  const parties = holds.map(({ party }) => party);
  const partyOf = (name: MaintenanceName): DrainParty | undefined => {
    const uid = draining.find((one) => one.name === name)?.uid;
    return parties.find((one) => one.uid === uid && one.drainClass === 'Maintenance');
  };
  const inPlans = planWaits.flatMap(({ from, to, ...nodes }): readonly DrainWait[] => {
    const [waiting, wanted] = [partyOf(from), partyOf(to)];
    if (waiting === undefined || wanted === undefined) return [];
    return [{ ...nodes, from: waiting, to: wanted, cause: { _tag: 'Plan' } }];
  });
  return crossings([...atBudgets, ...inPlans, ...yieldWaits(draining, parties)]);
};

/** True while the maintenance with this owner drains the node. */
const stillDrains = (
  all: readonly ObservedMaintenance[],
  { owner, node }: { readonly owner: DrainOwner; readonly node: string },
): boolean =>
  all.some((one) =>
    maintenanceOwner(one.uid) === owner &&
    workedStage(one) === 'Drain' &&
    !one.status.conditions.some(({ type, status }) => type === 'Drained' && status === 'True') &&
    holdsNode(one, node)
  );

/** The drain to which a node yields is over, or never was known. */
export const isYieldOver = (
  { yieldsTo }: Pick<NodeStatus, 'yieldsTo'>,
  all: readonly ObservedMaintenance[],
  { cordoned }: Pick<CrossingFacts, 'cordoned'>,
): boolean => {
  if (yieldsTo === null) return true;
  if (isMaintenanceOwner(yieldsTo.owner)) return !stillDrains(all, yieldsTo);
  const node = cordoned.find(({ name }) => name === yieldsTo.node);
  return node === undefined || !isDrainUnderWay(node, yieldsTo.owner);
};

/** The node gives way: it is released, and starts anew later. */
export const yielding = (node: NodeStatus, wait: DrainWait): NodeStatus => ({
  ...node,
  state: 'Yielding',
  drainTargets: [],
  drainMessage: cutText(yieldText(wait), NODE_MAINTENANCE_LIMITS.messageCharacters),
  yieldsTo: { owner: wait.from.owner, node: wait.node },
});

/** For people: who yields to this owner; empty when nobody does. */
export const yieldedBy = (owner: DrainOwner, all: readonly ObservedMaintenance[]): string =>
  listed(
    all.flatMap(({ name, status }) =>
      status.nodes
        .filter(({ state, yieldsTo }) => state === 'Yielding' && yieldsTo?.owner === owner)
        .map((node) => `NodeMaintenance "${name}" yields node "${node.name}"`)
    ),
    NAMED_MAX,
  );
