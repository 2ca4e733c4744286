/**
 * What the invariants about drains count as observed by a process. Found by a world in which a
 * person uncordoned a Node while its watch was down: the answer to the condition of another
 * lifecycle had the Node as well, and drains do not read it.
 */
import { expect, onTestFinished, test } from 'vitest';
import type { KubeAnswer } from '../../../src/effects/kube-api.ts';
import { textAt } from '../../../src/domain/json.ts';
import { evictionsFollowCordons } from '../../simulation/drain-invariants.ts';
import { embeddedSite } from '../../simulation/embedded-site.ts';
import { worldPlan } from '../../simulation/world-plan.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const PODS = '/api/v1/namespaces/shop/pods';
const PROCESS = 'process-1';

/** A process that drains the Node "n", with the pod "a". */
const rig = () => {
  const time = simulatedTime();
  const site = embeddedSite(worldPlan(1), time);
  onTestFinished(site.stop);
  const breaches: string[] = [];
  const invariant = evictionsFollowCordons({
    site,
    time,
    broken: (name) => void breaches.push(name),
    calmMs: () => Infinity,
    cordonedByPerson: new Set(),
    startedMs: () => 0,
  });
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
  const patched = (path: string, body: object): void => {
    const answer: KubeAnswer = { status: 200, body };
    invariant.answered?.({ process: PROCESS, call: { method: 'PATCH', path } }, answer);
  };
  return {
    time,
    breaches,
    node,
    patched,
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
  const { time, breaches, node, patched, arrives, evicts } = rig();
  patched('/api/v1/nodes/n', node('1', true));
  await time.advance(1000);
  evicts();
  patched('/api/v1/nodes/n/status', node('2', false));
  await time.advance(1000);
  evicts();
  expect(breaches, 'the answer to a condition').toEqual([]);
  arrives(node('2', false));
  await time.advance(1000);
  evicts();
  expect(breaches).toEqual(['evictions follow cordons']);
});
