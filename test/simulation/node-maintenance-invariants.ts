/**
 * Invariants about NodeMaintenances: how many nodes are in work, which pods may leave, whether what
 * the status says is true, and who holds a node in the end (KEP-4212).
 */
import {
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  textAt,
  textRecordOrEmptyAt,
} from '../../src/domain/json.ts';
import {
  isFinished,
  isTerminating,
  nodeOf,
} from '../../packages/embedded-kubernetes/src/controllers/pod-reading.ts';
import { budgetsOver, isDaemon } from './budget-invariants.ts';
import { sinceInCalm } from './durations.ts';
import { isOver, REQUESTS_RESOURCE } from './eviction-request-object.ts';
import { type Bench, type Invariant, isObserved, nameOf } from './invariant.ts';
import { isCordoned, isDisabled, ownersOf, reclaimAnnotation } from './node-annotations.ts';
import {
  hasCondition,
  MAINTENANCES_RESOURCE,
  maintenancesOn,
  nodesIn,
  ownerOf,
  stageOf,
} from './node-maintenance-object.ts';

/** From a cause to what follows, in calm: a lost watch is given up after 30 s. */
const FOLLOWED_MS = 60_000;
/** A pod that can leave does so within this time. */
const UNUSED_MS = 150_000;

type Site = Bench['site'];

const maintenancesIn = ({ cluster }: Site): readonly JsonRecord[] => [
  ...cluster.store.collection(MAINTENANCES_RESOURCE).objects(),
];

const nodeIn = ({ cluster }: Site, name: string): JsonRecord | undefined =>
  cluster.store.collection('nodes').get({ namespace: '', name });

/** The selectors of these invariants have one label. */
const selectsNode = (maintenance: JsonRecord, node: JsonRecord): boolean => {
  const [term] = listOrEmptyAt(maintenance, 'spec', 'nodeSelector', 'nodeSelectorTerms');
  const [condition] = listOrEmptyAt(term, 'matchExpressions');
  const label = textAt(node, 'metadata', 'labels', textAt(condition, 'key') ?? '');
  return label !== undefined && listOrEmptyAt(condition, 'values').includes(label);
};

/** NM: never more nodes in work than `maxNodesAtOnce`, by the status and by the keys on Nodes. */
export const maintenancesKeepTheirNumber = ({ site, broken }: Bench): Invariant => {
  const check = (maintenance: JsonRecord): void => {
    const most = numberAt(maintenance, 'spec', 'maxNodesAtOnce');
    if (most === undefined) return;
    const admitted = nodesIn(maintenance).filter(({ state }) => state === 'Admitted').length;
    const owner = ownerOf(maintenance);
    const held = [...site.cluster.store.collection('nodes').objects()].filter((node) =>
      isCordoned(node) && maintenancesOn(node).includes(owner) && selectsNode(maintenance, node)
    );
    const keys = textAt(maintenance, 'spec', 'releaseWhen') === 'Drained' ? 0 : held.length;
    const inWork = Math.max(admitted, keys);
    if (inWork > most) {
      broken('maintenances keep to their number', `${nameOf(maintenance)}: ${inWork} of ${most}`);
    }
  };
  return {
    change: ({ resource, object, type }) => {
      if (type === 'DELETED') return;
      if (resource === MAINTENANCES_RESOURCE) check(object);
      if (resource !== 'nodes' || maintenancesOn(object).length === 0) return;
      for (const maintenance of maintenancesIn(site)) check(maintenance);
    },
  };
};

const priorityOf = (pod: unknown): number => numberAt(pod, 'spec', 'priority') ?? 0;

/** Whether an item of `drainTargets` selects a pod. */
const isTargeted = (target: unknown, pod: JsonRecord): boolean => {
  if ((textAt(target, 'podType') === 'DaemonSet') !== isDaemon(pod)) return false;
  if (priorityOf(pod) > (numberAt(target, 'podPriority') ?? 0)) return false;
  const labels = textRecordOrEmptyAt(pod, 'metadata', 'labels');
  return listOrEmptyAt(target, 'podSelector', 'matchExpressions').every((one) =>
    listOrEmptyAt(one, 'values').includes(labels[textAt(one, 'key') ?? ''] ?? '')
  );
};

/** NM-31, NM-38: a pod leaves for a maintenance only by targets that its status has. */
export const podsWaitForTheirTurn = ({ site, broken }: Bench): Invariant => {
  const targetsOn = (node: string): readonly unknown[] =>
    maintenancesIn(site).flatMap((one) =>
      listOrEmptyAt(one, 'status', 'nodeStatuses')
        .filter((status) => textAt(status, 'nodeRef', 'name') === node)
        .flatMap((status) => listOrEmptyAt(status, 'drainTargets'))
    );
  const isRequested = (pod: JsonRecord): boolean => {
    const namespace = textAt(pod, 'metadata', 'namespace') ?? '';
    const name = textAt(pod, 'metadata', 'uid') ?? '';
    const request = site.cluster.store.collection(REQUESTS_RESOURCE).get({ namespace, name });
    return request !== undefined && !isOver(request);
  };
  return {
    leaves: ({ process, call }) => {
      if (!call.path.endsWith('/eviction')) return;
      const [namespace = '', , name = ''] = call.path.split('/').slice(4);
      const pod = site.cluster.store.collection('pods').get({ namespace, name });
      const node = pod === undefined ? undefined : nodeIn(site, nodeOf(pod));
      if (pod === undefined || node === undefined || maintenancesOn(node).length === 0) return;
      if (reclaimAnnotation(node) !== undefined || isDisabled(node) || isRequested(pod)) return;
      if (targetsOn(nameOf(node)).some((target) => isTargeted(target, pod))) return;
      broken('pods wait for their turn', `${process} evicts "${name}" from "${nameOf(node)}"`);
    },
  };
};

