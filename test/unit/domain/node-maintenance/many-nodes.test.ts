/**
 * A maintenance of more nodes than its status has room for stopped silently, and for ever.
 *
 * Nodes that were under way or released took all places of the status in the order of their names.
 * Those that were admitted next were cut off each time, never stored and never cordoned; where the
 * nodes of another topology came first by name, a half empty node was cut off and uncordoned. The
 * progress counted against what was left: 1000/1000.
 */
import { expect, test } from 'vitest';
import {
  maintenanceProgress,
  NO_PROGRESS,
  type ProgressMemory,
} from '../../../../src/domain/node-maintenance/maintenance-progress.ts';
import { maintenanceOf, nodeRaw } from '../../../support/node-maintenance/maintenance-fixture.ts';
import { podOfType } from '../../../support/node-maintenance/plan-runs.ts';

const named = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** A maintenance in Drain, and nodes that wait by the value of their topology label. */
const rolling = (
  stored: readonly object[],
  names: Readonly<Record<string, readonly string[]>>,
  maxNodesAtOnce: number,
) => {
  let memory: ProgressMemory = NO_PROGRESS;
  let maintenance = maintenanceOf('1', {
    stage: 'Drain',
    isProtected: true,
    spec: { maxNodesAtOnce, topologyKey: 'zone' },
    nodes: stored,
  });
  const nodes = Object.entries(names).flatMap(([zone, ofZone]) =>
    ofZone.map((name) => ({ name, labels: { zone }, bootId: 'boot-1', doneFor: '', createdMs: 0 }))
  ).toSorted((left, right) => left.name < right.name ? -1 : 1);
  return () => {
    const progress = maintenanceProgress(
      [{ maintenance, nodes, drains: true, begins: true, yields: false }],
      [maintenance],
      {
        before: memory,
        facts: {
          podsOn: (name) => name === 'z-busy' ? [podOfType('Default')] : [],
          isCordoned: () => true,
          hasEnded: () => true,
          isHeld: () => false,
          isBehind: false,
          cordoned: [],
          budgets: [],
          unschedulable: [],
        },
      },
    );
    memory = progress;
    const reported = progress.reported.get(maintenance.uid);
    if (reported === undefined) throw new Error('Nothing is reported');
    const { status } = maintenance;
    maintenance = { ...maintenance, status: { ...status, nodes: reported.nodes } };
    const inState = (wanted: string): readonly string[] =>
      reported.nodes.filter(({ state }) => state === wanted).map(({ name }) => name);
    return { ...reported, inState };
  };
};

const released = (names: readonly string[]): readonly object[] =>
  names.map((name) => nodeRaw(name, { state: 'Released' }));

test('NM-40: as many nodes begin as the status has room for, and progress counts all', () => {
  const done = named(995, 'done-');
  const look = rolling(released(done), { '': [...done, ...named(20, 'z-')] }, 10);
  const first = look();
  expect(first.inState('Admitted').length).toBe(5);
  expect(first.inState('Released').length).toBe(995);
  expect(first.progress).toBe('995/1015');
  const second = look();
  expect(second.inState('Admitted')).toEqual(first.inState('Admitted'));
  expect([second.nodes.length, second.progress]).toEqual([1000, '1000/1015']);
  expect([second.drained, look().drained]).toEqual([false, false]);
});

test('NM-40: a node that is under way is never left out for those that begin', () => {
  const done = named(998, 'done-');
  const look = rolling(
    [...released(done), nodeRaw('z-busy')],
    { a: [...done, 'z-busy'], b: named(9, 'aaa-') },
    5,
  );
  for (const one of [look(), look()]) {
    expect(one.inState('Admitted')).toEqual(['aaa-0', 'z-busy']);
    expect(one.inState('Released').length).toBe(998);
  }
});

test('NM-40: nodes that leave the selection make room for others', () => {
  const done = named(1000, 'done-');
  const waiting = named(3, 'z-');
  const full = rolling(released(done), { '': [...done, ...waiting] }, 10);
  expect(full().inState('Admitted')).toEqual([]);
  const roomy = rolling(released(done), { '': [...done.slice(2), ...waiting] }, 10);
  expect(roomy().inState('Admitted')).toEqual(['z-0', 'z-1']);
});
