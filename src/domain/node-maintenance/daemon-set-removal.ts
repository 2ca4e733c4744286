/**
 * Whether a pod of a DaemonSet may be removed for a maintenance (KEP-4212, *DaemonSet Controller*).
 *
 * Promises: pure; only for a maintenance in Drain that holds the node, has reached the pod by the
 * targets that its status has, and does not leave it alone (NM-44).
 */
import type { DrainPod } from '../drain/pod.ts';
import { quoted } from '../text.ts';
import { mustLeave } from './drain-step.ts';
import { holdsNode, isTargetedBy, storedTargets } from './node-status.ts';
import type { ObservedMaintenance } from './observed-maintenance.ts';
import { workedStage } from './stage.ts';

/** The verdict on a pod. */
export interface DaemonSetRemoval {
  readonly may: boolean;
  /** Why, or what it waits for; for people. */
  readonly message: string;
  /** How long the pod gets to stop. */
  readonly graceSeconds: number;
}

const hasReached = (maintenance: ObservedMaintenance, pod: DrainPod): boolean =>
  workedStage(maintenance) === 'Drain' &&
  holdsNode(maintenance, pod.node) && mustLeave(pod, maintenance.spec) &&
  isTargetedBy(storedTargets(maintenance, pod.node), pod);

/** The verdict; undefined for a pod that is of no DaemonSet. */
export const daemonSetRemoval = (
  pod: DrainPod,
  maintenances: Iterable<ObservedMaintenance>,
): DaemonSetRemoval | undefined => {
  if (pod.controller?.kind !== 'DaemonSet') return undefined;
  const reached = [...maintenances].filter((one) => hasReached(one, pod));
  // The longest: nobody's pod stops faster than somebody asked.
  const graceSeconds = reached.length === 0
    ? pod.graceSeconds
    : Math.max(...reached.map(({ spec }) => spec.gracePeriodSeconds ?? pod.graceSeconds));
  const [first] = reached;
  if (first === undefined) {
    return {
      may: false,
      message: `Waits: no NodeMaintenance in Drain has reached the pod on node ${quoted(pod.node)}`,
      graceSeconds,
    };
  }
  const { name, spec: { reason } } = first;
  return {
    may: true,
    message: `DaemonSet ${quoted(pod.controller.name)} ends the pod for NodeMaintenance ` +
      `${quoted(name)}${reason === '' ? '' : ` (${reason})`}`,
    graceSeconds,
  };
};
