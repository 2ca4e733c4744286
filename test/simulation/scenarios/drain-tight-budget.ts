/** Drains behind tight budgets: no eviction is sent that would be refused. */
import { numberAt } from '../../../src/domain/json.ts';
import { READY_AFTER } from '../../../packages/embedded-kubernetes/src/controllers/kubelets.ts';
import { brokenBudgets } from '../../support/drains/pod-history.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import { isObserved } from '../invariant.ts';
import {
  acksOf,
  codesOf,
  drainSiteOptions,
  evictionsOf,
  podsOf,
  reasonsOf,
  reclaimEach,
  requestsOf,
  setDrainScene,
  stepsOf,
  untilBudgetsCurrent,
  untilEnded,
} from './drain-scene.ts';
import type { Scenario } from './scenario.ts';
import type { Harness } from './harness.ts';

/** Replacements take 3 s to be ready. */
const siteOptions = (seed: number) => drainSiteOptions(seed, { readyMs: [3000, 3000] });
const PODS = 20;
const GRACE_SECONDS = 3600;
/** Long enough for anything that would be sent by mistake. */
const CALM_MS = 60_000;
const STOPPED_AFTER = 5;
const WEB_PODS = 4;

const budgetPath = (name: string): string => `${DRAIN_COLLECTIONS.budgets}/${name}`;
const budgetAt = (harness: Harness, name: string): unknown => harness.get(budgetPath(name));
const healthyOf = (current: unknown) => numberAt(current, 'status', 'currentHealthy');
const allowedBy = (current: unknown) => numberAt(current, 'status', 'disruptionsAllowed');

export const drainTightBudget: Scenario = {
  name: 'drain-tight-budget',
  shows: 'DR-51: one call for each of 20 pods, none while the budget allows 0 disruptions',
  siteOptions: siteOptions(2),
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
      machines: { count: 1, prefix: 'tight-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [deployment('db', PODS)]],
        [DRAIN_COLLECTIONS.budgets, [budget('db', { maxUnavailable: 1 })]],
      ],
      pods: PODS,
      spares: { count: 1 },
    });
    const [node = ''] = scene.machines;
    reclaimEach(harness, scene.machines, GRACE_SECONDS);
    await harness.until(
      'some evictions',
      () => evictionsOf(harness, scene).length >= STOPPED_AFTER,
    );

    harness.note('the budget closes');
    harness.patch(budgetPath('db'), { spec: { maxUnavailable: 0 } });
    await harness.until('every replacement is ready under a closed budget', () => {
      const current = budgetAt(harness, 'db');
      return isObserved(current) && healthyOf(current) === PODS && allowedBy(current) === 0;
    });
    const asked = evictionsOf(harness, scene).length;
    await harness.wait(CALM_MS);
    harness.is('no call at 0', evictionsOf(harness, scene).length, asked);
    harness.is('no more than the free slots', asked, STOPPED_AFTER);
    harness.is('the budget is named', reasonsOf(harness, node).includes('BudgetNeverAllows'), true);

    harness.note('the budget opens');
    harness.patch(budgetPath('db'), { spec: { maxUnavailable: 1 } });
    harness.is('the drain ends', await untilEnded(harness, scene.machines), { [node]: 'Drained' });
    const calls = evictionsOf(harness, scene);
    harness.is('no call is refused', codesOf(calls), { 201: PODS });
    harness.is('each pod is evicted once', new Set(calls.map(({ uid }) => uid)).size, PODS);
    const broken = brokenBudgets(stepsOf(harness), [{ app: 'db', healthy: PODS - 1 }]);
    harness.is('the budget is kept at every change', broken, []);
  },
};

/** The watch of budgets delivers a bookmark. */
const untilBookmark = async (harness: Harness): Promise<void> => {
  let isSeen = false;
  harness.state.invariants.push({
    arrives: (_process, path, lines) => {
      isSeen ||= path.endsWith('/poddisruptionbudgets') &&
        lines.some(({ type }) => type === 'BOOKMARK');
    },
  });
  await harness.until('a bookmark of the budgets', () => isSeen);
};

/** The next bookmark, of any collection and with any timing, would come in a few seconds. */
const MOST_OF_A_MINUTE_MS = 55_000;

