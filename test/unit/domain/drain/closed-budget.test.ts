/** Budgets that can never open, told from budgets that are full now. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  closedText,
  neverAllows,
  neverAllowsText,
  openingChange,
  slotChange,
} from '../../../../src/domain/drain/closed-budget.ts';
import { budgetOf, type BudgetTraits } from '../../../support/drains/drain-facts.ts';

const budget = (spec: object, status: object, more: BudgetTraits = {}) =>
  budgetOf({ ...more, spec: { minAvailable: undefined, ...spec }, status });

const counts = (expectedPods: number, desiredHealthy: number, currentHealthy = expectedPods) => ({
  expectedPods,
  desiredHealthy,
  currentHealthy,
});

const PATCH = 'kubectl patch pdb db --type merge -p';

describe('a budget that can never open', () => {
  it.each([
    [
      { maxUnavailable: 0 },
      counts(4, 4),
      'budget ns/db never allows an eviction: maxUnavailable is 0',
      `Set maxUnavailable to 1 or more: ${PATCH} '{"spec":{"maxUnavailable":1}}' -n ns`,
    ],
    [
      { maxUnavailable: '0%' },
      counts(4, 4),
      'budget ns/db never allows an eviction: maxUnavailable is 0%',
      `Set maxUnavailable to 1 or more: ${PATCH} '{"spec":{"maxUnavailable":1}}' -n ns`,
    ],
    [
      { minAvailable: 3 },
      counts(3, 3),
      'budget ns/db never allows an eviction: minAvailable 3 requires all 3 pods',
      `Run at least 4 replicas, or lower minAvailable: ${PATCH} '{"spec":{"minAvailable":2}}' -n ns`,
    ],
    [
      { minAvailable: 1 },
      counts(1, 1),
      'budget ns/db never allows an eviction: minAvailable 1 requires its only pod',
      `Run at least 2 replicas, or lower minAvailable: ${PATCH} '{"spec":{"minAvailable":0}}' -n ns`,
    ],
    [
      { minAvailable: 5 },
      counts(3, 5),
      'budget ns/db never allows an eviction: minAvailable 5 exceeds its 3 pods',
      `Run at least 6 replicas, or lower minAvailable: ${PATCH} '{"spec":{"minAvailable":2}}' -n ns`,
    ],
    [
      { minAvailable: '90%' },
      counts(3, 3),
      'budget ns/db never allows an eviction: minAvailable 90% (rounded up to 3) requires all 3 pods',
      `Run at least 10 replicas, or lower minAvailable: ${PATCH} '{"spec":{"minAvailable":2}}' -n ns`,
    ],
    [
      { minAvailable: '100%' },
      counts(3, 3),
      'budget ns/db never allows an eviction: minAvailable 100% (rounded up to 3) requires all 3 pods',
      `Lower minAvailable: ${PATCH} '{"spec":{"minAvailable":2}}' -n ns`,
    ],
    [
      { maxUnavailable: 1 },
      counts(0, 0),
      'budget ns/db expects 0 pods and never allows an eviction',
      'Give the pods a controller, set an absolute minAvailable, or delete the pods manually',
    ],
  ])('DR-31: %j with %j', (spec, status, text, change) => {
    const closed = budget(spec, status);
    expect(neverAllows(closed)).toBe(true);
    expect(neverAllowsText(closed)).toBe(text);
    expect(openingChange(closed)).toBe(change);
  });

  /** What the budget's controller requires of `pods` healthy pods. */
  const required = (minAvailable: number | string, pods: number): number =>
    typeof minAvailable === 'number'
      ? minAvailable
      : Math.ceil((Number.parseInt(minAvailable, 10) * pods) / 100);

  it('DR-31: opens with the advised number of replicas, and with none fewer', () => {
    const limits = fc.oneof(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 100 }).map((percent) => `${percent}%`),
    );
    fc.assert(fc.property(limits, fc.integer({ min: 1, max: 40 }), (minAvailable, pods) => {
      const closed = budget({ minAvailable }, counts(pods, required(minAvailable, pods)));
      fc.pre(neverAllows(closed));
      const change = openingChange(closed);
      const advised = /^Run at least (\d+) replicas, or lower/.exec(change)?.[1];
      const isClosed = (replicas: number) => replicas - required(minAvailable, replicas) < 1;
      const firstOpen = [...Array(200).keys()].find((replicas) => !isClosed(replicas));
      expect(advised).toBe(firstOpen === undefined ? undefined : `${firstOpen}`);
      const patched = Number(/"minAvailable":(\d+)/.exec(change)?.[1]);
      expect(neverAllows(budget({ minAvailable: patched }, counts(pods, patched)))).toBe(false);
    }));
  });

  it.each([
    ['is full now', { maxUnavailable: 1 }, counts(4, 3, 3)],
    ['has unhealthy pods', { minAvailable: 2 }, counts(4, 2, 1)],
    ['has a free slot', { minAvailable: 3 }, { ...counts(3, 3, 4), disruptionsAllowed: 1 }],
    ['selects a pod that has no status yet', { minAvailable: 1 }, counts(0, 1)],
    ['has an outdated status', { maxUnavailable: 0 }, { ...counts(3, 3), observedGeneration: 0 }],
    ['has a problem of its controller', { maxUnavailable: 0 }, {
      ...counts(3, 3),
      conditions: [{ type: 'DisruptionAllowed', reason: 'SyncFailed', message: 'no scale' }],
    }],
  ])('DR-31: a budget that %s can open', (_, spec, status) => {
    expect(neverAllows(budget(spec, status))).toBe(false);
  });
});

describe('a budget that is full now', () => {
  it('names its counts and the number of pods that must become healthy', () => {
    const full = budget({ minAvailable: 2 }, counts(4, 2, 1));
    expect(closedText(full)).toBe('budget ns/db allows 0 disruptions: 1 healthy, 2 required');
    expect(slotChange(full)).toBe(
      'Make 2 more pods of the budget healthy, add replicas, or relax the budget: ' +
        'kubectl -n ns describe pdb db',
    );
  });
});
