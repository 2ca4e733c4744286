/**
 * `drain plan`: the preview of a drain.
 *
 * `UPDATE_GOLDEN=1` records the text anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { EvictionOutcome } from '../../../src/domain/drain/answer.ts';
import type { Uid } from '../../../src/domain/ids.ts';
import type { DrainScene } from '../../../src/view/drain-facts.ts';
import { drainPlanText } from '../../../src/view/drain-plan-text.ts';
import { drainPlan, evictable } from '../../../src/view/drain-plan.ts';
import { budgetOf, podOf } from '../../support/drains/drain-facts.ts';
import { sceneAnnotation, type SceneNode, sceneOfNode } from '../../support/drains/drain-scene.ts';

const GOLDEN = new URL('golden/drain-plan.txt', import.meta.url);
const FREE: SceneNode = { unschedulable: false, cordons: {} };

const plan = (
  parts: Partial<Omit<DrainScene, 'nodes'>> & { readonly node?: SceneNode },
  answers?: ReadonlyMap<Uid, EvictionOutcome>,
  interceptors: ReadonlyMap<Uid, readonly string[]> = new Map(),
) => drainPlan(sceneOfNode({ node: FREE, ...parts }), { graceSeconds: 120, answers, interceptors });

const open = budgetOf({
  status: { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 },
});
const closed = budgetOf({ status: { currentHealthy: 2, desiredHealthy: 2 } });

/** A node with every kind of pod. */
const everything = {
  pods: [
    podOf({ name: 'web-1' }),
    podOf({ name: 'web-2' }),
    podOf({ name: 'alone', controller: null, labels: { app: 'x' } }),
    podOf({ name: 'cache-0', labels: { app: 'cache' }, volumes: [{ name: 'a', emptyDir: {} }] }),
    podOf({ name: 'db-0', priority: 1000, labels: { app: 'db' }, namespace: 'data' }),
    podOf({ name: 'held', labels: {}, finalizers: ['example.com/hold'] }),
    podOf({ name: 'twice', labels: { app: 'two' } }),
    podOf({
      name: 'going',
      labels: {},
      deletion: '2026-03-01T12:00:20Z',
      deletionGraceSeconds: 30,
    }),
    podOf({
      name: 'stubborn',
      labels: {},
      tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }],
    }),
    podOf({ name: 'tidegate-0', namespace: 'tidegate', labels: {} }),
    podOf({ name: 'logs', labels: {}, controller: { kind: 'DaemonSet', name: 'logs' } }),
    podOf({ name: 'done', labels: {}, phase: 'Succeeded' }),
    podOf({ name: 'etcd', labels: {}, annotations: { 'kubernetes.io/config.mirror': 'x' } }),
  ],
  budgets: [
    open,
    budgetOf({
      name: 'db',
      namespace: 'data',
      selector: { matchLabels: { app: 'db' } },
      status: { currentHealthy: 1, desiredHealthy: 1 },
    }),
    ...['one', 'two'].map((name) =>
      budgetOf({
        name,
        selector: { matchLabels: { app: 'two' } },
        status: { disruptionsAllowed: 1 },
      })
    ),
  ],
  own: { namespace: 'tidegate', name: 'tidegate-0' },
};

