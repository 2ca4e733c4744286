/**
 * Every surface shows the same verdict on every blocker and every end of a drain: the page, the
 * commands, Events, the UpcomingNode and `lastError`.
 */
import { describe, expect, test } from 'vitest';
import { drainEvents } from '../../../src/actors/node-drains/drain-events.ts';
import type { EndedDrain } from '../../../src/actors/node-drains/ended-drain.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { REASONS } from '../../../src/api/reasons.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { isBlocking, remainingSentence } from '../../../src/domain/drain/blocker.ts';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import { endedCondition, missedEnd } from '../../../src/domain/drain/drain-condition.ts';
import {
  blockedText,
  chiefVerdict,
  DRAIN_SITUATIONS,
  type DrainVerdict,
  isDrainVerdict,
} from '../../../src/domain/drain/verdict.ts';
import { drainPlan } from '../../../src/view/drain-plan.ts';
import { drainPlanText } from '../../../src/view/drain-plan-text.ts';
import { drainStatus } from '../../../src/view/drain-status.ts';
import { statusColumns } from '../../../src/view/drain-status-table.ts';
import { explainNode } from '../../../src/view/explain-node.ts';
import { explanationText } from '../../../src/view/explanation-text.ts';
import { tableText } from '../../../src/view/table.ts';
import { whyOf } from '../../../src/web/page/words.ts';
import { podOf } from '../../support/drains/drain-facts.ts';
import {
  SCENE_NOW_MS,
  sceneAnnotation,
  sceneEvent,
  sceneMachine,
  sceneOfNode,
} from '../../support/drains/drain-scene.ts';
import { endedDrain } from '../../support/drains/ended-drains.ts';
import {
  BLOCKER_CASES,
  type BlockerVerdictCase,
  SITUATION_CASES,
} from '../../support/drains/verdict-cases.ts';

const SUBJECT = { name: 'n1', uid: 'uid-n1' };

const eventsOf = (act: (events: ReturnType<typeof drainEvents>) => void): readonly EventNote[] => {
  const notes: EventNote[] = [];
  act(drainEvents(silentTelemetry, (note) => void notes.push(note)));
  return notes;
};

type Report = 'Event' | 'UpcomingNode' | 'Nothing';

/** The cluster of a case, with what the operator has reported about it. */
const sceneOf = ({ facts, reason, blocked }: BlockerVerdictCase, report: Report) => {
  const { pod, others = [], budgets = [], paused = false, kubeletSilent = false } = facts;
  const [event] = eventsOf(({ blocked: record }) => record(SUBJECT, blocked, new Set()));
  const machine = { ...sceneMachine(blockedText([blocked])), phase: 'Draining' as const };
  return sceneOfNode({
    node: { paused, ready: kubeletSilent ? 'Unknown' : 'True' },
    pods: [podOf(pod), ...others.map(podOf)],
    budgets,
    events: report === 'Event' && event !== undefined ? [sceneEvent(event.reason, event.note)] : [],
    machines: report === 'UpcomingNode' ? [machine] : [],
    terminatingNamespaces: reason === 'NamespaceTerminating' ? ['ns'] : [],
  });
};

const blocking = BLOCKER_CASES.filter(({ reason }) => isBlocking(reason));
const ofPods = blocking.filter(({ reason }) => reason !== 'DeadlineUnreachable');
const passing = BLOCKER_CASES.filter(({ reason }) => !isBlocking(reason));

describe.each(ofPods)('$reason', (one) => {
  const { reason, blocked, verdict } = one;
  const { text } = blocked.blocker;

  test.each(['Event', 'UpcomingNode'] as const)(
    'DR-42: status and explain show it, read from the %s',
    (report) => {
      const facts = sceneOf(one, report);
      const status = drainStatus(facts);
      const { canAct, change, runbook } = verdict;
      const expected = { reason, text, canAct, change, runbook, pods: ['ns/a'] };
      expect(status.blockers).toContainEqual(expected);
      if (status.state === 'Draining') {
        expect(status.verdict).toEqual({ ...verdict, forecast: status.verdict.forecast });
      }
      expect(tableText(statusColumns(SCENE_NOW_MS, false), [status])).toContain(reason);
      const explained = explainNode(facts);
      expect(explained).toMatchObject({ canAct, action: change });
      const lines = explanationText(explained, { nowMs: SCENE_NOW_MS, colors: false });
      for (const part of [reason, text, change]) expect(lines).toContain(part);
    },
  );

  test('DR-42: its Event has reason, sentence and change', () => {
    const [event, ...onBudgets] = eventsOf(({ blocked: record }) =>
      record(SUBJECT, blocked, new Set())
    );
    for (const { regarding, reason: same, note } of onBudgets) {
      expect([regarding.kind, same]).toEqual(['PodDisruptionBudget', reason]);
      expect(note).toContain(verdict.sentence);
    }
    expect(event?.reason).toBe(reason);
    expect(event?.note).toContain(verdict.sentence);
    expect(event?.note).toContain(verdict.change);
  });

  test('DR-41: lastError and the page show it', () => {
    expect(remainingSentence([{ key: 'ns/a', text }])).toContain(text);
    const { sentence, change: action } = verdict;
    expect(whyOf('DrainStarted', verdict)).toMatchObject({ reason, sentence, action });
    expect(isDrainVerdict(JSON.parse(JSON.stringify(chiefVerdict([blocked]))))).toBe(true);
  });

  test('it has the change and the runbook of its reason, and nobody acts only on what passes', () => {
    expect(verdict.change).not.toBe('');
    expect(Object.hasOwn(REASONS[reason], 'runbook')).toBe(true);
    const waits = ['SlotHeldByInterruptedEviction', 'WaitingForInterceptor'].includes(reason);
    expect(verdict.severity).toBe(waits ? 'Waiting' : 'Blocked');
  });
});

