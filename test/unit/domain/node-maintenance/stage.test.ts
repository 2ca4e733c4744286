/** The stages of a NodeMaintenance. */
import { describe, expect, test } from 'vitest';
import {
  cordons,
  mayFollow,
  stageOf,
  STAGES,
  withStartedStage,
  workedStage,
} from '../../../../src/domain/node-maintenance/stage.ts';

test('NM-01: the default stage is Idle', () => {
  expect(stageOf(undefined)).toBe('Idle');
  expect(stageOf('Paused')).toBe('Idle');
  expect(stageOf('Drain')).toBe('Drain');
});

test('NM-03: stages only go forward', () => {
  const allowed = STAGES.flatMap((from) =>
    STAGES.filter((to) => mayFollow(from, to) && from !== to).map((to) => `${from} to ${to}`)
  );
  expect(allowed).toEqual([
    ...['Idle to Cordon', 'Idle to Drain', 'Idle to Complete'],
    ...['Cordon to Drain', 'Cordon to Complete'],
    'Drain to Complete',
  ]);
  expect(STAGES.every((stage) => mayFollow(stage, stage))).toBe(true);
});

test('NM-13: nodes are unschedulable in Cordon and Drain', () => {
  expect(STAGES.filter(cordons)).toEqual(['Cordon', 'Drain']);
});

test('NM-05: a maintenance that is deleted while it is idle has no work', () => {
  expect(workedStage({ spec: { stage: 'Idle' }, deleting: true })).toBe('Idle');
});

test('NM-09: a deleted maintenance is completed', () => {
  expect(STAGES.slice(1).map((stage) => workedStage({ spec: { stage }, deleting: true })))
    .toEqual(['Complete', 'Complete', 'Complete']);
  expect(STAGES.map((stage) => workedStage({ spec: { stage }, deleting: false }))).toEqual([
    ...STAGES,
  ]);
});

describe('stageStatuses', () => {
  test('NM-07: each started stage is recorded once, with the time of its start', () => {
    const idle = withStartedStage([], 'Idle', 1);
    const cordon = withStartedStage(idle, 'Cordon', 2);
    expect(withStartedStage(cordon, 'Cordon', 3)).toBe(cordon);
    expect(withStartedStage(withStartedStage(cordon, 'Drain', 4), 'Complete', 5)).toEqual([
      { name: 'Idle', startMs: 1 },
      { name: 'Cordon', startMs: 2 },
      { name: 'Drain', startMs: 4 },
      { name: 'Complete', startMs: 5 },
    ]);
  });

  test('NM-07: Drain records Cordon, too, when it was skipped', () => {
    expect(withStartedStage([], 'Drain', 7)).toEqual([
      { name: 'Cordon', startMs: 7 },
      { name: 'Drain', startMs: 7 },
    ]);
  });

  test('NM-07: Complete after Idle records no other stage', () => {
    expect(withStartedStage([], 'Complete', 7)).toEqual([{ name: 'Complete', startMs: 7 }]);
  });
});
