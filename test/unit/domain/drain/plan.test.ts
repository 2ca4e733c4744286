/** The plan of a drain, and its tiers. */
import { describe, expect, it } from 'vitest';
import {
  comesBack,
  drainProgress,
  OWN_TIER,
  planOf,
  type PlanTerms,
  returnedOwners,
  roleOf,
} from '../../../../src/domain/drain/plan.ts';
import {
  freshTiers,
  hasStarted,
  nextStartMs,
  startTiers,
  tierMoved,
  type TierState,
} from '../../../../src/domain/drain/tiers.ts';
import { uid } from '../../../../src/domain/ids.ts';
import { podOf, type PodTraits } from '../../../support/drains/drain-facts.ts';

/** Facts about a drain that has not begun. */
const NO_TERMS: PlanTerms = { own: null, evictedOwners: new Set() };

const daemon = { kind: 'DaemonSet', name: 'agent' };
const mirror = { 'kubernetes.io/config.mirror': 'x' };
const deletion = '2026-01-01T00:00:00Z';

describe('planOf', () => {
  it('DR-20: DaemonSet and mirror pods stay, finished ones are ignored, all others leave', () => {
    const pods = [
      podOf({ name: 'web' }),
      podOf({ name: 'agent', controller: daemon }),
      podOf({ name: 'etcd', annotations: mirror }),
      podOf({ name: 'job', phase: 'Succeeded' }),
      podOf({ name: 'bare', controller: null }),
      podOf({ name: 'cache', volumes: [{ emptyDir: {} }] }),
      podOf({ name: 'starting', phase: 'Pending' }),
      podOf({ name: 'lost', phase: 'Unknown' }),
    ];
    const { tiers, staying } = planOf(pods, NO_TERMS);
    expect(tiers.flatMap((tier) => tier.pods.map(({ name }) => name)))
      .toEqual(['bare', 'cache', 'lost', 'starting', 'web']);
    expect(staying.map(({ pod, role }) => `${pod.name}: ${role}`))
      .toEqual(['agent: DaemonSet', 'etcd: Mirror', 'job: Finished']);
  });

  it('DR-20: a pod without a controller is not recreated', () => {
    expect(comesBack(podOf())).toBe(true);
    expect(comesBack(podOf({ controller: null }))).toBe(false);
  });

  it('DR-20: a pod that was rescheduled past the cordon stays', () => {
    const tolerations = [{ operator: 'Exists' }];
    const again = podOf({ tolerations });
    const terms = { own: null, evictedOwners: new Set([uid('uid-web')]) };
    expect(roleOf(again, NO_TERMS)).toBe('Leaves');
    expect(roleOf(again, terms)).toBe('ToleratesCordon');
    expect(roleOf(podOf(), terms)).toBe('Leaves');
    expect(roleOf(podOf({ tolerations, controller: null }), terms)).toBe('Leaves');
    expect(roleOf(podOf({ tolerations, deletion }), terms)).toBe('Leaves');
  });

  it('DR-20: what came back before is known from the pods: created since the cordon', () => {
    const sinceMs = Date.parse('2026-01-01T00:00:00Z');
    const tolerations = [{ operator: 'Exists' }];
    const returned = (traits: PodTraits) => [...returnedOwners([podOf(traits)], sinceMs)];
    const created = '2026-01-01T00:00:01Z';
    expect(returned({ tolerations, created })).toEqual(['uid-web']);
    expect(returned({ tolerations, created: '2026-01-01T00:00:00Z' })).toEqual([]);
    expect(returned({ created })).toEqual([]);
    expect(returned({ tolerations, created, controller: null })).toEqual([]);
    expect(returned({ tolerations, deletion })).toEqual(['uid-web']);
  });

  it('DR-21: one tier for each priority, lowest first', () => {
    const pods = [
      podOf({ name: 'c', priority: 100 }),
      podOf({ name: 'a', priority: -5 }),
      podOf({ name: 'd', priority: 100 }),
      podOf({ name: 'b' }),
    ];
    expect(planOf(pods, NO_TERMS).tiers.map(({ key, pods }) => [key, pods.map(({ name }) => name)]))
      .toEqual([[-5, ['a']], [0, ['b']], [100, ['c', 'd']]]);
  });

  it("DR-20: the operator's own pod leaves last, whatever its priority", () => {
    const own = { namespace: 'ns', name: 'tidegate' };
    const pods = [
      podOf({ name: 'tidegate', priority: -10 }),
      podOf({ name: 'tidegate', namespace: 'other', uid: 'x' }),
      podOf({ name: 'critical', priority: 2_000_001_000 }),
    ];
    const { tiers } = planOf(pods, { own, evictedOwners: new Set() });
    expect(tiers.map(({ key }) => key)).toEqual([0, 2_000_001_000, OWN_TIER]);
  });
});

