/** The waves of a maintenance beside what it admits step by step. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type BudgetedNode,
  nodesToAdmit,
} from '../../../../src/domain/node-maintenance/node-budget.ts';
import {
  NODE_STATES,
  type NodeCount,
} from '../../../../src/domain/node-maintenance/observed-maintenance.ts';
import { forecastWaves } from '../../../../src/domain/node-maintenance/wave-forecast.ts';

/** Admits, and releases all that is under way, until nothing waits. */
const admittedInTurn = (
  given: readonly BudgetedNode[],
  count: NodeCount | null,
): readonly (readonly string[])[] => {
  let nodes = given;
  const waves: (readonly string[])[] = [];
  while (nodes.some(({ state }) => state !== 'Released')) {
    const admitted = new Set(nodesToAdmit(nodes, count));
    const underWay = nodes.filter(({ name, state }) =>
      admitted.has(name) || state === 'Admitted' || state === 'Yielding'
    );
    waves.push(underWay.map(({ name }) => name).toSorted());
    nodes = nodes.map((node) => underWay.includes(node) ? { ...node, state: 'Released' } : node);
  }
  return waves;
};

const counts: fc.Arbitrary<NodeCount | null> = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 1, max: 4 }).map((nodes): NodeCount => ({ _tag: 'Number', nodes })),
  fc.integer({ min: 1, max: 100 }).map((percent): NodeCount => ({ _tag: 'Percent', percent })),
);

const states = fc.array(
  fc.record({ state: fc.constantFrom(...NODE_STATES), topology: fc.constantFrom('', 'a', 'b') }),
  { maxLength: 12 },
);

test('the forecast of waves is what a maintenance admits when the nodes of a wave end together', () => {
  fc.assert(fc.property(states, counts, (drawn, count) => {
    const nodes = drawn.map((node, index) => ({ ...node, name: `n${index % 7}-${index}` }));
    const forecast = forecastWaves(nodes, count).map((wave) => wave.toSorted());
    expect(forecast).toEqual(admittedInTurn(nodes, count));
  }));
});
