/**
 * Invariants about the state of Nodes: what they show, and that what they show goes again
 * (`drain-evict-reschedule`: *Node states*).
 */
import { type JsonRecord, textAt } from '../../src/domain/json.ts';
import {
  conditionOf,
  isActive,
  nodeOf,
} from '../../packages/embedded-kubernetes/src/controllers/pod-reading.ts';
import type { StoredChange } from '../../packages/embedded-kubernetes/src/storage/collection.ts';
import { since, sinceInCalm } from './durations.ts';
import { type Bench, type Invariant, nameOf, resourceVersionOf, uidOf } from './invariant.ts';
import { disabledIds, holdersOf, isCordoned, ownersOf } from './node-annotations.ts';
import {
  CONFIRMED_GONE,
  controllerKind,
  DEGRADED,
  hasProblem,
  hasTaint,
  LEASE_NAMESPACE,
  LEASES_RESOURCE,
  readyStatus,
  renewedMs,
  reportedState,
  WHY_DISABLED,
} from './node-availability-object.ts';
import { OFFLINE_MS } from './node-availability-views.ts';

/** A problem must last so long, and be over for so long. */
const DEGRADED_MS = 30_000;
const CLEAN_MS = 60_000;
/**
 * From a cause to what is shown, in a calm so long that no process has just begun to count. Of an
 * offline Node nothing is shown for 5 s.
 */
const REPORTED_MS = 15_000;
const LONG_CALM_MS = 100_000;
/** From a cause to what follows, in calm: a lost watch is given up after 30 s. */
const FOLLOWED_MS = 60_000;
/** A Node that is back is shown so within 5 s, and two looks of an invariant. */
const BACK_MS = 7000;

const OFFLINE = ['Offline', 'OfflineStorm'];

type Site = Bench['site'];

const nodesIn = ({ cluster }: Site): readonly JsonRecord[] => [
  ...cluster.store.collection('nodes').objects(),
];

const podsIn = ({ cluster }: Site): readonly JsonRecord[] => [
  ...cluster.store.collection('pods').objects(),
];

/** How long its Lease was not renewed; a Node without one is not silent. */
const silentMs = ({ site, time }: Pick<Bench, 'site' | 'time'>, name: string): number => {
  const lease = site.cluster.store.collection(LEASES_RESOURCE)
    .get({ namespace: LEASE_NAMESPACE, name });
  return lease === undefined ? 0 : time.now() - renewedMs(lease);
};

const isOffline = (bench: Pick<Bench, 'site' | 'time'>, node: JsonRecord): boolean =>
  readyStatus(node) === 'Unknown' && silentMs(bench, nameOf(node)) > OFFLINE_MS;

/** RS-01 to RS-05: a Node shows the state that follows from its facts. */
export const statesAreReported = (bench: Bench): Invariant => {
  const { site, broken, calmMs } = bench;
  const presentMs = since(bench);
  const absentMs = since(bench);
  const wrongMs = since(bench);
  /** What it may show, of what is not a matter of time. */
  const stateOf = (node: JsonRecord): readonly string[] => {
    if (isOffline(bench, node)) return OFFLINE;
    const holders = isCordoned(node) ? holdersOf(node).filter((one) => one !== 'person') : [];
    if (holders.includes('disabled')) return ['Disabled'];
    return holders.length > 0 ? ['Draining'] : [];
  };
  const check = (node: JsonRecord): void => {
    const name = nameOf(node);
    const uid = uidOf(node);
    const isDue = presentMs(uid, hasProblem(node)) > DEGRADED_MS;
    const isOver = absentMs(uid, !hasProblem(node)) > CLEAN_MS;
    const health = isDue ? ['Degraded'] : isOver ? ['Active', ''] : ['Degraded', 'Active', ''];
    const state = stateOf(node);
    const expected = state.length > 0 ? state : health;
    const isTainted = hasTaint(node, DEGRADED);
    const reported = reportedState(node);
    const isWrong = !expected.includes(reported) &&
      !(reported === '' && expected.includes('Active'));
    const isWronglyTainted = (isDue && !isTainted) || (isOver && isTainted);
    const lastsMs = wrongMs(uid, isWrong || isWronglyTainted, expected[0]);
    if (calmMs() <= LONG_CALM_MS || lastsMs <= REPORTED_MS) return;
    const taint = isTainted ? 'with' : 'without';
    broken(
      'states are shown',
      `"${name}" is ${expected[0]}, reported as ${reported} ${taint} the taint`,
    );
  };
  return {
    tick: () => {
      for (const node of nodesIn(site)) check(node);
    },
  };
};

