/** How many nodes of a maintenance are drained, as its status shows it. */
import { expect, test } from 'vitest';
import { effectivePlan } from '../../../../src/domain/node-maintenance/drain-plan.ts';
import { progressText } from '../../../../src/domain/node-maintenance/progress-text.ts';
import { maintenanceOf, nodeRaw } from '../../../support/node-maintenance/maintenance-fixture.ts';

const OVER = effectivePlan([], ['Default', 'DaemonSet', 'Static']).length;

const progressOf = (entriesDone: number, ...nodes: readonly object[]): string => {
  const { spec, status } = maintenanceOf('1', { stage: 'Drain', nodes, entriesDone });
  return progressText(spec, { ...status, selected: nodes.length }, () => true);
};

test('a node counts as drained when its plan is over and no pod is left', () => {
  const empty = nodeRaw('a');
  expect(progressOf(OVER, empty, nodeRaw('b', { podsEvacuating: 1 }))).toBe('1/2');
  expect(progressOf(OVER, empty, nodeRaw('b', { podsPendingEvacuation: 1 }))).toBe('1/2');
  expect(progressOf(OVER - 1, empty)).toBe('0/1');
});

test('a node that waits for its turn is not drained, and one that had it stays so', () => {
  const waiting = nodeRaw('b', { state: 'Waiting', wave: 0 });
  const released = nodeRaw('a', { state: 'Released', wave: 7 });
  expect(progressOf(OVER, released, waiting)).toBe('1/2');
  expect(progressOf(OVER)).toBe('0/0');
});
