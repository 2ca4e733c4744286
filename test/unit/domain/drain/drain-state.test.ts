/** What a drain knows of its Node and of its own cordon. */
import { expect, test } from 'vitest';
import { printCordon } from '../../../../src/domain/drain/cordon.ts';
import { cancelSeen } from '../../../../src/domain/drain/cordon-patch.ts';
import {
  type DrainState,
  initialDrainState,
  withAnswer,
  withNode,
} from '../../../../src/domain/drain/drain-state.ts';
import { type DrainedNode, projectDrainedNode } from '../../../../src/domain/drain/drained-node.ts';

const order = { id: 'i1', deadlineMs: 100_000, graceSeconds: 100, sinceMs: 0 };
const KEY = printCordon({ ...order, ids: ['i1'], ended: null });

const nodeAt = (resourceVersion: string, key?: string): DrainedNode => {
  const annotations = key === undefined ? {} : { 'cordon.tidegate.dev/reclaim': key };
  const metadata = { name: 'n1', uid: 'u1', resourceVersion, annotations };
  const node = projectDrainedNode({ metadata, spec: { unschedulable: true } });
  if (node === undefined) throw new Error('The Node has no identity');
  return node;
};

/** The state after these Nodes were seen, and whether the last one cancels the drain. */
const isCancelledAfter = (begun: DrainState, ...nodes: readonly DrainedNode[]): boolean => {
  let state = begun;
  for (const node of nodes) state = { ...state, ...withNode(state, node) };
  if (state.node === null) throw new Error('The Node is gone');
  return cancelSeen(state.node, 'reclaim', state);
};

test('a Node without the key cancels a drain only after one with it, where versions have no order', () => {
  const begun = initialDrainState({
    node: nodeAt('x'),
    owner: 'reclaim',
    withdrawn: false,
    orders: [order],
    leftMs: 100_000,
    quarterMs: 25_000,
    tierWaitMs: 25_000,
    pausedAll: false,
  });
  const answered = { ...begun, ...withAnswer(begun, { _tag: 'Written', node: nodeAt('y', KEY) }) };
  expect(isCancelledAfter(answered, nodeAt('a'))).toBe(false);
  expect(isCancelledAfter(answered, nodeAt('y', KEY), nodeAt('z'))).toBe(true);
});
