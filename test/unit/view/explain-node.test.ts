/**
 * `explain node`: a drain in sentences, with its blockers and who can act.
 *
 * `UPDATE_GOLDEN=1` records the text anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { REASONS } from '../../../src/api/reasons.ts';
import { BLOCKER_REASONS, isBlocking } from '../../../src/domain/drain/blocker.ts';
import { explainNode } from '../../../src/view/explain-node.ts';
import { explanationText } from '../../../src/view/explanation-text.ts';
import { budgetOf, podOf } from '../../support/drains/drain-facts.ts';
import {
  SCENE_NOW_MS,
  sceneAnnotation,
  sceneEvent,
  sceneMachine,
  sceneOfNode,
} from '../../support/drains/drain-scene.ts';

const GOLDEN = new URL('golden/explain-node.txt', import.meta.url);
const CLOSED = budgetOf({ status: { currentHealthy: 2, desiredHealthy: 2 } });

describe('explainNode', () => {
  test('DR-43: a blocked drain equals the golden file', () => {
    const facts = sceneOfNode({
      pods: [podOf({ name: 'web-1' }), podOf({ name: 'api-1', labels: {} })],
      budgets: [CLOSED],
      events: [sceneEvent('BlockedByBudget', 'Budget ns/db blocks 1 pod')],
    });
    const text = explanationText(explainNode(facts), { nowMs: SCENE_NOW_MS, colors: false });
    if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  test('a drain without blockers waits only for its pods', () => {
    expect(explainNode(sceneOfNode({ pods: [podOf()] }))).toMatchObject({
      waitsFor: 'The pods to leave; nothing blocks them',
      canAct: 'nobody',
    });
  });

  test.each(
    [
      ['Drained', 'all pods that had to leave are gone', 'nobody'],
      ['Cancelled', 'the drain was cancelled', 'nobody'],
    ] as const,
  )('%s: %s', (ended, why, canAct) => {
    const explained = explainNode(
      sceneOfNode({ node: { cordons: { reclaim: sceneAnnotation({ ended }) } } }),
    );
    expect(explained.why).toContain(why);
    expect(explained).toMatchObject({ state: ended, canAct });
  });

  test('a node that a maintenance drained waits for its end', () => {
    const owner = 'maintenance-0123456789ab';
    const cordons = { [owner]: sceneAnnotation({ ended: 'Drained', deadlineMs: null }) };
    const { why, waitsFor } = explainNode(sceneOfNode({ node: { cordons } }));
    expect(why).toContain('A NodeMaintenance drained this node');
    expect(waitsFor).toBe('Its NodeMaintenance to be Complete; the node stays cordoned until then');
  });

  test('a disabled node that is drained waits for nothing', () => {
    const cordons = { disabled: sceneAnnotation({ ended: 'Drained', deadlineMs: null }) };
    const { waitsFor } = explainNode(sceneOfNode({ node: { cordons } }));
    expect(waitsFor).toBe('Nothing: the node stays cordoned until it is enabled');
  });

  test('DR-41: a failed drain shows the error of its machine', () => {
    const explained = explainNode(sceneOfNode({
      node: { cordons: { reclaim: sceneAnnotation({ ended: 'Failed' }) } },
      machines: [sceneMachine('1 pod remains: ns/web-1 (two budgets)')],
    }));
    expect(explained.why).toContain(
      'the deadline passed first: 1 pod remains: ns/web-1 (two budgets)',
    );
    expect(explained.canAct).toBe('application');
  });

  test('DR-45: a paused drain shows who can end the pause', () => {
    expect(explainNode(sceneOfNode({ pods: [podOf()], node: { paused: true } }))).toMatchObject({
      state: 'Paused',
      canAct: 'platform',
      action: expect.stringContaining('tidegate.dev/pause'),
    });
  });

  test("DR-05: a node that is schedulable again waits for the operator's word", () => {
    const explained = explainNode(sceneOfNode({ node: { unschedulable: false } }));
    expect(explained).toMatchObject({ state: 'Cancelling', canAct: 'nobody' });
  });

  test('DR-01: an unreadable key is a field to correct', () => {
    const { problems } = explainNode(sceneOfNode({ node: { cordons: { reclaim: '{"v":2}' } } }));
    expect(problems).toMatchObject([{
      field: 'metadata.annotations[cordon.tidegate.dev/reclaim]',
      problem: 'is invalid: its version is 2',
    }]);
  });

  test('a node without a drain shows the owner of its cordon', () => {
    const person = sceneOfNode({ node: { cordons: { person: sceneAnnotation() } } });
    expect(explainNode(person).why).toContain('A person cordoned the node');
    expect(explainNode(sceneOfNode({ node: { cordons: {} } })).why).toContain(
      'without a Tidegate annotation',
    );
    expect(explainNode(sceneOfNode({ node: { cordons: {}, unschedulable: false } })))
      .toMatchObject({ state: 'Schedulable', waitsFor: 'Nothing' });
  });
});

test('every blocking reason that needs an action names it', () => {
  const silent = BLOCKER_REASONS.filter((reason) =>
    isBlocking(reason) && REASONS[reason].canAct !== 'nobody' && !('change' in REASONS[reason])
  );
  expect(silent).toEqual([]);
});
