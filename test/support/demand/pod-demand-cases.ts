/**
 * The CapacityRequest of a pod as a table: one case for each rule, with the sentence that states
 * it.
 *
 * The unit test runs all cases against the pure function; the `served` ones also run on a real API
 * server, which accepts such pods.
 */
import type { Penalties } from '../../../src/domain/pod-demand/penalties.ts';
import type { DemandStatus } from '../../../src/domain/pod-demand/pod-demand.ts';
import { PLACEMENT_CASES } from './pod-placement-cases.ts';
import { RESOURCE_CASES } from './pod-resource-cases.ts';

/** A pod as far as a case is about it. */
export interface CasePod {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly object[];
  /** Containers are there in any case. */
  readonly spec?: object;
  readonly status?: object;
}

/** One row of the table. */
export interface PodDemandCase {
  /** Continues “The request of a pod …”. */
  readonly title: string;
  /** The rule of `docs/rules.md`, or the document of Kubernetes, and its sentence. */
  readonly sentence: string;
  readonly pod: CasePod;
  readonly defaults?: Readonly<Record<string, Penalties>>;
  /** Expected spec fields; others are not checked. `null`: the field is absent. */
  readonly expected?: Readonly<Record<string, unknown>>;
  /** Why there is no request. */
  readonly none?: Exclude<DemandStatus, 'Wanted'>;
  /** Fields named by a Warning; default: none. */
  readonly warned?: readonly string[];
  /** A real API server takes the pod as it is. */
  readonly served: boolean;
}

const RULE = 'POD-02: ';

const FALLBACK = RULE + '"Penalties resolve in a fallback chain: Pod annotation → matching ' +
  'PriorityClass default → nil"';
const APART = RULE + '"The two penalties resolve independently"';
const TERMINAL = RULE +
  '"on the terminal transition the controller deletes the Pod\'s CRs itself ' +
  'and never creates one for an already-terminal Pod"';
const NO_DEMAND = RULE + 'pods that each new node brings along would ask for ever more nodes';
const UNPARSEABLE = RULE + 'a penalty annotation that cannot be read gets a Warning on the pod';

const INTERRUPTION = 'bigfleet.lucy.sh/interruption-penalty';
const RECLAMATION = 'bigfleet.lucy.sh/reclamation-penalty';
const HIGH = { high: { interruptionPenalty: '16', reclamationPenalty: '500m' } };

/** Where a Warning about an annotation points. */
const annotation = (name: string): string => `metadata.annotations[${JSON.stringify(name)}]`;

const controlledBy = (kind: string): readonly object[] => [
  { apiVersion: 'apps/v1', kind, name: 'owner', uid: 'owner-uid', controller: true },
];

