/** What a blocked drain shows on its Node, its UpcomingNode, its budgets and its chart. */
import { afterEach, describe, expect, test } from 'vitest';
import { objectKey, uid } from '../../../src/domain/ids.ts';
import { drainRig } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const rig = () => {
  const made = drainRig();
  stops.push(made.stop);
  return made;
};

describe('a blocked drain', () => {
  test('DR-42: what blocks a drain is on its UpcomingNode and its chart until it blocks no more', async () => {
    const { order, node, pods, time, reported, conditions, drains } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    pods.block('a', { reason: 'PolicyRefused', text: 'refused by p: no', subject: 'p' });
    order('i1', ['n1'], 600);
    const verdict = () => drains().get('n1')?.getSnapshot().context.verdict;
    await time.advance(9000);
    expect(verdict()).toBeNull();
    await time.advance(3000);
    expect(verdict()).toMatchObject({ reason: 'PolicyRefused', canAct: 'platform' });
    expect(reported.map(({ fact }) => fact)).toEqual([
      { _tag: 'Draining' },
      { _tag: 'Draining', blocked: 'PolicyRefused: 1 pod cannot leave: refused by p: no (ns/a)' },
    ]);
    pods.block('a', { reason: 'WaitingForTurn', text: 'eviction is next', subject: '' });
    pods.changed('n1');
    await time.advance(2000);
    pods.unblock('a');
    await time.advance(10_000);
    expect(reported.map(({ fact }) => fact).slice(2)).toEqual([
      { _tag: 'Draining', blocked: '' },
      { _tag: 'Drained' },
    ]);
    expect(conditions).toEqual([
      {
        node: 'n1',
        status: 'True',
        reason: 'PolicyRefused',
        message: '1 pod cannot leave: refused by p: no (ns/a). The platform team: Fix the ' +
          'webhook or policy that refuses, or exempt the pod',
      },
      {
        node: 'n1',
        status: 'True',
        reason: 'DrainStarted',
        message: 'Nothing blocks its pods',
      },
      {
        node: 'n1',
        status: 'False',
        reason: 'DrainFinished',
        message: 'All pods that had to leave are gone',
      },
    ]);
  });

  test('DR-50: a drain that nothing blocks writes its condition with its end', async () => {
    const { order, node, nodes, pods, time, conditions } = rig();
    node('n1');
    node('n2');
    pods.add({ node: 'n1', name: 'a' });
    pods.add({ node: 'n2', name: 'b', goesAfterMs: Number.POSITIVE_INFINITY });
    order('i1', ['n1', 'n2'], 8);
    await time.advance(20_000);
    expect(nodes.calls.filter(({ path }) => path.endsWith('/status')).length).toBe(2);
    expect(nodes.calls.length).toBe(4);
    expect(conditions).toMatchObject([{
      node: 'n1',
      status: 'False',
      reason: 'DrainFinished',
      message: 'All pods that had to leave are gone',
    }, {
      node: 'n2',
      status: 'False',
      reason: 'DeadlinePassed',
      message: expect.stringContaining('1 pod remains: ns/b'),
    }]);
  });

  test('DR-42: the next drain of a node sets the condition that the last one ended', async () => {
    const { order, node, pods, time, conditions } = rig();
    node('n1', {
      status: { conditions: [{ type: 'tidegate.dev/Draining', status: 'False' }] },
    });
    pods.add({ node: 'n1', name: 'a', goesAfterMs: 3000 });
    order('i1', ['n1'], 60);
    await time.advance(20_000);
    expect(conditions).toMatchObject([
      { status: 'True', reason: 'DrainStarted', message: 'Nothing blocks its pods' },
      { status: 'False', reason: 'DrainFinished' },
    ]);
  });

  test('DR-42: a process that resumes a drain ends the condition that the Node shows', async () => {
    const { order, node, time, conditions } = rig();
    await time.settle();
    node('n1', {
      status: { conditions: [{ type: 'tidegate.dev/Draining', status: 'True' }] },
    });
    order('i1', ['n1'], 60);
    await time.advance(5000);
    expect(conditions).toMatchObject([{ status: 'False', reason: 'DrainFinished' }]);
  });

  test.each([[[]], [[{ type: 'tidegate.dev/Draining', status: 'True' }]]])(
    'DR-42: a missing permission that ended a drain is in the condition, beside %j',
    async (before) => {
      const { order, node, pods, time, conditions } = rig();
      node('n1', { status: { conditions: before } });
      pods.add({ node: 'n1', name: 'a' });
      pods.block('a', { reason: 'EvictionForbidden', text: 'cannot create pods/eviction' });
      order('i1', ['n1'], 600);
      await time.settle();
      pods.changed('n1');
      await time.advance(1000);
      expect(conditions.at(-1)).toMatchObject({
        status: 'False',
        reason: 'EvictionForbidden',
        message: 'The operator may not evict: cannot create pods/eviction; ' +
          '1 pod remains: ns/a (cannot create pods/eviction)',
      });
    },
  );

  test('DR-42: at most three blocking budgets get an Event about a drain, one each', async () => {
    const { order, node, pods, time, notes } = rig();
    node('n1');
    const never = (name: string) =>
      ({
        reason: 'BudgetNeverAllows',
        text: `budget ns/${name} never allows an eviction`,
        subject: `ns/${name}`,
        budgets: [{ key: objectKey(name, 'ns'), namespace: 'ns', name, uid: uid(`u-${name}`) }],
      }) as const;
    const covered = { p1: 'a', p2: 'a', p3: 'b', p4: 'c', p5: 'd' };
    for (const [pod, budget] of Object.entries(covered)) {
      pods.add({ node: 'n1', name: pod });
      pods.block(pod, never(budget));
    }
    order('i1', ['n1'], 600);
    await time.advance(60_000);
    const onBudgets = notes.filter(({ regarding }) => regarding.kind === 'PodDisruptionBudget');
    expect(onBudgets.map(({ regarding }) => regarding)).toEqual(
      ['a', 'b', 'c'].map((name) => ({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        namespace: 'ns',
        name,
        uid: `u-${name}`,
      })),
    );
    expect(onBudgets[0]?.note).toContain(
      'Holds up the drain of node "n1": 2 pods cannot leave: budget ns/a never allows an eviction',
    );
  });

  test('DR-06: a Node that is deleted with pods on it is recorded as deleted, with their number', async () => {
    const { order, node, nodes, pods, time, notes } = rig();
    node('n1');
    for (const name of ['a', 'b']) pods.add({ node: 'n1', name, goesAfterMs: 60_000 });
    order('i1', ['n1'], 600);
    await time.advance(5000);
    nodes.remove('n1');
    await time.advance(5000);
    expect(notes.at(-1)).toMatchObject({
      reason: 'NodeDeleted',
      note: 'The Node was deleted after 5 s with 2 pods on it',
    });
  });
});
