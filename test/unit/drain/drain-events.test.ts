/** What drains and instructions record: Events, log lines and metrics. */
import { describe, expect, test } from 'vitest';
import {
  drainEvents,
  InstructionEvents,
  UnrecognizedCordons,
} from '../../../src/actors/node-drains/drain-events.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import type { DrainFact } from '../../../src/domain/object-phase.ts';
import type { EntryPhase, ReclaimEntry } from '../../../src/domain/drain/reclaim-entry.ts';
import { SHARD_LIMITS } from '../../../src/domain/shard-limits.ts';
import { endedDrain } from '../../support/drains/ended-drains.ts';

const rawNode = (name: string, annotations: object = {}) => ({
  metadata: { name, uid: `u-${name}`, resourceVersion: '1', annotations },
});

const SUBJECT = { name: 'n1', uid: 'u1' };

const rig = () => {
  const notes: EventNote[] = [];
  const logged: string[] = [];
  const measured: unknown[] = [];
  const telemetry: Telemetry = {
    ...silentTelemetry,
    log: (level, message) => void logged.push(`${level} ${message}`),
    count: (name, by, ...[labels]) => void measured.push([name, by, labels]),
    observe: (name, value, ...[labels]) => void measured.push([name, value, labels]),
  };
  const record = (note: EventNote): void => void notes.push(note);
  return { notes, logged, measured, telemetry, record, events: drainEvents(telemetry, record) };
};

describe('the Events of a drain', () => {
  test('DR-42: its start names the deadline, when there is one', () => {
    const { events, notes } = rig();
    const deadlineMs = Date.parse('2026-01-01T00:10:00Z');
    events.started(SUBJECT, { ids: ['i1', 'i2'], pods: 1, deadlineMs });
    events.started(SUBJECT, { ids: ['i1'], pods: 2, deadlineMs: null });
    expect(notes.map(({ note }) => note)).toEqual([
      'Cordoned for i1, i2: 1 pod to evict by 2026-01-01T00:10:00Z',
      'Cordoned for i1: 2 pods to evict',
    ]);
  });

  test.each(
    [
      [{}, 'info', 'DrainFinished', 'Drained in 12 s'],
      [{ lostPods: 1 }, 'info', 'NodeDeleted', 'The Node was deleted after 12 s with 1 pod on it'],
      [
        { end: 'Failed', lastError: 'no' },
        'warn',
        'DeadlinePassed',
        'Cannot drain the node within 12 s: no',
      ],
      [
        { end: 'Failed', lastError: 'no', forbidden: true },
        'warn',
        'EvictionForbidden',
        'Cannot drain the node within 12 s: no',
      ],
      [
        { end: 'Cancelled', forbidden: true, lostPods: 1 },
        'info',
        'DrainCancelled',
        'Cancelled after 12 s: the node was uncordoned, or the annotation was removed',
      ],
    ] as const,
  )('DR-42: its end has a reason and a level (%s)', (more, level, reason, note) => {
    const { events, notes, logged, measured } = rig();
    const drain = endedDrain({ statelessSeconds: 5, ...more });
    events.ended(SUBJECT, drain);
    expect(logged).toEqual([`${level} Drain ended`]);
    expect(notes).toMatchObject([{ reason, note, isUnlimited: true }]);
    const labels = { outcome: drain.end };
    expect(measured).toEqual([
      ['tidegate_drains_ended_total', 1, labels],
      ['tidegate_node_drain_duration_seconds', drain.seconds, labels],
      ...(drain.end === 'Drained'
        ? [['tidegate_stateless_drain_duration_seconds', 5, undefined]]
        : []),
    ]);
  });

  test('DR-42: its end names what stays on the Node', () => {
    const { events, notes } = rig();
    events.ended(SUBJECT, endedDrain({ volumes: ['v1'], tolerating: ['ns/a'] }));
    events.ended(SUBJECT, endedDrain({ tolerating: ['ns/a', 'ns/b'], acknowledged: ['ns/db'] }));
    expect(notes.map(({ note }) => note)).toEqual([
      'Drained in 12 s; stays, because it tolerates the cordon: ns/a; still attached: v1',
      'Drained in 12 s; stay, because they tolerate the cordon: ns/a, ns/b; ' +
      'stays, as was acknowledged: ns/db',
    ]);
  });

  test('DR-07: Nodes beyond the bound are one Event, and none without any', () => {
    const { events, notes, measured } = rig();
    events.notResumed([]);
    expect([notes, measured]).toEqual([[], []]);
    events.notResumed([SUBJECT, { name: 'n2', uid: 'u2' }]);
    expect(notes).toMatchObject([{ reason: 'CordonLeftAlone', regarding: { name: 'n1' } }]);
    expect(measured).toEqual([
      ['tidegate_cordons_refused_total', 2, { bound: 'resumedInstructions' }],
    ]);
  });
});

