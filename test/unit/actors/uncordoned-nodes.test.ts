/** Nodes of a maintenance that others keep making schedulable. */
import { expect, test } from 'vitest';
import { UncordonedNodes } from '../../../src/actors/node-maintenance/uncordoned-nodes.ts';
import { maintenanceOf } from '../../support/node-maintenance/maintenance-fixture.ts';

test('NM-14: the third uncordon within five minutes is recorded, once for each window', () => {
  let nowMs = 0;
  const recorded: string[] = [];
  const nodes = new UncordonedNodes(
    { monotonic: () => nowMs },
    ({ name }, node, times) => recorded.push(`${name} ${node} ${times}`),
  );
  const maintenance = maintenanceOf('1', {});
  const add = (node: string, times: number): void => {
    for (let count = 0; count < times; count += 1) nodes.add(maintenance, node);
  };
  add('a', 2);
  add('b', 5);
  expect(recorded).toEqual(['kernel b 3']);
  nowMs += 300_000;
  add('a', 2);
  expect(recorded).toEqual(['kernel b 3']);
  add('a', 1);
  expect(recorded).toEqual(['kernel b 3', 'kernel a 3']);
});

test('NM-14: of more than a thousand nodes the one seen longest ago is forgotten', () => {
  const recorded: string[] = [];
  const nodes = new UncordonedNodes({ monotonic: () => 0 }, (_, node) => recorded.push(node));
  const maintenance = maintenanceOf('1', {});
  const addMany = (prefix: string, count: number): void => {
    for (let at = 0; at < count; at += 1) nodes.add(maintenance, `${prefix}${at}`);
  };
  for (const node of ['a', 'b', 'b']) nodes.add(maintenance, node);
  addMany('first', 998);
  // As many as fit: neither is forgotten, and what is seen again is the newest.
  nodes.add(maintenance, 'a');
  nodes.add(maintenance, 'b');
  expect(recorded).toEqual(['b']);
  addMany('second', 998);
  nodes.add(maintenance, 'a');
  expect(recorded).toEqual(['b', 'a']);
  addMany('third', 1000);
  for (const node of ['a', 'b']) nodes.add(maintenance, node);
  expect(recorded, 'both are counted anew').toEqual(['b', 'a']);
});
