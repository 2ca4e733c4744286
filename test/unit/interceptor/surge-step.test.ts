/** The next step of a surge, from facts alone. */
import { describe, expect, test } from 'vitest';
import type { AutoscaledBaseline } from '../../../packages/interceptor/src/surge/surge-baseline.ts';
import {
  LOWEST_COST,
  type SurgeFacts,
  surgeFacts,
  type SurgePod,
} from '../../../packages/interceptor/src/surge/surge-facts.ts';
import { restoredCount, surgeStep } from '../../../packages/interceptor/src/surge/surge-step.ts';

const pod = (name: string, more: Partial<SurgePod> = {}): SurgePod => ({
  name,
  uid: name,
  resourceVersion: '1',
  replicaSet: 'set',
  isAvailable: true,
  isTerminating: false,
  hasEnded: false,
  unschedulable: '',
  deletionCost: 0,
  costText: '',
  costChange: null,
  ...more,
});

const chosen = (name: string, more: Partial<SurgePod> = {}): SurgePod =>
  pod(name, {
    deletionCost: LOWEST_COST,
    costText: `${LOWEST_COST}`,
    costChange: { before: '', isKept: true },
    ...more,
  });

/** A Deployment of `before` replicas that has been raised by `by`; null: it was not. */
const facts = (before: number, by: number | null, pods: readonly SurgePod[]): SurgeFacts => ({
  resourceVersion: '1',
  replicas: before + (by ?? 0),
  maxSurge: 2,
  singleClaim: null,
  acceptsDowntime: false,
  autoscaler: null,
  baseline: by === null
    ? null
    : { replicas: before, raisedTo: before + by, isUnaimed: false, autoscaled: null },
  isDeleting: false,
  creationFailure: '',
  downtimePods: [],
  pods,
});

/** `LowerCost old-1`, for these requested pods. */
const stepOf = (of: SurgeFacts, requested: readonly string[], isLate = false): string => {
  const step = surgeStep(of, { requested, isLate });
  switch (step._tag) {
    case 'Raise':
    case 'Lower':
      return `${step._tag} to ${step.baseline.raisedTo}${
        step.baseline.isUnaimed ? ', unaimed' : ''
      }`;
    case 'Restore':
      return `Restore ${step.to}`;
    case 'Scale':
      return `Scale to ${step.replicas}`;
    case 'Wait':
    case 'Done':
      return step._tag;
    default:
      return `${step._tag} ${step.pod.name}`;
  }
};

