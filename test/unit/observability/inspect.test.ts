/**
 * The inspector for logs and metrics: counts each transition by its chart states and logs it per
 * machine.
 */
import { createActor, setup } from 'xstate';
import { expect, test } from 'vitest';
import type { LogLevel } from '../../../src/api/telemetry.ts';
import { inspectionTap } from '../../../src/observability/inspect.ts';

const gate = setup({
  types: {
    events: {} as { type: 'gate.opened' } | { type: 'gate.closed' } | { type: 'gate.seen' },
  },
}).createMachine({
  id: 'gate',
  initial: 'closed',
  on: { 'gate.seen': {} },
  states: {
    closed: { on: { 'gate.opened': 'open.wide' } },
    open: {
      initial: 'ajar',
      on: { 'gate.closed': 'closed' },
      states: { ajar: {}, wide: {} },
    },
  },
});

const watch = (levels: Readonly<Record<string, LogLevel>>, enabled: readonly LogLevel[]) => {
  const logged: unknown[] = [];
  const counted: unknown[] = [];
  const inspect = inspectionTap({
    levels,
    enabled: (level) => enabled.includes(level),
    telemetry: {
      log: (level, message, fields) => logged.push([level, message, fields]),
      count: (name, by, ...[labels]) => counted.push([name, by, labels]),
    },
  });
  const actor = createActor(gate, { id: 'gate-7', inspect });
  actor.start();
  actor.send({ type: 'gate.seen' });
  actor.send({ type: 'gate.opened' });
  actor.send({ type: 'gate.closed' });
  return { logged, counted };
};

const TRANSITIONS = 'tidegate_machine_transitions_total';

test('inspectionTap counts transitions by chart states', () => {
  const { counted } = watch({ gate: 'info' }, ['info']);
  expect(counted).toEqual([
    [TRANSITIONS, 1, { machine: 'gate', from: 'closed', to: 'open.wide' }],
    [TRANSITIONS, 1, { machine: 'gate', from: 'open', to: 'closed' }],
  ]);
});

test('inspectionTap logs machine, actor, event, from and to under one constant message', () => {
  const { logged } = watch({ gate: 'info' }, ['info']);
  expect(logged[0]).toEqual(['info', 'Statechart moved', {
    machine: 'gate',
    actor: 'gate-7',
    event: 'gate.opened',
    from: 'closed',
    to: 'open.wide',
  }]);
});

test('inspectionTap counts but does not log below the level', () => {
  const { logged, counted } = watch({ gate: 'debug' }, ['info']);
  expect([logged.length, counted.length]).toEqual([0, 2]);
});

test('inspectionTap ignores machines that are not in the catalogue', () => {
  const { logged, counted } = watch({}, ['debug', 'info']);
  expect([logged, counted]).toEqual([[], []]);
});
