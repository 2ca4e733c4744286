/**
 * What a Node shows of its maintenances: the lifecycle conditions of KEP-5683 (NM-42).
 *
 * Promises: pure; what is shown follows from the stored objects only, so that every process shows
 * the same; a condition that another writer set is neither changed nor removed: ours have our
 * reason. A state that does not hold has no condition, which the KEP equates with False.
 */
import { type CordonFacts, isDrainUnderWay, maintenanceOwner } from '../drain/cordon.ts';
import { listOrEmptyAt, textAt } from '../json.ts';
import { compareText } from '../requirements.ts';
import { listed } from '../text.ts';
import { rfc3339Seconds } from '../time.ts';
import type { ObservedMaintenance } from './observed-maintenance.ts';
import { holdsNode } from './node-status.ts';
import { drainedNodes, hasPodsLeft } from './progress-text.ts';
import { workedStage } from './stage.ts';

/** The types of KEP-5683 (*Lifecycle Conditions*) that a maintenance sets. */
export const NODE_CONDITIONS = [
  'DrainInProgress',
  'Drained',
  'MaintenanceInProgress',
  'MaintenancePlanned',
] as const;
export type NodeConditionType = (typeof NODE_CONDITIONS)[number];

/** The cause category of our conditions; conditions with another reason are of others. */
const REASON = 'NodeMaintenance';

/** Names in one message. */
const NAMED_MAX = 5;

/** Messages of the conditions that are True, by type. */
export type AdvertisedConditions = Readonly<Partial<Record<NodeConditionType, string>>>;

/** The lifecycle conditions that a Node has. */
export interface NodeConditions {
  readonly ours: AdvertisedConditions;
  /** True ones of other writers. */
  readonly others: readonly NodeConditionType[];
}

const NONE: NodeConditions = { ours: {}, others: [] };

/** Reads the lifecycle conditions of a Node. Total. */
export const nodeConditionsOf = (raw: unknown): NodeConditions => {
  const found = listOrEmptyAt(raw, 'status', 'conditions').flatMap((one) => {
    const type = NODE_CONDITIONS.find((known) => known === textAt(one, 'type'));
    if (type === undefined) return [];
    return [{
      type,
      isOurs: textAt(one, 'reason') === REASON,
      isTrue: textAt(one, 'status') === 'True',
      message: textAt(one, 'message') ?? '',
    }];
  });
  if (found.length === 0) return NONE;
  return {
    ours: Object.fromEntries(
      found.filter(({ isOurs }) => isOurs).map(({ type, message }) => [type, message]),
    ),
    others: found.filter(({ isOurs, isTrue }) => isTrue && !isOurs).map(({ type }) => type),
  };
};

/** Where a Node is in one maintenance. */
type NodePhase = 'Planned' | 'Cordoned' | 'Draining' | 'Drained';

/** The phase on a Node that the maintenance selects; nothing once it is over there. */
const phaseReader = (
  { maintenance, begins }: Pick<SelectedNodes, 'maintenance' | 'begins'>,
): (node: SelectedNode) => NodePhase | undefined => {
  const { spec, status, deleting } = maintenance;
  const stage = workedStage(maintenance);
  if (stage === 'Complete' || (stage === 'Idle' && deleting)) return () => undefined;
  if (stage === 'Idle') return () => 'Planned';
  const drained = stage === 'Drain' ? drainedNodes(spec, status, () => true) : new Set<string>();
  const stored = new Map(status.nodes.map((node) => [node.name, node]));
  const owner = maintenanceOwner(maintenance.uid);
  return ({ name, ...cordons }) => {
    const node = stored.get(name);
    if (node === undefined || !holdsNode(maintenance, name)) {
      return node?.state === 'Released' ? undefined : 'Planned';
    }
    if (stage === 'Cordon') return 'Cordoned';
    const isDrained = drained.has(name) && !hasPodsLeft(node);
    if (isDrained && !isDrainUnderWay(cordons, owner)) return 'Drained';
    // Without targets its drain begins at once, or waits for the window.
    return node.drainTargets.length === 0 && !begins ? 'Cordoned' : 'Draining';
  };
};

