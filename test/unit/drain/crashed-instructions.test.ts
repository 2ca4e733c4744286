/** What happens to drains and instructions while their actors restart after a crash. */
import { Effect } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { drainRig, type DrainRigOptions } from '../../support/drains/drain-rig.ts';

const rig = (options: DrainRigOptions = {}) => {
  const made = drainRig(options);
  onTestFinished(made.stop);
  return made;
};

/** An instruction that was acked, and whose actor crashes at the deadline. */
const crashedAfterItsAck = async () => {
  const made = rig();
  const { node, order, time, crashOn, replies, reclaims } = made;
  node('n1');
  order('i1', ['n1', 'without-node'], 600);
  await time.advance(599_000);
  expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
  crashOn('MachineWithoutNode');
  await time.advance(1000);
  expect(reclaims().get('i1')).toBeUndefined();
  return made;
};

test('DR-03: an instruction that crashed after its ack is not acked again', async () => {
  const { time, replies, reclaims } = await crashedAfterItsAck();
  await time.advance(60_000);
  expect([replies.length, [...reclaims().actors()]]).toEqual([1, []]);
});

test('DR-03: an instruction that is repeated while it restarts is acked again', async () => {
  const { order, time, replies } = await crashedAfterItsAck();
  order('i1', ['n1', 'without-node']);
  await time.advance(60_000);
  expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }, { id: 'i1', nodesStarted: 1 }]);
});

test('DR-06: a Node that was deleted while its instruction restarts counts, and shows its end', async () => {
  const { node, nodes, order, time, crashOn, intercept, replies, phases } = rig();
  node('n1');
  intercept(() => Effect.succeed({ status: 500, body: {} }));
  crashOn('MachineWithoutNode');
  order('i1', ['n1', 'without-node']);
  nodes.lag();
  nodes.remove('n1');
  nodes.catchUp();
  await time.advance(30_000);
  expect(phases('n1')).toContain('Drained');
  expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
});

test('pods that change while a drain restarts are looked at afterwards', async () => {
  const { node, pods, order, time, crashOn, drains, annotation, log } = rig();
  node('n1');
  pods.add({ node: 'n1', name: 'a' });
  crashOn('DrainStarted');
  order('i1', ['n1']);
  await time.advance(10);
  expect([drains().has('n1', 'reclaim'), drains().get('n1')]).toEqual([true, undefined]);
  pods.add({ node: 'n1', name: 'b' });
  await time.advance(60_000);
  expect(log).toContain('evict b');
  expect(annotation('n1')?.ended).toBe('Drained');
});

test('pods that change while the cache is behind are not looked at after the term', async () => {
  const current: (() => void)[] = [];
  const { node, pods, order, time, setLeading, log } = rig({
    whenPodsCurrent: () => new Promise((resolve) => void current.push(resolve)),
  });
  node('n1');
  pods.add({ node: 'n1', name: 'a' });
  order('i1', ['n1']);
  await time.advance(5000);
  setLeading(false);
  for (const resolve of current) resolve();
  await time.advance(60_000);
  expect(log).not.toContain('evict a');
});