describe('the next step of a surge', () => {
  test('one requested pod leaves by raising, choosing and lowering, in this order', () => {
    const old = pod('old-1');
    const gone = pod('old-1', { isTerminating: true, isAvailable: false });
    expect([
      facts(1, null, [old]),
      facts(1, 1, [old]),
      facts(1, 1, [old, pod('new', { isAvailable: false })]),
      facts(1, 1, [old, pod('new')]),
      facts(1, 1, [chosen('old-1'), pod('new')]),
      facts(1, 0, [chosen('old-1'), pod('new')]),
      facts(1, 0, [gone, pod('new')]),
      facts(1, null, [gone, pod('new')]),
    ].map((one) => stepOf(one, ['old-1']))).toEqual([
      'Raise to 2',
      'Wait',
      'Wait',
      'LowerCost old-1',
      'Lower to 1',
      'Wait',
      'Restore 1',
      'Done',
    ]);
  });

  test('deletes pods only while more of them are requested than replicas were added', () => {
    const pods = ['old-1', 'old-2', 'old-3'].map((name) => pod(name));
    const replaced = [...pods, pod('new-1'), pod('new-2')];
    expect(stepOf(facts(3, 2, replaced), ['old-1', 'old-2', 'old-3'])).toBe('Delete old-1');
    expect(stepOf(facts(3, 2, replaced), ['old-2', 'old-3'])).toBe('LowerCost old-2');
  });

  test('waits until all replacements are there: one that starts would be removed first', () => {
    const pods = [pod('old-1'), pod('old-2'), pod('new-1'), pod('new-2', { isAvailable: false })];
    const requested = ['old-1', 'old-2'];
    expect(stepOf(facts(2, 2, pods), requested)).toBe('Wait');
    expect(stepOf(facts(2, 2, pods.slice(0, 3)), requested)).toBe('Wait');
    // It leaves nevertheless, a minute later.
    expect(stepOf(facts(2, 2, pods), requested, true)).toBe('Delete old-1');
  });

  test('deletes where a lowered ReplicaSet may remove another pod', () => {
    const low = { deletionCost: LOWEST_COST };
    for (
      const pods of [
        [pod('old-1'), pod('new', low)],
        [pod('old-1'), pod('new', { replicaSet: 'next' })],
        // Somebody else has set the cost since.
        [chosen('old-1', { deletionCost: 5 }), pod('new')],
      ]
    ) expect(stepOf(facts(1, 1, pods), ['old-1'])).toBe('Delete old-1');
    const both = [pod('old-1'), pod('old-2', low), pod('new-1'), pod('new-2')];
    expect(stepOf(facts(2, 2, both), ['old-1', 'old-2'])).toBe('LowerCost old-1');
  });

  test('a chosen pod that stands after the lowering is deleted, with as many available', () => {
    const alone = [chosen('old-1')];
    expect(stepOf(facts(1, 0, alone), ['old-1'])).toBe('Raise to 2, unaimed');
    const again = facts(1, 1, [...alone, pod('new')]);
    const baseline = { replicas: 1, raisedTo: 2, isUnaimed: true, autoscaled: null };
    expect(stepOf({ ...again, baseline }, ['old-1'])).toBe('Delete old-1');
    const others = ['a', 'b', 'new'].map((name) => pod(name));
    expect(stepOf(facts(3, 0, [...alone, ...others.slice(1)]), ['old-1']))
      .toBe('Raise to 4, unaimed');
    expect(stepOf(facts(2, 0, [...alone, ...others.slice(1)]), ['old-1'])).toBe('Wait');
    expect(stepOf(facts(2, 0, [...alone, ...others.slice(1)]), ['old-1'], true))
      .toBe('Delete old-1');
  });

  test('what is not available is not waited for, and leaves first', () => {
    const broken = pod('old-2', { isAvailable: false });
    expect(stepOf(facts(2, null, [pod('old-1'), broken]), ['old-1', 'old-2']))
      .toBe('Delete old-2');
    expect(stepOf(facts(1, 1, [broken, pod('new')]), ['old-2'])).toBe('LowerCost old-2');
    const ended = pod('old-2', { isAvailable: false, hasEnded: true });
    expect(stepOf(facts(1, 1, [ended, pod('new')]), ['old-2'])).toBe('Delete old-2');
  });

  test('pods that stay get their deletion cost back before replicas are restored', () => {
    const pods = [chosen('old-1'), pod('old-2'), pod('new')];
    expect(stepOf(facts(2, 1, pods), ['old-2'])).toBe('RestoreCost old-1');
    expect(stepOf(facts(2, 1, pods), [])).toBe('RestoreCost old-1');
    expect(stepOf({ ...facts(2, 1, pods), replicas: 7 }, ['old-1'])).toBe('RestoreCost old-1');
    expect(stepOf({ ...facts(2, 1, pods.slice(1)), replicas: 7 }, ['old-2'])).toBe('Restore kept');
    expect(stepOf(facts(2, 1, pods.slice(1)), [])).toBe('Restore 2');
  });
});

test('RS-10: a field that was absent before the surge is absent after it', () => {
  const baseline = { replicas: 1, raisedTo: 1, isUnaimed: false };
  const restored = (autoscaled: AutoscaledBaseline | null) =>
    restoredCount({ ...baseline, autoscaled });
  expect([
    restored(null),
    restored({ least: 0, loweredFrom: null }),
    restored({ least: null, loweredFrom: 2 }),
  ]).toEqual([1, 0, 'absent']);
});