/** Each type, and the phases of maintenances that make it True. */
const HELD_BY: Readonly<Record<NodeConditionType, readonly NodePhase[]>> = {
  DrainInProgress: ['Draining'],
  Drained: ['Drained'],
  MaintenanceInProgress: ['Cordoned', 'Draining', 'Drained'],
  MaintenancePlanned: ['Planned'],
};

const messageOf = (maintenances: readonly string[]): string => {
  const noun = maintenances.length === 1 ? 'NodeMaintenance' : 'NodeMaintenances';
  return `${noun} ${listed(maintenances, NAMED_MAX)}`;
};

const advertisedOf = (phases: ReadonlyMap<string, NodePhase>): AdvertisedConditions => {
  const isDraining = [...phases.values()].includes('Draining');
  return Object.fromEntries(NODE_CONDITIONS.flatMap((type) => {
    // A Node is drained when each maintenance that drains it has done so.
    if (type === 'Drained' && isDraining) return [];
    const names = [...phases].filter(([, phase]) => HELD_BY[type].includes(phase))
      .map(([name]) => name).toSorted(compareText);
    return names.length === 0 ? [] : [[type, messageOf(names)]];
  }));
};

type SelectedNode = Pick<CordonFacts, 'cordons' | 'hasUnreadCordons'> & { readonly name: string };

/** A maintenance, and the Nodes that it selects. */
export interface SelectedNodes {
  readonly maintenance: ObservedMaintenance;
  /** Nodes may begin. */
  readonly begins: boolean;
  readonly nodes: readonly SelectedNode[];
}

/** What each Node is to show, by its name: the union of its maintenances. */
export const advertisedConditions = (
  all: Iterable<SelectedNodes>,
): ReadonlyMap<string, AdvertisedConditions> => {
  const phases = new Map<string, Map<string, NodePhase>>();
  for (const { maintenance, nodes, begins } of all) {
    const phaseOn = phaseReader({ maintenance, begins });
    for (const node of nodes) {
      const phase = phaseOn(node);
      if (phase === undefined) continue;
      phases.set(node.name, (phases.get(node.name) ?? new Map()).set(maintenance.name, phase));
    }
  }
  return new Map([...phases].map(([node, ofNode]) => [node, advertisedOf(ofNode)]));
};

/** What is to be written to the conditions of a Node; `null` removes one. */
export type ConditionChanges = Readonly<Partial<Record<NodeConditionType, string | null>>>;

/** The difference between what a Node has and what it is to show; undefined without one. */
export const conditionChanges = (
  { ours, others }: NodeConditions,
  wanted: AdvertisedConditions = {},
): ConditionChanges | undefined => {
  const changes = NODE_CONDITIONS.flatMap((type): [NodeConditionType, string | null][] => {
    const message = wanted[type];
    if (others.includes(type) || message === ours[type]) return [];
    return [[type, message ?? null]];
  });
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
};

/**
 * The strategic merge patch of `/status`, by type: the conditions of the kubelet stay. The UID is a
 * precondition, so that a later Node of the name gets nothing.
 */
export const nodeConditionsPatch = (
  { uid, ours }: { readonly uid: string; readonly ours: AdvertisedConditions },
  changes: ConditionChanges,
  nowMs: number,
): object => ({
  metadata: { uid },
  status: {
    conditions: Object.entries(changes).map(([type, message]) =>
      message === null ? { $patch: 'delete', type } : {
        type,
        status: 'True',
        reason: REASON,
        message,
        // Another message is no transition.
        ...(Object.hasOwn(ours, type) ? {} : { lastTransitionTime: rfc3339Seconds(nowMs) }),
      }
    ),
  },
});
