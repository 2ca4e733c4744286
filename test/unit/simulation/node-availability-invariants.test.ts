/** What the invariant about stateful pods of lost Nodes counts. Found by world 973295. */
import { expect, test } from 'vitest';
import { workloadObject, workloadPath } from '../../simulation/app-objects.ts';
import { waitingPodsShowIt } from '../../simulation/node-availability-state-invariants.ts';
import type { AppPlan } from '../../simulation/world-plan.ts';
import { invariantRig } from '../../support/simulation/invariant-rig.ts';

const POD = '/api/v1/namespaces/shop/pods/db-0';
const DATABASE: AppPlan = {
  name: 'db',
  kind: 'StatefulSet',
  replicas: 1,
  cpu: '1',
  priority: 0,
  graceSeconds: 30,
  stops: 'soon',
  budget: undefined,
  interceptors: [],
};

const READY = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };

/** A stateful pod on a Node. */
const rig = async () => {
  const { site, pass, breaches } = invariantRig(waitingPodsShowIt);
  const asked = (method: 'POST' | 'PATCH', path: string, body: object): void =>
    expect(site.ask(method, path, body).status).toBeLessThan(300);
  asked('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n-1' },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' }, conditions: [READY] },
  });
  asked('POST', workloadPath(DATABASE), workloadObject(DATABASE));
  await pass(20);
  expect(site.ask('GET', POD).body).toMatchObject({ spec: { nodeName: 'n-1' } });
  return {
    pass,
    breaches,
    nodeIs: (reason: string): void => {
      const conditions = [READY, { ...READY, type: 'tidegate.dev/Availability', reason }];
      asked('PATCH', '/api/v1/nodes/n-1/status', { status: { conditions } });
    },
    podShows: (isWaiting: boolean): void => {
      const waits = { ...READY, type: 'tidegate.dev/VolumeHomeNodeOffline' };
      const conditions = isWaiting ? [READY, waits] : [READY];
      asked('PATCH', `${POD}/status`, { status: { conditions } });
    },
  };
};

test('a pod may show that it waits before its node shows why, and for a while after', async () => {
  const { pass, breaches, nodeIs, podShows } = await rig();
  podShows(true);
  await pass(10);
  nodeIs('Offline');
  await pass(300);
  nodeIs('Active');
  await pass(59);
  expect(breaches).toEqual([]);
  await pass(5);
  expect(new Set(breaches)).toEqual(new Set(['"db-0" shows that it waits for "n-1"']));
});

test('a pod must show within a minute that it waits', async () => {
  const { pass, breaches, nodeIs, podShows } = await rig();
  nodeIs('Offline');
  await pass(50);
  podShows(true);
  await pass(100);
  podShows(false);
  await pass(59);
  expect(breaches).toEqual([]);
  await pass(5);
  expect(new Set(breaches)).toEqual(new Set(['"db-0" does not show that it waits for "n-1"']));
});
