/** Slots of a budget: who needs one, how many are free, how long one is counted. */
import { describe, expect, it } from 'vitest';
import {
  answerReservation,
  beginReservation,
  departReservation,
  endReservation,
  freeSlots,
  nextReservationEndMs,
  openReservations,
  releaseReservation,
  type Reservation,
  retainReservation,
  slotNeed,
} from '../../../../src/domain/drain/slots.ts';
import { resourceVersion } from '../../../../src/domain/ids.ts';
import { budgetOf, type BudgetTraits, podOf } from '../../../support/drains/drain-facts.ts';

const healthy = { currentHealthy: 3, desiredHealthy: 3 };

describe('slotNeed', () => {
  it('DR-31: a pod that no budget covers needs no slot', () => {
    expect(slotNeed(podOf(), [])).toEqual({ _tag: 'None' });
  });

  it('DR-31: a healthy running pod needs a slot of its budget', () => {
    const budget = budgetOf();
    expect(slotNeed(podOf(), [budget])).toEqual({ _tag: 'One', budget });
  });

  it('DR-31: a Pending pod needs no slot, whatever the budgets', () => {
    const budgets = [budgetOf({ name: 'a' }), budgetOf({ name: 'b' })];
    expect(slotNeed(podOf({ phase: 'Pending' }), budgets)).toEqual({ _tag: 'None' });
  });

  it('a finished or terminating pod needs no slot', () => {
    expect(slotNeed(podOf({ phase: 'Failed' }), [budgetOf()])).toEqual({ _tag: 'None' });
    const leaving = podOf({ deletion: '2026-01-01T00:00:00Z' });
    expect(slotNeed(leaving, [budgetOf()])).toEqual({ _tag: 'None' });
  });

  it.each<[string, BudgetTraits, 'None' | 'One']>([
    ['under AlwaysAllow', { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } }, 'None'],
    ['while enough are healthy', { status: healthy }, 'None'],
    ['while too few are healthy', { status: { ...healthy, currentHealthy: 2 } }, 'One'],
    ['while none is wanted', { status: { currentHealthy: 0, desiredHealthy: 0 } }, 'One'],
    [
      'while its status is old',
      { generation: 2, status: { ...healthy, observedGeneration: 1 } },
      'None',
    ],
  ])('DR-31: an unready pod %s', (_, traits, tag) => {
    expect(slotNeed(podOf({ ready: false }), [budgetOf(traits)])._tag).toBe(tag);
  });

  it('DR-31: a running pod under two budgets is blocked, ready or not', () => {
    const budgets = [budgetOf({ name: 'a', status: healthy }), budgetOf({ name: 'b' })];
    const blocked = { _tag: 'Blocked', reason: 'TwoBudgets', budgets };
    expect(slotNeed(podOf(), budgets)).toEqual(blocked);
    expect(slotNeed(podOf({ ready: false }), budgets)).toEqual(blocked);
  });

  it('DR-31: bare pods under maxUnavailable are blocked permanently', () => {
    const traits = { spec: { maxUnavailable: 1 }, status: { expectedPods: 0 } };
    const bare = podOf({ controller: null });
    expect(slotNeed(bare, [budgetOf(traits)])).toMatchObject({ reason: 'BudgetNeverAllows' });
    const unprocessed = budgetOf({ ...traits, status: { expectedPods: 0, observedGeneration: 0 } });
    expect(slotNeed(bare, [unprocessed])._tag).toBe('One');
    const failed = { type: 'DisruptionAllowed', reason: 'SyncFailed', message: 'x' };
    const unsynced = budgetOf({ ...traits, status: { expectedPods: 0, conditions: [failed] } });
    expect(slotNeed(bare, [unsynced])._tag).toBe('One');
  });

  it('a status that blocks every eviction is a broken budget', () => {
    const negative = budgetOf({ status: { disruptionsAllowed: -1 } });
    expect(slotNeed(podOf(), [negative])).toMatchObject({ reason: 'BudgetBroken' });
    const names = Array.from({ length: 2001 }, (_, at) => [`p${at}`, '2026-01-01T00:00:00Z']);
    const full = budgetOf({ status: { disruptedPods: Object.fromEntries(names) } });
    expect(slotNeed(podOf(), [full])).toMatchObject({ reason: 'BudgetBroken' });
  });
});

describe('freeSlots', () => {
  const open = budgetOf({ resourceVersion: '100', status: { disruptionsAllowed: 2 } });
  const one = beginReservation([], podOf(), open);

  it('DR-32: free is the allowed number minus the reservations', () => {
    expect(freeSlots(open, [], null)).toBe(2);
    expect(freeSlots(open, one, null)).toBe(1);
    const three = [podOf({ name: 'b' }), podOf({ name: 'c' })].reduce(
      (list, pod) => beginReservation(list, pod, open),
      one,
    );
    expect(freeSlots(open, three, null)).toBe(0);
  });

  it('DR-32: nothing is free while the status is older than the budget', () => {
    const changed = budgetOf({
      generation: 2,
      status: { observedGeneration: 1, disruptionsAllowed: 2 },
    });
    expect(freeSlots(changed, [], null)).toBe(0);
  });

  it('DR-32: after a refusal nothing is free until a newer status', () => {
    expect(freeSlots(open, [], resourceVersion('100'))).toBe(0);
    expect(freeSlots(open, [], resourceVersion('101'))).toBe(0);
    expect(freeSlots(open, [], resourceVersion('99'))).toBe(2);
  });
});

