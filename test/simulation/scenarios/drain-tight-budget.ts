/** Drains behind budgets that give little: nothing is asked that would be refused. */
import { numberAt } from '../../../src/domain/json.ts';
import { READY_AFTER } from '../../../src/embedded/cluster/players/kubelets.ts';
import { brokenBudgets } from '../../support/drains/pod-history.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import { isObserved } from '../invariant.ts';
import {
  acksOf,
  codesOf,
  drainSetting,
  evictionsOf,
  podsOf,
  reasonsOf,
  reclaimEach,
  setDrainScene,
  stepsOf,
  untilBudgetsCurrent,
  untilEnded,
} from './drain-scene.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** Replacements take 3 s to be ready. */
const setting = (seed: number) => drainSetting(seed, { readyMs: [3000, 3000] });
const PODS = 20;
const GRACE_SECONDS = 3600;
/** Long enough for anything that would be sent by mistake. */
const QUIET_MS = 60_000;
const STOPPED_AFTER = 5;
const WEB_PODS = 4;

const budgetPath = (name: string): string => `${DRAIN_COLLECTIONS.budgets}/${name}`;
const budgetAt = (stage: Stage, name: string): unknown => stage.get(budgetPath(name));
const healthyOf = (shown: unknown) => numberAt(shown, 'status', 'currentHealthy');
const allowedBy = (shown: unknown) => numberAt(shown, 'status', 'disruptionsAllowed');

export const drainTightBudget: Scenario = {
  name: 'drain-tight-budget',
  shows: 'DR-51: one call for each of 20 pods, silence while the budget is 0, and on after that',
  setting: setting(2),
  play: async (stage) => {
    const scene = await setDrainScene(stage, {
      machines: { count: 1, prefix: 'tight-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [deployment('db', PODS)]],
        [DRAIN_COLLECTIONS.budgets, [budget('db', { maxUnavailable: 1 })]],
      ],
      pods: PODS,
      spares: { count: 1 },
    });
    const [node = ''] = scene.machines;
    reclaimEach(stage, scene.machines, GRACE_SECONDS);
    await stage.until('some evictions', () => evictionsOf(stage, scene).length >= STOPPED_AFTER);

    stage.note('the budget closes');
    stage.patch(budgetPath('db'), { spec: { maxUnavailable: 0 } });
    await stage.until('every replacement is ready under a closed budget', () => {
      const shown = budgetAt(stage, 'db');
      return isObserved(shown) && healthyOf(shown) === PODS && allowedBy(shown) === 0;
    });
    const asked = evictionsOf(stage, scene).length;
    await stage.wait(QUIET_MS);
    stage.is('silence at 0', evictionsOf(stage, scene).length, asked);
    stage.is('nothing more than was free', asked, STOPPED_AFTER);
    stage.is('the budget is named', reasonsOf(stage, node).includes('BlockedByBudget'), true);

    stage.note('the budget opens');
    stage.patch(budgetPath('db'), { spec: { maxUnavailable: 1 } });
    stage.is('the drain ends', await untilEnded(stage, scene.machines), { [node]: 'Drained' });
    const calls = evictionsOf(stage, scene);
    stage.is('no call is refused', codesOf(calls), { 201: PODS });
    stage.is('each pod is asked once', new Set(calls.map(({ uid }) => uid)).size, PODS);
    const broken = brokenBudgets(stepsOf(stage), [{ app: 'db', healthy: PODS - 1 }]);
    stage.is('the budget is kept at every change', broken, []);
  },
};

const failProbeOf = (stage: Stage, app: string): string => {
  const pod = podsOf(stage).find((one) => one.app === app);
  stage.note(`the probe of ${pod?.name ?? ''} fails`);
  const conditions = [{ type: 'Ready', status: 'False' }];
  stage.patch(`${DRAIN_COLLECTIONS.pods}/${pod?.name ?? ''}/status`, { status: { conditions } });
  return pod?.uid ?? '';
};

const slow = {
  ...deployment('slow', 1),
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'slow' } },
    template: {
      metadata: { labels: { app: 'slow' }, annotations: { [READY_AFTER]: '3600000' } },
      spec: { containers: [{ name: 'main', image: 'example.com/main' }] },
    },
  },
};

export const drainUnreadyPods: Scenario = {
  name: 'drain-unready-pods',
  shows: 'DR-31: pods that are unready or Pending leave at once behind a full budget',
  setting: setting(3),
  play: async (stage) => {
    const scene = await setDrainScene(stage, {
      machines: { count: 1, prefix: 'weak-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', WEB_PODS), slow]],
        [DRAIN_COLLECTIONS.budgets, [
          budget('web', { minAvailable: WEB_PODS - 1 }),
          budget('slow', { maxUnavailable: 0 }),
        ]],
      ],
      pods: WEB_PODS,
      otherPods: 1,
      spares: { count: 1 },
    });
    const [node = ''] = scene.machines;
    const unready = failProbeOf(stage, 'web');
    const pending = podsOf(stage).find(({ app }) => app === 'slow');
    stage.is('one is Pending', pending?.phase, 'Pending');
    await stage.until(
      'both budgets are full',
      () => ['web', 'slow'].every((name) => allowedBy(budgetAt(stage, name)) === 0),
    );
    reclaimEach(stage, scene.machines, GRACE_SECONDS);

    stage.is('the drain ends', await untilEnded(stage, scene.machines), { [node]: 'Drained' });
    const calls = evictionsOf(stage, scene);
    // The healthy ones wait until the unready one has a healthy successor.
    const first = calls.slice(0, 2).map(({ uid }) => uid).sort();
    stage.is('the weak ones go first', first, [unready, pending?.uid ?? ''].sort());
    stage.is('no call is refused', codesOf(calls), { 201: WEB_PODS + 1 });
  },
};

export const drainTwoBudgets: Scenario = {
  name: 'drain-two-budgets',
  shows: 'DR-31: a pod under two budgets is not asked for until one of them is gone',
  setting: setting(4),
  play: async (stage) => {
    const scene = await setDrainScene(stage, {
      machines: { count: 1, prefix: 'twice-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [deployment('twice', 2), deployment('free', 2)]],
        [DRAIN_COLLECTIONS.budgets, [budget('twice', { maxUnavailable: '100%' })]],
      ],
      pods: 4,
      spares: { count: 1 },
    });
    const [node = ''] = scene.machines;
    stage.create(DRAIN_COLLECTIONS.budgets, [budget('twice', { maxUnavailable: '100%' }, 'again')]);
    await untilBudgetsCurrent(stage);
    await stage.wait(1000);
    reclaimEach(stage, scene.machines, GRACE_SECONDS);
    await stage.until('it is said why', () => reasonsOf(stage, node).includes('TwoBudgets'));
    await stage.wait(QUIET_MS);
    const names = evictionsOf(stage, scene).map(({ pod }) => pod.split('-')[0] ?? '');
    stage.is('only the others are asked', names, ['free', 'free']);

    stage.note('one of the budgets goes');
    stage.remove(budgetPath('again'));
    stage.is('the drain ends', await untilEnded(stage, scene.machines), { [node]: 'Drained' });
    stage.is('no call is refused', codesOf(evictionsOf(stage, scene)), { 201: 4 });
    stage.is('one ack', acksOf(stage).length, 1);
  },
};
