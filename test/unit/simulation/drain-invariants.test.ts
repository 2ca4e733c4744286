/**
 * What the invariants about drains count as observed by a process. Found by a world in which a
 * person uncordoned a Node while its watch was down: the answer to the condition of another
 * lifecycle had the Node as well, and drains do not read it.
 */
import { expect, test } from 'vitest';
import type { KubeAnswer } from '../../../src/effects/kube-api.ts';
import { textAt } from '../../../src/domain/json.ts';
import { evictionsFollowCordons } from '../../simulation/drain-invariants.ts';
import { invariantRig } from '../../support/simulation/invariant-rig.ts';

const PODS = '/api/v1/namespaces/shop/pods';
const PROCESS = 'process-1';

const REQUESTS = '/apis/lifecycle.tidegate.dev/v1alpha1/evictionrequests';
const LAST_INTERCEPTOR = 'imperative-eviction.k8s.io';

/** A process that drains the Node "n", with the pod "a". */
const rig = () => {
  const { time, site, invariant, names } = invariantRig(evictionsFollowCordons);
  const made = site.ask('POST', PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { nodeName: 'n', containers: [{ name: 'main', image: 'registry.example/web:1' }] },
  });
  const uid = textAt(made.body, 'metadata', 'uid');
  const node = (resourceVersion: string, unschedulable: boolean) => ({
    metadata: {
      name: 'n',
      resourceVersion,
      annotations: { 'cordon.tidegate.dev/reclaim': '{"ids":["i1"]}' },
    },
    spec: { unschedulable },
  });
  const answered = (method: 'GET' | 'PATCH', path: string, body: object): void => {
    const answer: KubeAnswer = { status: 200, body };
    invariant.answered?.({ process: PROCESS, call: { method, path } }, answer);
  };
  return {
    time,
    names,
    node,
    patched: (path: string, body: object): void => answered('PATCH', path, body),
    listed: (path: string, items: readonly object[]): void => answered('GET', path, { items }),
    /** A request for the pod, at its last interceptor. */
    request: {
      metadata: { name: uid, namespace: 'shop', resourceVersion: '1' },
      spec: { requesters: [{ name: 'requester.example.com' }] },
      status: {
        targetInterceptors: [{ name: LAST_INTERCEPTOR }],
        activeInterceptors: [LAST_INTERCEPTOR],
      },
    },
    arrives: (object: object): void =>
      invariant.arrives?.(PROCESS, '/api/v1/nodes', [{ type: 'MODIFIED', object }]),
    evicts: (): void =>
      invariant.leaves?.({
        process: PROCESS,
        call: {
          method: 'POST',
          path: `${PODS}/a/eviction`,
          body: { deleteOptions: { preconditions: { uid } } },
        },
      }),
  };
};

test('an eviction breaks them once the watch has shown that the Node is schedulable', async () => {
  const { time, names, node, patched, arrives, evicts } = rig();
  patched('/api/v1/nodes/n', node('1', true));
  await time.advance(1000);
  evicts();
  patched('/api/v1/nodes/n/status', node('2', false));
  await time.advance(1000);
  evicts();
  expect(names, 'the answer to a condition').toEqual([]);
  arrives(node('2', false));
  await time.advance(1000);
  evicts();
  expect(names).toEqual(['evictions follow cordons']);
});

test('an eviction for a request that the process has only listed breaks none', async () => {
  const { time, names, node, request, listed, evicts } = rig();
  listed('/api/v1/nodes', [node('1', false)]);
  listed(REQUESTS, [request]);
  await time.advance(1000);
  evicts();
  expect(names).toEqual([]);
  listed(REQUESTS, [{
    ...request,
    metadata: { ...request.metadata, resourceVersion: '2' },
    spec: {},
  }]);
  await time.advance(1000);
  evicts();
  expect(names, 'nobody requests it any more').toEqual(['evictions follow cordons']);
});
