/**
 * What the invariant about slots counts against a process. Found by worlds 192, 195 and 323: a
 * Pending pod was evicted, which takes no slot; the watch of budgets was down while that of pods
 * showed the evicted pod terminating, and its slot is held for two seconds then. And by world 98:
 * the answer was lost, and the drain ended before that was known.
 */
import { describe, expect, test } from 'vitest';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import { textAt } from '../../../src/domain/json.ts';
import { budgetObject, budgetPath } from '../../simulation/app-objects.ts';
import type { Sent } from '../../simulation/invariant.ts';
import { drainsGoOn, slotsAreUsedOnce } from '../../simulation/budget-invariants.ts';
import { invariantRig } from '../../support/simulation/invariant-rig.ts';

const PODS = '/api/v1/namespaces/shop/pods';
const LONG_AGO = '2025-01-01T00:00:00Z';
const PROCESS = 'process-1';

/** A process that observed a budget with one slot, and pods under that budget. */
const rig = () => {
  const { time, site, invariant, breaches } = invariantRig(slotsAreUsedOnce);
  const plan = { field: 'minAvailable', amount: 1, alwaysAllow: false } as const;
  expect(site.ask('POST', budgetPath(), budgetObject('web', plan)).status).toBe(201);
  const current = {
    metadata: { name: 'web', namespace: 'shop', generation: 1, resourceVersion: '1' },
    status: { observedGeneration: 1, disruptionsAllowed: 1 },
  };
  invariant.arrives?.(PROCESS, '/apis/policy/v1/poddisruptionbudgets', [
    { type: 'MODIFIED', object: current },
  ]);
  const sentFor = (name: string): Sent => {
    const { body } = site.ask('GET', `${PODS}/${name}`);
    const deleteOptions = { preconditions: { uid: textAt(body, 'metadata', 'uid') } };
    return {
      process: PROCESS,
      call: { method: 'POST', path: `${PODS}/${name}/eviction`, body: { deleteOptions } },
    };
  };
  return {
    time,
    breaches,
    /** A Node with a reclaim key whose drain is active. */
    node: (name: string): void => {
      const annotations = { 'cordon.tidegate.dev/reclaim': '{"ids":["i1"]}' };
      const { status } = site.ask('POST', '/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, annotations },
        spec: { unschedulable: true },
      });
      expect(status).toBe(201);
    },
    removeNode: (name: string): void => {
      expect(site.ask('DELETE', `/api/v1/nodes/${name}`).status).toBe(200);
    },
    pod: (name: string, phase: 'Running' | 'Pending', nodeName?: string) => {
      site.ask('POST', PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels: { app: 'web' } },
        spec: {
          containers: [{ name: 'main', image: 'registry.example/web:1' }],
          ...(nodeName === undefined ? {} : { nodeName }),
        },
      });
      const status = phase === 'Running' ? 'True' : 'False';
      const conditions = [{ type: 'Ready', status, lastTransitionTime: LONG_AGO }];
      const patched = site.ask('PATCH', `${PODS}/${name}/status`, {
        status: { phase, conditions },
      });
      expect(patched.status).toBe(200);
    },
    /** The eviction is sent. */
    asks: (name: string): void => invariant.leaves?.(sentFor(name)),
    /** The eviction is sent, lands and is answered. */
    evicts: (name: string): void => {
      const sent = sentFor(name);
      invariant.leaves?.(sent);
      site.ask('DELETE', `${PODS}/${name}`);
      invariant.done?.(sent, { status: 201, body: undefined });
      invariant.answered?.(sent, { status: 201, body: undefined });
    },
    /** The eviction is sent without an answer. */
    loses: (name: string): void => {
      const sent = sentFor(name);
      invariant.leaves?.(sent);
      invariant.answered?.(sent, undefined);
    },
    showNodes: (): void => invariant.arrives?.(PROCESS, '/api/v1/nodes', []),
    showPods: (): void => invariant.arrives?.(PROCESS, '/api/v1/pods', []),
    /** The watch shows the pod with this readiness, whatever the store has. */
    showReadiness: (name: string, status: 'True' | 'False', resourceVersion: string): void => {
      const object = {
        metadata: { namespace: 'shop', name, resourceVersion },
        status: { conditions: [{ type: 'Ready', status }] },
      };
      invariant.arrives?.(PROCESS, '/api/v1/pods', [{ type: 'MODIFIED', object }]);
    },
  };
};

