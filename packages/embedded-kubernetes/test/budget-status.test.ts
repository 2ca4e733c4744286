/** The disruption controller's arithmetic. */
import { describe, expect, test } from 'vitest';
import type { JsonRecord } from '../src/values/json.ts';
import { type BudgetCounts, budgetCounts, scaledUp } from '../src/controllers/budget-status.ts';

const NOW = Date.UTC(2026, 0, 1);

const pod = (
  name: string,
  traits: { ready?: boolean; terminating?: boolean } = {},
): JsonRecord => ({
  metadata: {
    name,
    ...(traits.terminating === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: traits.ready === false ? 'False' : 'True' }],
  },
});
const pods = (count: number): readonly JsonRecord[] =>
  Array.from({ length: count }, (_, at) => pod(`p${at}`));

const counts = (
  spec: JsonRecord,
  covered: readonly JsonRecord[],
  more: { readonly wanted?: number | undefined; readonly disruptedPods?: JsonRecord } = {},
): BudgetCounts | undefined =>
  budgetCounts({
    budget: { spec, status: { disruptedPods: more.disruptedPods ?? {} } },
    pods: covered,
    wanted: 'wanted' in more ? more.wanted : covered.length,
    nowMs: NOW,
  });

describe('scaledUp', () => {
  test.each([
    [3, 7, 3],
    ['30%', 7, 3],
    ['50%', 3, 2],
    ['0%', 10, 0],
    ['100%', 10, 10],
    ['half', 10, undefined],
    [undefined, 10, undefined],
  ])('%s of %i rounds up as Kubernetes does', (value, total, scaled) => {
    expect(scaledUp(value, total)).toBe(scaled);
  });
});

describe('budgetCounts', () => {
  test('maxUnavailable is subtracted from the wanted replicas', () => {
    expect(counts({ maxUnavailable: 1 }, pods(4))).toMatchObject({
      expectedPods: 4,
      desiredHealthy: 3,
      currentHealthy: 4,
      disruptionsAllowed: 1,
    });
  });
  test('a percentage of maxUnavailable refers to the wanted replicas, not the current pods', () => {
    expect(counts({ maxUnavailable: '25%' }, pods(3), { wanted: 8 })).toMatchObject({
      expectedPods: 8,
      desiredHealthy: 6,
      disruptionsAllowed: 0,
    });
  });
  test('a number of minAvailable counts pods of any controller', () => {
    expect(counts({ minAvailable: 2 }, pods(3), { wanted: undefined })).toMatchObject({
      expectedPods: 3,
      desiredHealthy: 2,
      disruptionsAllowed: 1,
    });
  });
  test('a budget over pods without a controller allows nothing under maxUnavailable', () => {
    expect(counts({ maxUnavailable: 1 }, pods(2), { wanted: 0 })).toMatchObject({
      expectedPods: 0,
      disruptionsAllowed: 0,
    });
  });
  test('unready and terminating pods are not healthy', () => {
    const covered = [pod('a'), pod('b', { ready: false }), pod('c', { terminating: true })];
    expect(counts({ maxUnavailable: 1 }, covered)).toMatchObject({
      currentHealthy: 1,
      disruptionsAllowed: 0,
    });
  });
  test('an evicted pod is not healthy until it terminates or two minutes have passed', () => {
    const disruptedPods = {
      p0: new Date(NOW - 1000).toISOString(),
      p1: new Date(NOW - 121_000).toISOString(),
      gone: new Date(NOW).toISOString(),
    };
    const found = counts({ maxUnavailable: 2 }, pods(4), { disruptedPods });
    expect(Object.keys(found?.disruptedPods ?? {})).toEqual(['p0']);
    expect(found).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1, againInMs: 119_000 });
  });
  test('an evicted pod that terminates is not disrupted any more', () => {
    const covered = [pod('p0', { terminating: true }), pod('p1'), pod('p2')];
    const disruptedPods = { p0: new Date(NOW - 1000).toISOString() };
    const found = counts({ maxUnavailable: 2 }, covered, { disruptedPods });
    expect([found?.disruptedPods, found?.againInMs]).toEqual([{}, undefined]);
    expect(found).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
  });
  test('a budget over pods with unknown controllers cannot be computed', () => {
    expect(counts({ maxUnavailable: 1 }, pods(2), { wanted: undefined })).toBeUndefined();
    expect(counts({ minAvailable: '50%' }, pods(2), { wanted: undefined })).toBeUndefined();
  });
});