test.each(passing)('DR-42: $reason needs nobody, on every surface', (one) => {
  const status = drainStatus(sceneOf(one, 'Nothing'));
  expect(status.blockers).toEqual([]);
  expect(status.verdict).toMatchObject({ canAct: 'nobody', change: '', severity: 'Waiting' });
  expect(one.verdict).toMatchObject({ canAct: 'nobody', severity: 'Waiting' });
  expect(explainNode(sceneOf(one, 'Nothing'))).toMatchObject({ canAct: 'nobody', action: '' });
});

describe('what is known before a drain', () => {
  const known = ['BlockedByBudget', 'BudgetBroken', 'BudgetNeverAllows', 'TwoBudgets'];

  test.each(ofPods.filter(({ reason }) => known.includes(reason)))(
    '$reason is in the plan',
    (one) => {
      const { verdict, blocked, reason } = one;
      const plan = drainPlan(sceneOf(one, 'Nothing'), {
        graceSeconds: 600,
        answers: undefined,
        interceptors: new Map(),
      });
      const { canAct, change, runbook } = verdict;
      const { text } = blocked.blocker;
      expect(plan.blockers).toEqual([{ reason, text, canAct, change, runbook, pods: ['ns/a'] }]);
      expect(drainPlanText(plan)).toContain(change);
    },
  );
});

describe('the forecast', () => {
  const [one] = BLOCKER_CASES.filter(({ reason }) => reason === 'DeadlineUnreachable');
  const sentence = one?.verdict.sentence ?? '';

  test('DR-42: is the same in status, explain, plan, page and Event', () => {
    const never = BLOCKER_CASES.find(({ reason }) => reason === 'BudgetNeverAllows');
    if (one === undefined || never === undefined) throw new Error('no such case');
    expect(sentence).toMatch(/^The node will not be empty by 2026-03-01T12:08:00Z: 1 pod cannot /);
    const facts = sceneOf(never, 'Nothing');
    expect(drainStatus(facts).verdict).toEqual({ ...never.verdict, forecast: sentence });
    const lines = explanationText(explainNode(facts), { nowMs: SCENE_NOW_MS, colors: false });
    expect(lines).toContain(sentence);
    const plan = drainPlan(facts, {
      graceSeconds: 480,
      answers: undefined,
      interceptors: new Map(),
    });
    expect(plan.forecast).toBe(sentence);
    expect(drainPlanText(plan)).toContain(sentence);
    const live = chiefVerdict([never.blocked, one.blocked]) ?? null;
    expect(live).toEqual({ ...never.verdict, forecast: sentence });
    expect(whyOf('', live)?.forecast).toBe(sentence);
    const [event] = eventsOf(({ blocked }) => blocked(SUBJECT, one.blocked, new Set()));
    expect(event).toMatchObject({ reason: 'DeadlineUnreachable' });
    expect(event?.note).toContain(sentence);
  });
});