export const drainCompacted: Scenario = {
  name: 'drain-compacted',
  shows: 'DR-35: a list that replaces an expired watch leaves no budget to probe',
  siteOptions: siteOptions(5),
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
      machines: { count: 1, prefix: 'compacted-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [deployment('db', WEB_PODS)]],
        [DRAIN_COLLECTIONS.budgets, [budget('db', { maxUnavailable: 0 })]],
      ],
      pods: WEB_PODS,
      spares: { count: 1 },
    });
    reclaimEach(harness, scene.machines, GRACE_SECONDS);
    await untilBookmark(harness);
    await harness.wait(MOST_OF_A_MINUTE_MS);
    const podLists = () =>
      requestsOf(harness, scene).filter(({ verb, resource }) =>
        verb === 'list' && resource === 'pods'
      ).length;
    const listed = podLists();
    harness.note('the history is compacted');
    harness.site.cluster.store.compact();
    for (const { api } of harness.processes.all()) api.dropWatches('cut');
    await harness.wait(2 * CALM_MS);
    harness.is('no call at 0', evictionsOf(harness, scene).length, 0);

    harness.note('the budget opens');
    harness.patch(budgetPath('db'), { spec: { maxUnavailable: 1 } });
    await untilEnded(harness, scene.machines);
    harness.is('no call is refused', codesOf(evictionsOf(harness, scene)), { 201: WEB_PODS });
    harness.is('pods are listed again, and for the drain that waits', podLists() - listed, 2);
  },
};

const failProbeOf = (harness: Harness, app: string): string => {
  const pod = podsOf(harness).find((one) => one.app === app);
  harness.note(`the probe of ${pod?.name ?? ''} fails`);
  const conditions = [{ type: 'Ready', status: 'False' }];
  harness.patch(`${DRAIN_COLLECTIONS.pods}/${pod?.name ?? ''}/status`, { status: { conditions } });
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
  siteOptions: siteOptions(3),
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
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
    const unready = failProbeOf(harness, 'web');
    const pending = podsOf(harness).find(({ app }) => app === 'slow');
    harness.is('one is Pending', pending?.phase, 'Pending');
    await harness.until(
      'both budgets are full',
      () => ['web', 'slow'].every((name) => allowedBy(budgetAt(harness, name)) === 0),
    );
    reclaimEach(harness, scene.machines, GRACE_SECONDS);

    harness.is('the drain ends', await untilEnded(harness, scene.machines), { [node]: 'Drained' });
    const calls = evictionsOf(harness, scene);
    // The healthy ones wait until the unready one has a healthy successor.
    const first = calls.slice(0, 2).map(({ uid }) => uid).sort();
    harness.is('unready and Pending pods go first', first, [unready, pending?.uid ?? ''].sort());
    harness.is('no call is refused', codesOf(calls), { 201: WEB_PODS + 1 });
  },
};

export const drainTwoBudgets: Scenario = {
  name: 'drain-two-budgets',
  shows: 'DR-31: a pod under two budgets is not evicted until one of them is deleted',
  siteOptions: siteOptions(4),
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
      machines: { count: 1, prefix: 'twice-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [deployment('twice', 2), deployment('free', 2)]],
        [DRAIN_COLLECTIONS.budgets, [budget('twice', { maxUnavailable: '100%' })]],
      ],
      pods: 4,
      spares: { count: 1 },
    });
    const [node = ''] = scene.machines;
    harness.create(DRAIN_COLLECTIONS.budgets, [
      budget('twice', { maxUnavailable: '100%' }, 'again'),
    ]);
    await untilBudgetsCurrent(harness);
    await harness.wait(1000);
    reclaimEach(harness, scene.machines, GRACE_SECONDS);
    await harness.until(
      'the reason is recorded',
      () => reasonsOf(harness, node).includes('TwoBudgets'),
    );
    await harness.wait(CALM_MS);
    const names = evictionsOf(harness, scene).map(({ pod }) => pod.split('-')[0] ?? '');
    harness.is('only the others are evicted', names, ['free', 'free']);

    harness.note('one of the budgets is deleted');
    harness.remove(budgetPath('again'));
    harness.is('the drain ends', await untilEnded(harness, scene.machines), { [node]: 'Drained' });
    harness.is('no call is refused', codesOf(evictionsOf(harness, scene)), { 201: 4 });
    harness.is('one ack', acksOf(harness).length, 1);
  },
};
