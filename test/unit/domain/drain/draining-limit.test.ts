/** `--max-draining`: a number of Nodes, or a percentage of all. */
import { expect, test } from 'vitest';
import {
  drainingLimitText,
  nodesAllowed,
  readDrainingLimit,
} from '../../../../src/domain/drain/draining-limit.ts';

const allowed = (text: string, nodes: number): number | undefined => {
  const limit = readDrainingLimit(text);
  return limit && nodesAllowed(limit, nodes);
};

test('a percentage is rounded down, and one Node may always drain', () => {
  expect([allowed('25%', 8), allowed('25%', 11), allowed('25%', 3), allowed('1%', 0)])
    .toEqual([2, 2, 1, 1]);
  expect([allowed('100%', 7), allowed('10', 7)]).toEqual([7, 10]);
});

test('a limit is printed as it is written', () => {
  for (const text of ['1', '10', '25%', '100%']) {
    const limit = readDrainingLimit(text);
    expect(limit && drainingLimitText(limit)).toBe(text);
  }
});
