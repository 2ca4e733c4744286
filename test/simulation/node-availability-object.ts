/** Reads the availability of Nodes independently, for scenes and invariants: plain JSON. */
import {
  conditionOf,
  controllerOf,
} from '../../packages/embedded-kubernetes/src/controllers/pod-reading.ts';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';

export const NODE_LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const LEASES_RESOURCE = 'leases.coordination.k8s.io';
export const LEASE_NAMESPACE = 'kube-node-lease';

/** What `tidegate node disable` and `confirm-gone` write to a Node. */
export const DISABLED = 'cordon.tidegate.dev/disabled';
export const WHY_DISABLED = 'availability.tidegate.dev/why-disabled';
export const CONFIRMED_GONE = 'availability.tidegate.dev/confirmed-gone';
export const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
export const DEGRADED = 'tidegate.dev/degraded';

/** Conditions that make a Node degraded. */
export const PROBLEMS = [
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'NetworkUnavailable',
] as const;

/** The reason of the condition that the operator writes; '' without one. */
export const reportedState = (node: unknown): string =>
  textAt(conditionOf(node, 'tidegate.dev/Availability'), 'reason') ?? '';

/** The status of Ready; 'Unknown' before the first report. */
export const readyStatus = (node: unknown): string =>
  textAt(conditionOf(node, 'Ready'), 'status') ?? 'Unknown';

export const hasTaint = (node: unknown, key: string): boolean =>
  listOrEmptyAt(node, 'spec', 'taints').some((taint) => textAt(taint, 'key') === key);

export const hasProblem = (node: unknown): boolean =>
  PROBLEMS.some((type) => textAt(conditionOf(node, type), 'status') === 'True');

/** When a Lease was renewed, by the clock of its kubelet; NaN when it never was. */
export const renewedMs = (lease: unknown): number =>
  Date.parse(textAt(lease, 'spec', 'renewTime') ?? '');

/** The kind of the controller that owns a pod; '' without one. */
export const controllerKind = (pod: unknown): string => textAt(controllerOf(pod), 'kind') ?? '';
