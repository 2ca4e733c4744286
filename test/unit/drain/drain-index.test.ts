/** What drains compute from instructions and from the keys on Nodes. */
import { describe, expect, test } from 'vitest';
import {
  canJoin,
  deadlineOfAnnotation,
  type DrainEntry,
  drainEntry,
  type DrainOrder,
  drainOwnersOf,
  DrainsByNode,
  drainSeconds,
  drainStateOf,
  drainTime,
  isEarlier,
  isNamedIn,
  orderedDrain,
  resumedDrain,
  takesInstruction,
} from '../../../src/actors/node-drains/drain-index.ts';
import { DrainPods } from '../../../src/actors/node-drains/drain-pods.ts';
import type { CordonAnnotation } from '../../../src/domain/drain/cordon.ts';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import { SHARD_LIMITS } from '../../../src/domain/shard-limits.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const GRACE_SECONDS = 400;

/** An instruction of a minute ago. */
const annotationAt = (nowMs: number, more: Partial<CordonAnnotation> = {}): CordonAnnotation => ({
  ids: ['i1'],
  deadlineMs: null,
  graceSeconds: GRACE_SECONDS,
  sinceMs: nowMs - 60_000,
  ended: null,
  ...more,
});

const orderOf = (id: string): DrainOrder => ({
  id,
  owner: 'reclaim',
  machineId: 'm1',
  deadlineMs: null,
  graceSeconds: GRACE_SECONDS,
  sinceMs: 0,
});

const PODS = new DrainPods({
  on: () => [],
  isWithheld: () => false,
  graceSeconds: () => null,
  daemonSetsLeave: false,
  kept: undefined,
  evictions: { statusOf: () => undefined, progress: () => undefined },
  resumedSinceMs: null,
  own: null,
  now: () => 0,
});

const entryOf = (name: string, id = 'i1'): DrainEntry => {
  const node = projectDrainedNode({ metadata: { name, uid: `uid-${name}`, resourceVersion: '1' } });
  if (node === undefined) throw new Error('no Node');
  return drainEntry(node, orderedDrain(simulatedTime(), orderOf(id)), PODS);
};

describe('the deadline on a Node', () => {
  const read = (owner: 'reclaim' | 'disabled', more: Partial<CordonAnnotation>) => {
    const time = simulatedTime();
    const deadline = deadlineOfAnnotation(time, owner, annotationAt(time.now(), more));
    return {
      ...deadline,
      leftMs: deadline.atMs === null ? null : deadline.atMs - time.monotonic(),
    };
  };

  test('a reclaim without a deadline has its grace from its beginning', () => {
    expect(read('reclaim', {})).toMatchObject({ leftMs: 340_000, graceSeconds: GRACE_SECONDS });
  });

  test('another owner without a deadline drains without one', () => {
    expect(read('disabled', {})).toEqual({ atMs: null, leftMs: null, graceSeconds: 0 });
  });

  test.each(['reclaim', 'disabled'] as const)('a deadline is kept (%s)', (owner) => {
    const deadlineMs = simulatedTime().now() + 5000;
    expect(read(owner, { deadlineMs })).toMatchObject({
      leftMs: 5000,
      graceSeconds: GRACE_SECONDS,
    });
  });
});

