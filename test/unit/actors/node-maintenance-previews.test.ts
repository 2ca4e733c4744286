/** The previews of planned NodeMaintenances, from the registry to the written status. */
import { expect, test } from 'vitest';
import type { MaintenancePreview } from '../../../src/domain/node-maintenance/preview.ts';
import { budgetOf } from '../../support/drains/drain-facts.ts';
import { podOfType } from '../../support/node-maintenance/plan-runs.ts';
import { nodeOf, registryRig } from '../../support/node-maintenance/registry-rig.ts';

const INTERVAL_MS = 30_000;

/** A leading registry with two Nodes and a planned maintenance. */
const planned = () => {
  const rig = registryRig();
  rig.sync();
  rig.registry.onLeading();
  for (const name of ['n1', 'n2']) rig.nodes.put(nodeOf(name));
  rig.maintain('kernel', {});
  return {
    ...rig,
    /** The previews of the statuses that were written, in order. */
    previews: (): readonly (MaintenancePreview | null)[] =>
      rig.writes.flatMap((write) => write.write === 'setStatus' ? [write.status.preview] : []),
    addPod: (): void => rig.pods.put(podOfType('Default')),
  };
};

const podsIn = (preview: MaintenancePreview | null | undefined): number | undefined =>
  preview?.entries.reduce((sum, { pods }) => sum + pods, 0);

test('NM-43: a planned maintenance shows its preview at once', async () => {
  const { time, previews, addPod } = planned();
  addPod();
  await time.advance(2000);
  expect(previews().at(-1)).toMatchObject({ nodes: 2, staticPods: 0 });
  expect(podsIn(previews().at(-1))).toBe(1);
});

test('a preview is written once in half a minute, with all that changed meanwhile', async () => {
  const { time, previews, addPod } = planned();
  await time.advance(2000);
  const before = previews().length;
  for (let second = 0; second < 90; second += 1) {
    addPod();
    await time.advance(1000);
  }
  const written = previews().slice(before);
  expect(written.length).toBeGreaterThanOrEqual(2);
  expect(written.length).toBeLessThanOrEqual(3);
  await time.advance(INTERVAL_MS + 1000);
  expect(podsIn(previews().at(-1))).toBe(90);
});

test('a preview follows what holds the pods back', async () => {
  const { time, previews, addPod, budgets } = planned();
  addPod();
  await time.advance(2000);
  expect(previews().at(-1)?.findings).toEqual([]);
  budgets.put(budgetOf());
  await time.advance(INTERVAL_MS + 1000);
  expect(previews().at(-1)?.findings.map(({ reason }) => reason)).toEqual(['BlockedByBudget']);
});

test('a quiet cluster causes no write of a preview, and neither do changes without effect', async () => {
  const { time, writes, nodes, addPod } = planned();
  addPod();
  await time.advance(INTERVAL_MS * 2);
  const before = writes.length;
  await time.advance(INTERVAL_MS * 20);
  nodes.put(nodeOf('n1'));
  await time.advance(INTERVAL_MS * 2);
  expect(writes.length).toBe(before);
});

test('a changed selector has its own preview at once', async () => {
  const { time, previews, maintain, nodes } = planned();
  await time.advance(2000);
  nodes.put({ ...nodeOf('other'), labels: { pool: 'b' } });
  const spec = {
    nodeSelector: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['b'] }] }],
    },
  };
  maintain('kernel', { generation: 2, spec }, '100');
  await time.advance(2000);
  expect(previews().map((preview) => preview?.nodes)).toEqual([undefined, 2, undefined, 1]);
});

test('a maintenance that begins has no preview any more', async () => {
  const { time, previews, maintain, addPod } = planned();
  await time.advance(2000);
  expect(previews().at(-1)).not.toBeNull();
  const before = previews().length;
  maintain('kernel', { stage: 'Cordon', isProtected: true }, '100');
  await time.advance(2000);
  addPod();
  await time.advance(INTERVAL_MS * 3);
  expect(new Set(previews().slice(before))).toEqual(new Set([null]));
});
