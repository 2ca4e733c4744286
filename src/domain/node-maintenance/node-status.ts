/** What the status of a maintenance has about one of its nodes. */
import type { DrainPod } from '../drain/pod.ts';
import type { CordonedFor } from '../drain/verdict.ts';
import { entrySelects } from './drain-plan.ts';
import type { DrainTargets } from './drain-targets.ts';
import type { NodeStatus, ObservedMaintenance } from './observed-maintenance.ts';
import { startOf, workedStage } from './stage.ts';

/** The nodes of each status by name; a list of nodes is replaced and never changed. */
const BY_NAME = new WeakMap<readonly NodeStatus[], ReadonlyMap<string, NodeStatus>>();

const byName = (nodes: readonly NodeStatus[]): ReadonlyMap<string, NodeStatus> => {
  const known = BY_NAME.get(nodes) ?? new Map(nodes.map((node) => [node.name, node]));
  BY_NAME.set(nodes, known);
  return known;
};

/** The node in the status; it is asked for each node of a thousand. */
export const storedNode = ({ status }: ObservedMaintenance, node: string): NodeStatus | undefined =>
  byName(status.nodes).get(node);

/**
 * When the work of the stage Drain started, 0 before: pods that came to a cordoned node until then
 * have not come back from it (NM-46).
 */
export const drainStartMs = ({ status }: ObservedMaintenance): number =>
  startOf(status.stages, 'Drain') ?? 0;

/** A maintenance that cordons its nodes and does not drain them; undefined for one that drains. */
export const onlyCordons = (maintenance: ObservedMaintenance): CordonedFor | undefined => {
  const stage = workedStage(maintenance);
  return stage === 'Drain'
    ? undefined
    : { name: maintenance.name, isReleasing: stage === 'Complete' };
};

/** The targets that the status of a maintenance has for a Node. */
export const storedTargets = (maintenance: ObservedMaintenance, node: string): DrainTargets =>
  storedNode(maintenance, node)?.drainTargets ?? [];

/**
 * True while the Node is to be cordoned: admitted, or released to the next one by its drain alone.
 * A Node whose work is done is in service again.
 */
export const holdsNode = (maintenance: ObservedMaintenance, node: string): boolean => {
  const state = storedNode(maintenance, node)?.state ?? 'Waiting';
  return state === 'Admitted' ||
    (state === 'Released' && maintenance.spec.releaseWhen === 'Drained');
};

/** Whether targets select the pod. */
export const isTargetedBy = (targets: DrainTargets, pod: DrainPod): boolean =>
  targets.some((entry) => entrySelects(entry, pod));

/** Pods leave the Node, or have left it. */
export const hasBegun = (node: Pick<NodeStatus, 'drainTargets'> | undefined): boolean =>
  node !== undefined && node.drainTargets.length > 0;

/** A node that waits for its first admission. */
export const newNode = (name: string): NodeStatus => ({
  name,
  state: 'Waiting',
  wave: 0,
  bootId: '',
  drainTargets: [],
  drainMessage: '',
  podsPendingEvacuation: 0,
  podsEvacuating: 0,
  yieldsTo: null,
});
