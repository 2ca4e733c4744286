/** The tree of a machine, and that of a pod. */
import { expect, test } from 'vitest';
import { MACHINE_ID_KEY } from '../../../src/domain/ids.ts';
import { OWNED_BY_POD } from '../../../src/domain/pod-demand/pod-request.ts';
import { nodeTree, requestTree, treeNames, treeText } from '../../../src/view/object-tree.ts';

const NOW_MS = Date.parse('2026-01-01T00:10:00Z');
const CREATED = { creationTimestamp: '2026-01-01T00:05:00Z' };
const READY = [{ type: 'Ready', status: 'True' }];

const NOT_REQUESTED = { evictionRequests: [], nowMs: 0 };

const NODE = {
  metadata: {
    name: 'n1',
    ...CREATED,
    annotations: { 'cordon.tidegate.dev/reclaim': '{"version":1}' },
  },
  spec: { unschedulable: true },
  status: { conditions: READY },
};
const UPCOMING = {
  metadata: { name: 'un-m-1', ...CREATED, annotations: { [MACHINE_ID_KEY]: 'm-1' } },
  spec: { resources: { cpu: '8' } },
  status: { phase: 'Draining', nodeRef: { name: 'n1' } },
};
const podNamed = (name: string, status: object, more: object = {}) => ({
  metadata: {
    namespace: 'ns',
    name,
    ...CREATED,
    ownerReferences: [{ kind: 'ReplicaSet', name: 'web', controller: true }],
    ...more,
  },
  spec: { nodeName: 'n1' },
  status,
});

test('a machine leads to its UpcomingNode, its Node and the pods of the Node', () => {
  const tree = nodeTree({
    ...NOT_REQUESTED,
    node: NODE,
    upcomingNode: UPCOMING,
    pods: [
      podNamed('b', { phase: 'Running', conditions: [] }),
      podNamed('a', { phase: 'Running', conditions: READY }, { deletionTimestamp: 'now' }),
    ],
  });
  expect(tree && treeText(tree, NOW_MS)).toBe([
    'OBJECT                   STATE                                     AGE',
    'Machine m-1              cpu 8                                     -',
    '└─ UpcomingNode un-m-1   Draining                                  5m',
    '   └─ Node n1            Ready, cordoned by reclaim                5m',
    '      ├─ Pod ns/a        Running, of ReplicaSet web, terminating   5m',
    '      └─ Pod ns/b        Running, not Ready, of ReplicaSet web     5m',
    '',
  ].join('\n'));
});

test('a Node without a machine, and a machine without a Node, are trees of their own', () => {
  expect(nodeTree({ ...NOT_REQUESTED, node: NODE, upcomingNode: undefined, pods: [] }))
    .toMatchObject({
      kind: 'Node',
      children: [],
    });
  expect(nodeTree({ ...NOT_REQUESTED, node: undefined, upcomingNode: UPCOMING, pods: [] }))
    .toMatchObject({
      kind: 'Machine',
      children: [{ kind: 'UpcomingNode', children: [] }],
    });
  expect(nodeTree({ ...NOT_REQUESTED, node: undefined, upcomingNode: undefined, pods: [] }))
    .toBeUndefined();
});

const REQUEST = {
  metadata: { namespace: 'ns', name: 'cr-pod-a-u1', ...CREATED, labels: { [OWNED_BY_POD]: 'u1' } },
  spec: { resources: { cpu: '4' }, priority: 100 },
  status: { phase: 'Acknowledged', acknowledgedAt: '2026-01-01T00:09:00Z' },
};

test('a pod leads to its CapacityRequest and to the demand of the fleet', () => {
  const pod = {
    ...podNamed('a', {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
    }),
    spec: {},
  };
  const tree = requestTree({ ...NOT_REQUESTED, pod, requests: [REQUEST] });
  expect(tree).toMatchObject({
    kind: 'Pod',
    name: 'ns/a',
    state: 'Pending, Unschedulable, of ReplicaSet web',
    children: [{
      kind: 'CapacityRequest',
      name: 'ns/cr-pod-a-u1',
      state: 'Acknowledged',
      children: [{
        kind: 'Demand',
        name: 'cpu 4',
        state: 'priority 100, acknowledged by the fleet',
      }],
    }],
  });
  expect(tree && treeNames(tree)).toEqual([
    'pod/a',
    'capacityrequest.bigfleet.lucy.sh/cr-pod-a-u1',
  ]);
});

test('a request whose pod is gone says so; one that never had a pod does not', () => {
  expect(requestTree({ ...NOT_REQUESTED, pod: undefined, requests: [REQUEST] })?.state)
    .toBe('Acknowledged, its pod does not exist');
  const own = { ...REQUEST, metadata: { namespace: 'ns', name: 'own' } };
  expect(requestTree({ ...NOT_REQUESTED, pod: undefined, requests: [own] })?.state).toBe(
    'Acknowledged',
  );
});
