/**
 * The kubelets of all nodes: start bound pods, terminate deleted pods, and renew node Leases.
 *
 * Promises: a pod becomes Ready a while after its binding; it terminates within its grace period
 * and is then deleted with grace 0, finalizers kept; an unresponsive kubelet ignores changes and
 * renews nothing until it recovers, then reconciles; the readiness gates of a pod count.
 * Annotations `READY_AFTER` and `STOPS_AFTER` control a pod's timing.
 */
import { type JsonRecord, listOrEmptyAt, textAt } from '../values/json.ts';
import { annotationsOf } from '../values/object-meta.ts';
import { rfc3339, rfc3339Seconds } from '../values/time.ts';
import { keyQueue } from './key-queue.ts';
import {
  conditionOf,
  graceSecondsOf,
  isReady,
  isTerminating,
  nodeOf,
  phaseOf,
  withCondition,
} from './pod-reading.ts';
import {
  type Controller,
  type ControllerEnvironment,
  keyOf,
  nameIn,
  nameOf,
  type ObjectChange,
  patchStatus,
  pathOf,
  remove,
  within,
} from './controller-environment.ts';

/** Milliseconds until the pod is Ready; with `never` it runs but is not Ready. */
export const READY_AFTER = 'kubelet.tidegate.dev/ready-after';
/** Milliseconds that the pod takes to stop; with `never` it uses its whole grace period. */
export const STOPS_AFTER = 'kubelet.tidegate.dev/stops-after';

/** Kubernetes renews a node's Lease every ten seconds. */
const HEARTBEAT_MS = 10_000;
const LEASE_SECONDS = 40;
const LEASE_ROOM = 'kube-node-lease';

/** The running kubelets and their controls. */
export interface Kubelets extends Controller {
  /** Stops or resumes the kubelet of this node. */
  readonly setSilent: (node: string, isSilent: boolean) => void;
}

const NEVER = 'never';

/** The pod's annotation in milliseconds; `otherwise` when it is absent. */
const wordOf = (pod: unknown, key: string, otherwise: number): number => {
  const word = annotationsOf(pod)[key];
  if (word === undefined) return otherwise;
  return word === NEVER ? Infinity : Number(word);
};

const containersOf = (pod: JsonRecord, now: string, ready: boolean): readonly unknown[] =>
  listOrEmptyAt(pod, 'spec', 'containers').map((container) => ({
    name: textAt(container, 'name') ?? '',
    image: textAt(container, 'image') ?? '',
    imageID: '',
    ready,
    restartCount: 0,
    started: true,
    state: { running: { startedAt: now } },
    lastState: {},
  }));

/** True when the containers are ready and every readiness gate is True. */
const mayBeReady = (pod: unknown, areContainersReady: boolean): boolean =>
  areContainersReady &&
  listOrEmptyAt(pod, 'spec', 'readinessGates').every((gate) =>
    textAt(conditionOf(pod, textAt(gate, 'conditionType') ?? ''), 'status') === 'True'
  );

/** The conditions of a running pod whose gates changed; `undefined` while `Ready` is right. */
const gatedConditions = (pod: unknown, now: string): readonly unknown[] | undefined => {
  const areContainersReady = textAt(conditionOf(pod, 'ContainersReady'), 'status') === 'True';
  const ready = mayBeReady(pod, areContainersReady);
  if (listOrEmptyAt(pod, 'spec', 'readinessGates').length === 0 || ready === isReady(pod)) {
    return undefined;
  }
  return withCondition(pod, { type: 'Ready', status: ready ? 'True' : 'False' }, now);
};

const runningStatus = (pod: JsonRecord, now: string) => {
  const ready = annotationsOf(pod)[READY_AFTER] !== NEVER;
  let conditions = listOrEmptyAt(pod, 'status', 'conditions');
  for (const type of ['PodScheduled', 'Initialized', 'PodReadyToStartContainers']) {
    conditions = withCondition({ status: { conditions } }, { type, status: 'True' }, now);
  }
  const isReadyNow = { ContainersReady: ready, Ready: mayBeReady(pod, ready) };
  for (const [type, isTrue] of Object.entries(isReadyNow)) {
    const condition = { type, status: isTrue ? 'True' : 'False' };
    conditions = withCondition({ status: { conditions } }, condition, now);
  }
  const containerStatuses = containersOf(pod, now, ready);
  return { phase: 'Running', startTime: now, conditions, containerStatuses };
};

/** The status of a pod that starts, or whose gates changed; `undefined` while it is right. */
const nextStatus = (pod: JsonRecord, now: string): JsonRecord | undefined => {
  if (phaseOf(pod) === 'Pending') return runningStatus(pod, now);
  const conditions = phaseOf(pod) === 'Running' ? gatedConditions(pod, now) : undefined;
  return conditions === undefined ? undefined : { conditions };
};

