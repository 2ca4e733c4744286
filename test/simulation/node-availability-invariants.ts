/**
 * Invariants about the pods of Nodes that fail: which are deleted, when, and how often
 * (`drain-evict-reschedule`).
 */
import { type JsonRecord, textAt } from '../../src/domain/json.ts';
import type { KubeCall } from '../../src/effects/kube-api.ts';
import { nodeOf, phaseOf } from '../../packages/embedded-kubernetes/src/controllers/pod-reading.ts';
import { type Bench, type Invariant, nameOf, TERM_ENDED } from './invariant.ts';
import {
  CONFIRMED_GONE,
  controllerKind,
  hasTaint,
  LEASE_NAMESPACE,
  LEASES_RESOURCE,
  OUT_OF_SERVICE,
  readyStatus,
  renewedMs,
  reportedState,
} from './node-availability-object.ts';
import { observedNodes, OFFLINE_MS, offlineSinceMs } from './node-availability-views.ts';

/** An arrived line is processed within a few turns of the event loop. */
const TAKEN_IN_MS = 20;
/** Nothing is deleted so soon (RS-06). */
const SETTLE_MS = 5000;
/** More Nodes and a larger share than these, within this time, are a storm (RS-06). */
const STORM = { nodes: 3, share: 0.2, withinMs: 300_000 } as const;
/** From the last Node of a storm until it is found. */
const FOUND_MS = 2000;
/** A kubelet that is well has renewed its Lease by then. */
const RENEWED_MS = 15_000;

const POD_PATH = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)$/;

interface Deletion {
  readonly pod: JsonRecord;
  readonly node: JsonRecord;
}

type Site = Bench['site'];

const nodeIn = ({ cluster }: Site, name: string): JsonRecord | undefined =>
  cluster.store.collection('nodes').get({ namespace: '', name });

const isConfirmedGone = (node: JsonRecord | undefined): boolean =>
  textAt(node, 'metadata', 'annotations', CONFIRMED_GONE) !== undefined;

const uidOf = ({ body }: KubeCall): string => textAt(body, 'preconditions', 'uid') ?? '';

/** The pod that a request deletes, with its Node; another pod with its name is left (DR-21). */
const deletionIn = (site: Site, call: KubeCall): Deletion | undefined => {
  const [, namespace, name] = POD_PATH.exec(call.path) ?? [];
  if (call.method !== 'DELETE' || namespace === undefined || name === undefined) return undefined;
  const pod = site.cluster.store.collection('pods').get({ namespace, name });
  if (pod === undefined || textAt(pod, 'metadata', 'uid') !== uidOf(call)) return undefined;
  const node = nodeIn(site, nodeOf(pod));
  return node && { pod, node };
};

/**
 * RS-04, RS-05, RS-06: a pod is deleted only while its process knows that its Node is Unknown and
 * that the Lease was not renewed for long enough, and not in the first seconds.
 */
export const onlyLostPodsAreDeleted = ({ site, time, broken }: Bench): Invariant => {
  const observed = observedNodes(time);
  return {
    ...observed.invariant,
    leaves: ({ process, call }) => {
      const deletion = deletionIn(site, call);
      if (deletion === undefined) return;
      const node = nameOf(deletion.node);
      const what = `${process} deletes "${nameOf(deletion.pod)}" of "${node}"`;
      const seen = observed.get(process, node);
      if (seen === undefined) return;
      const silentMs = time.now() - seen.renewedMs;
      const isFresh = time.monotonic() - seen.ready.sinceMs <= TAKEN_IN_MS;
      if (silentMs < OFFLINE_MS || (seen.ready.status !== 'Unknown' && !isFresh)) {
        broken('only lost pods are deleted', `${what}, ${seen.ready.status} for ${silentMs} ms`);
      }
      const knownMs = time.monotonic() - Math.max(
        seen.ready.sinceMs,
        // A former process may have known more of the Lease.
        time.monotonic() - silentMs + OFFLINE_MS,
      );
      // A person who confirms that the machine is gone decides that it is no storm.
      if (isConfirmedGone(deletion.node) || knownMs >= SETTLE_MS) return;
      broken('lost nodes settle', `${what} after ${knownMs} ms`);
    },
  };
};

/** RS-06: whoever found the storm, no pod of its Nodes is deleted before they are back or gone. */
export const stormsAreProtected = ({ site, broken }: Bench): Invariant => {
  const inStorm = new Set<string>();
  return {
    change: ({ resource, type, object, at }) => {
      if (resource === LEASES_RESOURCE && at.namespace === LEASE_NAMESPACE) inStorm.delete(at.name);
      if (resource !== 'nodes') return;
      const isOver = type === 'DELETED' || readyStatus(object) === 'True' ||
        hasTaint(object, OUT_OF_SERVICE);
      if (isOver) inStorm.delete(at.name);
      else if (reportedState(object) === 'OfflineStorm') inStorm.add(at.name);
    },
    leaves: ({ process, call }) => {
      const deletion = deletionIn(site, call);
      if (deletion === undefined || !inStorm.has(nameOf(deletion.node))) return;
      const what = `${process} deletes "${nameOf(deletion.pod)}" of "${nameOf(deletion.node)}"`;
      broken('storms are protected', what);
    },
  };
};

