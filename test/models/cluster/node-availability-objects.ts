/** A Node, its Lease and its stateless pods in a cluster, as `nodeAvailability` follows them. */
import { nodeLease } from '../../../src/actors/node-availability/node-availability-role.ts';
import type { NodeLease } from '../../../src/actors/node-availability/node-availabilities.ts';
import { CORDON_PREFIX, printCordon } from '../../../src/domain/drain/cordon.ts';
import { objectKey } from '../../../src/domain/ids.ts';
import { textAt } from '../../../src/domain/json.ts';
import {
  AVAILABILITY_CONDITION,
  availableNode,
  CONFIRMED_GONE_KEY,
  DEGRADED_TAINT,
  OUT_OF_SERVICE_TAINT,
} from '../../../src/domain/node-availability/available-node.ts';
import { type LostPod, projectLostPod } from '../../../src/domain/node-availability/lost-pods.ts';
import type { AvailableNode } from '../../../src/domain/node-availability/node-state.ts';
import { rfc3339 } from '../../../src/domain/time.ts';
import type { ReplacedPod } from '../../../src/machines/node-availability-context.ts';
import { liveEnvironment } from '../../support/api/live-environment.ts';
import type { SessionEnvironment } from './cluster-harness.ts';
import { objectFixture, type Wanted } from './object-fixture.ts';
import { observeCollection, type ObservedCollection } from './observed-collection.ts';
import type { Hand } from './site.ts';

