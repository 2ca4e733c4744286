/** Pods and budgets find each other as if each looked at all of the others. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { labelsOf } from '../src/values/object-meta.ts';
import { selects } from '../src/kinds/label-selector.ts';
import { makeSelection } from '../src/controllers/selection.ts';
import { nameOf } from '../src/controllers/controller-environment.ts';

const labels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('a', 'b'));
const metadata = fc.record({
  namespace: fc.constantFrom('one', 'two'),
  name: fc.constantFrom('x', 'y', 'z'),
});
const selector = fc.oneof(
  fc.constant(undefined),
  fc.record({ matchLabels: labels }),
  fc.constant({ matchExpressions: [{ key: 'app', operator: 'Exists' }] }),
);
const pod = fc.tuple(metadata, labels)
  .map(([named, own]) => ({ metadata: { ...named, labels: own } }));
const budget = fc.record({ metadata, spec: fc.record({ selector }) });
const write = fc.oneof(
  fc.record({ what: fc.constant('pods' as const), object: pod, removed: fc.boolean() }),
  fc.record({ what: fc.constant('budgets' as const), object: budget, removed: fc.boolean() }),
);

test('selection finds the selected objects in insertion order, after any writes', () => {
  fc.assert(fc.property(fc.array(write, { maxLength: 40 }), (writes) => {
    const selection = makeSelection();
    for (const { what, object, removed } of writes) {
      if (removed) selection[what].remove(object);
      else selection[what].put(object);
    }
    const all = (what: 'pods' | 'budgets') =>
      [...selection[what].all.values()].map(({ object }) => object);
    const belongs = (one: object, other: object): boolean =>
      nameOf({ ...one }).namespace === nameOf({ ...other }).namespace &&
      selects(one, labelsOf(other));
    for (const one of all('budgets')) {
      expect(selection.podsUnder(one)).toEqual(all('pods').filter((other) => belongs(one, other)));
    }
    for (const other of all('pods')) {
      expect(selection.budgetsOver(other))
        .toEqual(all('budgets').filter((one) => belongs(one, other)));
    }
  }));
});