test('DR-01: an unrecognized annotation is recorded once, and again when it changed or was gone', () => {
  const recorded: string[] = [];
  const cordons = new UnrecognizedCordons(({ name }, owner) => recorded.push(`${name} ${owner}`));
  const nodeWith = (name: string, annotations: object) => {
    const node = projectDrainedNode(rawNode(name, annotations));
    if (node === undefined) throw new Error('no Node');
    return node;
  };
  const KEY = 'cordon.tidegate.dev/reclaim';
  const bad = nodeWith('n1', { [KEY]: '{"v":2}' });
  const observe = (...nodes: readonly (typeof bad)[]) => {
    for (const node of nodes) cordons.observe(node);
    return recorded.splice(0);
  };
  expect(observe(nodeWith('n1', {}), bad, bad)).toEqual(['n1 reclaim']);
  expect(observe(nodeWith('n1', { [KEY]: '?' }))).toEqual(['n1 reclaim']);
  expect(observe(nodeWith('n1', {}), nodeWith('n1', { [KEY]: '?' }))).toEqual(['n1 reclaim']);
  expect(observe(nodeWith('n2', { [KEY]: '?' }))).toEqual(['n2 reclaim']);
  cordons.forget('n1');
  expect(observe(nodeWith('n1', { [KEY]: '?' }), nodeWith('n2', { [KEY]: '?' })))
    .toEqual(['n1 reclaim']);
});

