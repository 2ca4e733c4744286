/** The forecast of a drain: what is certain to outlast the deadline, and nothing else. */
import { expect, it } from 'vitest';
import type { BlockedPods, Blocker } from '../../../../src/domain/drain/blocker.ts';
import { forecastOf } from '../../../../src/domain/drain/forecast.ts';
import { blockedVerdict } from '../../../../src/domain/drain/verdict.ts';
import { podOf } from '../../../support/drains/drain-facts.ts';

const TERMS = { deadlineMs: Date.UTC(2026, 2, 1, 12, 8), graceSeconds: 600 };

const blocked = (blocker: Partial<Blocker>, pods: readonly string[] = ['ns/a']): BlockedPods => ({
  blocker: { reason: 'BudgetNeverAllows', text: 'why', subject: 'ns/db', ...blocker },
  pods,
});

const sentence = (...facts: Parameters<typeof forecastOf>): string | undefined => {
  const forecast = forecastOf(...facts);
  return forecast && blockedVerdict(forecast).forecast;
};

it('DR-42: a budget that cannot open keeps the node from being empty by the deadline', () => {
  const never = blocked({ text: 'budget ns/db never allows an eviction', change: 'do this' });
  expect(sentence([never], [], TERMS)).toBe(
    'The node will not be empty by 2026-03-01T12:08:00Z: 1 pod cannot leave: ' +
      'budget ns/db never allows an eviction (ns/a)',
  );
  expect(forecastOf([never], [], TERMS)?.blocker.change).toBe('do this');
});

it('DR-42: many budgets are summed up in one forecast', () => {
  const many = Array.from({ length: 7 }, (_, at) => blocked({ text: `b${at}` }, [`ns/p${at}`]));
  expect(sentence(many, [], TERMS)).toContain(
    '7 pods cannot leave: b0; b1; b2; b3; b4; and 2 more (ns/p0, ns/p1, ns/p2, ns/p3, ns/p4 and 2 more)',
  );
});

it('DR-42: a pod whose own grace exceeds that of the drain is in the forecast', () => {
  const slow = { ...podOf({ name: 'slow' }), graceSeconds: 3600 };
  expect(sentence([], [slow, podOf()], TERMS)).toBe(
    'The node may not be empty by 2026-03-01T12:08:00Z: 1 pod may take up to 3600 s to ' +
      'terminate, and the drain has 600 s (ns/slow)',
  );
});

it('DR-42: a budget that is full now, a deadline that is not set, and ready pods are no forecast', () => {
  expect(forecastOf([blocked({ reason: 'BlockedByBudget' })], [podOf()], TERMS)).toBeUndefined();
  const never = blocked({});
  expect(forecastOf([never], [], { deadlineMs: null, graceSeconds: 0 })).toBeUndefined();
});
