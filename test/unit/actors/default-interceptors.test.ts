/** The default interceptors of pods, from the facts about pods and budgets. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { DefaultInterceptors } from '../../../src/actors/eviction-requests/default-interceptors.ts';
import type { Fact, Identity } from '../../../src/domain/facts.ts';
import { budgetOf, podOf, type PodTraits } from '../../support/drains/drain-facts.ts';

const SURGE = ['surge.tidegate.dev'];

/** A pod of one Deployment. */
const pod = (name: string, traits: PodTraits = {}) =>
  podOf({ name, labels: { app: 'web', 'pod-template-hash': '1' }, ...traits });

/** Never allows a disruption. */
const BUDGET = budgetOf({ status: { desiredHealthy: 4, expectedPods: 4 } });

/** A cache that counts how often all of it is read. */
const cache = <T extends Identity>() => {
  const objects = new Map<string, T>();
  const facts = new Subject<Fact<T>>();
  let reads = 0;
  return {
    facts,
    values: () => {
      reads += 1;
      return objects.values();
    },
    reads: () => reads,
    put: (object: T): void => {
      objects.set(object.key, object);
      facts.next({ _tag: 'Present', object });
    },
    remove: (last: T): void => {
      objects.delete(last.key);
      facts.next({ _tag: 'Absent', key: last.key, last });
    },
    list: (...all: readonly T[]): void => {
      objects.clear();
      for (const one of all) objects.set(one.key, one);
      facts.next({ _tag: 'Listed', objects: all });
    },
  };
};

const rig = (names: readonly string[] = SURGE) => {
  const pods = cache<ReturnType<typeof pod>>();
  const budgets = cache<typeof BUDGET>();
  return { pods, budgets, defaults: new DefaultInterceptors({ names, pods, budgets }) };
};

test('ER-55: a pod has them while it is the only one of its Deployment', () => {
  const { pods, defaults } = rig();
  pods.put(pod('a'));
  expect(defaults.of(pod('a'))).toEqual(SURGE);
  pods.put(pod('b'));
  expect(defaults.of(pod('a'))).toEqual([]);
  pods.remove(pod('b'));
  expect(defaults.of(pod('a'))).toEqual(SURGE);
});

test('ER-55: a pod has them while a budget never allows its eviction', () => {
  const { pods, budgets, defaults } = rig();
  for (const name of ['a', 'b']) pods.put(pod(name));
  budgets.put(BUDGET);
  expect(defaults.of(pod('a'))).toEqual(SURGE);
  budgets.remove(BUDGET);
  expect(defaults.of(pod('a'))).toEqual([]);
});

test('ER-55: what a complete list lacks counts no more, and what it has counts', () => {
  const { pods, budgets, defaults } = rig();
  for (const name of ['a', 'b']) pods.put(pod(name));
  budgets.list(BUDGET);
  expect(defaults.of(pod('a')), 'the listed budget').toEqual(SURGE);
  budgets.list();
  expect(defaults.of(pod('a')), 'the pods are still known').toEqual([]);
  pods.list(pod('a'));
  expect(defaults.of(pod('a')), 'the other pod is gone').toEqual(SURGE);
});

test('the default interceptors read whole lists only when these were listed anew', () => {
  const { pods, budgets } = rig();
  pods.list(pod('a'));
  budgets.list(BUDGET);
  expect([pods.reads(), budgets.reads()]).toEqual([2, 2]);
  pods.put(pod('b'));
  pods.remove(pod('b'));
  budgets.put(BUDGET);
  budgets.remove(BUDGET);
  expect([pods.reads(), budgets.reads()]).toEqual([2, 2]);
});

test('without default interceptors nothing is followed, and no pod has any', () => {
  const { pods, budgets, defaults } = rig([]);
  expect([pods.facts.observed, budgets.facts.observed]).toEqual([false, false]);
  expect(defaults.of(pod('a'))).toEqual([]);
});

test('default interceptors that stop follow nothing any more', async () => {
  const { pods, budgets, defaults } = rig();
  expect([pods.facts.observed, budgets.facts.observed]).toEqual([true, true]);
  await defaults.stop();
  expect([pods.facts.observed, budgets.facts.observed]).toEqual([false, false]);
});
