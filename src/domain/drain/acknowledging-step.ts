/**
 * The patch by which a person lets pods stay whose data is on their Node only (RS-12).
 *
 * Promises: pure; the pods are those that a drain of the Node keeps now; a Node that others changed
 * at the same time is not patched.
 */
import type { VolumeLookup } from '../node-availability/local-volumes.ts';
import type { DrainedNode } from './drained-node.ts';
import {
  ACKNOWLEDGED_KEY,
  acknowledgedPods,
  drainsUnderway,
  keptData,
  printAcknowledgement,
  readAcknowledgement,
} from './kept-pods.ts';
import { keptPods, planOf } from './plan.ts';
import type { DrainPod } from './pod.ts';

/** A pod that stays, and its data on the Node. */
export interface StayingForData {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly data: readonly string[];
}

/** What the command writes. */
export type AcknowledgingStep =
  | { readonly _tag: 'Patch'; readonly body: object; readonly pods: readonly StayingForData[] }
  | { readonly _tag: 'Unchanged'; readonly pods: readonly StayingForData[] }
  | { readonly _tag: 'NotDraining' }
  | { readonly _tag: 'NothingKept' };

/** The drains that have pods which may stay, each with its start. */
const acknowledgedDrains = (node: DrainedNode): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(readAcknowledgement(node.acknowledged)?.drains ?? {})
      .filter(([owner]) => acknowledgedPods(node, owner).size > 0),
  );

/** Names the pods of the Node that stay, for each of its drains. */
export const acknowledgingStep = (
  node: DrainedNode,
  pods: Iterable<DrainPod>,
  { lookup, why }: { readonly lookup: VolumeLookup; readonly why: string },
): AcknowledgingStep => {
  const drains = drainsUnderway(node);
  const owners = Object.keys(drains);
  if (!node.unschedulable || owners.length === 0) return { _tag: 'NotDraining' };
  const keeps = (pod: DrainPod): boolean => keptData(pod, lookup).length > 0;
  const kept = keptPods(planOf(pods, { own: null, evictedOwners: new Set(), keeps }))
    .map((pod): StayingForData => {
      const { namespace, name, uid } = pod;
      return { namespace, name, uid, data: keptData(pod, lookup) };
    });
  if (kept.length === 0) return { _tag: 'NothingKept' };
  const isKnown = owners.every((owner) => {
    const known = acknowledgedPods(node, owner);
    return kept.every(({ uid }) => known.has(uid));
  });
  if (isKnown) return { _tag: 'Unchanged', pods: kept };
  const text = printAcknowledgement({
    // A drain that has ended would begin again without its acknowledgement.
    drains: { ...acknowledgedDrains(node), ...drains },
    pods: kept.map(({ uid }) => uid),
    why,
  });
  const { resourceVersion } = node;
  return {
    _tag: 'Patch',
    body: { metadata: { resourceVersion, annotations: { [ACKNOWLEDGED_KEY]: text } } },
    pods: kept,
  };
};
