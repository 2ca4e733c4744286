/** What a drain records at its start and its end, and which annotations are reported. */
import { describe, expect, test } from 'vitest';
import { drainEvents, UnrecognizedCordons } from '../../../src/actors/node-drains/drain-events.ts';
import type { EndedDrain } from '../../../src/actors/node-drains/ended-drain.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { DrainedNode } from '../../../src/domain/drain/drained-node.ts';
import { sceneNode } from '../../support/drains/drain-scene.ts';

const N1 = { name: 'n1', uid: 'uid-n1' };
const ENDED: EndedDrain = {
  end: 'Drained',
  seconds: 90,
  statelessSeconds: 40,
  lastError: '',
  forbidden: false,
  volumes: [],
  tolerating: [],
  acknowledged: [],
  lostPods: 0,
};

/** The Events of drains, and their log lines and measurements. */
const recorded = () => {
  const notes: EventNote[] = [];
  const lines: string[] = [];
  const measured: unknown[] = [];
  const events = drainEvents({
    ...silentTelemetry,
    log: (level, message) => void lines.push(`${level} ${message}`),
    observe: (name, value, ..._labels) => void measured.push([name, value]),
  }, (note) => void notes.push(note));
  return { notes, lines, measured, events };
};

describe('the Events of a drain', () => {
  test('DR-42: its start says for whom, how many pods must leave, and by when', () => {
    const { notes, events } = recorded();
    events.started(N1, { ids: ['i1'], pods: 1, deadlineMs: Date.UTC(2026, 0, 1) });
    events.started(N1, { ids: ['i1', 'i2'], pods: 3, deadlineMs: null });
    const regarding = { apiVersion: 'v1', kind: 'Node', ...N1 };
    expect(notes).toEqual([
      'Cordoned for i1: 1 pod to evict by 2026-01-01T00:00:00Z',
      'Cordoned for i1, i2: 3 pods to evict',
    ].map((note) => ({ regarding, reason: 'DrainStarted', note, isUnlimited: true })));
  });

  test('DR-42: its end is a warning only when it failed, and is measured', () => {
    const { notes, lines, measured, events } = recorded();
    events.ended(N1, ENDED);
    events.ended(N1, { ...ENDED, end: 'Cancelled' });
    events.ended(N1, { ...ENDED, end: 'Failed', lastError: '1 pod remains' });
    expect(notes.map(({ reason }) => reason))
      .toEqual(['DrainFinished', 'DrainCancelled', 'DeadlinePassed']);
    expect(notes.every(({ isUnlimited }) => isUnlimited)).toBe(true);
    expect(lines).toEqual(['info Drain ended', 'info Drain ended', 'warn Drain ended']);
    expect(measured).toEqual([
      ['tidegate_node_drain_duration_seconds', 90],
      ['tidegate_stateless_drain_duration_seconds', 40],
      ['tidegate_node_drain_duration_seconds', 90],
      ['tidegate_node_drain_duration_seconds', 90],
    ]);
  });

  test('DR-07: none is recorded when all instructions on Nodes were resumed', () => {
    const { notes, events } = recorded();
    events.notResumed([]);
    expect(notes).toEqual([]);
    events.notResumed([N1, { name: 'n2', uid: 'uid-n2' }]);
    expect(notes).toMatchObject([{ regarding: N1, reason: 'CordonLeftAlone' }]);
  });
});

test('DR-01: an annotation of another version is reported once, and again when it changes', () => {
  const reports: string[] = [];
  const cordons = new UnrecognizedCordons(({ name }, owner, why) =>
    void reports.push(`${name} ${owner} ${why}`)
  );
  const observe = (texts: DrainedNode['cordons'], name = 'n1') =>
    cordons.observe({ ...sceneNode(), name, cordons: texts });
  const first = '{"v":2}';
  observe({});
  for (let times = 0; times < 2; times += 1) observe({ reclaim: first });
  expect(reports).toHaveLength(1);
  observe({ reclaim: first, person: 'text' });
  expect(reports).toHaveLength(3);
  observe({});
  observe({ reclaim: first });
  expect(reports, 'after it was mended').toHaveLength(4);
  observe({ reclaim: first }, 'n2');
  cordons.forget('n1');
  observe({ reclaim: first });
  expect(reports.map((report) => report.split(' ')[0])).toEqual([
    'n1',
    'n1',
    'n1',
    'n1',
    'n2',
    'n1',
  ]);
});
