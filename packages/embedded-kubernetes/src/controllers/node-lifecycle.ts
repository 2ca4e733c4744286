/**
 * The node lifecycle controller and the pod garbage collector.
 *
 * Promises: a node whose Lease was not renewed for 40 s becomes `Unknown` and tainted; its pods
 * become not Ready and are deleted after five minutes unless they tolerate the taint; a renewed
 * Lease reverts all of it. A cordoned node is tainted `unschedulable`. Pods bound to a missing node
 * are deleted a while after it went (the collector runs every 20 s and waits 40 s).
 */
import { booleanAt, type JsonRecord, listOrEmptyAt, textAt } from '../values/json.ts';
import { rfc3339Seconds } from '../values/time.ts';
import { tolerates } from './fit.ts';
import { keyQueue } from './key-queue.ts';
import { conditionOf, isReady, isTerminating, nodeOf, withCondition } from './pod-reading.ts';
import {
  type Controller,
  type ControllerEnvironment,
  keyOf,
  nameIn,
  nameOf,
  patchStatus,
  pathOf,
  remove,
  within,
} from './controller-environment.ts';

const GRACE_MS = 40_000;
const LOOK_MS = 5000;
const QUARANTINE_MS = 40_000;
const EVICTION_MS = 300_000;
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const TAINTS = ['NoSchedule', 'NoExecute'].map((effect) => ({ key: UNREACHABLE, effect }));

const heartbeatAtMs = (environment: ControllerEnvironment, name: string): number | undefined => {
  const lease = environment.get('leases', { namespace: 'kube-node-lease', name });
  const at = Date.parse(textAt(lease, 'spec', 'renewTime') ?? '');
  return Number.isNaN(at) ? undefined : at;
};

const isUnknown = (node: JsonRecord): boolean =>
  textAt(conditionOf(node, 'Ready'), 'status') === 'Unknown';

const writeNodeStatus = (
  environment: ControllerEnvironment,
  node: JsonRecord,
  reporting: boolean,
): void => {
  const now = rfc3339Seconds(environment.time.now());
  const readiness = reporting
    ? {
      status: 'True',
      reason: 'KubeletReady',
      message: 'kubelet is posting ready status',
      lastHeartbeatTime: now,
    }
    : {
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
    };
  patchStatus(environment, 'nodes', {
    object: node,
    status: { conditions: withCondition(node, { type: 'Ready', ...readiness }, now) },
  });
  const others = listOrEmptyAt(node, 'spec', 'taints')
    .filter((taint) => textAt(taint, 'key') !== UNREACHABLE);
  const taints = reporting ? others : [...others, ...TAINTS];
  environment.call({
    method: 'PATCH',
    path: pathOf('nodes', '', nameOf(node).name),
    body: { spec: { taints: taints.length === 0 ? null : taints } },
  });
};

const writePodReadiness = (
  environment: ControllerEnvironment,
  node: string,
  ready: boolean,
): readonly JsonRecord[] => {
  const own = [...environment.list('pods')].filter((pod) => nodeOf(pod) === node);
  const now = rfc3339Seconds(environment.time.now());
  for (const pod of own) {
    const ran = textAt(conditionOf(pod, 'ContainersReady'), 'status') === 'True';
    if (isReady(pod) === ready || !ran) continue;
    const condition = { type: 'Ready', status: ready ? 'True' : 'False' };
    patchStatus(environment, 'pods', {
      object: pod,
      status: { conditions: withCondition(pod, condition, now) },
    });
  }
  return own;
};

const staysFor = (pod: JsonRecord): boolean =>
  listOrEmptyAt(pod, 'spec', 'tolerations').some((toleration) => tolerates(toleration, TAINTS[1]));

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

const hasTaint = (node: JsonRecord, key: string): boolean =>
  listOrEmptyAt(node, 'spec', 'taints').some((taint) => textAt(taint, 'key') === key);

/** Whether the node must have the taint; undefined while its kubelet has not reported. */
const wantsNotReady = (node: JsonRecord): boolean | undefined => {
  const status = textAt(conditionOf(node, 'Ready'), 'status');
  if (status === 'True') return false;
  return status === 'False' ? true : undefined;
};

/** The NoSchedule taints that follow from the node itself, and whether it must have them. */
const followingTaints = (node: JsonRecord): readonly (readonly [string, boolean])[] => [
  [NOT_READY, wantsNotReady(node) ?? hasTaint(node, NOT_READY)],
  [UNSCHEDULABLE, booleanAt(node, 'spec', 'unschedulable') === true],
];

