/** The phase of every state, with every end (UPN-01). */
import { describe, expect, test } from 'vitest';
import { MACHINE_STATES, type MachineState } from '../../../src/domain/frames.ts';
import {
  endsObject,
  follow,
  isKnownTransition,
  type MachinePhase,
  type Phase,
  PHASES,
} from '../../../src/domain/machine-phase.ts';

/** The status of a machine after these frames, starting from its object. */
const after = (states: readonly MachineState[], current?: Phase): MachinePhase | undefined =>
  states.reduce<MachinePhase | undefined>(
    (phase, state, index) => follow(phase, state, states[index - 1]),
    current,
  );

describe('machine phase', () => {
  test('wire phases: SPECULATIVE, CREATING and UNSPECIFIED are Provisioning', () => {
    expect(after(['Speculative'])).toBe('Provisioning');
    expect(after(['Creating'])).toBe('Provisioning');
    expect(after(['Unspecified'])).toBe('Provisioning');
  });

  test('wire phases: IDLE after CREATING is Launched', () => {
    expect(after(['Creating', 'Idle'])).toBe('Launched');
    expect(after(['Idle'], 'Provisioning')).toBe('Launched');
  });

  test('wire phases: IDLE of a machine that was never created ends its object', () => {
    expect(after(['Speculative', 'Idle'])).toBe('Gone');
    expect(after(['Unspecified', 'Idle'])).toBe('Gone');
    expect(after(['Creating', 'Speculative', 'Idle'])).toBe('Gone');
    expect(after(['Speculative', 'Creating', 'Idle'])).toBe('Launched');
  });

  test('wire phases: a repeated IDLE leaves a launched machine Launched', () => {
    expect(after(['Creating', 'Idle', 'Idle'])).toBe('Launched');
    expect(after(['Idle'], 'Launched')).toBe('Launched');
  });

  test('wire phases: CONFIGURING is Registered', () => {
    expect(after(['Creating', 'Idle', 'Configuring'])).toBe('Registered');
  });

  test('wire phases: CONFIGURED is Ready', () => {
    expect(after(['Configuring', 'Configured'])).toBe('Ready');
  });

  test('wire phases: DRAINING is Draining', () => {
    expect(after(['Configured', 'Draining'])).toBe('Draining');
  });

  test('wire phases: IDLE after DRAINING is Drained, and then the object is deleted', () => {
    expect(after(['Configured', 'Draining', 'Idle'])).toBe('Drained');
    expect(after(['Idle'], 'Draining')).toBe('Drained');
    expect(endsObject('Drained')).toBe(true);
  });

  test('wire phases: DRAINING superseded by IDLE is judged by the last frame, not by the phase', () => {
    expect(after(['Creating', 'Configuring', 'Configured', 'Draining', 'Idle'], 'Provisioning'))
      .toBe('Drained');
  });

  test('wire phases: IDLE after CONFIGURING, a bootstrap rolled back, ends the object', () => {
    expect(after(['Configuring', 'Idle'])).toBe('Gone');
    expect(after(['Idle'], 'Registered')).toBe('Gone');
  });

  test('wire phases: IDLE ends the object in any phase, except during creation', () => {
    const ended = PHASES.filter((phase) => {
      const next = after(['Idle'], phase);
      return next !== undefined && endsObject(next);
    });
    expect(ended).toEqual(['Registered', 'Ready', 'Draining', 'Drained', 'Failed']);
  });

  test('wire phases: IDLE of an unknown machine does nothing', () => {
    expect(after(['Idle'])).toBeUndefined();
    expect(after(['Idle', 'Idle', 'Deleting'])).toBeUndefined();
  });

  test('wire phases: DELETING ends the object in every phase', () => {
    for (const phase of PHASES) expect(after(['Deleting'], phase)).toBe('Gone');
    expect(after(['Deleting'])).toBeUndefined();
  });

  test('wire phases: FAILED is Failed', () => {
    for (const phase of PHASES) expect(after(['Failed'], phase)).toBe('Failed');
  });

  test('wire phases: a machine that ended and returns is tracked again', () => {
    expect(after(['Draining', 'Idle', 'Configuring'])).toBe('Registered');
    expect(after(['Deleting', 'Creating', 'Idle'], 'Ready')).toBe('Launched');
    expect(after(['Deleting', 'Idle'], 'Ready')).toBe('Gone');
  });

  test('machine phase can be read back: the stored phase leads to the same end as the last frame', () => {
    // A stored Provisioning is read as CREATING, the only state of the three that the fleet sends
    // before IDLE.
    const ambiguous = (first: MachineState, second: MachineState): boolean =>
      (first === 'Speculative' || first === 'Unspecified') && second === 'Idle';
    for (const first of MACHINE_STATES) {
      const current = follow(undefined, first);
      if (current === undefined || current === 'Gone') continue;
      for (const second of MACHINE_STATES) {
        if (ambiguous(first, second)) continue;
        expect(after([first, second])).toBe(after([second], current));
      }
    }
  });

  test('machine phase recognizes the usual transitions and calls every other one unexpected', () => {
    const walk: readonly MachineState[] = [
      'Speculative',
      'Creating',
      'Idle',
      'Configuring',
      'Configured',
      'Draining',
      'Idle',
      'Deleting',
    ];
    walk.slice(1).forEach((to, index) => {
      expect(isKnownTransition(walk[index] ?? 'Unspecified', to)).toBe(true);
    });
    expect(isKnownTransition('Configured', 'Creating')).toBe(false);
    expect(isKnownTransition('Deleting', 'Configured')).toBe(false);
    expect(isKnownTransition('Draining', 'Configured')).toBe(false);
    for (const state of MACHINE_STATES) expect(isKnownTransition(state, state)).toBe(true);
  });
});