describe('the plan of a drain', () => {
  test('DR-43: as text equals the golden file', () => {
    const text = drainPlanText(plan(everything));
    if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  test('DR-20: lists pods that stay, are not recreated or lose data', () => {
    expect(plan(everything)).toMatchObject({
      staying: [
        { pod: 'ns/done', role: 'Finished' },
        { pod: 'ns/etcd', role: 'Mirror' },
        { pod: 'ns/logs', role: 'DaemonSet' },
      ],
      willNotComeBack: ['ns/alone'],
      losesData: ['ns/cache-0'],
    });
  });

  test('DR-21: orders pods by tiers, the own pod of the operator last', () => {
    const tiers = plan(everything).tiers;
    expect(tiers.map(({ priority }) => priority)).toEqual([0, 1000, null]);
    expect(tiers.at(-1)?.pods.map(({ pod }) => pod)).toEqual(['tidegate/tidegate-0']);
  });

  test('DR-43: names each blocker with who can act', () => {
    expect(plan(everything).blockers.map(({ reason, pods, canAct }) => [reason, pods, canAct]))
      .toEqual([
        ['Finalizer', ['ns/held'], 'storage'],
        ['TwoBudgets', ['ns/twice'], 'application'],
        ['BlockedByBudget', ['data/db-0'], 'application'],
      ]);
  });

  test('ER-55: names the interceptors that act before a pod is evicted', () => {
    const pods = [podOf({ name: 'web-1' }), podOf({ name: 'web-2' })];
    const names = ['backup.example.com', 'move.example.com'];
    const view = plan({ pods }, undefined, new Map([[pods[0]?.uid ?? expect.fail(), names]]));
    expect(view.tiers.flatMap((tier) => tier.pods.map((pod) => pod.interceptors)))
      .toEqual([names, []]);
    expect(view.unknown).toContain(
      'How long the interceptors of ns/web-1 take, where the operator asks them: ' +
        'backup.example.com, move.example.com',
    );
  });

  test('ER-55: names those that the operator adds, or that they are not known', () => {
    const pods = [podOf({ name: 'web-1' }), podOf({ name: 'web-2' })];
    const [first = expect.fail()] = pods;
    const planned = (names: readonly string[] | undefined) =>
      drainPlan(sceneOfNode({ node: FREE, pods }), {
        graceSeconds: 120,
        answers: undefined,
        interceptors: new Map([[first.uid, ['backup.example.com']]]),
        defaults: { names, pods: new Set([first.uid]) },
      });
    const namesIn = ({ tiers }: ReturnType<typeof planned>) =>
      tiers.flatMap((tier) => tier.pods.map((pod) => pod.interceptors));
    const known = planned(['surge.tidegate.dev']);
    expect(namesIn(known)).toEqual([['backup.example.com', 'surge.tidegate.dev'], []]);
    expect(known.unknown).toContain(
      'How long the interceptors of ns/web-1 take, where the operator asks them: ' +
        'backup.example.com, surge.tidegate.dev',
    );
    expect(known.unknown.join()).not.toContain('--default-interceptors');
    expect(namesIn(planned(['backup.example.com']))).toEqual([['backup.example.com'], []]);
    expect(planned(undefined).unknown).toContain(
      'Which interceptors the operator adds where a Deployment would lose availability ' +
        '(try --default-interceptors): ns/web-1',
    );
    expect(planned([]).unknown.join()).not.toContain('--default-interceptors');
  });

  test('DR-43: a finalizer that the Job controller removes itself blocks no pod', () => {
    const tracking = 'batch.kubernetes.io/job-tracking';
    const ofJob = { labels: {}, controller: { kind: 'Job', name: 'batch' } };
    const pods = [
      podOf({ name: 'batch-1', ...ofJob, finalizers: [tracking] }),
      podOf({ name: 'batch-2', ...ofJob, finalizers: [tracking, 'example.com/hold'] }),
    ];
    const { blockers, unknown } = plan({ pods });
    expect(blockers).toMatchObject([
      { reason: 'Finalizer', text: 'finalizer example.com/hold', pods: ['ns/batch-2'] },
    ]);
    expect(unknown).toContain('Whether existing finalizers are removed in time');
    expect(plan({ pods: pods.slice(0, 1) }).unknown.join()).not.toContain('existing finalizers');
  });

  test('DR-43: a pod without controller that leaves lowers only what a budget of pods expects', () => {
    const pods = [podOf({ name: 'alone', controller: null }), podOf({ name: 'web-1' })];
    const status = { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 };
    const reasons = (spec: object) =>
      plan({ pods, budgets: [budgetOf({ spec, status })] }).blockers
        .map(({ reason, pods: blocked }) => [reason, blocked]);
    expect(reasons({ minAvailable: '50%' })).toEqual([['BlockedByBudget', ['ns/web-1']]]);
    expect(reasons({ minAvailable: 1 })).toEqual([['BudgetNeverAllows', ['ns/web-1']]]);
  });

  test('DR-43: lists unknowns: webhooks, new finalizers, budgets that open', () => {
    const unknown = plan(everything).unknown.join('\n');
    expect(unknown).toContain('webhook');
    expect(unknown).toContain('finalizers, pods and budgets are added');
    expect(unknown).toContain('exhausted budget allows evictions');
    expect(unknown).toContain('free slots of ns/db (1 now)');
    expect(unknown).toContain('are rescheduled here and then stay: ns/stubborn');
  });

  test('a node without leaving pods has no unknowns', () => {
    const empty = plan({ pods: [podOf({ phase: 'Failed' })] });
    expect(empty).toMatchObject({ tiers: [], blockers: [], unknown: [] });
    expect(drainPlanText(empty)).toContain('0 pods must leave, none would be blocked; 1 pod stays');
  });

  test('DR-44: an unresponsive kubelet blocks every pod', () => {
    const silent = plan({ pods: [podOf()], node: { ...FREE, ready: 'Unknown' } });
    expect(silent.blockers).toMatchObject([{ reason: 'KubeletSilent', canAct: 'provider' }]);
  });

  test('DR-45: a pause blocks every pod', () => {
    const paused = plan({ pods: [podOf()], node: { ...FREE, paused: true } });
    expect(paused.blockers).toMatchObject([{ reason: 'DrainPaused' }]);
  });

  test('DR-21: shows the tier wait: the smaller of 30 s and a quarter of the grace', () => {
    expect(plan({}).tierWaitSeconds).toBe(30);
    const short = drainPlan(sceneOfNode(), {
      graceSeconds: 40,
      answers: undefined,
      interceptors: new Map(),
    });
    expect(short.tierWaitSeconds).toBe(10);
  });
});

describe('a dry run', () => {
  const pod = podOf({ name: 'guarded', labels: {} });
  const answers = new Map<Uid, EvictionOutcome>([
    [pod.uid, { _tag: 'PolicyRefused', policy: 'guard.example.com', why: 'not today' }],
  ]);

  test('DR-43: shows the answer of an admission webhook or policy', () => {
    const { blockers, dryRun } = plan({ pods: [pod] }, answers);
    expect(dryRun).toBe(true);
    expect(blockers).toMatchObject([{
      reason: 'PolicyRefused',
      text: 'refused by guard.example.com: not today',
      canAct: 'platform',
    }]);
  });

  test('is sent for leaving pods that are not terminating', () => {
    const asked = evictable(sceneOfNode({ ...everything, node: FREE })).map(({ name }) => name);
    expect(asked).not.toContain('going');
    expect(asked).not.toContain('logs');
    expect(asked).toContain('web-1');
  });
});

describe('drain preview', () => {
  const blockersOf = (parts: Parameters<typeof plan>[0]) =>
    plan(parts).blockers.map(({ reason, pods }) => [reason, ...pods]);

  test('pods of a controller free their slot, one after another', () => {
    const pods = ['a', 'b', 'c'].map((name) => podOf({ name }));
    const { tiers, blockers } = plan({ pods, budgets: [open] });
    expect(blockers).toEqual([]);
    expect(tiers[0]?.pods.map(({ budget }) => budget)).toEqual(['ns/db', 'ns/db', 'ns/db']);
  });

  test('bare pods use up a budget', () => {
    const pods = ['a', 'b', 'c'].map((name) => podOf({ name, controller: null }));
    expect(blockersOf({ pods, budgets: [open] })).toEqual([['BudgetNeverAllows', 'ns/b', 'ns/c']]);
  });

  test('DR-31: an unready pod leaves without a slot, and its replacement opens the budget', () => {
    const pods = [podOf({ name: 'sick', ready: false }), podOf({ name: 'well' })];
    const budget = budgetOf({ status: { currentHealthy: 2, desiredHealthy: 2, expectedPods: 3 } });
    expect(blockersOf({ pods, budgets: [budget] })).toEqual([]);
    expect(blockersOf({ pods: pods.slice(1), budgets: [closed] }))
      .toEqual([['BlockedByBudget', 'ns/well']]);
  });

  test('DR-31: a budget that expects no pods never allows an eviction', () => {
    const budget = budgetOf({
      spec: { minAvailable: undefined, maxUnavailable: 1 },
      status: { expectedPods: 0 },
    });
    expect(blockersOf({ pods: [podOf({ controller: null })], budgets: [budget] }))
      .toEqual([['BudgetNeverAllows', 'ns/a']]);
  });

  test('a budget with an outdated status is uncertain, and listed as unknown', () => {
    const budget = budgetOf({ generation: 2, status: { observedGeneration: 1 } });
    const { blockers, tiers, unknown } = plan({ pods: [podOf()], budgets: [budget] });
    expect(blockers).toEqual([]);
    expect(tiers[0]?.pods[0]).toMatchObject({ verdict: 'Uncertain', reason: 'BudgetUnsettled' });
    expect(unknown.at(-1)).toBe('How ns/a resolves: status of budget ns/db is being updated');
  });

  const local = podOf({ name: 'db-0', volumes: [{ name: 'data', hostPath: { path: '/data' } }] });

  test('RS-11: a pod with data on the node only may be kept, which the cluster does not say', () => {
    const { blockers, unknown } = plan({ pods: [local, podOf()] });
    expect(blockers).toEqual([]);
    expect(unknown.at(-1)).toMatch(/--local-volumes of the operator says: ns\/db-0$/);
  });

  test('RS-11: a disabled node keeps a pod with data on it only', () => {
    const node = { cordons: { disabled: sceneAnnotation() } };
    const facts = sceneOfNode({ node, pods: [local, podOf()] });
    const { staying, blockers, tiers, unknown } = plan({ node, pods: [local, podOf()] });
    expect(staying).toEqual([{ pod: 'ns/db-0', role: 'StatefulLocalVolume' }]);
    expect(blockers).toMatchObject([{ reason: 'StatefulLocalVolume', pods: ['ns/db-0'] }]);
    expect(tiers.flatMap(({ pods }) => pods.map(({ pod }) => pod))).toEqual(['ns/a']);
    expect(unknown.join()).not.toContain('--local-volumes');
    expect(evictable(facts).map(({ key }) => key)).toEqual(['ns/a']);
  });

  test('a pod of a terminating namespace leaves with it', () => {
    expect(blockersOf({ pods: [podOf()], budgets: [closed], terminatingNamespaces: ['ns'] }))
      .toEqual([]);
  });
});