describe('drainProgress', () => {
  it('DR-24: terminating pods are left, finished ones are not, and none left is done', () => {
    const pods = [
      podOf({ name: 'a', deletion }),
      podOf({ name: 'b' }),
      podOf({ name: 'c', priority: 5 }),
      podOf({ name: 'd', phase: 'Failed', deletion }),
    ];
    expect(drainProgress(planOf(pods, NO_TERMS), ({ name }) => name === 'c')).toEqual({
      left: 3,
      leaving: 1,
      blocked: 1,
      tiers: [
        { key: 0, left: 2, leaving: 1, blocked: 0 },
        { key: 5, left: 1, leaving: 0, blocked: 1 },
      ],
    });
    expect(drainProgress(planOf([], NO_TERMS), () => false).left).toBe(0);
  });
});

describe('tiers', () => {
  const view = (nowMs: number) => ({ nowMs, waitMs: 30_000, lastQuarterMs: 450_000 });
  const tiers = (...left: readonly number[]) =>
    left.map((count, at) => ({ key: at * 100, left: count }));
  const begun = startTiers(freshTiers(0), tiers(2, 2, 2), view(0));

  it('DR-21: the lowest tier starts at once', () => {
    expect(begun).toEqual({ startedTo: 0, lastMovedAtMs: 0 });
    expect(hasStarted(begun, 0)).toBe(true);
    expect(hasStarted(begun, 100)).toBe(false);
    expect(hasStarted(freshTiers(0), 0)).toBe(false);
  });

  it('DR-21: a tier starts when every pod of the earlier ones is gone', () => {
    expect(startTiers(begun, tiers(1, 2, 2), view(5))).toBe(begun);
    expect(startTiers(begun, tiers(0, 2, 2), view(5)).startedTo).toBe(100);
    expect(startTiers(begun, tiers(0, 0, 2), view(5)).startedTo).toBe(200);
  });

  it('DR-21: a tier starts when earlier ones made no progress for the tier wait', () => {
    expect(startTiers(begun, tiers(2, 2, 2), view(29_999))).toBe(begun);
    const second = startTiers(begun, tiers(2, 2, 2), view(30_000));
    expect(second).toEqual({ startedTo: 100, lastMovedAtMs: 30_000 });
    expect(startTiers(second, tiers(2, 2, 2), view(59_999))).toBe(second);
    expect(startTiers(second, tiers(2, 2, 2), view(60_000)).startedTo).toBe(200);
  });

  it('DR-21: an accepted eviction or a deleted pod restarts the wait', () => {
    const moved = tierMoved(begun, 20_000);
    expect(nextStartMs(moved, tiers(2, 2), view(20_000))).toBe(50_000);
    expect(startTiers(moved, tiers(2, 2), view(49_999))).toBe(moved);
    expect(startTiers(moved, tiers(2, 2), view(50_000)).startedTo).toBe(100);
  });

  it('DR-21: a started tier stays started, and pods that arrive in it or below leave at once', () => {
    const second = startTiers(begun, tiers(0, 2, 2), view(5));
    expect(startTiers(second, tiers(1, 2, 2), view(6))).toBe(second);
    expect(hasStarted(second, 0)).toBe(true);
    expect(hasStarted(second, 50)).toBe(true);
  });

  it('DR-21: from the last quarter on every tier is open', () => {
    const late: TierState = tierMoved(begun, 449_999);
    expect(startTiers(late, tiers(2, 2, 2), view(450_000)).startedTo).toBe(200);
    expect(nextStartMs(late, tiers(2, 2, 2), view(449_999))).toBe(450_000);
  });

  it("DR-20: the operator's own pod stays last in the last quarter, too", () => {
    const own = [{ key: 0, left: 1 }, { key: OWN_TIER, left: 1 }];
    const late = tierMoved(begun, 440_000);
    expect(startTiers(late, own, view(450_000))).toBe(late);
    expect(nextStartMs(late, own, view(450_000))).toBe(470_000);
    expect(startTiers(late, own, view(470_000)).startedTo).toBe(OWN_TIER);
    expect(startTiers(late, [{ key: OWN_TIER, left: 1 }], view(441_000)).startedTo).toBe(OWN_TIER);
  });

  it('no time is pending when every tier has started', () => {
    expect(nextStartMs(begun, tiers(2), view(0))).toBeNull();
  });
});
