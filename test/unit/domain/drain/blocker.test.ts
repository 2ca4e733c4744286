/** Why a pod is still there: one reason with a short text. */
import { describe, expect, it } from 'vitest';
import { type ReasonName, REASONS } from '../../../../src/api/reasons.ts';
import type { EvictionOutcome } from '../../../../src/domain/drain/answer.ts';
import {
  blockedSentence,
  BLOCKER_REASONS,
  type BlockerFacts,
  blockerOf,
  fittingSentence,
  isBlocking,
  isOverdue,
  remainingSentence,
} from '../../../../src/domain/drain/blocker.ts';
import { budgetOf, podOf } from '../../../support/drains/drain-facts.ts';

const NOW = Date.UTC(2026, 0, 1, 0, 1);

const facts = (traits: Partial<BlockerFacts> = {}): BlockerFacts => ({
  pod: podOf(),
  budgets: [],
  interrupted: [],
  outcome: null,
  tierStarted: true,
  paused: false,
  kubeletSilent: false,
  nowMs: NOW,
  ...traits,
});

const blockerText = (traits?: Partial<BlockerFacts>): string => {
  const { reason, text } = blockerOf(facts(traits));
  return `${reason}: ${text}`;
};

const full = budgetOf({ status: { currentHealthy: 3, desiredHealthy: 3 } });
const ALL = { currentHealthy: 4, desiredHealthy: 4 };
/** Evicted 42 s ago, with a grace of 60 s. */
const leaving = { deletion: '2026-01-01T00:01:18Z', deletionGraceSeconds: 60 };
const overdue = { deletion: '2026-01-01T00:00:48Z', deletionGraceSeconds: 30 };

