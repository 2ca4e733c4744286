/** Instructions whose actor crashes by a defect, and what comes while it restarts. */
import { Effect } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { drainRig } from '../../support/drains/drain-rig.ts';

const GRACE_SECONDS = 100;

const rig = () => {
  const made = drainRig();
  onTestFinished(made.stop);
  return { ...made, left: () => [...made.reclaims().actors()].length };
};

/** An acked instruction that crashes at its deadline, when it reports `n2`, which never joined. */
const crashedAtItsEnd = async () => {
  const made = rig();
  made.node('n1');
  made.order('i1', ['n1', 'n2'], GRACE_SECONDS);
  await made.time.advance(5000);
  expect(made.replies).toHaveLength(1);
  made.crashOn('MachineWithoutNode');
  await made.time.advance((GRACE_SECONDS - 5) * 1000);
  return made;
};

test('DR-12: an instruction that crashes after its ack is not acked again', async () => {
  const { time, replies, left, phases } = await crashedAtItsEnd();
  await time.advance(60_000);
  expect([replies, left()]).toEqual([[{ id: 'i1', nodesStarted: 1 }], 0]);
  expect([phases('n1'), phases('n2')]).toEqual([['Draining', 'Drained'], ['Failed']]);
});

test('DR-03: an instruction that is repeated while it restarts is acked once more', async () => {
  const { time, replies, left, order } = await crashedAtItsEnd();
  order('i1', ['n1', 'n2'], GRACE_SECONDS);
  await time.advance(60_000);
  expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }, { id: 'i1', nodesStarted: 1 }]);
  expect(left()).toBe(0);
});

test('DR-06: a Node that is deleted while its instruction restarts is counted as Drained', async () => {
  const { node, nodes, time, order, crashOn, intercept, replies, phases, left } = rig();
  node('n1');
  intercept(() => Effect.succeed({ status: 500, body: {} }));
  crashOn('MachineWithoutNode');
  order('i1', ['n1', 'n2'], GRACE_SECONDS);
  await time.advance(10);
  nodes.remove('n1');
  await time.advance(10_000);
  expect(phases('n1').at(-1)).toBe('Drained');
  expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
  await time.advance(GRACE_SECONDS * 1000);
  expect(left()).toBe(0);
});

test('DR-10: a Node that joins while its instruction restarts is drained', async () => {
  const { node, time, order, crashOn, annotation, left } = rig();
  crashOn('MachineWithoutNode');
  order('i1', ['n1', 'n2'], GRACE_SECONDS);
  await time.advance(10);
  node('n1');
  await time.advance(10_000);
  expect(annotation('n1')?.ended).toBe('Drained');
  expect(left()).toBe(1);
});

test('DR-15: instructions of a term end with it, and a stopped process takes none', async () => {
  const { node, time, order, setLeading, reclaims, replies, left, shardEvents, stop } = rig();
  node('n1');
  order('i1', ['n1', 'n2'], GRACE_SECONDS);
  await time.advance(5000);
  expect([left(), Object.values(reclaims().counts()).reduce((sum, one) => sum + one)]).toEqual([
    1,
    1,
  ]);
  setLeading(false);
  expect([left(), reclaims().get('i1')]).toEqual([0, undefined]);
  setLeading(true);
  const stopping = stop();
  order('i3', ['n1'], GRACE_SECONDS);
  shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
  await time.advance(20_000);
  await stopping;
  expect([replies.filter(({ id }) => id === 'i3'), left()]).toEqual([[], 0]);
});
