/** The drawn life of a machine is the one that its UpcomingNode has. */
import { expect, test } from 'vitest';
import { follow, type MachinePhase, PHASES } from '../../../src/domain/machine-phase.ts';
import { chartOf, statesOf } from '../../../src/view/chart/chart.ts';
import { LIFE_EVENTS, machineLife } from '../../../tools/machine-life.ts';

const chart = chartOf(machineLife);

test('the life of a machine has every phase of an UpcomingNode, and its end', () => {
  const drawn = statesOf(chart.root).map(({ path }) => path).filter((path) => path !== '');
  expect(drawn).toEqual([...PHASES, 'Removed']);
});

const phaseAt = (path: string): MachinePhase => PHASES.find((phase) => phase === path) ?? 'Gone';

const byFrames = chart.transitions.flatMap(({ from, cause, targets: [to = ''] }) => {
  const type = cause._tag === 'Event' ? cause.type : '';
  const state = LIFE_EVENTS[type];
  const phases = from === '' ? PHASES : [phaseAt(from)];
  return state === undefined || state === null
    ? []
    : phases.map((phase) => ({ type, state, phase, to: phaseAt(to) }));
});

test.each(byFrames)('$type leads a machine in $phase to $to', ({ state, phase, to }) => {
  expect(follow(phase, state)).toBe(to);
});

test('every event of the life is one that is explained', () => {
  for (const { cause } of chart.transitions) {
    expect(Object.keys(LIFE_EVENTS)).toContain(cause._tag === 'Event' ? cause.type : '');
  }
});
