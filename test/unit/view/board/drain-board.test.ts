/** The drain board: what is stuck, why, and who can act, from the actors of a process. */
import { expect, test } from 'vitest';
import { drainBoard } from '../../../../src/view/board/drain-board.ts';
import { requestVerdict } from '../../../../src/domain/eviction-requests/request-verdict.ts';
import {
  ACTOR_A,
  ACTOR_B,
  B_ACTIVE,
  CREATED_MS,
  entry,
  observedRequest,
  type RequestTraits,
  statusWith,
  TIMING,
} from '../../../support/eviction-requests/request-fixture.ts';
import {
  budgetOf,
  drainOf,
  NOW_MS,
  podOf,
  type SceneActor,
  sceneOf,
} from '../../../support/board/board-scene.ts';

const boardOf = (...actors: readonly SceneActor[]) => drainBoard(sceneOf(actors), NOW_MS);

test('an idle process needs no person', () => {
  const board = boardOf();
  expect(board).toMatchObject({ severity: 'Ok', needsPerson: 0, drains: [], budgets: [] });
  expect(board.machines.map(({ phase }) => phase)).toContain('Draining');
});

test('pods behind a budget that never opens are blocked at once, with the change that helps', () => {
  const { severity, needsPerson, drains: [card], budgets: [budget] } = boardOf(
    drainOf('node-1', 2),
    podOf('a', 'node-1', { budget: 'default/db' }),
    podOf('b', 'node-1', { budget: 'default/db' }),
    budgetOf(['a', 'b'], { maxUnavailable: 0 }),
  );
  expect({ severity, needsPerson }).toEqual({ severity: 'Blocked', needsPerson: 1 });
  expect(card?.verdict).toMatchObject({
    reason: 'BudgetNeverAllows',
    canAct: 'application',
    severity: 'Blocked',
  });
  expect(card?.verdict.sentence).toContain('maxUnavailable is 0 (default/a, default/b)');
  expect(card?.verdict.forecast).toContain('The node will not be empty by 2026-01-01T12:10:00Z');
  expect(card?.command).toMatch(/^kubectl patch pdb db /);
  expect(card?.pods).toEqual({ blocked: 2, waiting: 0, terminating: 0, gone: 0 });
  expect(budget).toMatchObject({ severity: 'Blocked', slots: 0, queued: 2 });
});

test('pods that queue for a budget that moves wait, and need no person', () => {
  const { severity, drains: [card], budgets: [budget] } = boardOf(
    drainOf('node-1', 3),
    podOf('a', 'node-1', { budget: 'default/db' }),
    podOf('b', 'node-1', { state: 'leaving.terminating', reason: 'Terminating' }),
    podOf('c', 'node-1', { state: 'gone', reason: null, status: 'done' }),
    budgetOf(['a'], { healthy: 9 }),
  );
  expect(severity).toBe('Waiting');
  // The third of the pods that are left has no eviction yet: its tier has not started.
  expect(card?.pods).toEqual({ blocked: 0, waiting: 2, terminating: 1, gone: 1 });
  expect(card?.verdict).toMatchObject({ reason: 'DrainStarted', severity: 'Waiting' });
  expect(budget).toMatchObject({ severity: 'Waiting', slots: 1, used: 1, change: '' });
});

test('what the operator recorded as the blocker of a drain is the verdict of its card', () => {
  const verdict = {
    reason: 'PolicyRefused',
    sentence: '1 pod cannot leave: refused by gate: no (default/a)',
    canAct: 'platform',
    change: 'Fix the webhook',
    runbook: 'policy-refused',
    severity: 'Blocked',
    forecast: '',
  };
  const { drains: [card] } = boardOf(
    drainOf('node-1', 1, { with: { verdict } }),
    podOf('a', 'node-1', { state: 'heldUp.refusedByPolicy', reason: 'PolicyRefused' }),
  );
  expect(card?.verdict).toEqual(verdict);
  expect(card?.pods.blocked).toBe(1);
  expect(card?.command).toBe('kubectl describe node node-1');
});

test('what needs a person comes first, and the earlier deadline before the other one', () => {
  const at = (deadlineMs: number) => ({
    with: { annotation: { ids: [], sinceMs: 0, deadlineMs, graceSeconds: 60 } },
  });
  const { drains } = boardOf(
    drainOf('late', 1, at(NOW_MS + 9000)),
    drainOf('soon', 1, at(NOW_MS + 3000)),
    drainOf('stuck', 1, at(NOW_MS + 60_000)),
    podOf('a', 'stuck', { budget: 'default/db' }),
    budgetOf(['a'], { maxUnavailable: 0 }),
  );
  expect(drains.map(({ node }) => node)).toEqual(['stuck', 'soon', 'late']);
});