/** RS-22: what a Node shows of its failure goes within 5 s when it is back. */
export const returnedNodesAreActive = (bench: Bench): Invariant => {
  const { site, broken, calmMs } = bench;
  const leftMs = since(bench);
  return {
    tick: () => {
      for (const node of nodesIn(site)) {
        const name = nameOf(node);
        const isBack = readyStatus(node) === 'True' && silentMs(bench, name) < OFFLINE_MS;
        const isLeft = OFFLINE.includes(reportedState(node)) ||
          textAt(node, 'metadata', 'annotations', CONFIRMED_GONE) !== undefined;
        const lastsMs = leftMs(uidOf(node), isBack && isLeft);
        if (calmMs() > FOLLOWED_MS && lastsMs > BACK_MS) {
          broken('nodes come back', `"${name}" is back, and shown ${reportedState(node)}`);
        }
      }
    },
  };
};

/** RS-03: a Node that is schedulable again has nothing of having been disabled. */
export const enabledNodesHaveNoTrace = (bench: Bench): Invariant => {
  const { site, broken } = bench;
  const leftMs = sinceInCalm(bench);
  const isLeft = (node: JsonRecord): boolean =>
    ownersOf(node).includes('disabled') ||
    textAt(node, 'metadata', 'annotations', WHY_DISABLED) !== undefined;
  return {
    tick: () => {
      for (const node of nodesIn(site)) {
        const lastsMs = leftMs(uidOf(node), !isCordoned(node) && isLeft(node));
        if (lastsMs <= FOLLOWED_MS) continue;
        broken('enabled nodes have no trace', `"${nameOf(node)}" was disabled`);
      }
    },
  };
};

/** RS-03: a Node is disabled until a person enables it; no process does. */
export const disabledNodesStayDisabled = ({ broken }: Bench): Invariant => {
  /** The last change of each Node. */
  const last = new Map<string, StoredChange>();
  /** Keys on Nodes that a person made schedulable: their drains are cancelled. */
  const enabled = new Set<string>();
  return {
    change: (change) => {
      if (change.resource !== 'nodes') return;
      last.set(uidOf(change.object), change);
      if (isCordoned(change.object) || !ownersOf(change.object).includes('disabled')) return;
      for (const id of disabledIds(change.before)) enabled.add(id);
    },
    done: ({ call }, { status, body }) => {
      const change = last.get(uidOf(body));
      if (call.method !== 'PATCH' || status >= 300 || change === undefined) return;
      if (resourceVersionOf(change.object) !== resourceVersionOf(body)) return;
      const still = disabledIds(change.object);
      const lost = disabledIds(change.before)
        .filter((id) => !still.includes(id) && !enabled.has(id));
      if (lost.length === 0) return;
      broken('disabled nodes stay disabled', `"${nameOf(body)}" is enabled by a process: ${lost}`);
    },
  };
};

/** RS-20: the stateless pods of an offline Node are deleted, unless it is of a storm. */
export const lostPodsAreReplaced = (bench: Bench): Invariant => {
  const { site, broken } = bench;
  const leftMs = sinceInCalm(bench);
  return {
    tick: () => {
      const offline = new Set(
        nodesIn(site).filter((node) => isOffline(bench, node) && reportedState(node) === 'Offline')
          .map(nameOf),
      );
      for (const pod of podsIn(site)) {
        const isDue = offline.has(nodeOf(pod)) && isActive(pod) &&
          controllerKind(pod) === 'ReplicaSet';
        const lastsMs = leftMs(uidOf(pod), isDue);
        if (lastsMs <= FOLLOWED_MS) continue;
        broken('lost pods are replaced', `"${nameOf(pod)}" is still on "${nodeOf(pod)}"`);
      }
    },
  };
};

/** RS-21: the stateful pods of an offline Node show that, and no other pods do. */
export const waitingPodsShowIt = (bench: Bench): Invariant => {
  const { site, broken } = bench;
  const wrongMs = sinceInCalm(bench);
  return {
    tick: () => {
      const states = new Map(nodesIn(site).map((node) => [nameOf(node), reportedState(node)]));
      for (const pod of podsIn(site)) {
        const isWaiting = OFFLINE.includes(states.get(nodeOf(pod)) ?? '') && isActive(pod) &&
          controllerKind(pod) === 'StatefulSet';
        const shows = conditionOf(pod, 'tidegate.dev/VolumeHomeNodeOffline') !== undefined;
        const what = shows ? 'shows that it waits' : 'does not show that it waits';
        const lastsMs = wrongMs(uidOf(pod), isActive(pod) && isWaiting !== shows, what);
        if (lastsMs > FOLLOWED_MS) {
          broken('waiting pods show it', `"${nameOf(pod)}" ${what} for "${nodeOf(pod)}"`);
        }
      }
    },
  };
};
