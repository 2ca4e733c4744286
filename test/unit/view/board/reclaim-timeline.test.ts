/** The timeline of a reclaim: what it waited for, from the instruction to the end. */
import { expect, test } from 'vitest';
import { type ActorDetail, type ActorRow, kindInId } from '../../../../src/api/actor-board.ts';
import { reclaimTimeline } from '../../../../src/view/board/reclaim-timeline.ts';

const START_MS = 1_000_000;

interface Past {
  readonly id: string;
  readonly context: unknown;
  /** Seconds since the start, and the state from then on. */
  readonly steps: readonly (readonly [seconds: number, state: string])[];
  readonly status?: ActorRow['status'];
}

const detailOf = ({ id, context, steps, status = 'active' }: Past): ActorDetail => ({
  row: {
    id,
    kind: kindInId(id),
    state: steps.at(-1)?.[1] ?? '',
    reason: null,
    status,
    sinceMs: START_MS + (steps.at(-1)?.[0] ?? 0) * 1000,
    bornMs: START_MS + (steps[0]?.[0] ?? 0) * 1000,
  },
  path: steps.map(([seconds, state]) => ({ atMs: START_MS + seconds * 1000, state, event: 'x' })),
  log: [],
  context,
});

const sourceOf = (...pasts: readonly Past[]) => {
  const details = new Map(pasts.map((past) => [past.id, detailOf(past)]));
  return {
    rows: () => [...details.values()].map(({ row }) => row),
    context: (id: string) => details.get(id)?.context,
    detail: (id: string) => details.get(id),
  };
};

const timelineOf = (id: string, ...pasts: readonly Past[]) => {
  const source = sourceOf(...pasts);
  const detail = source.detail(id);
  return detail === undefined ? null : reclaimTimeline(source, detail);
};

const INSTRUCTION: Past = {
  id: 'reclaimInstruction/r1',
  context: { entries: [{ machine: 'm1', node: 'node-1' }] },
  steps: [
    [0, 'underway.answer.cordoning underway.nodes.draining'],
    [1, 'underway.answer.acking underway.nodes.draining'],
    [1, 'underway.answer.ackHeld underway.nodes.draining'],
    [3, 'underway.answer.acked underway.nodes.draining'],
    [20, 'settled'],
  ],
  status: 'stopped',
};

const DRAIN: Past = {
  id: 'nodeDrain/node-1',
  context: { name: 'node-1', annotation: { ids: ['r1'], deadlineMs: START_MS + 60_000 } },
  steps: [
    [0, 'clock.beforeLastQuarter bindings.beforeCordon work.underway.waitingForSlot'],
    [0.5, 'clock.beforeLastQuarter bindings.beforeCordon work.underway.acting.cordoning'],
    [1, 'clock.beforeLastQuarter bindings.arriving work.underway.holding'],
    [2, 'clock.beforeLastQuarter bindings.complete work.underway.draining.waitingForTier'],
    [9, 'clock.beforeLastQuarter bindings.complete work.underway.draining.open'],
    [12, 'clock.lastQuarter bindings.complete work.underway.draining.open'],
    [18, 'clock.lastQuarter bindings.complete work.ending.showing'],
    [20, 'clock.lastQuarter bindings.complete work.drained'],
  ],
  status: 'stopped',
};

const POD: Past = {
  id: 'podEviction/default/a',
  context: { key: 'default/a', node: 'node-1' },
  steps: [[2, 'queued'], [7, 'calling'], [8, 'leaving.terminating'], [17, 'gone']],
  status: 'done',
};

test('a reclaim is one waterfall, each bar with what it waited for', () => {
  const timeline = timelineOf(INSTRUCTION.id, INSTRUCTION, DRAIN, POD);
  expect(timeline?.rows.map(({ name, depth }) => [name, depth])).toEqual([
    ['cordon and ack', 0],
    ['nodes', 0],
    ['node-1', 1],
    ['default/a', 2],
  ]);
  const waits = timeline?.rows.map(({ bars }) => bars.map(({ waitedFor }) => waitedFor));
  expect(waits).toEqual([
    ['API server', 'fleet'],
    ['pods'],
    ['Tidegate', 'API server', 'Tidegate', 'tier', 'pods', 'API server'],
    ['budget', 'API server', 'application'],
  ]);
  expect(timeline?.rows.map(({ end }) => end)).toEqual(['settled', 'settled', 'drained', 'gone']);
  expect(timeline).toMatchObject({
    startMs: START_MS,
    endMs: START_MS + 20_000,
    deadlineMs: START_MS + 60_000,
  });
});

test('bars of one row follow one another, and a change of another region does not cut one', () => {
  const drain = timelineOf(DRAIN.id, DRAIN)?.rows.find(({ depth }) => depth === 1);
  const pods = drain?.bars.find(({ waitedFor }) => waitedFor === 'pods');
  expect(pods).toEqual({
    startMs: START_MS + 9000,
    endMs: START_MS + 18_000,
    waitedFor: 'pods',
    label: 'open',
  });
  drain?.bars.reduce((before, bar) => {
    expect(bar.startMs).toBe(before.endMs);
    return bar;
  });
});

test('the time in which a pod could still appear on an empty node is not its end', () => {
  const drain = timelineOf(DRAIN.id, {
    ...DRAIN,
    steps: [
      [0, 'clock.unbounded bindings.arriving work.underway.draining.settling'],
      [2, 'clock.unbounded bindings.complete work.ending.showing'],
      [3, 'clock.unbounded bindings.complete work.drained'],
    ],
  })?.rows.find(({ depth }) => depth === 1);
  expect(drain?.bars.map(({ waitedFor }) => waitedFor)).toEqual(['Tidegate', 'API server']);
});

test('a drain that goes on has an open bar and no end', () => {
  const timeline = timelineOf(DRAIN.id, {
    ...DRAIN,
    steps: DRAIN.steps.slice(0, 5),
    status: 'active',
  }, {
    ...POD,
    steps: POD.steps.slice(0, 1),
    status: 'active',
  });
  expect(timeline?.endMs).toBeNull();
  expect(timeline?.rows.map(({ bars }) => bars.at(-1)?.endMs)).toEqual([null, null]);
});

test('a pod of an earlier drain of the node is not on it, and other kinds have no timeline', () => {
  const before = {
    ...POD,
    id: 'podEviction/default/old',
    steps: [[-9, 'queued'], [-8, 'gone']],
  } as const;
  expect(timelineOf(DRAIN.id, DRAIN, before)?.rows).toHaveLength(1);
  expect(timelineOf(POD.id, DRAIN, POD)).toBeNull();
});

test('a long timeline is cut, with the number of rows left out', () => {
  const pods = Array.from({ length: 90 }, (_, at) => ({
    ...POD,
    id: `podEviction/default/${at}`,
  }));
  const timeline = timelineOf(DRAIN.id, DRAIN, ...pods);
  expect([timeline?.rows.length, timeline?.rowsLeftOut]).toEqual([40, 51]);
});
