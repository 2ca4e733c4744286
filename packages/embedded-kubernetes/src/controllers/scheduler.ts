/**
 * A kube-scheduler: binds pending pods to the first node that fits, starting after the node of the
 * last binding.
 *
 * Promises: never exceeds a node's allocatable resources and respects cordons and taints; an
 * unschedulable pod reports it in `PodScheduled` and is retried when nodes or other pods change. A
 * claim with `WaitForFirstConsumer` gets a volume in the node's zone.
 */
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import { labelsOf } from '../values/object-meta.ts';
import { rfc3339Seconds } from '../values/time.ts';
import {
  type Allocations,
  type Amounts,
  noAllocations,
  nodeAmounts,
  podAmounts,
} from './amounts.ts';
import { claimsOf, misfit } from './fit.ts';
import { keyQueue } from './key-queue.ts';
import { conditionOf, isFinished, isTerminating, nodeOf, withCondition } from './pod-reading.ts';
import {
  type Controller,
  type ControllerEnvironment,
  keyOf,
  nameIn,
  nameOf,
  type ObjectChange,
  patchStatus,
  pathOf,
  uidOf,
  within,
} from './controller-environment.ts';

const NAME = 'default-scheduler';
const ZONE = 'topology.kubernetes.io/zone';

interface Bound {
  readonly node: string;
  readonly amounts: Amounts;
}

interface Place {
  readonly node: JsonRecord;
  readonly allocatable: Amounts;
}

/** Pods by node, maintained from changes. */
const makeBook = () => {
  const places = new Map<string, Place>();
  const byNode = new Map<string, Allocations>();
  const bound = new Map<string, Bound>();
  const allocationsOf = (node: string): Allocations => {
    const known = byNode.get(node) ?? noAllocations();
    byNode.set(node, known);
    return known;
  };
  const free = (uid: string): void => {
    const known = bound.get(uid);
    if (known === undefined) return;
    bound.delete(uid);
    allocationsOf(known.node).giveBack(known.amounts);
  };
  const hold = (uid: string, node: string, pod: unknown): void => {
    if (bound.has(uid)) return;
    const amounts = podAmounts(pod);
    bound.set(uid, { node, amounts });
    allocationsOf(node).take(amounts);
  };
  return { places, allocationsOf, free, hold };
};

type Book = ReturnType<typeof makeBook>;

/** The bound volumes of a pod; `undefined` while one of its claims is missing. */
const volumesOf = (
  environment: ControllerEnvironment,
  pod: JsonRecord,
): readonly JsonRecord[] | undefined => {
  const { namespace } = nameOf(pod);
  const volumes: JsonRecord[] = [];
  for (const name of claimsOf(pod)) {
    const claim = environment.get('persistentvolumeclaims', { namespace, name });
    if (claim === undefined) return undefined;
    const volume = textAt(claim, 'spec', 'volumeName');
    if (volume === undefined) continue;
    volumes.push(environment.get('persistentvolumes', { namespace: '', name: volume }) ?? {});
  }
  return volumes;
};

/** Creates a volume for a claim in the zone of the selected node. */
const provision = (
  environment: ControllerEnvironment,
  claim: JsonRecord,
  node: JsonRecord,
): void => {
  const { namespace, name } = nameOf(claim);
  const volume = `pvc-${uidOf(claim)}`;
  const zone = labelsOf(node)[ZONE];
  environment.call({
    method: 'POST',
    path: pathOf('persistentvolumes', ''),
    body: {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volume, ...(zone === undefined ? {} : { labels: { [ZONE]: zone } }) },
      spec: {
        accessModes: listOrEmptyAt(claim, 'spec', 'accessModes'),
        capacity: recordAt(claim, 'spec', 'resources', 'requests') ?? {},
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name },
        persistentVolumeReclaimPolicy: 'Delete',
        hostPath: { path: `/volumes/${volume}` },
      },
    },
  });
  environment.call({
    method: 'PATCH',
    path: pathOf('persistentvolumeclaims', namespace, name),
    body: { spec: { volumeName: volume } },
  });
  patchStatus(environment, 'persistentvolumeclaims', { object: claim, status: { phase: 'Bound' } });
};

const provisionFor = (
  environment: ControllerEnvironment,
  pod: JsonRecord,
  node: JsonRecord,
): void => {
  const { namespace } = nameOf(pod);
  for (const name of claimsOf(pod)) {
    const claim = environment.get('persistentvolumeclaims', { namespace, name });
    if (claim !== undefined && textAt(claim, 'spec', 'volumeName') === undefined) {
      provision(environment, claim, node);
    }
  }
};