/** RS-06: no pod is deleted while its process has seen too many Nodes go offline. */
export const stormsAreFound = ({ site, time, broken }: Bench): Invariant => {
  const observed = observedNodes(time);
  /** The process that wrote the state of a Node, in its present term. */
  const writers = new Map<string, string>();
  const counts = (process: string, name: string): boolean => {
    const seen = observed.get(process, name);
    const sinceMs = seen && offlineSinceMs(seen);
    if (seen === undefined || sinceMs === undefined) return false;
    // It was handled by another process, before all others.
    const isHandled = reportedState(seen.node.object) === 'Offline' &&
      writers.get(name) !== process;
    const agoMs = time.monotonic() - sinceMs;
    return !isHandled && agoMs >= FOUND_MS && agoMs < STORM.withinMs - FOUND_MS;
  };
  return {
    ...observed.invariant,
    done: ({ process, call }, answer) => {
      if (call.method !== 'PATCH' || answer.status >= 300) return;
      const [, name] = /^\/api\/v1\/nodes\/([^/]+)\/status$/.exec(call.path) ?? [];
      if (name !== undefined) writers.set(name, process);
    },
    logged: (process, { message }) => {
      if (message !== TERM_ENDED) return;
      for (const [name, writer] of writers) if (writer === process) writers.delete(name);
    },
    leaves: ({ process, call }) => {
      const deletion = deletionIn(site, call);
      if (deletion === undefined || hasTaint(deletion.node, OUT_OF_SERVICE)) return;
      if (!counts(process, nameOf(deletion.node))) return;
      const all = [...site.cluster.store.collection('nodes').objects()].map(nameOf);
      const offline = all.filter((name) => counts(process, name));
      if (offline.length <= STORM.nodes || offline.length <= STORM.share * all.length + 1) return;
      const what = `${process} deletes "${nameOf(deletion.pod)}"`;
      broken('storms are found', `${what}; ${offline.join()} of ${all.length} are offline`);
    },
  };
};

/** RS-20, RS-21: pods of a StatefulSet, of no controller and of DaemonSets are not deleted. */
export const statefulPodsStay = ({ site, broken }: Bench): Invariant => ({
  leaves: ({ process, call }) => {
    const deletion = deletionIn(site, call);
    if (deletion === undefined) return;
    const kind = controllerKind(deletion.pod);
    if (kind !== '' && kind !== 'StatefulSet' && kind !== 'DaemonSet') return;
    broken('stateful pods stay', `${process} deletes "${nameOf(deletion.pod)}" of a ${kind}`);
  },
});

/**
 * RS-22: while the machine of a pod may still run it, no other pod of its ordinal runs. A person
 * who confirms that a machine is gone has switched it off.
 */
export const oneOfAnOrdinalRuns = ({ site, time, broken }: Bench): Invariant => {
  /** Nodes that may still run a pod of that name whose object is gone. */
  const running = new Map<string, string>();
  const isSilent = (name: string): boolean => {
    const lease = site.cluster.store.collection(LEASES_RESOURCE)
      .get({ namespace: LEASE_NAMESPACE, name });
    return time.now() - renewedMs(lease) > RENEWED_MS;
  };
  /** Taken off a silent Node for its taint, that no person has set. */
  const isLeftRunning = (pod: JsonRecord): boolean => {
    const node = nodeIn(site, nodeOf(pod));
    return phaseOf(pod) === 'Running' && hasTaint(node, OUT_OF_SERVICE) &&
      !isConfirmedGone(node) &&
      isSilent(nodeOf(pod));
  };
  return {
    change: ({ resource, type, object, at }) => {
      if (resource === 'nodes' && type === 'DELETED') {
        for (const [pod, node] of running) if (node === at.name) running.delete(pod);
      }
      if (resource !== 'pods' || controllerKind(object) !== 'StatefulSet') return;
      const key = `${at.namespace}/${at.name}`;
      if (type === 'DELETED') {
        if (isLeftRunning(object)) running.set(key, nodeOf(object));
        return;
      }
      const former = running.get(key);
      if (former === undefined) return;
      if (!isSilent(former)) running.delete(key);
      else if (phaseOf(object) === 'Running') {
        broken('one pod of an ordinal runs', `"${at.name}", and on "${former}"`);
      }
    },
  };
};

/** RS-23: a process deletes a pod once, unless that failed. */
export const podsAreDeletedOnce = ({ broken }: Bench): Invariant => {
  /** By process. */
  const deleted = new Map<string, Set<string>>();
  return {
    leaves: ({ process, call }) => {
      if (call.method !== 'DELETE' || !POD_PATH.test(call.path)) return;
      if (deleted.get(process)?.has(uidOf(call)) !== true) return;
      broken('lost pods are deleted once', `${process} sends ${call.path} again`);
    },
    answered: ({ process, call }, answer) => {
      if (call.method !== 'DELETE' || !POD_PATH.test(call.path) || answer === undefined) return;
      const isOver = answer.status < 300 || answer.status === 404 || answer.status === 409;
      if (!isOver) return;
      deleted.set(process, (deleted.get(process) ?? new Set()).add(uidOf(call)));
    },
    // Its next term knows nothing of this one.
    logged: (process, { message }) => {
      if (message === TERM_ENDED) deleted.delete(process);
    },
  };
};