/** The pods that must leave a Node, without those of DaemonSets, which come back. */
const podsLeft = (site: Site, node: string): readonly JsonRecord[] =>
  [...site.cluster.store.collection('pods').objects()].filter((pod) =>
    nodeOf(pod) === node && !isFinished(pod) && !isDaemon(pod)
  );

const isWorking = (maintenance: JsonRecord): boolean =>
  ['Cordon', 'Drain'].includes(stageOf(maintenance)) &&
  textAt(maintenance, 'metadata', 'deletionTimestamp') === undefined;

/** NM-41: `Drained` is True only while no pod that must leave is on a node of the maintenance. */
export const drainedIsTrue = (bench: Bench): Invariant => {
  const { site, broken } = bench;
  const wrongMs = sinceInCalm(bench);
  return {
    tick: () => {
      for (const maintenance of maintenancesIn(site)) {
        const isDrained = isWorking(maintenance) && hasCondition(maintenance, 'Drained');
        for (const { name, state } of nodesIn(maintenance)) {
          const pods = isDrained && state === 'Admitted' ? podsLeft(site, name) : [];
          const key = `${nameOf(maintenance)} ${name}`;
          if (wrongMs(key, pods.length > 0) <= FOLLOWED_MS) continue;
          const names = pods.map(nameOf).join();
          broken('Drained is true', `"${nameOf(maintenance)}", but ${names} are on "${name}"`);
        }
      }
    },
  };
};

/** NM-13: the admitted nodes of a maintenance are cordoned, and kept so. */
export const maintainedNodesAreCordoned = (bench: Bench): Invariant => {
  const { site, broken } = bench;
  const openMs = sinceInCalm(bench);
  return {
    tick: () => {
      for (const maintenance of maintenancesIn(site)) {
        for (const { name, state } of nodesIn(maintenance)) {
          const node = nodeIn(site, name);
          const isDue = isWorking(maintenance) && state === 'Admitted' && node !== undefined &&
            selectsNode(maintenance, node);
          const isHeld = isCordoned(node) && maintenancesOn(node).includes(ownerOf(maintenance));
          if (openMs(`${nameOf(maintenance)} ${name}`, isDue && !isHeld) <= FOLLOWED_MS) continue;
          broken('maintained nodes are cordoned', `"${name}" of "${nameOf(maintenance)}" is not`);
        }
      }
    },
  };
};

const allows = (budget: JsonRecord): boolean =>
  isObserved(budget) && (numberAt(budget, 'status', 'disruptionsAllowed') ?? 0) > 0;

/** NM-36: a maintenance goes on unless budgets or interceptors hold a pod of its nodes. */
export const maintenancesGoOn = (bench: Bench): Invariant => {
  const { site, broken } = bench;
  const stuckMs = sinceInCalm(bench);
  let before = '';
  /** A pod that is not expected to leave now. */
  const isHeldBack = (pod: JsonRecord): boolean => {
    const over = budgetsOver(site, pod);
    const interceptors = Object.keys(textRecordOrEmptyAt(pod, 'metadata', 'annotations'))
      .some((key) => key.endsWith('/eviction-interceptors'));
    return isTerminating(pod) || over.length > 1 || !over.every(allows) || interceptors;
  };
  /** A person works on them, so that they wait for nothing else. */
  const isBeingWorkedOn = (maintenance: JsonRecord): boolean =>
    nodesIn(maintenance).some(({ state, message }) =>
      state === 'Admitted' && message === 'Drained'
    );
  return {
    tick: () => {
      const undrained = maintenancesIn(site).filter((one) =>
        isWorking(one) && stageOf(one) === 'Drain' && !hasCondition(one, 'Drained')
      );
      if (undrained.length === 0) return void stuckMs('', false);
      const pods = undrained.flatMap(nodesIn).filter(({ state }) => state === 'Admitted')
        .flatMap(({ name }) => podsLeft(site, name));
      const now = JSON.stringify([undrained.map(nameOf), pods.map(nameOf)]);
      const isStill = now === before && !pods.some(isHeldBack) && !undrained.some(isBeingWorkedOn);
      before = now;
      if (stuckMs('', isStill) <= UNUSED_MS) return;
      broken('maintenances go on', `${undrained.map(nameOf).join()}, with ${pods.length} pods`);
    },
  };
};

/** NM-16, NM-17, DR-04: in the end a node is schedulable exactly when nothing holds it. */
export const nodesAreGivenBack = ({ site, broken, cordonedByPerson }: Bench): Invariant => ({
  end: () => {
    const owners = new Set(maintenancesIn(site).filter(isWorking).map(ownerOf));
    for (const node of site.cluster.store.collection('nodes').objects()) {
      const name = nameOf(node);
      const left = maintenancesOn(node).filter((owner) => !owners.has(owner));
      if (left.length > 0) broken('nodes are given back', `"${name}" has the key ${left.join()}`);
      const holding = ownersOf(node).filter((owner) => owner !== 'reclaim');
      const mayBeHeld = cordonedByPerson.has(name) || reclaimAnnotation(node) !== undefined;
      if (isCordoned(node) && holding.length === 0 && !mayBeHeld) {
        broken('nodes are given back', `"${name}" is unschedulable, and nothing holds it`);
      }
      if (!isCordoned(node) && holding.length > 0) {
        broken('nodes are given back', `"${name}" is schedulable, but ${holding.join()} holds it`);
      }
    }
  },
});