const FAILED = {
  state: 'clock.over bindings.complete work.failed',
  reason: null,
  status: 'stopped',
} as const;
const machineOf = (node: string, more: Partial<SceneActor> = {}): SceneActor => ({
  id: `upcomingNode/${node}`,
  state: 'settled',
  context: {
    name: node,
    facts: {
      reported: { nodeName: node },
      current: { nodeName: node, phase: 'Failed', lastError: '1 pod remains: default/a (why)' },
    },
  },
  ...more,
});

test('a node that a maintenance only cordons does not drain', () => {
  const { draining, needsPerson, drains: [card] } = boardOf(drainOf('node-1', 0, {
    state: 'clock.notDue bindings.arriving work.underway.holding',
    reason: 'WaitingForBarrier',
    with: { owner: 'maintenance-0123456789ab', released: false },
  }));
  expect([draining, needsPerson, card?.situation, card?.verdict.reason]).toEqual([
    0,
    0,
    'Cordoned',
    'NotDraining',
  ]);
});

test('a drain that failed by a missing right says so, and who can give it', () => {
  const with403 = { end: 'Failed', refusal: 'pods/eviction is forbidden' };
  const { drains: [card] } = boardOf(drainOf('node-1', 1, { ...FAILED, with: with403 }));
  expect(card?.verdict.reason).toBe('EvictionForbidden');
});

test('a failed drain keeps its reason, its pods and who can act, until its machine is gone', () => {
  const drain = drainOf('node-1', 1, { ...FAILED, with: { end: 'Failed' } });
  const pod = podOf('a', 'node-1', { state: 'released', reason: null, status: 'stopped' });
  const { severity, drains: [card], machines } = boardOf(drain, pod, machineOf('node-1'));
  expect(severity).toBe('Failed');
  expect(card).toMatchObject({ situation: 'Failed', pods: { blocked: 1 } });
  expect(card?.verdict.sentence).toContain('1 pod remains: default/a (why)');
  expect(machines.find(({ phase }) => phase === 'Failed')).toMatchObject({ names: ['node-1'] });
  const over = boardOf(drain, pod, machineOf('node-1', { state: 'gone', status: 'done' }));
  expect(over).toMatchObject({ severity: 'Ok', drains: [], ended: [{ node: 'node-1' }] });
});

test('a drain that a lost lease stopped is not on the board of a standby', () => {
  const left = ['work.underway.draining.open', 'work.ending.writing'].map((work, at) =>
    drainOf(`left-${at}`, 1, { state: `clock.beforeLastQuarter ${work}`, status: 'stopped' })
  );
  const over = drainOf('over', 0, {
    state: 'clock.over bindings.complete work.drained',
    status: 'stopped',
    with: { end: 'Drained' },
  });
  const board = boardOf(...left, over, podOf('a', 'left-0', { status: 'stopped' }));
  expect(board).toMatchObject({ severity: 'Ok', needsPerson: 0, draining: 0, drains: [] });
  expect(board.ended.map(({ node }) => node)).toEqual(['over']);
});

test('a drained node is over, and pods of an earlier drain of its name are not counted', () => {
  const { drains, ended: [card] } = boardOf(
    drainOf('node-1', 0, {
      state: 'clock.beforeLastQuarter bindings.complete work.drained',
      bornMs: NOW_MS - 5000,
      sinceMs: NOW_MS - 1000,
      with: { end: 'Drained' },
    }),
    podOf('old', 'node-1', { state: 'gone', status: 'done', sinceMs: NOW_MS - 9000 }),
    podOf('new', 'node-1', { state: 'gone', status: 'done', sinceMs: NOW_MS - 2000 }),
  );
  expect(drains).toEqual([]);
  expect(card).toMatchObject({ situation: 'Drained', severity: 'Ok', pods: { gone: 1 } });
});

test('a drain that cannot cordon its node shows that before anything about pods', () => {
  const { drains: [card] } = boardOf(
    drainOf('node-1', 0, {
      state: 'clock.beforeLastQuarter bindings.beforeCordon work.underway.backingOff',
      reason: 'CordonFailing',
      with: { annotation: null, problem: 'forbidden', orders: [{ deadlineMs: NOW_MS + 1 }] },
    }),
  );
  expect(card).toMatchObject({ severity: 'Blocked', deadlineMs: NOW_MS + 1 });
  expect(card?.verdict.sentence).toMatch(/cannot be cordoned.*: forbidden$/);
});

