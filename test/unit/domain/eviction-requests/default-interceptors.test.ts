/** Which pods get an interceptor that they do not register. */
import { describe, expect, test } from 'vitest';
import { type Budget, projectBudget } from '../../../../src/domain/drain/budget.ts';
import { type DrainPod, projectPod } from '../../../../src/domain/drain/pod.ts';
import { availabilityIndex } from '../../../../src/domain/eviction-requests/default-interceptors.ts';

const pod = (name: string, { set = 'web-1', kind = 'ReplicaSet', ...more }: {
  readonly set?: string;
  readonly kind?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly phase?: string;
} = {}): DrainPod => {
  const { labels = { app: 'web', 'pod-template-hash': '1' }, phase = 'Running', ...metadata } =
    more;
  const found = projectPod({
    metadata: {
      namespace: 'ns',
      name,
      uid: name,
      resourceVersion: '1',
      labels,
      ownerReferences: [{ kind, name: set, uid: set, controller: true }],
      ...metadata,
    },
    status: { phase },
  });
  if (found === undefined) throw new Error('No pod');
  return found;
};

const budget = (desiredHealthy: number, expectedPods: number, app = 'web'): Budget => {
  const found = projectBudget({
    metadata: { namespace: 'ns', name: 'budget', uid: 'budget', resourceVersion: '1' },
    spec: { selector: { matchLabels: { app } } },
    status: { desiredHealthy, expectedPods, currentHealthy: 0, disruptionsAllowed: 0 },
  });
  if (found === undefined) throw new Error('No budget');
  return found;
};

const indexOf = (pods: readonly DrainPod[], budgets: readonly Budget[] = []) => {
  const index = availabilityIndex();
  pods.forEach(index.putPod);
  budgets.forEach(index.putBudget);
  return index;
};

describe('a pod of a Deployment would lose its availability', () => {
  test('ER-55: when it is the only one', () => {
    const [only, other] = [pod('a'), pod('b')];
    const index = indexOf([only]);
    expect(index.wouldLose(only)).toBe(true);
    index.putPod(other);
    expect(index.wouldLose(only)).toBe(false);
    index.putPod(pod('b', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
    expect(index.wouldLose(only)).toBe(true);
  });

  test('ER-55: when the other one was taken out of its ReplicaSet, or is of another one', () => {
    const only = pod('a');
    for (
      const taken of [
        pod('b', { kind: 'StatefulSet' }),
        pod('b', { labels: { app: 'debug' } }),
        pod('b', { set: 'debug-1' }),
      ]
    ) {
      const index = indexOf([only, pod('b')]);
      index.putPod(taken);
      expect(index.wouldLose(only)).toBe(true);
      index.putPod(pod('b'));
      expect(index.wouldLose(only)).toBe(false);
      index.removePod(taken);
      expect(index.wouldLose(only)).toBe(true);
    }
  });

  test('ER-55: when a budget allows no disruption although all pods are healthy', () => {
    const pods = [pod('a'), pod('b')];
    const [first = pod('a')] = pods;
    expect(indexOf(pods, [budget(2, 2)]).wouldLose(first)).toBe(true);
    // It has no slot now; it will when its pods are healthy.
    expect(indexOf(pods, [budget(1, 2)]).wouldLose(first)).toBe(false);
    expect(indexOf(pods, [budget(2, 2, 'db')]).wouldLose(first)).toBe(false);
    // Its controller has not looked at it.
    expect(indexOf(pods, [budget(0, 0)]).wouldLose(first)).toBe(false);
  });

  test('and no other: without a Deployment, or when it leaves anyway', () => {
    for (
      const other of [
        pod('a', { kind: 'StatefulSet' }),
        pod('a', { labels: { app: 'web' } }),
        pod('a', { phase: 'Succeeded' }),
        pod('a', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      ]
    ) {
      expect(indexOf([other], [budget(1, 1)]).wouldLose(other)).toBe(false);
    }
  });

  test('until its budget goes, and its other pods are known again', () => {
    const pods = [pod('a'), pod('b')];
    const [first = pod('a'), second = pod('b')] = pods;
    const index = indexOf(pods, [budget(2, 2)]);
    index.removeBudget(budget(2, 2).key);
    expect(index.wouldLose(first)).toBe(false);
    index.removePod(second);
    expect(index.wouldLose(first)).toBe(true);
  });
});
