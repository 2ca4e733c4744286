/** The blockers of a drain, and when they are recorded. */
import { ManagedRuntime } from 'effect';
import { Layer } from 'effect';
import { describe, expect, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { DrainBlockers } from '../../../src/actors/node-drains/drain-blockers.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const BUDGET = { reason: 'BlockedByBudget', text: 'budget ns/db', subject: 'ns/db' } as const;
const FINALIZER = { reason: 'Finalizer', text: 'finalizer a', subject: 'a' } as const;

const rig = () => {
  const time = simulatedTime();
  const environment = makeActorEnvironment({
    time,
    runtime: ManagedRuntime.make(Layer.empty),
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  let blocked: readonly (typeof BUDGET | typeof FINALIZER)[] = [];
  let overdueAtMs: number | null = null;
  let reviews = 0;
  const recorded: string[] = [];
  const published: string[][] = [];
  let isIdle: boolean = false;
  const blockers = new DrainBlockers(environment, {
    review: () => {
      reviews += 1;
      const leftMs = overdueAtMs === null ? null : overdueAtMs - time.monotonic();
      return {
        blocked: blocked.map((blocker) => ({ blocker, pods: ['ns/a'] })),
        nextMs: leftMs === null || leftMs < 0 ? Number.POSITIVE_INFINITY : leftMs,
        ...(isIdle ? { isIdle: true } : {}),
      };
    },
    record: (drain, { blocker: { reason } }) =>
      recorded.push(`${Math.round(time.monotonic() / 1000)} s ${drain} ${reason}`),
    show: (_, all) => void published.push(all.map(({ blocker: { reason } }) => reason)),
  });
  const set = (next: typeof blocked): void => {
    blocked = next;
    blockers.changed('n1/reclaim');
  };
  return {
    time,
    blockers,
    recorded,
    published,
    idle: (now: boolean) => {
      isIdle = now;
    },
    set,
    reviews: () => reviews,
    overdueAt: (atMs: number) => {
      overdueAtMs = atMs;
    },
  };
};

describe('blockers of a drain', () => {
  test('DR-42: a cause is recorded once when it has lasted for ten seconds', async () => {
    const { time, recorded, set } = rig();
    set([BUDGET]);
    await time.advance(10_000);
    expect(recorded).toEqual([]);
    await time.advance(60_000);
    expect(recorded).toEqual(['11 s n1/reclaim BlockedByBudget']);
  });

  test('DR-42: a recorded cause that recurs is not recorded again', async () => {
    const { time, recorded, set } = rig();
    set([BUDGET]);
    await time.advance(20_000);
    set([]);
    await time.advance(20_000);
    set([BUDGET]);
    await time.advance(60_000);
    expect(recorded).toHaveLength(1);
  });

  test('DR-42: a cause that disappears before it is recorded starts over', async () => {
    const { time, recorded, set } = rig();
    set([BUDGET]);
    await time.advance(8000);
    set([]);
    await time.advance(2000);
    set([BUDGET]);
    await time.advance(10_000);
    expect(recorded).toEqual([]);
    await time.advance(2000);
    expect(recorded).toHaveLength(1);
  });

  test('DR-42: recorded causes are published as long as they block, and again when they recur', async () => {
    const { time, published, set } = rig();
    set([BUDGET, FINALIZER]);
    await time.advance(20_000);
    expect(published).toEqual([['BlockedByBudget'], ['BlockedByBudget', 'Finalizer']]);
    set([FINALIZER]);
    await time.advance(20_000);
    set([]);
    await time.advance(20_000);
    set([BUDGET]);
    await time.advance(60_000);
    expect(published.slice(2)).toEqual([['Finalizer'], [], ['BlockedByBudget']]);
  });

  test('DR-42: a drain that evicts nothing for a moment keeps what is published', async () => {
    const { time, published, set, idle } = rig();
    set([BUDGET]);
    await time.advance(20_000);
    idle(true);
    set([]);
    await time.advance(20_000);
    expect(published).toEqual([['BlockedByBudget']]);
  });

  test('DR-42: nothing is computed without a change, and an ended drain is removed', async () => {
    const { time, recorded, set, reviews, blockers } = rig();
    set([BUDGET, FINALIZER]);
    await time.advance(5000);
    expect(reviews()).toBe(1);
    blockers.forget('n1/reclaim');
    await time.advance(60_000);
    expect(recorded).toEqual([]);
    expect(reviews()).toBe(1);
  });

  test('DR-42: a termination is reviewed when it becomes overdue, without any event', async () => {
    const { time, set, reviews, overdueAt } = rig();
    overdueAt(30_000);
    set([]);
    await time.advance(29_000);
    expect(reviews()).toBe(1);
    await time.advance(3000);
    expect(reviews()).toBe(2);
  });

  test('DR-42: changes within a second are one review of each drain', async () => {
    const { time, reviews, blockers } = rig();
    for (const drain of ['n1/reclaim', 'n2/reclaim', 'n1/reclaim']) blockers.changed(drain);
    await time.advance(5000);
    expect(reviews()).toBe(2);
    blockers.changed('n1/reclaim');
    blockers.forget('n1/reclaim');
    await time.advance(5000);
    expect(reviews(), 'a drain that has ended is not reviewed').toBe(2);
  });

  test('DR-42: the causes of one drain say nothing of those of another', async () => {
    const { time, recorded, set, blockers } = rig();
    set([BUDGET]);
    await time.advance(20_000);
    blockers.changed('n2/reclaim');
    await time.advance(20_000);
    expect(recorded.map((line) => line.split(' ').slice(2))).toEqual([
      ['n1/reclaim', 'BlockedByBudget'],
      ['n2/reclaim', 'BlockedByBudget'],
    ]);
    blockers.forget('n1/reclaim');
    blockers.changed('n1/reclaim');
    blockers.changed('n2/reclaim');
    await time.advance(20_000);
    expect(recorded.slice(2), 'the next drain of n1 has its own Event').toEqual([
      expect.stringContaining('n1/reclaim'),
    ]);
  });

  test('DR-42: nothing is reviewed or recorded after a stop', async () => {
    const { time, recorded, set, reviews, blockers } = rig();
    set([BUDGET]);
    await time.advance(5000);
    await blockers.stop();
    blockers.changed('n1/reclaim');
    await time.advance(60_000);
    expect([recorded, reviews()]).toEqual([[], 1]);
  });
});
