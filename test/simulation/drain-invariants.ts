/** Invariants about cordons, acks, deadlines and cancellations of drains. */
import { textAt } from '../../src/domain/json.ts';
import type { Time } from '../../src/domain/time.ts';
import type { WatchLine } from '../../src/effects/kube-api.ts';
import { nodeName } from '../../packages/stand-in-fleet/src/node-object.ts';
import { asksToEvict } from './eviction-request-invariants.ts';
import { ALL_REQUESTS } from './eviction-request-object.ts';
import { type Bench, type Invariant, nameOf, viewsOf } from './invariant.ts';
import { maintenancesOn } from './node-maintenance-object.ts';
import {
  isCordoned,
  isDisabled,
  isDraining,
  mayEmpty,
  ownersOf,
  reclaimAnnotation,
} from './node-annotations.ts';

const NODES = '/api/v1/nodes';
/** An arrived line is processed within a few turns of the event loop. */
const TAKEN_IN_MS = 20;
/** No eviction after the deadline except those in flight. */
const LEAVING_MS = 2000;
/** From a deadline to the written end, in calm. */
const ENDING_MS = 20_000;
/**
 * Calm after which a process must know of a deadline: a request that was lost while the API server
 * was away is made again 5 s after the lease is held again. A watch that was lost in an outage too
 * short for that is given up after 30 s.
 */
const INFORMED_MS = 45_000;
/** From a cancellation to the written end, in calm. */
const CANCELLING_MS = 60_000;

/** DR-01: a cordon and its owner are written together. */
export const cordonsHaveOwners = ({ cordonedByPerson, broken }: Bench): Invariant => ({
  change: ({ resource, type, object }) => {
    if (resource !== 'nodes' || type === 'DELETED') return;
    if (!isCordoned(object) || ownersOf(object).length > 0) return;
    const name = nameOf(object);
    if (!cordonedByPerson.has(name)) broken('cordons have owners', `Node "${name}" has none`);
  },
});

/** DR-11: an ack counts a node only when its cordon had landed, or the Node was gone. */
export const acksFollowCordons = ({ site, broken }: Bench): Invariant => {
  const landed = new Set<string>();
  const existed = new Set<string>();
  let seen = 0;
  const check = (instruction: string, started: number): void => {
    const { shard } = site.script;
    const reclaim = shard.reclaims.entries()
      .find(({ instructionId }) => instructionId === instruction);
    if (reclaim === undefined || started === 0) return;
    const name = nodeName(reclaim.node);
    const gone = existed.has(name) &&
      site.cluster.store.collection('nodes').get({ namespace: '', name }) === undefined;
    if (!gone && !landed.has(`${instruction} ${name}`)) {
      broken('acks follow cordons', `${instruction} counts "${name}" before its cordon`);
    }
  };
  return {
    change: ({ resource, object }) => {
      if (resource !== 'nodes') return;
      existed.add(nameOf(object));
      if (!isCordoned(object)) return;
      for (const id of reclaimAnnotation(object)?.ids ?? []) landed.add(`${id} ${nameOf(object)}`);
    },
    frame: () => {
      const acks = site.script.shard.reclaimAcks;
      const fresh = acks.total() - seen;
      seen = acks.total();
      // A restarted fleet has lost the earlier acks.
      if (fresh <= 0) return;
      for (const { instructionId, nodesStarted } of acks.entries().slice(-fresh)) {
        check(instructionId, nodesStarted);
      }
    },
  };
};

/** DR-03, DR-13: the deadline of an active drain never moves later. */
export const deadlinesStand = ({ broken }: Bench): Invariant => {
  const deadlines = new Map<string, number>();
  return {
    change: ({ resource, type, object }) => {
      if (resource !== 'nodes') return;
      const annotation = reclaimAnnotation(object);
      const name = nameOf(object);
      if (type === 'DELETED' || annotation === undefined || annotation.ended !== '') {
        deadlines.delete(name);
        return;
      }
      const known = deadlines.get(name) ?? Infinity;
      if (annotation.deadlineMs > known) {
        broken(
          'deadlines are never extended',
          `that of "${name}" moved by ${annotation.deadlineMs - known} ms`,
        );
      }
      deadlines.set(name, annotation.deadlineMs);
    },
  };
};