describe('blockerOf', () => {
  it('DR-41: names a budget that allows 0 disruptions, with its counts', () => {
    expect(blockerText({ budgets: [full] }))
      .toBe('BlockedByBudget: budget ns/db allows 0 disruptions: 3 healthy, 3 required');
    const conditions = [{ type: 'DisruptionAllowed', reason: 'SyncFailed', message: 'no scale' }];
    expect(blockerText({ budgets: [budgetOf({ status: { conditions } })] }))
      .toBe('BlockedByBudget: budget ns/db allows 0 disruptions: no scale');
  });

  it('a budget with a free slot, or with an outdated status, is not blocking', () => {
    expect(blockerText({ budgets: [budgetOf({ status: { disruptionsAllowed: 1 } })] }))
      .toBe('WaitingForTurn: in the queue of budget ns/db');
    expect(
      blockerText({ budgets: [budgetOf({ generation: 2, status: { observedGeneration: 1 } })] }),
    )
      .toBe('BudgetUnsettled: status of budget ns/db is being updated');
    expect(blockerText()).toBe('WaitingForTurn: eviction is next');
  });

  it('DR-34: names the slot that an interrupted eviction holds, with its end', () => {
    const interrupted = [{ podName: 'z', untilMs: NOW + 60_000 }];
    expect(blockerText({ budgets: [full], interrupted })).toBe(
      'SlotHeldByInterruptedEviction: slot of budget ns/db held by an interrupted eviction until ' +
        '2026-01-01T00:02:00Z',
    );
  });

  it('DR-31: names budgets that never allow the eviction', () => {
    const two = [budgetOf({ name: 'a' }), budgetOf({ name: 'b' })];
    expect(blockerText({ budgets: two })).toBe('TwoBudgets: two budgets: ns/a and ns/b');
    const never = budgetOf({ spec: { maxUnavailable: 1 }, status: { expectedPods: 0 } });
    expect(blockerText({ budgets: [never] }))
      .toBe('BudgetNeverAllows: budget ns/db expects 0 pods and never allows an eviction');
    const closed = budgetOf({ spec: { minAvailable: undefined, maxUnavailable: 0 }, status: ALL });
    expect(blockerText({ budgets: [closed] }))
      .toBe('BudgetNeverAllows: budget ns/db never allows an eviction: maxUnavailable is 0');
    const broken = budgetOf({ status: { disruptionsAllowed: -1 } });
    expect(blockerText({ budgets: [broken] })).toBe(
      'BudgetBroken: budget ns/db has an invalid status',
    );
  });

  it('DR-41: tells how long a pod has been terminating, and when that is overdue', () => {
    expect(blockerText({ pod: podOf(leaving) })).toBe('Terminating: terminating for 42 s');
    expect(blockerText({ pod: podOf(overdue) })).toBe('TerminationOverdue: terminating for 42 s');
  });

  it('RS-13: a pod is overdue once its own grace is over, and as long again as asked for', () => {
    const pod = podOf({ ...overdue });
    const overdueMs = NOW - (pod.deletionMs ?? NOW);
    expect(blockerText({ pod, overdueAfterMs: overdueMs })).toMatch(/^Terminating:/);
    expect(blockerText({ pod, overdueAfterMs: overdueMs - 1 })).toMatch(/^TerminationOverdue:/);
  });

  it('DR-41: names the finalizer that keeps a pod once its time is over', () => {
    const finalizers = ['example.com/a', 'example.com/b'];
    expect(blockerText({ pod: podOf({ ...overdue, finalizers }) }))
      .toBe('Finalizer: finalizer example.com/a, example.com/b');
    expect(blockerText({ pod: podOf({ ...leaving, finalizers }) })).toMatch(/^Terminating/);
    const confirmed = podOf({ ...leaving, deletionGraceSeconds: 0, finalizers });
    expect(blockerText({ pod: confirmed })).toMatch(/^Finalizer/);
  });

  it('DR-44: an unresponsive kubelet is a reason of its own', () => {
    expect(blockerText({ kubeletSilent: true })).toBe('KubeletSilent: kubelet not responding');
    expect(blockerText({ kubeletSilent: true, pod: podOf(leaving) }))
      .toBe('KubeletSilent: kubelet not responding');
  });

  it('DR-45: a paused drain and a tier that has not started take precedence', () => {
    expect(blockerText({ paused: true, budgets: [full] })).toMatch(/^DrainPaused/);
    expect(blockerText({ tierStarted: false, budgets: [full] })).toMatch(/^WaitingForTier/);
    expect(blockerText({ paused: true, pod: podOf(leaving) })).toMatch(/^Terminating/);
  });

  it.each<[EvictionOutcome, string]>([
    [{ _tag: 'PolicyRefused', policy: 'p', why: 'no' }, 'PolicyRefused: refused by p: no'],
    [{ _tag: 'PolicyRefused', policy: '', why: 'no' }, 'PolicyRefused: refused by a policy: no'],
    [{ _tag: 'Forbidden', why: 'cannot create' }, 'EvictionForbidden: cannot create'],
    [{ _tag: 'Unauthenticated', why: 'who' }, 'CredentialsRefused: who'],
    [{ _tag: 'Throttled', retryAfterSeconds: 3 }, 'ServerThrottling: API server throttles for 3 s'],
    [{ _tag: 'NamespaceTerminating' }, 'NamespaceTerminating: its namespace is being deleted'],
    [{ _tag: 'BudgetBroken', why: 'negative' }, 'BudgetBroken: negative'],
    [{ _tag: 'TwoBudgets', why: 'x' }, 'TwoBudgets: two budgets'],
    [{ _tag: 'Refused', status: 418, why: 'tea' }, 'EvictionRefused: refused with status 418: tea'],
    [{ _tag: 'Transient', why: 'not now' }, 'EvictionFailing: not now'],
    [{ _tag: 'NotSent', why: 'no route' }, 'EvictionFailing: no route'],
    [{ _tag: 'Unknown', why: 'cut' }, 'EvictionUnanswered: no answer to its eviction: cut'],
    [{ _tag: 'BudgetUnsettled', retryAfterSeconds: 10, why: 'x' }, 'BudgetUnsettled: x'],
    [{ _tag: 'BudgetExhausted', why: 'x' }, 'WaitingForTurn: eviction is next'],
  ])('the answer %j has a text of its own', (outcome, text) => {
    expect(blockerText({ outcome })).toBe(text);
  });

  it('every reason is in the registry', () => {
    const names: readonly ReasonName[] = BLOCKER_REASONS;
    expect(names.filter((name) => !Object.hasOwn(REASONS, name))).toEqual([]);
  });

  it('a reason that resolves on its own does not block', () => {
    expect(BLOCKER_REASONS.filter(isBlocking)).not.toContain('Terminating');
    expect(isBlocking('BlockedByBudget')).toBe(true);
    expect(isBlocking('WaitingForTurn')).toBe(false);
  });

  it('pods behind one budget share a subject', () => {
    const subjects = ['a', 'b'].map((name) =>
      blockerOf(facts({ pod: podOf({ name }), budgets: [full] })).subject
    );
    expect(subjects).toEqual(['ns/db', 'ns/db']);
  });
});