/** Whether a taint differs from the condition or the field that it follows from. */
const contradicts = (node: JsonRecord): boolean =>
  followingTaints(node).some(([key, wanted]) => hasTaint(node, key) !== wanted);

/** Adds and removes taints, as `doNoScheduleTaintingPass` of the controller manager does. */
const writeFollowingTaints = (environment: ControllerEnvironment, node: JsonRecord): void => {
  if (!contradicts(node)) return;
  const timeAdded = rfc3339Seconds(environment.time.now());
  const following = followingTaints(node);
  const unwanted = new Set(following.flatMap(([key, wanted]) => wanted ? [] : [key]));
  const taints = [
    ...listOrEmptyAt(node, 'spec', 'taints')
      .filter((taint) => !unwanted.has(textAt(taint, 'key') ?? '')),
    ...following.filter(([key, wanted]) => wanted && !hasTaint(node, key))
      .map(([key]) => ({ key, effect: 'NoSchedule', timeAdded })),
  ];
  environment.call({
    method: 'PATCH',
    path: pathOf('nodes', '', nameOf(node).name),
    body: { spec: { taints: taints.length === 0 ? null : taints } },
  });
};

/** Starts the controller. */
export const startNodeLifecycle = (environment: ControllerEnvironment): Controller => {
  const evicting = keyQueue(environment.time, (key) => {
    const pod = environment.get('pods', nameIn(key));
    if (pod === undefined || isTerminating(pod) || isReady(pod)) return;
    const node = environment.get('nodes', { namespace: '', name: nodeOf(pod) });
    if (node !== undefined && isUnknown(node)) remove(environment, 'pods', { object: pod });
  });
  const collecting = keyQueue(environment.time, (key) => {
    const pod = environment.get('pods', nameIn(key));
    if (pod === undefined) return;
    if (environment.get('nodes', { namespace: '', name: nodeOf(pod) }) !== undefined) return;
    remove(environment, 'pods', { object: pod, graceSeconds: 0 });
  });
  const tainting = keyQueue(environment.time, (name) => {
    const node = environment.get('nodes', { namespace: '', name });
    if (node !== undefined) writeFollowingTaints(environment, node);
  });
  const collectFrom = (node: string): void => {
    for (const pod of environment.list('pods')) {
      if (nodeOf(pod) === node) collecting.schedule(keyOf(pod), QUARANTINE_MS);
    }
  };
  const update = (node: JsonRecord): void => {
    const { name } = nameOf(node);
    const heartbeatMs = heartbeatAtMs(environment, name);
    if (heartbeatMs === undefined) return;
    const silent = environment.time.now() - heartbeatMs > GRACE_MS;
    // The kubelet may have reported Ready before this check runs.
    if (silent === (isUnknown(node) || hasTaint(node, UNREACHABLE))) return;
    writeNodeStatus(environment, node, !silent);
    const pods = writePodReadiness(environment, name, !silent);
    if (!silent) return;
    for (const pod of pods) if (!staysFor(pod)) evicting.schedule(keyOf(pod), EVICTION_MS);
  };
  let cancel = (): void => {};
  let dueMs = environment.time.now();
  const look = (): void => {
    const isLate = environment.time.now() - dueMs > GRACE_MS / 2;
    dueMs = environment.time.now() + LOOK_MS;
    cancel = environment.time.schedule(LOOK_MS, look);
    // After this process stood still, the heartbeats of its own kubelets are late as well.
    if (isLate) return;
    for (const node of [...environment.list('nodes')]) update(node);
  };
  look();
  const unsubscribe = environment.subscribe(({ type, collection, object }) => {
    if (collection === 'nodes' && type === 'DELETED') collectFrom(nameOf(object).name);
    if (collection === 'nodes' && type !== 'DELETED' && contradicts(object)) {
      tainting.schedule(nameOf(object).name, within(environment, environment.timing.controllerMs));
    }
    const isStray = collection === 'pods' && type !== 'DELETED' && nodeOf(object) !== '' &&
      environment.get('nodes', { namespace: '', name: nodeOf(object) }) === undefined;
    if (isStray) collecting.schedule(keyOf(object), QUARANTINE_MS);
  });
  return {
    stop: () => {
      unsubscribe();
      cancel();
      evicting.stop();
      collecting.stop();
      tainting.stop();
    },
  };
};