/** The Deployment `web`, and the ReplicaSets of two Deployments with the same labels. */
const WEB = { uid: 'web' };
const setOf = (uid: string, deployment: string) => ({
  metadata: { uid, ownerReferences: [{ kind: 'Deployment', controller: true, uid: deployment }] },
});
const SETS = [setOf('set', 'web'), setOf('canary-set', 'web-canary')];

describe('the facts of a pod', () => {
  const read = (annotations: Readonly<Record<string, string>>) =>
    surgeFacts({
      deployment: { metadata: WEB },
      replicaSets: SETS,
      pods: [{
        metadata: {
          annotations,
          ownerReferences: [{ kind: 'ReplicaSet', controller: true, uid: 'set' }],
        },
      }],
      autoscaler: null,
      claims: [],
      downtimePods: [],
    }, 0).pods[0];

  test('have a deletion cost of 0 where kube-controller-manager reads none', () => {
    const cost = (text: string) =>
      read({ 'controller.kubernetes.io/pod-deletion-cost': text })?.deletionCost;
    expect(['-5', '7', `${LOWEST_COST}`, '2147483647'].map(cost))
      .toEqual([-5, 7, LOWEST_COST, 2147483647]);
    expect(['', '+7', '007', '1.5', 'low', '2147483648', '-2147483649'].map(cost))
      .toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  test('name the cost before, and whether the change is kept', () => {
    const before = { 'surge.tidegate.dev/deletion-cost-before': '3' };
    expect(read({})?.costChange).toBe(null);
    expect(read(before)?.costChange).toEqual({ before: '3', isKept: false });
    expect(
      read({
        ...before,
        'controller.kubernetes.io/pod-deletion-cost': `${LOWEST_COST}`,
      })?.costChange,
    ).toEqual({ before: '3', isKept: true });
  });
});

/** The facts of a Deployment of one replica with two Ready pods, the other of which is so. */
const besides = (other: {
  readonly deletionTimestamp?: string;
  readonly phase?: string;
  readonly set?: string;
}) => {
  const ownedBy = (uid: string) => [{ kind: 'ReplicaSet', controller: true, uid }];
  const { phase = 'Running', set = 'set', ...metadata } = other;
  const ready = [{ type: 'Ready', status: 'True' }];
  return surgeFacts({
    deployment: {
      metadata: WEB,
      spec: { replicas: 1, strategy: { rollingUpdate: { maxSurge: 1 } } },
    },
    replicaSets: SETS,
    pods: [
      {
        metadata: { name: 'old', uid: 'old', ownerReferences: ownedBy('set') },
        status: { conditions: ready },
      },
      {
        metadata: { name: 'other', uid: 'other', ownerReferences: ownedBy(set), ...metadata },
        status: { phase, conditions: ready },
      },
    ],
    autoscaler: null,
    claims: [],
    downtimePods: [],
  }, 0);
};

describe('a pod that does not serve', () => {
  test('RS-15: a terminating or failed pod is no replacement for one that leaves', () => {
    expect(stepOf(besides({}), ['old'])).toBe('Delete old');
    expect(stepOf(besides({ deletionTimestamp: '2026-01-01T00:00:00Z' }), ['old']))
      .toBe('Raise to 2');
    expect(stepOf(besides({ phase: 'Failed' }), ['old'])).toBe('Raise to 2');
  });

  test('RS-10: a pod of another Deployment is no replacement, nor is one without owner', () => {
    expect(stepOf(besides({ set: 'canary-set' }), ['old'])).toBe('Raise to 2');
    expect(stepOf(besides({ set: 'gone' }), ['old'])).toBe('Raise to 2');
  });
});
