/** What `explain pdb` says of budgets: open, full now, closed for good, not counted yet. */
import { expect, test } from 'vitest';
import { explainBudget } from '../../../src/view/explain-budget.ts';
import { drainStatus } from '../../../src/view/drain-status.ts';
import { budgetOf, podOf } from '../../support/drains/drain-facts.ts';
import { sceneOfNode } from '../../support/drains/drain-scene.ts';

const object = (spec: object, status: object) => ({
  metadata: { namespace: 'ns', name: 'db', uid: 'u', resourceVersion: '1', generation: 2 },
  spec: { selector: { matchLabels: { app: 'db' } }, ...spec },
  status: { observedGeneration: 2, expectedPods: 4, ...status },
});
const explained = (spec: object, status: object = {}) =>
  explainBudget({ budget: object(spec, status), drains: [], events: [] });
const detail = (explanation: ReturnType<typeof explained>, wanted: string) =>
  explanation?.details.find(({ name }) => name === wanted)?.value;

test('a budget that allows disruptions is open and needs nobody', () => {
  const open = explained({ maxUnavailable: 1 }, {
    currentHealthy: 4,
    desiredHealthy: 3,
    disruptionsAllowed: 1,
  });
  expect(open).toMatchObject({ state: 'Open', why: 'It allows 1 disruption', canAct: 'nobody' });
  expect(detail(open, 'Asks for')).toBe('maxUnavailable 1');
  expect(detail(open, 'Pods')).toBe('4 of 4 healthy, 3 required');
  expect(detail(open, 'Drains that wait')).toBe('none');
});

test('a budget that is full now waits for its pods', () => {
  expect(explained({ maxUnavailable: 1 }, { currentHealthy: 3, desiredHealthy: 3 })).toMatchObject({
    state: 'Closed',
    why: 'Budget ns/db allows 0 disruptions: 3 healthy, 3 required',
    canAct: 'application',
    action: expect.stringContaining('kubectl -n ns describe pdb db'),
  });
});

test('a budget that can never open has the change that opens it', () => {
  expect(explained({ maxUnavailable: 0 }, { currentHealthy: 4, desiredHealthy: 4 })).toMatchObject({
    state: 'NeverAllows',
    why: 'Budget ns/db never allows an eviction: maxUnavailable is 0',
    canAct: 'application',
    action: expect.stringContaining('kubectl patch pdb db --type merge -p'),
  });
});

test('a budget whose status is older than its spec is not judged', () => {
  expect(explained({ maxUnavailable: 0 }, { observedGeneration: 1 })).toMatchObject({
    state: 'Unprocessed',
    canAct: 'nobody',
  });
});

test('a budget without a selector covers nothing', () => {
  expect(explained({ selector: undefined, maxUnavailable: 0 })).toMatchObject({
    state: 'SelectsNothing',
  });
});

test('drains that wait for the budget are named with their pods', () => {
  const budget = object({ maxUnavailable: 0 }, { currentHealthy: 4, desiredHealthy: 4 });
  const drains = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7'].map((name) =>
    drainStatus(sceneOfNode({
      node: { name },
      pods: [podOf({ name: `${name}-a`, node: name, labels: { app: 'web' } })],
      budgets: [budgetOf({ name: 'db', spec: { maxUnavailable: 0 } })],
    }))
  );
  const waiting = detail(explainBudget({ budget, drains, events: [] }), 'Drains that wait');
  expect(waiting).toMatch(/^n1 \(1 pod\), .* and 2 more$/);
  const unread = explainBudget({ budget, drains: undefined, events: [] });
  expect(detail(unread, 'Drains that wait')).toBe('Cannot be read');
});
