/** `explain node`: a drain in sentences, with what it waits for and who can do what. */
import { describe, expect, test } from 'vitest';
import { REASONS } from '../../../src/api/reasons.ts';
import { BLOCKER_REASONS, isBlocking } from '../../../src/domain/drain/blocker.ts';
import { explainNode } from '../../../src/view/explain-node.ts';
import { explanationText } from '../../../src/view/explanation-text.ts';
import { actionOn } from '../../../src/view/who-can-act.ts';
import { budgetOf, podOf } from '../../support/drain-facts.ts';
import {
  SCENE_NOW_MS,
  sceneEvent,
  sceneMachine,
  sceneMark,
  sceneOfNode,
} from '../../support/drain-scene.ts';

const CLOSED = budgetOf({ status: { currentHealthy: 2, desiredHealthy: 2 } });

describe('explainNode', () => {
  test('DR-43: a drain that is held up, from the first sentence to the last', () => {
    const facts = sceneOfNode({
      pods: [podOf({ name: 'web-1' }), podOf({ name: 'api-1', labels: {} })],
      budgets: [CLOSED],
      events: [sceneEvent('BlockedByBudget', 'Budget ns/db blocks 1 pod')],
    });
    expect(explanationText(explainNode(facts), { nowMs: SCENE_NOW_MS, colors: false })).toBe(
      `Node n1: Draining
  What       A Node of this cluster
  Why        The fleet takes this machine back (instruction i-7): 2 pods must leave, 0 of them are on their way out, with 8m left
  Waits for  ns/web-1: budget ns/db allows no eviction: 2 of 2 healthy
  Can act    The owner of the application: Get the pods of the budget healthy, add replicas, or loosen the budget

Details
  Cordoned for     reclaim
  Since            2026-03-01T11:58:00Z (2m ago)
  Deadline         2026-03-01T12:08:00Z
  Tier             priority 0: 2 left, 0 leaving, 1 blocked
  Budget           ns/db allows 0, 2 of 2 healthy; 1 of its pods wait here
  BlockedByBudget  ns/web-1: budget ns/db allows no eviction: 2 of 2 healthy. The owner of the application: Get the pods of the budget healthy, add replicas, or loosen the budget (runbook blocked-by-budget)

Events, newest first
  30s ago  Warning BlockedByBudget: Budget ns/db blocks 1 pod
`,
    );
  });

  test('a drain that nothing holds up waits for its pods alone', () => {
    expect(explainNode(sceneOfNode({ pods: [podOf()] }))).toMatchObject({
      waitsFor: 'The pods to leave; nothing holds them up',
      canAct: 'nobody',
    });
  });

  test.each(
    [
      ['Drained', 'every pod that had to leave has left', 'nobody'],
      ['Cancelled', 'somebody cancelled the drain', 'nobody'],
    ] as const,
  )('%s: %s', (ended, why, canAct) => {
    const explained = explainNode(
      sceneOfNode({ node: { cordons: { reclaim: sceneMark({ ended }) } } }),
    );
    expect(explained.why).toContain(why);
    expect(explained).toMatchObject({ state: ended, canAct });
  });

  test('DR-41: a drain that failed says what its machine says', () => {
    const explained = explainNode(sceneOfNode({
      node: { cordons: { reclaim: sceneMark({ ended: 'Failed' }) } },
      machines: [sceneMachine('1 pod remains: ns/web-1 (two budgets)')],
    }));
    expect(explained.why).toContain('before it was empty: 1 pod remains: ns/web-1 (two budgets)');
    expect(explained.canAct).toBe('application');
  });

  test('DR-45: a paused drain says who can end the pause', () => {
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

  test('DR-01: a key that cannot be read is a field to mend', () => {
    const { problems } = explainNode(sceneOfNode({ node: { cordons: { reclaim: '{"v":2}' } } }));
    expect(problems).toMatchObject([{
      field: 'metadata.annotations[cordon.tidegate.dev/reclaim]',
      problem: 'cannot be read: its version is 2',
    }]);
  });

  test('a node that nobody drains says whose cordon it is', () => {
    const person = sceneOfNode({ node: { cordons: { person: sceneMark() } } });
    expect(explainNode(person).why).toContain('A person cordoned the node');
    expect(explainNode(sceneOfNode({ node: { cordons: {} } })).why).toContain('by nobody who left');
    expect(explainNode(sceneOfNode({ node: { cordons: {}, unschedulable: false } })))
      .toMatchObject({ state: 'Schedulable', waitsFor: 'Nothing' });
  });
});

test('every reason that blocks a pod and that somebody can act on says what to do', () => {
  const silent = BLOCKER_REASONS.filter((reason) =>
    isBlocking(reason) && REASONS[reason].canAct !== 'nobody' && actionOn(reason) === ''
  );
  expect(silent).toEqual([]);
});
