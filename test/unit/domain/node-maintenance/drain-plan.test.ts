/** The plan of a NodeMaintenance: its order, its injected entries, and the pods of an entry. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DrainPlanEntry,
  effectivePlan,
  entryKey,
  entrySelects,
  planEntriesOf,
  rankOf,
} from '../../../../src/domain/node-maintenance/drain-plan.ts';
import { POD_TYPES, podTypeOf } from '../../../../src/domain/node-maintenance/typed-pods.ts';
import { entryOf, podOfType, targetsText } from '../../../support/node-maintenance/plan-runs.ts';

const MAX = 2 ** 31 - 1;

const planText = (written: readonly DrainPlanEntry[]): string =>
  targetsText(effectivePlan(written, POD_TYPES));

describe('the effective plan', () => {
  const user = '1000000000; 2000000000; 2000001000; max';
  const daemons = user.replaceAll(/\w+(?=;|$)/g, 'DaemonSet $&');
  const statics = user.replaceAll(/\w+(?=;|$)/g, 'Static $&');

  test('NM-25: of a maintenance without a plan it is the twelve entries', () => {
    expect(planText([])).toBe(`${user}; ${daemons}; ${statics}`);
  });

  test('NM-24: injected entries go to their places and are not doubled', () => {
    const written = [
      ...[entryOf(5000), entryOf(1_000_000_000), entryOf(2_000_000_001)],
      ...[entryOf(3000, 'DaemonSet'), entryOf(MAX, 'Static')],
    ];
    expect(planText(written)).toBe(
      `5000; 1000000000; 2000000000; 2000000001; 2000001000; max; ` +
        `DaemonSet 3000; ${daemons}; ${statics}`,
    );
  });

  test('NM-24: an entry with a selector is not the injected one', () => {
    expect(planText([entryOf(1_000_000_000, 'Default', 'web')]))
      .toBe(`web 1000000000; ${user}; ${daemons}; ${statics}`);
  });

  test('has the selected types of pods only', () => {
    expect(targetsText(effectivePlan([entryOf(7), entryOf(9, 'DaemonSet')], ['Default'])))
      .toBe(`7; ${user}`);
  });

  const entries = fc.record({
    podType: fc.constantFrom(...POD_TYPES),
    podPriority: fc.integer({ min: -(2 ** 31), max: MAX }),
    podSelector: fc.constantFrom(null, entryOf(0, 'Default', 'web').podSelector),
  });

  test('NM-21: has one order, by type, priority and selector', () => {
    fc.assert(fc.property(fc.array(entries), (written) => {
      const plan = effectivePlan(written, POD_TYPES);
      plan.slice(1).forEach((entry, index) => {
        const before = plan[index];
        if (before === undefined) throw new Error('No entry');
        expect(rankOf(before)).toBeLessThan(rankOf(entry));
        expect(POD_TYPES.indexOf(before.podType)).toBeLessThanOrEqual(
          POD_TYPES.indexOf(entry.podType),
        );
        if (before.podType === entry.podType) {
          expect(before.podPriority).toBeLessThanOrEqual(entry.podPriority);
        }
      });
      expect(effectivePlan(plan, POD_TYPES)).toEqual(plan);
    }));
  });
});

describe('the entries of a plan', () => {
  const selector = (podSelector: unknown) => planEntriesOf([{ podPriority: 1, podSelector }]);
  const keysOf = (...selectors: readonly unknown[]) => selectors.flatMap(selector).map(entryKey);

  test('NM-22: equal selectors are equal, however they are written', () => {
    const [first, ...others] = keysOf(
      { matchLabels: { app: 'web', tier: 'b' } },
      { matchLabels: { tier: 'b', app: 'web' } },
      {
        matchLabels: { tier: 'b' },
        matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'web'] }],
      },
    );
    expect(others).toEqual([first, first]);
    const [empty, absent] = keysOf({}, undefined);
    expect(empty).toBe(absent);
    expect(empty).not.toBe(first);
  });

  test('NM-22: entries that select other pods are not equal', () => {
    const keys = [
      entryOf(1),
      entryOf(2),
      entryOf(1, 'DaemonSet'),
      entryOf(1, 'Default', 'web'),
      entryOf(1, 'Default', 'db'),
    ].map(entryKey);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('default to the type Default', () => {
    expect(planEntriesOf([{ podPriority: 5 }])).toEqual([entryOf(5)]);
  });

  test('are left out when they are invalid, and cut at their number', () => {
    const raw = [
      {},
      { podPriority: 'high' },
      { podPriority: 1, podType: 'Job' },
      { podPriority: 1, podSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      null,
    ];
    expect(planEntriesOf(raw)).toEqual([]);
    expect(planEntriesOf(Array.from({ length: 40 }, (_, podPriority) => ({ podPriority }))))
      .toHaveLength(32);
  });
});

describe('the pods of an entry', () => {
  test('NM-26: have at most its priority, its type and its labels', () => {
    const pod = podOfType('Default', { priority: 1000, labels: { app: 'web' } });
    expect(entrySelects(entryOf(1000), pod)).toBe(true);
    expect(entrySelects(entryOf(999), pod)).toBe(false);
    expect(entrySelects(entryOf(1000, 'DaemonSet'), pod)).toBe(false);
    expect(entrySelects(entryOf(1000, 'Default', 'web'), pod)).toBe(true);
    expect(entrySelects(entryOf(1000, 'Default', 'db'), pod)).toBe(false);
  });

  test('NM-26: without a priority count as 0', () => {
    expect(entrySelects(entryOf(0), podOfType('Default'))).toBe(true);
    expect(entrySelects(entryOf(-1), podOfType('Default'))).toBe(false);
  });

  test('NM-27: are of a DaemonSet, static, or all others', () => {
    expect(POD_TYPES.map((type) => podTypeOf(podOfType(type)))).toEqual([...POD_TYPES]);
    expect(podTypeOf(podOfType('Default', { controller: null }))).toBe('Default');
  });
});