describe('the Events of an instruction', () => {
  const MAX = SHARD_LIMITS.instruction_log_lines.max;

  const instructionRig = (nodes: readonly string[] = []) => {
    const made = rig();
    const onLease: string[] = [];
    const failed: { readonly machine: string; readonly fact: DrainFact }[] = [];
    const events = new InstructionEvents(made.telemetry, {
      record: made.record,
      recordOnLease: (reason, note) => void onLease.push(`${reason} ${note}`),
      machines: {
        drain: (machine, fact) => {
          failed.push({ machine, fact });
          return Promise.resolve();
        },
      },
      targets: {
        withoutMachine: ({ machine }) =>
          nodes.includes(machine) ? projectNode(rawNode(machine)) : undefined,
        reportedMachineOf: ({ machine }) => `reported ${machine}`,
      },
      upcomingNode: () => undefined,
      maxDraining: { _tag: 'Percent', percent: 10 },
    });
    return { ...made, failed, onLease, events };
  };

  const contextOf = (phases: Readonly<Record<string, EntryPhase>>) => ({
    id: 'i1',
    entries: Object.entries(phases).map(([machine, phase]): ReclaimEntry => ({
      machine,
      node: '',
      phase,
      counted: false,
    })),
    leftMs: 0,
    ackPending: false,
    started: null,
  });

  const reached = (measured: readonly unknown[]) =>
    measured.filter((one) => String(one).startsWith('tidegate_shard_limits_reached_total')).length;

  test('DR-03: a repeat that names many other machines has 20 lines, and counts all of them', () => {
    const { events, notes, logged, measured } = instructionRig();
    for (let index = 0; index < MAX + 3; index += 1) events.changed('i1', `m${index}`);
    expect(notes.map(({ reason }) => reason)).toEqual(Array(MAX).fill('InstructionChanged'));
    expect(logged).toEqual([
      ...Array(MAX).fill('warn Repeated instruction names another machine'),
      'warn Further lines about an instruction left out',
    ]);
    expect(measured.length - reached(measured)).toBe(MAX + 3);
    expect(reached(measured)).toBe(3);
    events.changed('i2', 'm1');
    expect(notes.length, 'another instruction has its own lines').toBe(MAX + 1);
  });

  test('machines that left before their drains have 20 lines, and no Event', () => {
    const { events, notes, logged } = instructionRig();
    for (let index = 0; index < MAX + 3; index += 1) events.left('i1', `m${index}`);
    expect(logged).toEqual([
      ...Array(MAX).fill('info Machine left before its drain began'),
      'warn Further lines about an instruction left out',
    ]);
    expect(notes).toEqual([]);
  });

  test('machines without a Node have 20 Events, and are all counted', () => {
    const { events, notes, measured } = instructionRig();
    for (let index = 0; index < MAX + 3; index += 1) {
      events.actions.recordUnseen(contextOf({ [`m${index}`]: 'Unseen' }));
    }
    expect(notes.map(({ reason }) => reason)).toEqual(Array(MAX).fill('MachineWithoutNode'));
    expect(measured.length - reached(measured)).toBe(MAX + 3);
  });

  test('DR-17: only machines without a Node are recorded, and a Node without one is refused', () => {
    const { events, notes, failed } = instructionRig(['n1']);
    events.actions.recordUnseen(
      contextOf({ m1: 'Unseen', n1: 'Unseen', m2: 'Queued', m3: 'Cordoning', m4: 'Ended' }),
    );
    expect(notes.map(({ reason, regarding: { name } }) => [reason, name])).toEqual([
      ['MachineWithoutNode', expect.stringContaining('m1')],
      ['ReclaimRefused', 'n1'],
    ]);
    expect(notes[0]?.note).toBe('Cannot reclaim "m1" yet: it has no Node');
    expect(failed).toEqual([]);
  });

  test('DR-14: machines whose drains never started are Failed at the deadline, each with its cause', () => {
    const { events, notes, failed } = instructionRig();
    events.actions.recordNeverStarted(contextOf({ m1: 'Unseen', m2: 'Queued', m3: 'Cordoned' }));
    expect(failed).toEqual([
      {
        machine: 'reported m1',
        fact: { _tag: 'Failed', lastError: 'the machine had no Node until the deadline of "i1"' },
      },
      {
        machine: 'reported m2',
        fact: {
          _tag: 'Failed',
          lastError: 'its node waited for --max-draining until the deadline of "i1"',
        },
      },
    ]);
    expect(notes.map(({ note }) => note)).toEqual([
      'Cannot reclaim "m1": the machine had no Node until the deadline of "i1"',
    ]);
  });

  test('DR-07: the limit of instructions of a Node is counted when it refuses, no other refusal', () => {
    const { events, measured } = instructionRig();
    events.refused(SUBJECT, { id: 'i1', refusal: 'NoMachine' });
    expect(reached(measured)).toBe(0);
    events.refused(SUBJECT, { id: 'i1', refusal: 'TooManyInstructions' });
    expect(reached(measured)).toBe(1);
  });

  test('DR-19: what waits for --max-draining is one Event on the Lease, with its number', () => {
    const { events, onLease, logged } = instructionRig();
    events.actions.recordQueued(contextOf({ m1: 'Queued', m2: 'Queued', m3: 'Cordoned' }));
    expect(onLease).toEqual([
      'DrainLimitReached Cannot drain 2 nodes of "i1" yet: --max-draining is 10%; ' +
      'they follow when other drains end, or raise it',
    ]);
    expect(logged).toEqual(['warn Drains queued']);
  });

  test('an instruction that is not taken is an Event on the Lease, and its machines are counted', () => {
    const { events, onLease, measured } = instructionRig();
    events.instructionRefused('i1', 7);
    expect(onLease).toEqual([
      expect.stringContaining('ShardLimitReached Cannot reclaim 7 machines of "i1"'),
    ]);
    expect(measured).toEqual([
      ['tidegate_shard_limits_reached_total', 7, { limit: 'reclaim_machines' }],
    ]);
  });

  test('an instruction of which 20 lines were written has no further Event of a refusal', () => {
    const { events, notes, measured } = instructionRig();
    for (let index = 0; index < MAX + 3; index += 1) {
      events.refused(SUBJECT, { id: 'i1', refusal: 'NoMachine' });
    }
    expect(notes.map(({ reason }) => reason)).toEqual(Array(MAX).fill('ReclaimRefused'));
    expect(measured.length - reached(measured)).toBe(MAX + 3);
  });
});