test('ten thousand pods make a bounded board with complete counts', () => {
  const pods = Array.from({ length: 10_000 }, (_, at) => podOf(`p${at}`, `node-${at % 100}`));
  const drains = Array.from({ length: 100 }, (_, at) => drainOf(`node-${at}`, 100));
  const board = boardOf(...drains, ...pods);
  expect(board.drains.length + board.drainsLeftOut).toBe(100);
  expect(board.drains[0]?.pods.waiting).toBe(100);
  expect(JSON.stringify(board).length).toBeLessThan(250_000);
});

test('drains are counted that go on, also those without a card, and no failed one', () => {
  const going = Array.from({ length: 60 }, (_, at) => drainOf(`going-${at}`, 1));
  const failed = Array.from(
    { length: 60 },
    (_, at) => drainOf(`failed-${at}`, 1, { ...FAILED, with: { end: 'Failed' } }),
  );
  const board = boardOf(...going, ...failed);
  expect([board.draining, board.drains.length, board.drainsLeftOut]).toEqual([60, 48, 72]);
});

test('a budget counts the nodes of all its queued pods, not only of those that are sent', () => {
  const pods = Array.from(
    { length: 200 },
    (_, at) => podOf(`p${at}`, `node-${Math.floor(at / 20)}`, { budget: 'default/db' }),
  );
  const { budgets: [budget] } = boardOf(...pods, budgetOf(pods.map((_, at) => `p${at}`)));
  expect(budget).toMatchObject({ queued: 200, queuedNodes: 10 });
  expect(budget?.queue).toHaveLength(24);
});

test('a drain whose pods a person must help says so before a verdict is recorded', () => {
  const held = { state: 'heldUp.twoBudgets', reason: 'TwoBudgets' } as const;
  const { drains: [card], needsPerson } = drainBoard(
    sceneOf([drainOf('node-1', 2), podOf('a', 'node-1', held), podOf('b', 'node-1')]),
    NOW_MS,
  );
  expect(needsPerson).toBe(1);
  expect(card?.pods).toMatchObject({ blocked: 1, waiting: 1 });
  expect(card?.verdict).toMatchObject({ reason: 'TwoBudgets', severity: 'Blocked' });
  expect(card?.verdict.sentence).toMatch(/^1 pod cannot leave: /);
});

const A_REPORTS = statusWith({
  active: ACTOR_A,
  processed: [ACTOR_B],
  interceptors: [entry(ACTOR_A, { startTime: 20, heartbeatTime: 60 }, 'busy')],
});

const requestActor = (id: string, traits: RequestTraits): SceneActor => ({
  id: `evictionRequest/blueberry/${id}`,
  state: 'status.silent eviction.withheld clock.counting',
  context: { facts: { request: observedRequest(traits) }, timing: TIMING },
});

const MINUTE_LATER_MS = CREATED_MS + 70_000;

test('an open request is a card with the verdict that the commands print', () => {
  const actors = [
    requestActor('a', { status: A_REPORTS }),
    requestActor('b', { status: B_ACTIVE }),
    { ...requestActor('c', { status: B_ACTIVE }), status: 'done' as const },
    { id: 'evictionRequest/blueberry/d', context: { facts: {} } },
  ];
  const board = drainBoard(sceneOf(actors), MINUTE_LATER_MS);
  expect(board.evictions.map(({ id, situation }) => [id.split('/').at(-1), situation])).toEqual([
    ['b', 'Silent'],
    ['a', 'Intercepting'],
  ]);
  const [silent] = board.evictions;
  const { reason, sentence, canAct, change, runbook } = requestVerdict(
    observedRequest({ status: B_ACTIVE }),
    { nowMs: MINUTE_LATER_MS, timing: TIMING },
  );
  expect(silent).toMatchObject({
    key: 'blueberry/p-1',
    active: ACTOR_B,
    next: ACTOR_A,
    handOverMs: CREATED_MS + 1_200_000,
    verdict: { reason, sentence, canAct, change, runbook, severity: 'Blocked' },
    command: 'kubectl describe evictionrequest b -n blueberry',
  });
  expect(board).toMatchObject({ severity: 'Blocked', needsPerson: 1, evictionsLeftOut: 0 });
});

test('requests that have ended are not on the board, and many are cut', () => {
  const ended = requestActor('a', {
    status: statusWith({
      active: null,
      conditions: [{ type: 'Evicted', status: 'True', reason: 'PodDeleted', message: '' }],
    }),
  });
  expect(drainBoard(sceneOf([ended]), MINUTE_LATER_MS).evictions).toEqual([]);
  const many = Array.from({ length: 30 }, (_, at) => requestActor(`${at}`, { status: B_ACTIVE }));
  const board = drainBoard(sceneOf(many), MINUTE_LATER_MS);
  expect([board.evictions.length, board.evictionsLeftOut]).toEqual([24, 6]);
  expect(board.needsPerson).toBe(30);
});