describe('the time of a drain', () => {
  test('is that until the deadline and until its last quarter', async () => {
    const time = simulatedTime();
    await time.advance(7000);
    const atMs = time.monotonic() + 300_000;
    expect(drainTime(time, { atMs, graceSeconds: GRACE_SECONDS }, undefined))
      .toEqual({ leftMs: 300_000, quarterMs: 100_000, tierWaitMs: 30_000 });
  });

  test('has a tier wait without a deadline as well', () => {
    const none = { atMs: null, graceSeconds: 0 };
    expect(drainTime(simulatedTime(), none, undefined))
      .toEqual({ leftMs: null, quarterMs: 0, tierWaitMs: 30_000 });
    expect(drainTime(simulatedTime(), none, 5000).tierWaitMs).toBe(5000);
  });

  test.each(
    [
      [1, 2, true],
      [2, 2, false],
      [3, 2, false],
      [1, null, true],
      [null, 2, false],
      [null, null, false],
    ] as const,
  )('a deadline at %s is earlier than one at %s: %s', (left, right, earlier) => {
    const at = (atMs: number | null) => ({ atMs, graceSeconds: 0 });
    expect(isEarlier(at(left), at(right))).toBe(earlier);
  });

  test('a resumed drain counts from its key, but never from the future', () => {
    const time = simulatedTime();
    const begun = (sinceMs: number) =>
      time.monotonic() - resumedDrain(time, annotationAt(time.now(), { sinceMs }), {
        owner: 'reclaim',
        isWithdrawn: false,
        isReleased: true,
      }).sinceMs;
    expect([begun(time.now() - 60_000), begun(time.now() + 60_000)]).toEqual([60_000, 0]);
  });

  test('RS-30: that of stateless pods ends when only kept pods remain, or with the drain', () => {
    const entry = { ...entryOf('n1'), sinceMs: 5000 };
    const endMs = entry.sinceMs + 10_000;
    expect(drainSeconds(entry, endMs)).toEqual({ seconds: 10, statelessSeconds: 10 });
    entry.statelessGoneMs = entry.sinceMs + 4000;
    expect(drainSeconds(entry, endMs)).toEqual({ seconds: 10, statelessSeconds: 4 });
  });
});

describe('a key on a Node', () => {
  test('names its instructions until the drain was cancelled', () => {
    const key = (ended: CordonAnnotation['ended']) => annotationAt(0, { ended });
    expect(isNamedIn(key(null), 'i1')).toBe(true);
    expect(isNamedIn(key('Failed'), 'i1')).toBe(true);
    expect(isNamedIn(key('Cancelled'), 'i1')).toBe(false);
    expect(isNamedIn(key(null), 'i2')).toBe(false);
    expect(isNamedIn(undefined, 'i1')).toBe(false);
  });

  test('is a drain when it is of an owner that drains and that is not left to others', () => {
    const cordons = { reclaim: '', disabled: '', 'maintenance-1': '', ann: '' };
    expect([...drainOwnersOf({ cordons })]).toEqual(['reclaim', 'disabled', 'maintenance-1']);
    expect([...drainOwnersOf({ cordons }, ['disabled'])]).toEqual(['reclaim', 'maintenance-1']);
  });
});

describe('an entry of a drain', () => {
  test('DR-42: its start is recorded already only when it resumes with evictions', () => {
    const time = simulatedTime();
    const { node } = entryOf('n1');
    const resumed = (isReleased: boolean) =>
      drainEntry(
        node,
        resumedDrain(time, annotationAt(time.now()), {
          owner: 'reclaim',
          isWithdrawn: false,
          isReleased,
        }),
        PODS,
      ).isStartRecorded;
    expect([entryOf('n1').isStartRecorded, resumed(true), resumed(false)])
      .toEqual([false, true, false]);
  });

  test('takes its own instructions, and others up to the limit, queued ones included', () => {
    const { max } = SHARD_LIMITS.node_instructions;
    const entry = entryOf('n1');
    for (let at = 2; at < max; at += 1) entry.ids.add(`i${at}`);
    expect([takesInstruction(undefined, 'new'), takesInstruction(entry, 'new')])
      .toEqual([true, true]);
    entry.queued.push(orderOf('queued'));
    expect([takesInstruction(entry, 'i1'), takesInstruction(entry, 'new')]).toEqual([true, false]);
    expect(canJoin(undefined)).toBe(true);
  });
});

describe('the state of a drain', () => {
  test.each(
    [
      [{ work: { underway: { draining: 'evicting' } }, clock: 'early' }, 'evicting'],
      [{ work: 'cordoning', clock: 'early' }, 'cordoning'],
      ['settled', 'settled'],
    ] as const,
  )('%j is shown as its innermost work: %s', (value, innermost) => {
    expect(drainStateOf({ value })).toBe(innermost);
  });
});

test('a Node has drains until the last of them is removed', () => {
  const drains = new DrainsByNode();
  const [first, second, other] = [entryOf('n1'), entryOf('n1', 'i2'), entryOf('n2')];
  for (const entry of [first, second, other]) drains.add(entry);
  drains.remove(first);
  expect([drains.nodes(), drains.of('n1')]).toEqual([['n1', 'n2'], [second]]);
  drains.remove(second);
  drains.remove(second);
  expect([drains.nodes(), drains.of('n1'), drains.of('n2')]).toEqual([['n2'], [], [other]]);
});
