/** What drains compute from their data: deadlines, remaining time, and which instructions count. */
import { expect, onTestFinished, test } from 'vitest';
import {
  canJoin,
  deadlineOf,
  deadlineOfAnnotation,
  type DrainDeadline,
  drainOwnersOf,
  drainStateOf,
  drainTime,
  isEarlier,
  isNamedIn,
} from '../../../src/actors/node-drains/drain-index.ts';
import type { CordonAnnotation } from '../../../src/domain/drain/cordon.ts';
import { drainRig } from '../../support/drains/drain-rig.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const OWNER = 'maintenance-0123456789ab';

const annotated = (traits: Partial<CordonAnnotation> = {}): CordonAnnotation => ({
  ids: ['i1'],
  deadlineMs: null,
  graceSeconds: 0,
  sinceMs: 0,
  ended: null,
  ...traits,
});

const at = (atMs: number | null): DrainDeadline => ({ atMs, graceSeconds: 60 });

test.each(
  [
    [10, 20, true],
    [20, 20, false],
    [20, 10, false],
    [10, null, true],
    [null, 10, false],
    [null, null, false],
  ] as const,
)('DR-03: a deadline at %s is earlier than one at %s: %s', (left, right, expected) => {
  expect(isEarlier(at(left), at(right))).toBe(expected);
});

test('DR-16: the deadline on a Node is the one that it names, or follows from the grace', async () => {
  const time = simulatedTime();
  await time.advance(5000);
  const sinceMs = time.now() - 1000;
  const after = (deadline: DrainDeadline) => ({
    ...deadline,
    atMs: deadline.atMs === null ? null : deadline.atMs - time.monotonic(),
  });
  const of = (owner: 'reclaim' | typeof OWNER, traits: Partial<CordonAnnotation>) =>
    after(deadlineOfAnnotation(time, owner, annotated({ sinceMs, ...traits })));
  expect(of('reclaim', {})).toEqual({ atMs: 29_000, graceSeconds: 30 });
  expect(of('reclaim', { graceSeconds: 100 })).toEqual({ atMs: 99_000, graceSeconds: 100 });
  const named = { graceSeconds: 100, deadlineMs: time.now() + 7000 };
  expect(of('reclaim', named)).toEqual({ atMs: 7000, graceSeconds: 100 });
  expect(of(OWNER, named)).toEqual({ atMs: 7000, graceSeconds: 100 });
  expect(of(OWNER, {})).toEqual({ atMs: null, graceSeconds: 0 });
  expect(deadlineOf(time, { deadlineMs: null, graceSeconds: 9 }))
    .toEqual({ atMs: null, graceSeconds: 9 });
});

test('DR-16: the last quarter and the wait of a tier follow from the deadline and the grace', async () => {
  const time = simulatedTime();
  await time.advance(5000);
  const deadline = { atMs: time.monotonic() + 50_000, graceSeconds: 80 };
  expect(drainTime(time, deadline, undefined))
    .toEqual({ leftMs: 50_000, quarterMs: 20_000, tierWaitMs: 20_000 });
  expect(drainTime(time, deadline, 7)).toMatchObject({ tierWaitMs: 7 });
  expect(drainTime(time, at(null), undefined))
    .toEqual({ leftMs: null, quarterMs: 0, tierWaitMs: 30_000 });
  expect(drainTime(time, at(null), 7)).toMatchObject({ tierWaitMs: 7 });
});

test('DR-04: a cancelled annotation names no instruction, and a drained one does', () => {
  const named = (annotation?: CordonAnnotation) => isNamedIn(annotation, 'i1');
  expect(named()).toBe(false);
  expect(named(annotated())).toBe(true);
  expect(named(annotated({ ended: 'Drained' }))).toBe(true);
  expect(named(annotated({ ended: 'Cancelled' }))).toBe(false);
  expect(named(annotated({ ids: ['i2'] }))).toBe(false);
});

test.each(
  [
    ['closed', 'closed'],
    [{ work: { underway: { draining: 'evicting' } }, clock: 'running' }, 'evicting'],
    [{ first: 'one' }, 'one'],
    [null, 'unknown'],
    [undefined, 'unknown'],
  ] as const,
)('the state of a drain at %j is %s', (value, expected) => {
  expect(drainStateOf({ value })).toBe(expected);
});

test('DR-01: the keys of persons and those left to other processes begin no drain', () => {
  const cordons = { reclaim: '', disabled: '', person: '', [OWNER]: '' };
  expect([...drainOwnersOf({ cordons })]).toEqual(['reclaim', 'disabled', OWNER]);
  expect([...drainOwnersOf({ cordons }, ['disabled'])]).toEqual(['reclaim', OWNER]);
});

test('DR-03: an instruction joins a drain that works, and none that has stopped or ends', async () => {
  const { node, pods, order, time, drains, setLeading, stop } = drainRig();
  onTestFinished(stop);
  for (const name of ['n1', 'n2']) {
    node(name);
    pods.add({ node: name, goesAfterMs: 20_000 });
  }
  order('i1', ['n1', 'n2']);
  await time.advance(2000);
  const [works, ends] = ['n1', 'n2'].map((name) => drains().get(name));
  expect(canJoin(undefined)).toBe(true);
  expect(canJoin(works?.getSnapshot())).toBe(true);
  await time.advance(1000);
  ends?.send({ type: 'node.vanished' });
  expect(canJoin(ends?.getSnapshot())).toBe(false);
  setLeading(false);
  expect(works?.getSnapshot().status).toBe('stopped');
  expect(canJoin(works?.getSnapshot())).toBe(false);
});