describe('blockedSentence', () => {
  const long = (at: number): string => `${'n'.repeat(63)}/${'p'.repeat(250)}${at}`;

  it('DR-42: names five pods and counts the others', () => {
    const pods = ['ns/a', 'ns/b', 'ns/c', 'ns/d', 'ns/e', 'ns/f'];
    expect(blockedSentence('why', pods))
      .toBe('6 pods cannot leave: why (ns/a, ns/b, ns/c, ns/d, ns/e and 1 more)');
    expect(blockedSentence('why', ['ns/a'])).toBe('1 pod cannot leave: why (ns/a)');
  });

  it('DR-42: is cut after a whole name when an Event cannot hold more', () => {
    const pods = Array.from({ length: 40 }, (_, at) => long(at));
    const sentence = blockedSentence('x'.repeat(5000), pods);
    expect(sentence.length).toBeLessThanOrEqual(1000);
    expect(sentence.endsWith(`… (${long(0)}, ${long(1)} and 38 more)`)).toBe(true);
  });

  it('DR-42: the end of a drain is cut between two pods', () => {
    const remaining = Array.from({ length: 5 }, (_, at) => ({ key: long(at), text: 'why' }));
    const sentence = fittingSentence(remainingSentence(remaining));
    expect(sentence.length).toBeLessThanOrEqual(1000);
    expect(sentence.endsWith('(why), …')).toBe(true);
    expect(fittingSentence('short')).toBe('short');
  });
});

describe('remainingSentence', () => {
  it('DR-41: counts the remaining pods and names the first five, each with its reason', () => {
    const remaining = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => ({
      key: `ns/${name}`,
      text: name === 'b' ? '' : `why ${name}`,
    }));
    expect(remainingSentence(remaining)).toBe(
      '7 pods remain: ns/a (why a), ns/b (unknown), ns/c (why c), ns/d (why d), ns/e (why e), ' +
        'and 2 more',
    );
  });

  it('DR-41: truncates a long message of a policy', () => {
    const remaining = Array.from({ length: 5 }, () => ({ key: 'ns/a', text: 'x'.repeat(5000) }));
    expect(remainingSentence(remaining).length).toBeLessThan(2000);
    expect(remainingSentence(remaining)).toContain('x…)');
  });

  it('says it in the singular, and for none', () => {
    expect(remainingSentence([{ key: 'ns/a', text: 'x' }])).toBe('1 pod remains: ns/a (x)');
    expect(remainingSentence([])).toBe('no pods remain');
  });
});

it('a pod that nobody has deleted is never overdue', () => {
  expect(isOverdue(podOf(), { nowMs: NOW })).toBe(false);
  expect(isOverdue(podOf(overdue), { nowMs: NOW })).toBe(true);
});