const bind = (environment: ControllerEnvironment, pod: JsonRecord, node: string): boolean => {
  const { namespace, name } = nameOf(pod);
  const { status } = environment.call({
    method: 'POST',
    path: `${pathOf('pods', namespace, name)}/binding`,
    body: {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid: uidOf(pod) },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    },
  });
  return status < 300;
};

/** `0/3 nodes are available: 1 were unschedulable, 2 Insufficient cpu.` */
const sentenceOf = (nodes: number, why: ReadonlyMap<string, number>): string => {
  const reasons = [...why].map(([reason, count]) => `${count} ${reason}`);
  return `0/${nodes} nodes are available${reasons.length === 0 ? '' : `: ${reasons.join(', ')}`}.`;
};

const writeUnschedulable = (
  environment: ControllerEnvironment,
  pod: JsonRecord,
  message: string,
): void => {
  const before = conditionOf(pod, 'PodScheduled');
  if (textAt(before, 'message') === message) return;
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
  const now = rfc3339Seconds(environment.time.now());
  patchStatus(environment, 'pods', {
    object: pod,
    status: { conditions: withCondition(pod, condition, now) },
  });
};

const waits = (pod: unknown): boolean =>
  nodeOf(pod) === '' && !isTerminating(pod) && !isFinished(pod) &&
  (textAt(pod, 'spec', 'schedulerName') ?? NAME) === NAME &&
  listOrEmptyAt(pod, 'spec', 'schedulingGates').length === 0;

/** The selected node, or why none fits. */
type Search = { readonly node: JsonRecord } | { readonly why: ReadonlyMap<string, number> };

const makeSearch = (environment: ControllerEnvironment, book: Book) => {
  let names: readonly string[] = [];
  let next = 0;
  return {
    nodesChanged: (): void => {
      names = [...book.places.keys()].toSorted();
    },
    search: (pod: JsonRecord): Search => {
      const why = new Map<string, number>();
      const volumes = volumesOf(environment, pod);
      if (volumes === undefined) return { why };
      const amounts = podAmounts(pod);
      for (let step = 0; step < names.length; step += 1) {
        const at = (next + step) % names.length;
        const name = names[at] ?? '';
        const place = book.places.get(name);
        if (place === undefined) continue;
        const short = book.allocationsOf(name).short(amounts, place.allocatable);
        const reason = misfit(pod, place.node, volumes) ??
          (short === undefined ? undefined : `Insufficient ${short}`);
        if (reason === undefined) {
          next = at + 1;
          return { node: place.node };
        }
        why.set(reason, (why.get(reason) ?? 0) + 1);
      }
      return { why };
    },
    size: () => names.length,
  };
};

/** Starts the scheduler. */
export const startScheduler = (environment: ControllerEnvironment): Controller => {
  const book = makeBook();
  const { nodesChanged, search, size } = makeSearch(environment, book);
  const stuck = new Set<string>();

  const schedule = (key: string): void => {
    const pod = environment.get('pods', nameIn(key));
    if (pod === undefined || !waits(pod)) return;
    const found = search(pod);
    if ('why' in found) {
      stuck.add(key);
      return writeUnschedulable(environment, pod, sentenceOf(size(), found.why));
    }
    const node = nameOf(found.node).name;
    book.hold(uidOf(pod), node, pod);
    provisionFor(environment, pod, found.node);
    if (!bind(environment, pod, node)) book.free(uidOf(pod));
  };
  const queue = keyQueue(environment.time, schedule);
  const enqueue = (key: string): void =>
    queue.schedule(key, within(environment, environment.timing.schedulerMs));
  const retryStuck = (): void => {
    for (const key of stuck) enqueue(key);
    stuck.clear();
  };

  const onPod = ({ type, object }: ObjectChange): void => {
    const uid = uidOf(object);
    if (type === 'DELETED' || isFinished(object)) {
      stuck.delete(keyOf(object));
      book.free(uid);
      return retryStuck();
    }
    if (nodeOf(object) !== '') return book.hold(uid, nodeOf(object), object);
    if (type === 'ADDED' && waits(object)) enqueue(keyOf(object));
  };
  const onNode = ({ type, object }: ObjectChange): void => {
    const { name } = nameOf(object);
    const isNew = !book.places.has(name);
    if (type === 'DELETED') book.places.delete(name);
    else book.places.set(name, { node: object, allocatable: nodeAmounts(object) });
    if (isNew || type === 'DELETED') nodesChanged();
    if (type !== 'DELETED') retryStuck();
  };
  const unsubscribe = environment.subscribe((change) => {
    if (change.collection === 'pods') onPod(change);
    else if (change.collection === 'nodes') onNode(change);
    else if (change.collection === 'persistentvolumeclaims') retryStuck();
  });
  return {
    stop: () => {
      unsubscribe();
      queue.stop();
    },
  };
};