/** Whether an EvictionRequest asks for the eviction, as far as its process has observed. */
const requested = (time: Time) => {
  const views = viewsOf(time, ALL_REQUESTS);
  /** By process and name. */
  const deleted = new Set<string>();
  return {
    holds: (process: string, namespace: string, uid: string): boolean => {
      const key = `${namespace}/${uid}`;
      const view = views.get(process, key);
      if (view === undefined || deleted.has(`${process} ${key}`)) return false;
      const isFresh = time.monotonic() - view.sinceMs <= TAKEN_IN_MS;
      return asksToEvict(view.object) || (isFresh && asksToEvict(view.before?.object));
    },
    invariant: {
      answered: views.invariant.answered,
      arrives: (process: string, path: string, lines: readonly WatchLine[]) => {
        views.invariant.arrives?.(process, path, lines);
        if (path !== ALL_REQUESTS) return;
        for (const { type, object } of lines) {
          const key = `${process} ${textAt(object, 'metadata', 'namespace') ?? ''}/${
            nameOf(object)
          }`;
          if (type === 'DELETED') deleted.add(key);
          else deleted.delete(key);
        }
      },
    },
  };
};

/**
 * DR-05, DR-11, ER-65: pods are evicted only from nodes that their process knows to be draining, or
 * for an EvictionRequest whose last interceptor is active.
 */
export const evictionsFollowCordons = ({ site, time, broken }: Bench): Invariant => {
  const views = viewsOf(time, NODES);
  const requests = requested(time);
  return {
    arrives: (process, path, lines) => {
      views.invariant.arrives?.(process, path, lines);
      requests.invariant.arrives(process, path, lines);
    },
    answered: (sent, answer) => {
      // Nobody reads the Node in the answer to a condition, nor the request in that to a requester:
      // drains and the statechart of the request follow their lists and watches.
      const { path } = sent.call;
      const isStatus = path.endsWith('/status');
      if (!isStatus) views.invariant.answered?.(sent, answer);
      if (isStatus || path === ALL_REQUESTS) requests.invariant.answered?.(sent, answer);
    },
    leaves: ({ process, call }) => {
      if (!call.path.endsWith('/eviction')) return;
      const [namespace = '', , name = ''] = call.path.split('/').slice(4);
      const pod = site.cluster.store.collection('pods').get({ namespace, name });
      const uid = textAt(call.body, 'deleteOptions', 'preconditions', 'uid');
      // Another pod has the name now: the API server refuses the eviction (DR-21).
      if (uid !== undefined && uid !== textAt(pod, 'metadata', 'uid')) return;
      if (requests.holds(process, namespace, uid ?? '')) return;
      const node = textAt(pod, 'spec', 'nodeName') ?? '';
      const view = views.get(process, node);
      if (view === undefined) return;
      const settled = time.monotonic() - view.sinceMs > TAKEN_IN_MS;
      if (!settled) return;
      if (!mayEmpty(view.object)) {
        broken('evictions follow cordons', `${process} evicts "${name}" from "${node}"`);
      }
      // Other owners have no deadline, and go on after that of a reclaim.
      const isUnlimited = isDisabled(view.object) || maintenancesOn(view.object).length > 0;
      const deadlineMs = isUnlimited
        ? Infinity
        : reclaimAnnotation(view.object)?.deadlineMs ?? Infinity;
      if (time.now() > deadlineMs + LEAVING_MS) {
        broken(
          'deadlines end drains',
          `${process} evicts "${name}" after the deadline, from "${node}"`,
        );
      }
    },
  };
};

/** Every drain ends by its deadline, and a cancelled one ends as Cancelled. */
export const drainsEnd = ({ site, time, broken, calmMs }: Bench): Invariant => {
  const cancelledMs = new Map<string, number>();
  const check = (node: unknown): void => {
    const annotation = reclaimAnnotation(node);
    const name = nameOf(node);
    if (annotation === undefined || annotation.ended !== '') {
      cancelledMs.delete(name);
      return;
    }
    const isOverdue = time.now() > annotation.deadlineMs + ENDING_MS;
    if (isDraining(node) && isOverdue && calmMs() >= INFORMED_MS) {
      broken('every drain ends', `that of "${name}" is overdue by ${ENDING_MS} ms ago`);
    }
    if (isCordoned(node)) return;
    const sinceMs = cancelledMs.get(name) ?? time.monotonic();
    cancelledMs.set(name, sinceMs);
    if (Math.min(time.monotonic() - sinceMs, calmMs()) > CANCELLING_MS) {
      broken('cancellations end drains', `"${name}" is schedulable and its drain is active`);
    }
  };
  return {
    tick: () => {
      if (calmMs() < ENDING_MS) return;
      for (const node of site.cluster.store.collection('nodes').objects()) check(node);
    },
    end: () => {
      for (const node of site.cluster.store.collection('nodes').objects()) {
        if (isDraining(node)) broken('every drain ends', `that of "${nameOf(node)}" has not`);
      }
    },
  };
};