const BREACH = `${PROCESS} evicts under "shop/web", which has no free slot`;

describe('slotsAreUsedOnce', () => {
  test('a slot in use is not available to another pod', () => {
    const { pod, asks, breaches } = rig();
    pod('a', 'Running');
    pod('b', 'Running');
    asks('a');
    expect(breaches).toEqual([]);
    asks('b');
    expect(breaches).toEqual([BREACH]);
  });

  test('a Pending pod that is evicted takes no slot from another', () => {
    const { pod, evicts, asks, breaches } = rig();
    pod('a', 'Pending');
    pod('b', 'Running');
    evicts('a');
    asks('b');
    expect(breaches).toEqual([]);
  });

  /** Found by a process that was cut off for 50 s and led again before its pods were listed. */
  test('a pod takes no slot while its process was shown only that it is not ready', async () => {
    const { pod, asks, showReadiness, time, breaches } = rig();
    pod('a', 'Running');
    pod('b', 'Running');
    asks('a');
    showReadiness('b', 'False', '1');
    asks('b');
    showReadiness('b', 'True', '2');
    asks('b');
    expect(breaches, 'it was shown a moment ago').toEqual([]);
    await time.advance(1000);
    asks('b');
    expect(breaches).toEqual([BREACH]);
  });

  test('two seconds after answer and observation a slot is free', async () => {
    const { pod, evicts, showPods, asks, time, breaches } = rig();
    pod('a', 'Running');
    pod('b', 'Running');
    evicts('a');
    showPods();
    await time.advance(1900);
    asks('b');
    expect(breaches).toEqual([BREACH]);
    await time.advance(200);
    breaches.length = 0;
    asks('b');
    expect(breaches).toEqual([]);
  });

  test('a slot whose pod was not observed terminating stays held', async () => {
    const { pod, evicts, asks, time, breaches } = rig();
    pod('a', 'Running');
    pod('b', 'Running');
    evicts('a');
    await time.advance(60_000);
    asks('b');
    expect(breaches).toEqual([BREACH]);
  });

  test('a slot with a lost answer is held while the drain is active, and not after it', async () => {
    const { node, removeNode, pod, loses, showPods, asks, time, breaches } = rig();
    node('n1');
    pod('a', 'Running', 'n1');
    pod('b', 'Running');
    loses('a');
    showPods();
    await time.advance(60_000);
    asks('b');
    expect(breaches).toEqual([BREACH]);
    removeNode('n1');
    showPods();
    await time.advance(2100);
    breaches.length = 0;
    asks('b');
    expect(breaches).toEqual([]);
  });

  /** Found by world 976233: no pod changed between the end of the drain and the next call. */
  test('an unanswered call holds no slot once its process has seen the end of its drain', async () => {
    const { node, removeNode, pod, asks, loses, showNodes, time, breaches } = rig();
    node('n1');
    pod('a', 'Running', 'n1');
    pod('b', 'Running');
    loses('a');
    removeNode('n1');
    showNodes();
    await time.advance(2100);
    asks('b');
    expect(breaches).toEqual([]);
  });
});

/** Found by world 973613: a pod waited in a drain that failed, and minutes after it in the next. */
test('drainsGoOn counts how long a pod waits in each drain of its node', async () => {
  const { site, time, pass, breaches } = invariantRig(drainsGoOn);
  const drain = (seconds: number): void => {
    const deadlineMs = time.now() + seconds * 1000;
    const parts = { ids: ['i1'], deadlineMs, graceSeconds: seconds, sinceMs: time.now() };
    const annotations = {
      'cordon.tidegate.dev/reclaim': printCordon({ ...parts, ended: null }),
    };
    const { status } = site.ask('PATCH', '/api/v1/nodes/n-1', {
      metadata: { annotations },
      spec: { unschedulable: true },
    });
    expect(status).toBe(200);
  };
  site.ask('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n-1' },
  });
  site.ask('POST', PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { nodeName: 'n-1', containers: [{ name: 'main', image: 'registry.example/web:1' }] },
  });
  drain(60);
  await pass(300);
  drain(600);
  await pass(95);
  expect(breaches).toEqual([]);
  await pass(10);
  expect(new Set(breaches)).toEqual(new Set(['"a" could have left "n-1" long ago']));
});
