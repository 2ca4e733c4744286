/**
 * The owners of a node's cordon, draining owners first, and what a maintenance among them drains.
 *
 * Promises: agrees with the operator (`src/actors/node-maintenance/maintained-drains.ts`); a
 * maintenance that is not known drains all pods of its node.
 */
import { annotationOf, type CordonAnnotation, readCordon } from '../domain/drain/cordon.ts';
import { acknowledgedPods, keptData } from '../domain/drain/kept-pods.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import type { CordonedFor } from '../domain/drain/verdict.ts';
import { mustLeave } from '../domain/node-maintenance/drain-step.ts';
import {
  isTargetedBy,
  onlyCordons,
  storedTargets,
} from '../domain/node-maintenance/node-status.ts';
import type { ObservedMaintenance } from '../domain/node-maintenance/observed-maintenance.ts';
import { compareText } from '../domain/requirements.ts';
import type { DrainedNode } from '../domain/drain/drained-node.ts';
import type { MaintenancesByOwner, NodeFacts } from './drain-facts.ts';

/** Owners that drain; a person only cordons. */
const isDrainer = (owner: string): owner is 'reclaim' | 'disabled' | `maintenance-${string}` =>
  owner === 'reclaim' || owner === 'disabled' || owner.startsWith('maintenance-');

const rank = (owner: string): number => owner === 'reclaim' ? 0 : isDrainer(owner) ? 1 : 2;

const byRank = (left: string, right: string): number =>
  rank(left) - rank(right) || compareText(left, right);

/** True when an owner drains the node, or has drained it and left its key. */
export const hasDrain = ({ cordons }: Pick<DrainedNode, 'cordons'>): boolean =>
  Object.keys(cordons).some(isDrainer);

/** All owners with an active key, draining owners first. */
export const ownersOf = ({ cordons }: Pick<DrainedNode, 'cordons'>): readonly string[] =>
  Object.entries(cordons).filter(([owner, text]) => {
    const reading = readCordon(text);
    return isDrainer(owner) || reading._tag === 'Unrecognized' || reading.annotation.ended === null;
  }).map(([owner]) => owner).toSorted(byRank);

/** The key of a drain on its node. */
export interface OwnedDrain {
  readonly owner: string;
  readonly annotation: CordonAnnotation;
}

/** The facts that tell the drains of a node. */
type OwnerFacts = Pick<NodeFacts, 'node' | 'maintenances'>;

const keysOf = (node: DrainedNode): readonly OwnedDrain[] =>
  Object.keys(node.cordons).filter(isDrainer).toSorted(byRank)
    .flatMap((owner): readonly OwnedDrain[] => {
      const annotation = annotationOf(node, owner);
      return annotation === undefined ? [] : [{ owner, annotation }];
    });

/** The maintenance for which a key only cordons the node; a key with an end was a drain. */
const cordoning = (
  { owner, annotation }: OwnedDrain,
  maintenances: MaintenancesByOwner,
): CordonedFor | undefined => {
  const maintenance = maintenances.get(owner);
  return maintenance === undefined || annotation.ended !== null
    ? undefined
    : onlyCordons(maintenance);
};

/** The drains that go on, or else the last ones. */
const drainsOf = ({ node, maintenances }: OwnerFacts): readonly OwnedDrain[] => {
  const all = keysOf(node).filter((key) => cordoning(key, maintenances) === undefined);
  const underway = all.filter(({ annotation }) => annotation.ended === null);
  return underway.length > 0 ? underway : all;
};

/** The drain that goes on, or else the last one; `undefined` without one. */
export const drainOn = (facts: OwnerFacts): OwnedDrain | undefined => drainsOf(facts)[0];

/** The first maintenance that keeps the node cordoned, and does not drain it. */
export const cordonedFor = ({ node, maintenances }: OwnerFacts): CordonedFor | undefined =>
  keysOf(node).map((key) => cordoning(key, maintenances)).find((one) => one !== undefined);

/** Which pods a drain lets leave. */
export interface DrainScope {
  /** Undefined for any other owner, and while it is not known. */
  readonly maintenance: ObservedMaintenance | undefined;
  /** The pod must leave in the end. */
  readonly isPlanned: (pod: DrainPod) => boolean;
  /** It may leave now. */
  readonly isTargeted: (pod: DrainPod) => boolean;
}

const WHOLE: DrainScope = {
  maintenance: undefined,
  isPlanned: () => true,
  isTargeted: () => true,
};

/** The pods of a drain: those that its maintenance names, or all. */
export const scopeOf = (
  drain: OwnedDrain | undefined,
  { node, maintenances }: OwnerFacts,
): DrainScope => {
  const maintenance = drain === undefined ? undefined : maintenances.get(drain.owner);
  if (maintenance === undefined) return WHOLE;
  const targets = storedTargets(maintenance, node.name);
  return {
    maintenance,
    isPlanned: (pod) => mustLeave(pod, maintenance.spec),
    isTargeted: (pod) => isTargetedBy(targets, pod),
  };
};

/** What the drain of a Node keeps on it for its data (RS-11). */
export interface KeptOnNode {
  /** Whether it is certain that the pod stays: the Node is disabled, or a person lets it stay. */
  readonly keeps: (pod: DrainPod) => boolean;
  /** UIDs of the pods that a person lets stay. */
  readonly acknowledged: ReadonlySet<string>;
}

/** Whether other drains keep pods is a setting of the operator, which its Events tell. */
export const keptOnNode = (
  { node, lookup, maintenances }: Pick<NodeFacts, 'node' | 'lookup' | 'maintenances'>,
): KeptOnNode => {
  const drains = drainsOf({ node, maintenances });
  const isDisabled = drains.length > 0 && drains.every(({ owner }) => owner === 'disabled');
  const acknowledged = new Set(drains.flatMap(({ owner }) => [...acknowledgedPods(node, owner)]));
  return {
    keeps: (pod) => (isDisabled || acknowledged.has(pod.uid)) && keptData(pod, lookup).length > 0,
    acknowledged,
  };
};
