/** How often NodeMaintenances are written while the pods of their Nodes leave. */
import { expect, test } from 'vitest';
import { podOfType } from '../../support/node-maintenance/plan-runs.ts';
import { nodeOf, registryRig } from '../../support/node-maintenance/registry-rig.ts';

const SECONDS = 60;

/** Writes of the status in a minute in which pods come, and the pods that the last one counts. */
const writesOf = async (count: number) => {
  const { time, nodes, pods, registry, sync, maintain, writes } = registryRig();
  sync();
  registry.onLeading();
  for (let node = 0; node < count; node += 1) nodes.put(nodeOf(`n${node}`));
  maintain('kernel', { stage: 'Drain', isProtected: true });
  await time.advance(30_000);
  const before = writes.length;
  for (let pod = 0; pod < 4 * SECONDS; pod += 1) {
    pods.put(podOfType('Default', { node: 'n0' }));
    await time.advance(250);
  }
  const during = writes.length - before;
  await time.advance(30_000);
  const [last] = writes.slice(-1);
  const status = last?.write === 'setStatus' ? last.status.nodes : [];
  const podsOf = (
    { podsPendingEvacuation: pending, podsEvacuating: evacuating }: typeof status[0],
  ) => pending + evacuating;
  return { during, pods: status.reduce((sum, node) => sum + podsOf(node), 0) };
};

test('NM-40: the status of a maintenance of few Nodes follows within a second', async () => {
  const { during, pods } = await writesOf(2);
  expect(during).toBeGreaterThan(SECONDS);
  expect(pods).toBe(4 * SECONDS);
});

test('NM-40: the larger the status, the less often it is written; nothing of it is lost', async () => {
  const { during, pods } = await writesOf(400);
  expect(during).toBeLessThanOrEqual(SECONDS / 2);
  expect(during).toBeGreaterThan(SECONDS / 4);
  expect(pods).toBe(4 * SECONDS);
});
