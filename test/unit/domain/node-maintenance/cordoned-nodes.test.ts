/** Whether a maintenance has cordoned its nodes: what `maintenance cordon --wait` waits for. */
import { expect, test } from 'vitest';
import { maintenanceOwner, printCordon } from '../../../../src/domain/drain/cordon.ts';
import { hasCordoned } from '../../../../src/domain/node-maintenance/cordoned-nodes.ts';
import { maintenanceOf, nodeRaw } from '../../../support/node-maintenance/maintenance-fixture.ts';

const spec = {
  nodeSelector: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'rack', operator: 'In', values: ['r1'] }] }],
  },
};
const KEY = printCordon({
  ids: [],
  deadlineMs: null,
  graceSeconds: 0,
  sinceMs: 0,
  ended: null,
});

const node = (name: string, isCordoned: boolean, rack = 'r1') => ({
  name,
  labels: { rack },
  unschedulable: isCordoned,
  cordons: isCordoned ? { [maintenanceOwner('uid-kernel')]: KEY } : {},
});

const kernel = (nodes: readonly object[]) => maintenanceOf('1', { stage: 'Cordon', spec, nodes });

test('nodes are cordoned once each whose turn it is has the key of the maintenance', () => {
  const both = kernel([nodeRaw('a'), nodeRaw('b')]);
  expect(hasCordoned(both, [node('a', true), node('b', false)])).toBe(false);
  expect(hasCordoned(both, [node('a', true), { ...node('b', false), unschedulable: true }]))
    .toBe(false);
  expect(hasCordoned(both, [node('a', true), node('b', true), node('c', false, 'r2')])).toBe(true);
});

test('of nodes that wait for their turn those before them count', () => {
  const waiting = nodeRaw('b', { state: 'Waiting' });
  const nodes = [node('a', true), node('b', false)];
  expect(hasCordoned(kernel([nodeRaw('a'), waiting]), nodes)).toBe(true);
  expect(hasCordoned(kernel([nodeRaw('a', { state: 'Waiting' }), waiting]), nodes)).toBe(false);
});

test('a status that does not have the nodes yet is none, and a selection of none is done', () => {
  expect(hasCordoned(kernel([]), [node('a', true)])).toBe(false);
  expect(hasCordoned(kernel([]), [node('c', false, 'r2')])).toBe(true);
});
