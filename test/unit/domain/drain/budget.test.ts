/** The drain facts of a PodDisruptionBudget, and which pods it covers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgetIndex } from '../../../../src/domain/drain/budget-index.ts';
import { budgetCovers, isProcessed, projectBudget } from '../../../../src/domain/drain/budget.ts';
import { budgetOf, podOf } from '../../../support/drains/drain-facts.ts';

const covers = (selector: object | null, labels: Readonly<Record<string, string>>): boolean =>
  budgetCovers(budgetOf({ selector }), podOf({ labels }));

const expression = (key: string, operator: string, ...values: readonly string[]): object => ({
  matchExpressions: [{ key, operator, values }],
});

describe('projectBudget', () => {
  it('reads counts, policy and evictions in flight', () => {
    const budget = budgetOf({
      generation: 3,
      spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      status: {
        observedGeneration: 2,
        disruptionsAllowed: 1,
        currentHealthy: 4,
        desiredHealthy: 3,
        expectedPods: 5,
        disruptedPods: { a: '2026-01-01T00:00:00Z', b: 'never' },
      },
    });
    expect(budget).toMatchObject({
      key: 'ns/db',
      unhealthyPods: 'AlwaysAllow',
      generation: 3,
      observedGeneration: 2,
      disruptionsAllowed: 1,
      currentHealthy: 4,
      desiredHealthy: 3,
      expectedPods: 5,
      disruptedPods: { a: Date.UTC(2026, 0, 1) },
      countsControllers: false,
      syncProblem: '',
    });
    expect(isProcessed(budget)).toBe(false);
  });

  it.each([
    ['maxUnavailable', { maxUnavailable: 1 }, true],
    ['a percentage', { minAvailable: '50%' }, true],
    ['a number that must be available', { minAvailable: 2 }, false],
  ])('DR-31: %s counts controllers or not', (_, spec, counts) => {
    expect(budgetOf({ spec }).countsControllers).toBe(counts);
  });

  it('reads why its controller cannot compute the status', () => {
    const conditions = [{ type: 'DisruptionAllowed', reason: 'SyncFailed', message: 'no scale' }];
    expect(budgetOf({ status: { conditions } }).syncProblem).toBe('no scale');
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.anything(), (raw) => {
      projectBudget(raw);
      const metadata = { name: 'a', uid: 'u', resourceVersion: '1' };
      projectBudget({ metadata, spec: { selector: raw }, status: raw });
    }));
  });
});

describe('budgetCovers', () => {
  it('DR-31: a budget without a selector matches nothing and {} matches all', () => {
    expect(covers(null, { app: 'web' })).toBe(false);
    expect(covers({}, { app: 'web' })).toBe(true);
    expect(covers({}, {})).toBe(true);
  });

  it('stays within its namespace', () => {
    const budget = budgetOf({ selector: {} });
    expect(budgetCovers(budget, podOf({ namespace: 'other' }))).toBe(false);
  });

  it.each([
    [{ matchLabels: { app: 'web', tier: 'x' } }, { app: 'web' }, false],
    [expression('app', 'In', 'web', 'db'), { app: 'db' }, true],
    [expression('app', 'In', 'web'), {}, false],
    [expression('app', 'NotIn', 'web'), {}, true],
    [expression('app', 'NotIn', 'web'), { app: 'web' }, false],
    [expression('app', 'Exists'), { app: '' }, true],
    [expression('app', 'DoesNotExist'), { app: 'web' }, false],
    [expression('app', 'DoesNotExist'), {}, true],
    [expression('constructor', 'Exists'), {}, false],
  ])('%j on %j: %s', (selector, labels, expected) => {
    expect(covers(selector, labels)).toBe(expected);
  });

  it.each([
    expression('app', 'Like', 'web'),
    expression('app', 'In'),
    expression('app', 'Exists', 'web'),
    expression('', 'Exists'),
  ])('matches nothing with an invalid selector: %j', (selector) => {
    expect(covers(selector, { app: 'web' })).toBe(false);
  });
});

describe('budgetIndex', () => {
  const web = podOf({ name: 'web-1', labels: { app: 'web' } });
  const db = podOf({ name: 'db-1', labels: { app: 'db' } });
  const forWeb = budgetOf({ name: 'web' });
  const forAll = budgetOf({ name: 'all', selector: {} });

  it('DR-30: finds budgets of a pod and pods of a budget, whichever came first', () => {
    const index = budgetIndex();
    index.putBudget(forWeb);
    expect(index.putPod(web)).toBe(true);
    expect(index.putPod(db)).toBe(false);
    expect(index.putBudget(forAll)).toEqual([web.uid, db.uid]);
    expect(index.budgetsOf(web.uid)).toEqual([forAll, forWeb]);
    expect(index.podsOf(forAll.key)).toEqual([web, db]);
    expect(index.podsOf(forWeb.key)).toEqual([web]);
  });

  it('DR-30: follows a changed selector and a changed label', () => {
    const index = budgetIndex();
    index.putPod(web);
    index.putPod(db);
    index.putBudget(forWeb);
    const moved = budgetOf({ name: 'web', selector: { matchLabels: { app: 'db' } } });
    expect(index.putBudget(moved)).toEqual([web.uid, db.uid]);
    expect(index.podsOf(forWeb.key)).toEqual([db]);
    const relabelled = podOf({ name: 'web-1', labels: { app: 'db' } });
    expect(index.putPod(relabelled)).toBe(true);
    expect(index.budgetsOf(web.uid)).toEqual([moved]);
  });

  it('has the newest facts and reports no change when only counts differ', () => {
    const index = budgetIndex();
    index.putPod(web);
    index.putBudget(forWeb);
    const newer = budgetOf({
      name: 'web',
      resourceVersion: '101',
      status: { disruptionsAllowed: 1 },
    });
    expect(index.putBudget(newer)).toEqual([]);
    expect(index.budgetsOf(web.uid)).toEqual([newer]);
    const unready = podOf({ name: 'web-1', ready: false });
    expect(index.putPod(unready)).toBe(false);
    expect(index.podsOf(forWeb.key)).toEqual([unready]);
  });

  it('removes deleted objects', () => {
    const index = budgetIndex();
    index.putPod(web);
    index.putBudget(forWeb);
    expect(index.removeBudget(forWeb.key)).toEqual([web.uid]);
    expect(index.budgetsOf(web.uid)).toEqual([]);
    index.putBudget(forWeb);
    index.removePod(web.uid);
    expect(index.podsOf(forWeb.key)).toEqual([]);
    expect(index.removeBudget(forWeb.key)).toEqual([]);
    expect(index.removeBudget(forWeb.key)).toEqual([]);
    index.removePod(web.uid);
  });

  it('covers a pod that is put again after it was removed', () => {
    const index = budgetIndex();
    index.putPod(web);
    index.putBudget(forWeb);
    index.removePod(web.uid);
    expect(index.putPod(web)).toBe(true);
    expect(index.podsOf(forWeb.key)).toEqual([web]);
  });

  it('equals a full scan, in any order of changes', () => {
    const values = fc.constantFrom('x', 'y');
    const labels = fc.dictionary(fc.constantFrom('a', 'b'), values, { maxKeys: 2 });
    const change = fc.record({
      kind: fc.constantFrom('pod', 'budget', 'noPod', 'noBudget'),
      name: fc.constantFrom('1', '2', '3'),
      labels,
    });
    fc.assert(fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const index = budgetIndex();
      const pods = new Map<string, ReturnType<typeof podOf>>();
      const budgets = new Map<string, ReturnType<typeof budgetOf>>();
      for (const { kind, name, labels } of changes) {
        const pod = podOf({ name, labels });
        const budget = budgetOf({ name, selector: { matchLabels: labels } });
        if (kind === 'pod') {
          pods.set(name, pod);
          index.putPod(pod);
        } else if (kind === 'budget') {
          budgets.set(name, budget);
          index.putBudget(budget);
        } else if (kind === 'noPod') {
          pods.delete(name);
          index.removePod(pod.uid);
        } else {
          budgets.delete(name);
          index.removeBudget(budget.key);
        }
      }
      for (const pod of pods.values()) {
        const covering = [...budgets.values()].filter((budget) => budgetCovers(budget, pod));
        const found = index.budgetsOf(pod.uid).map(({ key }) => key);
        expect(found).toEqual(covering.map(({ key }) => key).toSorted());
      }
      for (const budget of budgets.values()) {
        const covered = [...pods.values()].filter((pod) => budgetCovers(budget, pod));
        const found = index.podsOf(budget.key).map(({ key }) => key).toSorted();
        expect(found).toEqual(covered.map(({ key }) => key).toSorted());
        expect(index.coversAny(budget.key)).toBe(covered.length > 0);
      }
    }));
  });
});