const writeReady = (environment: ControllerEnvironment, node: JsonRecord): void => {
  if (isReady(node)) return;
  const now = rfc3339Seconds(environment.time.now());
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    message: 'kubelet is posting ready status',
    lastHeartbeatTime: now,
  };
  const conditions = withCondition(node, condition, now);
  patchStatus(environment, 'nodes', { object: node, status: { conditions } });
};

/** RFC 3339 with six digits, as `MicroTime` has it. */
const microTime = (epochMs: number): string => rfc3339(epochMs).replace('Z', '000Z');

const renew = (environment: ControllerEnvironment, node: string): void => {
  if (environment.timing.hasHeartbeats === false) return;
  const spec = {
    holderIdentity: node,
    leaseDurationSeconds: LEASE_SECONDS,
    renewTime: microTime(environment.time.now()),
  };
  const found = environment.get('leases', { namespace: LEASE_ROOM, name: node });
  if (found !== undefined) {
    environment.call({
      method: 'PATCH',
      path: pathOf('leases', LEASE_ROOM, node),
      body: { spec: { renewTime: spec.renewTime } },
    });
    return;
  }
  environment.call({
    method: 'POST',
    path: pathOf('leases', LEASE_ROOM),
    body: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: node, namespace: LEASE_ROOM },
      spec,
    },
  });
};

/** Starts a kubelet on every current and future node. */
export const startKubelets = (environment: ControllerEnvironment): Kubelets => {
  const alive = new Set<string>();
  const silent = new Set<string>();
  const follows = (pod: unknown): boolean => alive.has(nodeOf(pod)) && !silent.has(nodeOf(pod));

  const end = (pod: JsonRecord): void => {
    remove(environment, 'pods', { object: pod, graceSeconds: 0 });
  };
  const tend = (key: string): void => {
    const pod = environment.get('pods', nameIn(key));
    if (pod === undefined || !follows(pod)) return;
    if (isTerminating(pod)) return end(pod);
    const status = nextStatus(pod, rfc3339Seconds(environment.time.now()));
    if (status !== undefined) patchStatus(environment, 'pods', { object: pod, status });
  };
  const starting = keyQueue(environment.time, tend);
  const stopping = keyQueue(environment.time, tend);

  const look = (pod: JsonRecord): void => {
    if (!follows(pod)) return;
    if (isTerminating(pod)) {
      const graceMs = graceSecondsOf(pod) * 1000;
      const stopMs = wordOf(pod, STOPS_AFTER, within(environment, environment.timing.stopMs));
      // After termination only finalizers keep a pod.
      if (graceMs > 0) stopping.schedule(keyOf(pod), Math.min(graceMs, stopMs));
    } else if (phaseOf(pod) === 'Pending') {
      const ordinary = within(environment, environment.timing.startMs);
      const startMs = wordOf(pod, READY_AFTER, ordinary);
      starting.schedule(keyOf(pod), Number.isFinite(startMs) ? startMs : ordinary);
    } else if (nextStatus(pod, '') !== undefined) starting.schedule(keyOf(pod), 0);
  };
  const lookAtNode = (name: string): void => {
    for (const pod of environment.list('pods')) if (nodeOf(pod) === name) look(pod);
  };
  const join = keyQueue(environment.time, (name) => {
    const node = environment.get('nodes', { namespace: '', name });
    if (node === undefined || silent.has(name)) return;
    alive.add(name);
    writeReady(environment, node);
    renew(environment, name);
    lookAtNode(name);
  });
  const onNode = ({ type, object }: ObjectChange): void => {
    const { name } = nameOf(object);
    if (type === 'ADDED') join.schedule(name, within(environment, environment.timing.joinMs));
    if (type === 'DELETED') alive.delete(name);
  };
  const unsubscribe = environment.subscribe((change) => {
    if (change.collection === 'nodes') onNode(change);
    else if (change.collection === 'pods' && change.type !== 'DELETED') look(change.object);
  });
  let cancel = (): void => {};
  const beat = (): void => {
    if (environment.timing.hasHeartbeats === false) return;
    cancel = environment.time.schedule(HEARTBEAT_MS, beat);
    for (const name of alive) if (!silent.has(name)) renew(environment, name);
  };
  beat();
  return {
    setSilent: (node, isSilent) => {
      if (isSilent) {
        silent.add(node);
        return;
      }
      silent.delete(node);
      join.schedule(node, 0);
    },
    stop: () => {
      unsubscribe();
      cancel();
      [starting, stopping, join].forEach((queue) => queue.stop());
    },
  };
};