const NODES = '/api/v1/nodes';
const LEASE_NAMESPACE = 'kube-node-lease';
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${LEASE_NAMESPACE}/leases`;
const POD_NAMESPACE = 'models-lost-pods';
const PODS = `/api/v1/namespaces/${POD_NAMESPACE}/pods`;
const PROBLEM = 'MemoryPressure';

/** Reads a Node as the role does with its defaults. */
export const projectAvailableNode = availableNode([PROBLEM]);

const KEY = printCordon({ ids: [], deadlineMs: null, graceSeconds: 0, sinceMs: 0, ended: null });
const PROBLEM_STATUSES = { Present: 'True', Absent: 'False', Unknown: 'Unknown' } as const;

/** All of a Node that its state is read from; null removes. */
const wantedNode = (node: AvailableNode): Wanted => {
  const { label, isTainted, isConfirmedGone, isConfirmedByCommand } = node.availability;
  const taints = [
    ...(isTainted ? [DEGRADED_TAINT] : []),
    ...(isConfirmedGone ? [OUT_OF_SERVICE_TAINT] : []),
  ];
  const condition = label === null ? [] : [{
    type: AVAILABILITY_CONDITION,
    status: label === 'Active' ? 'True' : 'False',
    reason: label,
  }];
  return {
    metadata: {
      annotations: {
        [`${CORDON_PREFIX}disabled`]: node.isDisabled ? KEY : null,
        [`${CORDON_PREFIX}reclaim`]: node.isDraining ? KEY : null,
        [CONFIRMED_GONE_KEY]: isConfirmedByCommand ? rfc3339(0) : null,
      },
    },
    spec: {
      unschedulable: node.isDisabled || node.isDraining ? true : null,
      taints: taints.length === 0 ? null : taints,
    },
    status: {
      conditions: [
        { type: 'Ready', status: node.readyStatus },
        { type: PROBLEM, status: PROBLEM_STATUSES[node.problem] },
        ...condition,
      ],
    },
  };
};

/** A stateless pod, which stays while it is terminating: its Node has no kubelet. */
const podOn = (nodeName: string, name: string): object => ({
  metadata: {
    name,
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web', controller: true },
    ],
  },
  spec: { nodeName, containers: [{ name: 'c', image: 'none' }] },
});

const identityOf = ({ namespace, name, uid }: ReplacedPod): ReplacedPod => ({
  namespace,
  name,
  uid,
});

/** The pods of one Node, by the names that they have in the model. */
const podFixtures = (hand: Hand, collection: ObservedCollection<LostPod>, nodeName: string) => {
  const known = new Map<string, ReplacedPod>();
  const nameOf = (drawn: string): string => `${drawn}-${nodeName}`;
  const seen = (name: string): LostPod | undefined =>
    collection.get(objectKey(name, POD_NAMESPACE));
  const remove = async (drawn: string): Promise<void> => {
    const pod = seen(nameOf(drawn));
    if (pod === undefined) return;
    const absence = collection.absence(pod.key);
    await hand.remove(`${PODS}/${pod.name}`);
    await absence;
  };
  const create = async (drawn: string): Promise<ReplacedPod> => {
    const name = nameOf(drawn);
    const made = await hand.must('POST', PODS, podOn(nodeName, name));
    const pod = await collection.until(() => {
      const one = seen(name);
      return one?.uid === textAt(made, 'metadata', 'uid') ? one : undefined;
    });
    if (pod.podClass !== 'Stateless') throw new Error(`Pod "${name}" is ${pod.podClass}`);
    known.set(drawn, identityOf(pod));
    return identityOf(pod);
  };
  const stays = async ({ name, uid }: ReplacedPod): Promise<boolean> => {
    const { body } = await hand.call('GET', `${PODS}/${name}`);
    return textAt(body, 'metadata', 'uid') === uid &&
      textAt(body, 'metadata', 'deletionTimestamp') === undefined;
  };
  return {
    /**
     * The pod that stays, made when there is none; `isLate`: as it was before it was deleted, as a
     * watch that is behind shows it.
     */
    put: async (drawn: string, isLate: boolean): Promise<ReplacedPod> => {
      const last = known.get(drawn);
      if (last !== undefined && (isLate || await stays(last))) return last;
      await remove(drawn);
      return await create(drawn);
    },
    /** Takes all away; tells whether there was one. */
    removeAll: async (): Promise<boolean> => {
      const were = [...known.keys()].filter((drawn) => seen(nameOf(drawn)) !== undefined);
      for (const drawn of were) await remove(drawn);
      return were.length > 0;
    },
  };
};

/** What the state of Nodes is read from, as the operator watches it. */
export const openNodes = async ({ hand, source }: SessionEnvironment) => {
  for (const name of [LEASE_NAMESPACE, POD_NAMESPACE]) {
    await hand.call('POST', '/api/v1/namespaces', { metadata: { name } });
  }
  const { environment, dispose } = liveEnvironment(source);
  const nodes = await observeCollection(environment, NODES, projectAvailableNode);
  const leases = await observeCollection<NodeLease>(environment, LEASES, nodeLease);
  const pods = await observeCollection(environment, PODS, projectLostPod);
  return {
    /** The Node of one path, and what belongs to it. */
    fixturesOf: (name: string) => {
      const node = objectFixture(hand, nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        path: NODES,
        name,
      });
      const lease = objectFixture(hand, leases, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        path: LEASES,
        name,
      });
      const lostPods = podFixtures(hand, pods, name);
      let renewals = 0;
      return {
        name,
        /** Writes all of the Node; `anew`: also when it is so. */
        putNode: (wanted: AvailableNode, how: { readonly anew: boolean }): Promise<AvailableNode> =>
          node.put(wantedNode(wanted), how),
        renewLease: async (): Promise<void> => {
          renewals += 1;
          await lease.put({ spec: { renewTime: renewTimeAt(renewals) } });
        },
        pods: lostPods,
        strike: async (): Promise<void> => {
          await lostPods.removeAll();
          await lease.remove();
          await node.remove();
        },
      };
    },
    close: async (): Promise<void> => {
      for (const { stop } of [nodes, leases, pods]) stop();
      await dispose();
    },
  };
};

/** A time with microseconds, as a kubelet writes it. */
const renewTimeAt = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().replace('Z', '000Z');

/** The Node of one path. */
export type NodeFixtures = ReturnType<Awaited<ReturnType<typeof openNodes>>['fixturesOf']>;