const PENALTY_CASES: readonly PodDemandCase[] = [
  {
    title: 'has the interruption penalty of the annotation',
    sentence: FALLBACK,
    pod: { annotations: { [INTERRUPTION]: '16' } },
    expected: { interruptionPenalty: '16', reclamationPenalty: null },
    served: true,
  },
  {
    title: 'has the reclamation penalty of the annotation',
    sentence: FALLBACK,
    pod: { annotations: { [RECLAMATION]: '500m' } },
    expected: { interruptionPenalty: null, reclamationPenalty: '500m' },
    served: true,
  },
  {
    title: 'has no penalty when none is given',
    sentence: RULE + '"→ nil, which the autoscaler treats as $0"',
    pod: {},
    expected: { interruptionPenalty: null, reclamationPenalty: null },
    served: true,
  },
  {
    title: 'has the penalties of its PriorityClass',
    sentence: FALLBACK,
    pod: { spec: { priorityClassName: 'high' } },
    defaults: HIGH,
    expected: { interruptionPenalty: '16', reclamationPenalty: '500m' },
    served: false,
  },
  {
    title: 'has its annotation before the default of its PriorityClass',
    sentence: FALLBACK,
    pod: { annotations: { [INTERRUPTION]: '2' }, spec: { priorityClassName: 'high' } },
    defaults: HIGH,
    expected: { interruptionPenalty: '2', reclamationPenalty: '500m' },
    served: false,
  },
  {
    title: 'has one penalty of the annotation and the other of the class',
    sentence: APART,
    pod: { annotations: { [RECLAMATION]: '1' }, spec: { priorityClassName: 'high' } },
    defaults: HIGH,
    expected: { interruptionPenalty: '16', reclamationPenalty: '1' },
    served: false,
  },
  {
    title: 'never derives one penalty from the other',
    sentence: RULE + '"they are distinct concepts and never derived from each other"',
    pod: { spec: { priorityClassName: 'half' } },
    defaults: { half: { interruptionPenalty: '4' } },
    expected: { interruptionPenalty: '4', reclamationPenalty: null },
    served: false,
  },
  {
    title: 'never derives a penalty from the priority',
    sentence: RULE + '"never derived from each other or from priority"',
    pod: { spec: { priority: 1000 } },
    expected: { priority: 1000, interruptionPenalty: null, reclamationPenalty: null },
    served: false,
  },
  {
    title: 'has no penalty of a PriorityClass that the file does not have',
    sentence: FALLBACK,
    pod: { spec: { priorityClassName: 'other' } },
    defaults: HIGH,
    expected: { interruptionPenalty: null, reclamationPenalty: null },
    served: false,
  },
  {
    title: 'keeps a penalty of $0, which is not the same as none',
    sentence: 'DEM-02: "An absent penalty is bucket 0, a different aggregation key from $0"',
    pod: { annotations: { [INTERRUPTION]: '0' } },
    expected: { interruptionPenalty: '0' },
    served: true,
  },
  {
    title: 'has no penalty of an annotation that is no quantity, and a Warning',
    sentence: UNPARSEABLE,
    pod: { annotations: { [INTERRUPTION]: 'a lot' } },
    expected: { interruptionPenalty: null },
    warned: [annotation(INTERRUPTION)],
    served: true,
  },
  {
    title: 'has the default of its class for an annotation that is no quantity',
    sentence: UNPARSEABLE,
    pod: { annotations: { [INTERRUPTION]: '$5' }, spec: { priorityClassName: 'high' } },
    defaults: HIGH,
    expected: { interruptionPenalty: '16' },
    warned: [annotation(INTERRUPTION)],
    served: false,
  },
  {
    title: 'has no negative penalty, and a Warning',
    sentence: UNPARSEABLE,
    pod: { annotations: { [RECLAMATION]: '-1' } },
    expected: { reclamationPenalty: null },
    warned: [annotation(RECLAMATION)],
    served: true,
  },
  {
    title: 'has one good penalty beside one that cannot be read',
    sentence: APART,
    pod: { annotations: { [INTERRUPTION]: '', [RECLAMATION]: '1500m' } },
    expected: { interruptionPenalty: null, reclamationPenalty: '1500m' },
    warned: [annotation(INTERRUPTION)],
    served: true,
  },
];

const STATUS_CASES: readonly PodDemandCase[] = [
  {
    title: 'is there although the pod is bound to a node',
    sentence: RULE + '"One CR per Pod, not per unschedulable Pod"',
    pod: { spec: { nodeName: 'node-1' }, status: { phase: 'Running' } },
    expected: { priority: 0 },
    served: true,
  },
  {
    title: 'is there while the pod waits for a node',
    sentence: RULE + '"A CR for every Pod is what makes the roll-up authoritative"',
    pod: { status: { phase: 'Pending' } },
    expected: { priority: 0 },
    served: true,
  },
  {
    title: 'is not there when the pod has succeeded',
    sentence: TERMINAL,
    pod: { status: { phase: 'Succeeded' } },
    none: 'Finished',
    served: true,
  },
  {
    title: 'is not there when the pod has failed',
    sentence: TERMINAL,
    pod: { status: { phase: 'Failed' } },
    none: 'Finished',
    served: true,
  },
  {
    title: 'exists for a pod of an unknown phase',
    sentence: RULE + '"One CR per Pod"',
    pod: { status: { phase: 'Unknown' } },
    expected: { priority: 0 },
    served: false,
  },
  {
    title: 'is not there for a pod of a DaemonSet',
    sentence: NO_DEMAND,
    pod: { ownerReferences: controlledBy('DaemonSet') },
    none: 'OfDaemonSet',
    served: false,
  },
  {
    title: 'is there for a pod of a ReplicaSet',
    sentence: RULE + '"One CR per Pod"',
    pod: { ownerReferences: controlledBy('ReplicaSet') },
    expected: { priority: 0 },
    served: false,
  },
  {
    title: 'is not there for a mirror pod',
    sentence: NO_DEMAND,
    pod: { annotations: { 'kubernetes.io/config.mirror': 'hash' } },
    none: 'Mirror',
    served: false,
  },
];

/** The table. */
export const POD_DEMAND_CASES: readonly PodDemandCase[] = [
  ...PLACEMENT_CASES,
  ...RESOURCE_CASES,
  ...PENALTY_CASES,
  ...STATUS_CASES,
];

/** The pod of a case, whole; a container is there in any case. */
export const podOf = ({ pod }: PodDemandCase, name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    ...(pod.annotations === undefined ? {} : { annotations: pod.annotations }),
    ...(pod.labels === undefined ? {} : { labels: pod.labels }),
    ...(pod.ownerReferences === undefined ? {} : { ownerReferences: pod.ownerReferences }),
  },
  spec: { containers: [{ name: 'main', image: 'image' }], ...pod.spec },
  ...(pod.status === undefined ? {} : { status: pod.status }),
});
