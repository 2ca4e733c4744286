/** The metric of drains that have used three quarters of their grace, on which an alert fires. */
import { afterEach, expect, test } from 'vitest';
import { drainRig } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const GRACE_SECONDS = 400;
const METRIC = 'tidegate_drains_in_last_quarter';

/** Two Nodes with one pod each; the pod of the first stays. */
const reclaimed = () => {
  const rig = drainRig();
  stops.push(rig.stop);
  rig.node('stuck');
  rig.node('quick');
  rig.pods.add({ node: 'stuck', name: 'db' });
  rig.pods.add({ node: 'quick', name: 'web' });
  rig.pods.block('db', { reason: 'BlockedByBudget' });
  rig.order('i1', ['stuck', 'quick'], GRACE_SECONDS);
  return rig;
};

test('a drain is late from three quarters of its grace until its end', async () => {
  const { time, gauges, phases } = reclaimed();
  await time.advance(290_000);
  expect([phases('quick').at(-1), gauges.get(METRIC) ?? 0]).toEqual(['Drained', 0]);
  await time.advance(20_000);
  expect(gauges.get(METRIC)).toBe(1);
  await time.advance(100_000);
  expect([phases('stuck').at(-1), gauges.get(METRIC)]).toEqual(['Failed', 0]);
});

test('no drain is late in a process that does not lead any more', async () => {
  const { time, gauges, setLeading } = reclaimed();
  await time.advance(310_000);
  expect(gauges.get(METRIC)).toBe(1);
  setLeading(false);
  expect(gauges.get(METRIC)).toBe(0);
});