describe('reservations', () => {
  const pod = podOf();
  const before = budgetOf({ resourceVersion: '100', status: { disruptionsAllowed: 1 } });
  const begun = beginReservation([], pod, before);
  const view = (resourceVersionText: string, nowMs: number, status: object = {}) => {
    const budget = budgetOf({ resourceVersion: resourceVersionText, status });
    return { budget, watched: budget.resourceVersion, nowMs };
  };
  const departed = (list: readonly Reservation[], at: string, nowMs: number) =>
    departReservation(list, pod.uid, { resourceVersion: resourceVersion(at), nowMs });
  const accepted = (nowMs: number) =>
    answerReservation(begun, pod.uid, { outcome: 'Accepted', nowMs });

  it('DR-32: a reservation ends when the call was refused', () => {
    expect(answerReservation(begun, pod.uid, { outcome: 'Refused', nowMs: 0 })).toEqual([]);
    expect(endReservation(begun, pod.uid)).toEqual([]);
    expect(endReservation(begun, podOf({ name: 'b' }).uid)).toBe(begun);
  });

  it('DR-32: a reservation ends when a newer status lists the pod, also before the answer', () => {
    const disruptedPods = { a: '2026-01-01T00:00:00Z' };
    expect(openReservations(begun, view('101', 0, { disruptedPods }))).toEqual([]);
    expect(openReservations(begun, view('101', 0))).toBe(begun);
    expect(openReservations(begun, view('100', 0, { disruptedPods }))).toBe(begun);
  });

  it('DR-32: an entry of an earlier eviction of that name ends nothing', () => {
    const charged = budgetOf({ status: { disruptedPods: { a: '2026-01-01T00:00:00Z' } } });
    const list = beginReservation([], pod, charged);
    const old = { disruptedPods: { a: '2026-01-01T00:00:00Z' } };
    const fresh = { disruptedPods: { a: '2026-01-01T00:00:07Z' } };
    expect(openReservations(list, view('101', 0, old))).toBe(list);
    expect(openReservations(list, view('102', 0, fresh))).toEqual([]);
  });

  it('DR-32: a reservation ends when the watch has passed the departure of the pod', () => {
    const list = departed(begun, '150', 10);
    expect(openReservations(list, view('149', 20))).toBe(list);
    expect(openReservations(list, view('150', 20))).toEqual([]);
    const bookmark = { ...view('120', 20), watched: resourceVersion('151') };
    expect(openReservations(list, bookmark)).toEqual([]);
  });

  it('DR-32: the first observation counts', () => {
    const list = departed(departed(begun, '150', 10), '200', 20);
    expect(list[0]).toMatchObject({ departedAt: '150', departedMs: 10 });
  });

  it('DR-32: a reservation ends at the latest 2 s after both the departure and the answer', () => {
    expect(nextReservationEndMs(accepted(50))).toBeNull();
    const list = departed(accepted(50), '150', 70);
    expect(nextReservationEndMs(list)).toBe(2070);
    expect(openReservations(list, view('101', 2069))).toBe(list);
    expect(openReservations(list, view('101', 2070))).toEqual([]);
    const early = departed(begun, '150', 10);
    expect(openReservations(early, view('101', 9000))).toBe(early);
  });

  it('DR-32: the retry of a call with an unknown outcome inherits the reservation', () => {
    const lost = answerReservation(begun, pod.uid, { outcome: 'Unknown', nowMs: 5 });
    expect(lost).toHaveLength(1);
    const again = beginReservation(lost, pod, budgetOf({ resourceVersion: '130' }));
    expect(again).toEqual([{ ...begun[0], answer: 'Awaited', answeredMs: null }]);
  });

  it('a reservation of a lost call without a retry ends when Kubernetes forgets it', () => {
    const lost = answerReservation(begun, pod.uid, { outcome: 'Unknown', nowMs: 5 });
    expect(nextReservationEndMs(lost)).toBe(120_005);
    expect(openReservations(lost, view('101', 120_004))).toBe(lost);
    expect(openReservations(lost, view('101', 120_005))).toEqual([]);
  });

  it('a reservation of a lost call ends 2 s after its pod was released', () => {
    const lost = answerReservation(begun, pod.uid, { outcome: 'Unknown', nowMs: 5 });
    const released = releaseReservation(lost, pod.uid, 50);
    expect(nextReservationEndMs(released)).toBe(2050);
    expect(retainReservation(released, pod.uid)).toEqual(lost);
    const early = releaseReservation(begun, pod.uid, 1);
    const late = answerReservation(early, pod.uid, { outcome: 'Unknown', nowMs: 50 });
    expect(nextReservationEndMs(late)).toBe(2050);
  });

  it('a reservation of an accepted call outlives the release of its pod', () => {
    expect(nextReservationEndMs(releaseReservation(accepted(5), pod.uid, 50))).toBeNull();
  });

  it('an incomparable resourceVersion ends nothing early', () => {
    const list = departed(accepted(0), 'x', 0);
    expect(openReservations(list, view('y', 100))).toBe(list);
    expect(openReservations(list, view('y', 2000))).toEqual([]);
  });

  it('answers and observations of other pods change nothing', () => {
    const other = podOf({ name: 'b' });
    const list = beginReservation(begun, other, before);
    const answered = answerReservation(list, other.uid, { outcome: 'Accepted', nowMs: 1 });
    expect(answered[0]).toBe(begun[0]);
    expect(answered[1]).toMatchObject({ pod: other.uid, answer: 'Accepted' });
  });
});
