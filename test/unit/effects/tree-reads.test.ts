/** The objects around a Node, a machine, a pod or a request, as `tidegate tree` reads them. */
import { expect, test } from 'vitest';
import { GROUP_PATH } from '../../../src/domain/api-group.ts';
import { OWNED_BY_POD } from '../../../src/domain/pod-demand/pod-request.ts';
import { readNodeTree, readRequestTree } from '../../../src/effects/tree-reads.ts';
import { readableApi, type ReadableCluster } from '../../support/api/readable-api.ts';

const node = { kind: 'Node', metadata: { name: 'n1' } };
const joined = {
  metadata: { name: 'un-i-1' },
  status: { nodeRef: { name: 'n1' } },
};
const coming = { metadata: { name: 'un-i-2' }, status: {} };
const vanished = { metadata: { name: 'un-i-3' }, status: { nodeRef: { name: 'n3' } } };
const here = { metadata: { name: 'a', uid: 'uid-a' }, spec: { nodeName: 'n1' } };
const elsewhere = { metadata: { name: 'b', uid: 'uid-b' }, spec: { nodeName: 'n2' } };

const requestOf = (name: string, podUid: string | undefined, owners: readonly object[]) => ({
  metadata: {
    name,
    labels: podUid === undefined ? {} : { [OWNED_BY_POD]: podUid },
    ownerReferences: owners,
  },
});
const owned = requestOf('cr-a', 'uid-a', [
  { kind: 'Workload', name: 'w' },
  { kind: 'Pod', name: 'a' },
]);
const byHand = requestOf('cr-hand', undefined, [{ kind: 'Pod', name: 'a' }]);
const ofOther = requestOf('cr-b', 'uid-b', [{ kind: 'Pod', name: 'gone' }]);

const evicted = { metadata: { name: 'uid-a', namespace: 'ns' } };
const EVICTION_REQUESTS = '/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/ns/evictionrequests';
const ALL_EVICTION_REQUESTS = '/apis/lifecycle.tidegate.dev/v1alpha1/evictionrequests';
const REQUESTS = `${GROUP_PATH}/namespaces/ns/capacityrequests`;
const OBJECTS = {
  '/api/v1/nodes/n1': node,
  [`${GROUP_PATH}/upcomingnodes/un-i-2`]: coming,
  [`${GROUP_PATH}/upcomingnodes/un-i-3`]: vanished,
  [`${GROUP_PATH}/upcomingnodes/un-i-1`]: joined,
  '/api/v1/namespaces/ns/pods/a': here,
  '/api/v1/namespaces/ns/pods/b': elsewhere,
  [`${EVICTION_REQUESTS}/uid-a`]: evicted,
  [`${REQUESTS}/cr-a`]: owned,
  [`${REQUESTS}/cr-hand`]: byHand,
  [`${REQUESTS}/cr-b`]: ofOther,
};

const nodeTree = (name: string, refused: ReadableCluster['refused'] = {}) =>
  readableApi({ objects: OBJECTS, refused }).run(readNodeTree(name));
const requestTree = (name: string, refused: ReadableCluster['refused'] = {}) =>
  readableApi({ objects: OBJECTS, refused }).run(readRequestTree('ns', name));

test.each(['n1', 'un-i-1', 'i-1'])(
  'the tree around %s has the Node, its machine and the pods on it',
  async (name) => {
    expect(await nodeTree(name))
      .toEqual({
        _tag: 'AroundNode',
        node,
        upcomingNode: joined,
        pods: [here],
        evictionRequests: [evicted],
      });
  },
);

test.each([['i-2', coming], ['i-3', vanished]])(
  'machine %s has no Node and no pods',
  async (name, upcomingNode) => {
    expect(await nodeTree(name))
      .toEqual({
        _tag: 'AroundNode',
        node: undefined,
        upcomingNode,
        pods: [],
        evictionRequests: [],
      });
  },
);

test('a name that nothing has is absent', async () => {
  expect(await nodeTree('n9')).toEqual({ _tag: 'Absent' });
  expect(await requestTree('c')).toEqual({ _tag: 'Absent' });
});

test('a tree without its root is refused with the reason', async () => {
  const refusedAt = (path: string) => ({ _tag: 'Refused', why: `${path} is not for you` });
  const nodes = '/api/v1/nodes/n1';
  expect(await nodeTree('n1', { [nodes]: 403 })).toEqual(refusedAt(nodes));
  const machine = `${GROUP_PATH}/upcomingnodes/un-i-1`;
  expect(await nodeTree('i-1', { [machine]: 403 })).toEqual(refusedAt(machine));
  const pod = '/api/v1/namespaces/ns/pods/c';
  expect(await requestTree('c', { [pod]: 403 })).toEqual(refusedAt(pod));
  expect(await requestTree('c', { [`${REQUESTS}/c`]: 403 }))
    .toEqual(refusedAt(`${REQUESTS}/c`));
});

test('what is not permitted around a Node is left out', async () => {
  const refused = {
    [`${GROUP_PATH}/upcomingnodes`]: 403,
    '/api/v1/pods': 403,
    [ALL_EVICTION_REQUESTS]: 403,
  };
  expect(await nodeTree('n1', refused))
    .toEqual({ _tag: 'AroundNode', node, upcomingNode: undefined, pods: [], evictionRequests: [] });
});

test('the tree around a pod has its requests, and the one around a request its pod', async () => {
  expect(await requestTree('a')).toEqual({
    _tag: 'AroundPod',
    pod: here,
    requests: [owned],
    evictionRequests: [evicted],
  });
  expect(await requestTree('cr-a')).toEqual({
    _tag: 'AroundPod',
    pod: here,
    requests: [owned],
    evictionRequests: [evicted],
  });
});

test('a request has no pod when its pod is gone, or when it was written by hand', async () => {
  expect(await requestTree('cr-b'))
    .toEqual({ _tag: 'AroundPod', pod: undefined, requests: [ofOther], evictionRequests: [] });
  expect(await requestTree('cr-hand'))
    .toEqual({ _tag: 'AroundPod', pod: undefined, requests: [byHand], evictionRequests: [] });
});
