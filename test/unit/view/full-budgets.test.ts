/** A budget that is full now and moves is a wait on every surface, and one that is stuck blocks. */
import { describe, expect, test } from 'vitest';
import { blockedText } from '../../../src/domain/drain/verdict.ts';
import { statusColumns } from '../../../src/view/drain-status-table.ts';
import { drainStatus } from '../../../src/view/drain-status.ts';
import { explainBudget } from '../../../src/view/explain-budget.ts';
import { explainNode } from '../../../src/view/explain-node.ts';
import { tableText } from '../../../src/view/table.ts';
import { budgetOf, podOf, rawBudget } from '../../support/drains/drain-facts.ts';
import {
  SCENE_NOW_MS,
  sceneAnnotation,
  sceneEvent,
  sceneMachine,
  sceneOfNode,
} from '../../support/drains/drain-scene.ts';

const FULL = { status: { currentHealthy: 2, desiredHealthy: 2 } };
const CLOSED = budgetOf(FULL);
const terminating = { deletion: '2026-03-01T12:00:20Z', deletionGraceSeconds: 30 };

describe('a budget that is full now', () => {
  const draining = (...reasons: readonly ('BlockedByBudget' | 'PolicyRefused')[]) => ({
    ...sceneMachine(blockedText(reasons.map((reason) => ({
      blocker: { reason, text: 'budget ns/db allows 0 disruptions', subject: '' },
      pods: ['ns/a'],
    })))),
    phase: 'Draining' as const,
  });
  const stuck = { pods: [podOf({ name: 'a' })], budgets: [CLOSED] };
  const waits = [{
    reason: 'WaitingForTurn',
    text: 'budget ns/db is full now: 2 healthy, 2 required',
    pods: ['ns/a'],
    canAct: 'nobody',
  }];

  test.each([
    ['the operator reports nothing about it any more', {
      ...stuck,
      machines: [draining()],
      events: [sceneEvent('BlockedByBudget', '1 pod cannot leave: budget ns/db (ns/a)')],
    }],
    ['the operator reports something else', { ...stuck, machines: [draining('PolicyRefused')] }],
    ['a pod of it is leaving', {
      ...stuck,
      pods: [...stuck.pods, podOf({ name: 'b', ...terminating })],
    }],
    ['the drain is young', {
      ...stuck,
      node: { cordons: { reclaim: sceneAnnotation({ sinceMs: SCENE_NOW_MS - 29_000 }) } },
    }],
  ])('DR-42: makes pods wait while %s, and nobody must act', (_, scene) => {
    const facts = sceneOfNode(scene);
    const status = drainStatus(facts);
    expect(status).toMatchObject({ blockers: [], waits, pods: { blocked: 0 } });
    expect(status.verdict).toMatchObject({ severity: 'Waiting', canAct: 'nobody', forecast: '' });
    expect(tableText(statusColumns(SCENE_NOW_MS, false), [status]))
      .toContain('WaitingForTurn ns/a: budget ns/db is full now');
    expect(explainNode(facts)).toMatchObject({
      canAct: 'nobody',
      waitsFor: '1 pod waits: budget ns/db is full now: 2 healthy, 2 required (ns/a)',
    });
    const explained = explainBudget({ budget: rawBudget(FULL), drains: [status], events: [] });
    expect(explained).toMatchObject({ state: 'Full', canAct: 'nobody', action: '' });
  });

  test.each([
    ['the operator reports it', { ...stuck, machines: [draining('BlockedByBudget')] }],
    ['nothing moves it', stuck],
    ['its controller reports a problem', {
      ...stuck,
      budgets: [budgetOf({
        status: {
          currentHealthy: 2,
          desiredHealthy: 2,
          conditions: [
            { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'no' },
          ],
        },
      })],
      machines: [draining()],
    }],
  ])('DR-42: blocks pods once %s', (_, scene) => {
    const status = drainStatus(sceneOfNode(scene));
    expect(status).toMatchObject({ blockers: [{ reason: 'BlockedByBudget' }], waits: [] });
    expect(status.verdict).toMatchObject({ severity: 'Blocked', canAct: 'application' });
  });
});

describe('the last moment of an eviction', () => {
  const at = (seconds: number) => new Date(SCENE_NOW_MS + seconds * 1000).toISOString();
  const charged = (seconds: number) =>
    drainStatus(sceneOfNode({
      pods: [podOf({ name: 'a' })],
      budgets: [budgetOf({ status: { ...FULL.status, disruptedPods: { a: at(seconds) } } })],
    }));
  const released = (seconds: number) =>
    drainStatus(sceneOfNode({
      pods: [podOf({ name: 'a', deletion: at(seconds), deletionGraceSeconds: 0 })],
    }));

  test('DR-34: a slot that was charged just now is not held by an interrupted eviction', () => {
    expect(charged(-1).blockers).toEqual([]);
    expect(charged(-6).blockers).toMatchObject([{ reason: 'SlotHeldByInterruptedEviction' }]);
  });

  test('DR-42: a pod that its kubelet has just released is not overdue', () => {
    expect(released(-1).blockers).toEqual([]);
    expect(released(-11).blockers).toMatchObject([{ reason: 'TerminationOverdue' }]);
  });
});