describe('situations and ends', () => {
  test('every situation has a case', () => {
    const situations = new Set(SITUATION_CASES.map(({ facts }) => facts.state));
    expect(DRAIN_SITUATIONS.filter((situation) => !situations.has(situation))).toEqual([]);
  });

  const ended = (verdict: DrainVerdict, drain: Partial<EndedDrain>) => {
    const [event] = eventsOf(({ ended: record }) => record(SUBJECT, endedDrain(drain)));
    expect(event?.reason).toBe(verdict.reason);
    return event?.note ?? '';
  };
  const verdictWhen = (title: string): DrainVerdict => {
    const found = SITUATION_CASES.find((one) => one.title === title);
    if (found === undefined) throw new Error(`no case "${title}"`);
    return found.verdict;
  };

  test('DR-06: a Node that was deleted with pods on it did not drain', () => {
    const verdict = verdictWhen('The Node was deleted with pods on it');
    const note = ended(verdict, { lostPods: 2 });
    expect(note).toContain('The Node was deleted');
    expect(note).toContain('2 pods');
    expect(note).not.toContain('Drained');
  });

  test('DR-41: a failed drain keeps its reason in Event, status and explain', () => {
    const verdict = verdictWhen('It failed');
    const lastError = '1 pod remains: ns/a (refused by webhook "w": not today)';
    expect(ended(verdict, { end: 'Failed', lastError })).toContain(lastError);
    const facts = sceneOfNode({
      node: { cordons: { reclaim: sceneAnnotation({ ended: 'Failed' }) } },
      pods: [podOf()],
      machines: [sceneMachine(lastError)],
    });
    const status = drainStatus(facts);
    expect(status.verdict).toMatchObject({ reason: 'DeadlinePassed', severity: 'Failed' });
    expect(status.verdict.sentence).toBe(verdict.sentence);
    expect(explainNode(facts).why).toContain(lastError);
  });

  test('DR-41: a drain that failed for a missing permission names it, and no deadline', () => {
    const verdict = verdictWhen('It failed, because the operator may not evict');
    const right = 'cannot create pods/eviction';
    const lastError = `${right}; 1 pod remains: ns/a (${right})`;
    const note = ended(verdict, { end: 'Failed', forbidden: true, lastError });
    expect(endedCondition('Failed', `1 pod remains: ns/a (${right})`, right))
      .toMatchObject({ reason: verdict.reason, message: verdict.sentence });
    expect(endedCondition('Drained', '', right).message).not.toContain(right);
    const never = BLOCKER_CASES.find(({ reason }) => reason === 'BudgetNeverAllows');
    const facts = sceneOfNode({
      node: { cordons: { reclaim: sceneAnnotation({ ended: 'Failed' }) } },
      pods: [podOf()],
      budgets: never?.facts.budgets ?? [],
      events: [sceneEvent('EvictionForbidden', note)],
      machines: [sceneMachine(lastError)],
    });
    const status = drainStatus(facts);
    expect(status.verdict).toEqual(verdict);
    expect(tableText(statusColumns(SCENE_NOW_MS, false), [status]))
      .toContain(`EvictionForbidden: ${verdict.sentence}`);
    expect(explainNode(facts)).toMatchObject({ canAct: 'platform', action: verdict.change });
    expect(explainNode(facts).why).not.toContain('deadline');
  });

  test('DR-41: without its Event only a drain that has no deadline shows the permission', () => {
    const failed = (owner: string, deadlineMs: number | null, reason = '') =>
      explainNode(sceneOfNode({
        node: { cordons: { [owner]: sceneAnnotation({ ended: 'Failed', deadlineMs }) } },
        pods: [podOf()],
        events: reason === '' ? [] : [sceneEvent(reason, 'Cannot drain the node within 5 s: x')],
      }));
    const maintained = failed('maintenance-0123456789ab', null);
    expect(maintained).toMatchObject({
      why: 'A NodeMaintenance drained this node (instruction i-7): the operator may not evict: ' +
        '1 pod remained',
      canAct: 'platform',
      runbook: expect.stringContaining('#eviction-forbidden'),
    });
    expect(maintained.waitsFor).not.toContain('fleet');
    expect(failed('reclaim', SCENE_NOW_MS).why).toContain('the deadline passed first');
    const missed = (owner: string, deadlineMs: number | null) =>
      missedEnd({
        cordons: { [owner]: printCordon(sceneAnnotation({ ended: 'Failed', deadlineMs })) },
        showsDraining: true,
      })?.reason;
    expect(missed('maintenance-0123456789ab', null)).toBe('EvictionForbidden');
    expect(missed('reclaim', SCENE_NOW_MS)).toBe('DeadlinePassed');
    expect(failed('reclaim', SCENE_NOW_MS, 'DeadlinePassed').why)
      .toContain('the deadline passed first');
  });

  test('DR-05: what explain says of a cancelled drain is true of the node', () => {
    const whyOf = (node: object) => explainNode(sceneOfNode({ node, pods: [podOf()] })).why;
    const cancelled = sceneAnnotation({ ended: 'Cancelled' });
    expect(whyOf({ unschedulable: false, cordons: { reclaim: cancelled } }))
      .toContain('schedulable again and may get new pods');
    expect(whyOf({ cordons: { reclaim: cancelled, person: sceneAnnotation() } }))
      .toContain('a person has cordoned the node');
  });

  test('DR-04: a drained node that was reopened does not wait for its removal', () => {
    const drained = sceneAnnotation({ ended: 'Drained' });
    const facts = sceneOfNode({
      node: { unschedulable: false, cordons: { reclaim: drained } },
      pods: [podOf()],
    });
    expect(explainNode(facts).waitsFor).toBe('Nothing: Tidegate evicts no more pods');
    expect(drainStatus(facts)).toMatchObject({ tiers: [], blockers: [] });
  });
});
