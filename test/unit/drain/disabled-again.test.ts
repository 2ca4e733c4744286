/** A person disables a Node again before what its drain before leaves has been written. */
import { Effect } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { mergePatched } from '../../../packages/embedded-kubernetes/src/patches/merge-patch.ts';
import { annotationOf } from '../../../src/domain/drain/cordon.ts';
import { asRecord } from '../../../src/domain/json.ts';
import {
  type DisablingStep,
  disablingStep,
  enablingStep,
} from '../../../src/domain/node-availability/disabled-node.ts';
import { drainRig } from '../../support/drains/drain-rig.ts';

const AWAY = { status: 503, body: { message: 'away' } };
/** Longer than the longest wait between two tries. */
const RETRIED_MS = 60_000;

/** A Node that a person disables and enables, beside an operator whose writes may be refused. */
const disabledNode = () => {
  const made = drainRig();
  onTestFinished(made.stop);
  const { nodes, time } = made;
  let isAway = false;
  made.intercept(() => Effect.succeed(isAway ? AWAY : undefined));
  made.node('n1');
  const node = () => {
    const known = nodes.known('n1');
    if (known === undefined) throw new Error('there is no node n1');
    return { ...known, whyDisabled: '' };
  };
  const change = (step: DisablingStep): void => {
    if (step._tag !== 'Patch') throw new Error(`nothing to change: ${step._tag}`);
    nodes.put('n1', asRecord(mergePatched(nodes.get('n1'), step.body)) ?? {});
  };
  return {
    ...made,
    setAway: (next: boolean) => {
      isAway = next;
    },
    disable: () =>
      change(disablingStep(node(), {
        why: 'noisy fan',
        acceptsDowntime: false,
        nowMs: time.now(),
      })),
    enable: () => change(enablingStep(node())),
    uncordon: () => void nodes.put('n1', { spec: { unschedulable: false } }),
    current: () => [annotationOf(node(), 'disabled')?.ended, node().unschedulable],
  };
};

test('RS-03: a node that is disabled again before the end of its drain is written stays disabled', async () => {
  const { pods, time, setAway, disable, enable, current } = disabledNode();
  pods.add({ node: 'n1', name: 'a', goesAfterMs: Number.POSITIVE_INFINITY });
  disable();
  await time.advance(2000);
  expect(pods.names(), 'it drains').toEqual(['a']);
  setAway(true);
  enable();
  await time.advance(2000);
  disable();
  await time.advance(2000);
  setAway(false);
  await time.advance(RETRIED_MS);
  expect(current()).toEqual([null, true]);
  pods.remove('a');
  await time.advance(2000);
  expect(current()).toEqual(['Drained', true]);
});

test('RS-03: a node that is disabled again before its key is removed stays disabled', async () => {
  const { drains, time, setAway, disable, uncordon, current } = disabledNode();
  disable();
  await time.advance(2000);
  expect(current()).toEqual(['Drained', true]);
  uncordon();
  await time.advance(2000);
  setAway(true);
  drains().withdraw('n1', 'disabled');
  await time.advance(2000);
  expect(current(), 'its key is still there').toEqual(['Drained', false]);
  disable();
  await time.advance(2000);
  setAway(false);
  await time.advance(RETRIED_MS);
  expect(current()).toEqual(['Drained', true]);
});

test('RS-03: an owner that left twice, the second time by an old Node, may disable it again', async () => {
  const { drains, nodes, time, disable, uncordon, current } = disabledNode();
  disable();
  await time.advance(2000);
  uncordon();
  await time.advance(2000);
  nodes.lag();
  drains().withdraw('n1', 'disabled');
  await time.advance(5000);
  drains().withdraw('n1', 'disabled');
  disable();
  // A list has the Node as it is, without what came between.
  nodes.list();
  nodes.catchUp();
  await time.advance(RETRIED_MS);
  expect(current()).toEqual(['Drained', true]);
});
