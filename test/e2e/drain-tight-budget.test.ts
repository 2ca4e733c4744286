/** Drains behind tight budgets: no eviction is sent that would be refused. */
import { expect, it } from 'vitest';
import { listOrEmptyAt, numberAt, textAt } from '../../src/domain/json.ts';
import { type ClusterClient, COLLECTIONS } from '../support/api/cluster-client.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { type AuditedEviction, evictionsIn, requestsBy } from '../support/drains/audited-drains.ts';
import { type DrainSite, untilBudgetsCurrent } from '../support/drains/drain-site.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { brokenBudgets, podSteps, seenPod } from '../support/drains/pod-history.ts';
import { reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { rollupsAt } from '../support/fleet/fleet-script.ts';
import { atScale } from '../support/scale.ts';

/** Replacements take 3 s to be ready. */
const BED = {
  controllers: true,
  scheduler: true,
  kwok: true,
  podReadyMs: atScale({ commit: 1000, release: 3000 }),
  podDeleteMs: 1000,
};
const PODS = atScale({ commit: 6, release: 20 });
const GRACE_SECONDS = 3600;
/** Long enough for a spurious request: the fleet gets one roll-up per second. */
const IDLE_ROLLUPS = 5;
const STOPPED_AFTER = atScale({ commit: 3, release: 5 });

const evictions = async (bed: Testbed, site: DrainSite): Promise<readonly AuditedEviction[]> =>
  evictionsIn(await requestsBy(bed, 'tidegate', site.readyMs));

/** Waits for several roll-ups. */
const idleTime = async ({ fleet }: DrainSite): Promise<void> => {
  const before = (await rollupsAt(fleet)).length;
  await eventually(async () => (await rollupsAt(fleet)).length >= before + IDLE_ROLLUPS, {
    what: 'some roll-ups to pass',
  });
};

const budgetPath = (name: string): string => `${DRAIN_COLLECTIONS.budgets}/${name}`;

/** Makes one pod of an app unready, as a failing probe does, and gives its UID. */
const failProbeOf = async (cluster: ClusterClient, app: string): Promise<string> => {
  const pods = (await cluster.list(DRAIN_COLLECTIONS.pods)).map(seenPod);
  const pod = pods.find((one) => one.app === app);
  if (pod === undefined) throw new Error(`there is no pod of "${app}"`);
  await cluster.patch(`${DRAIN_COLLECTIONS.pods}/${pod.name}/status`, {
    status: { conditions: [{ type: 'Ready', status: 'False' }] },
  });
  return pod.uid;
};

const reportedReasons = async (cluster: ClusterClient): Promise<readonly string[]> =>
  (await cluster.list(COLLECTIONS.events)).map((event) => textAt(event, 'reason') ?? '');

describeWithTestbed('a drain behind a tight budget', BED, (bed) => {
  it('DR-51: evicts each pod once, pauses while the budget is 0, and continues after', async () => {
    const site = await drainSite(bed(), {
      machines: { count: 1, prefix: 'tight-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [deployment('db', PODS)]],
        [DRAIN_COLLECTIONS.budgets, [budget('db', { maxUnavailable: 1 })]],
      ],
      pods: PODS,
      spares: { count: 1 },
    });
    const { cluster, fleet, machines } = site;
    await reclaimEach(fleet, machines, GRACE_SECONDS);

    await eventually(async () => (await evictions(bed(), site)).length >= STOPPED_AFTER, {
      what: 'some evictions',
    });
    // The slot is taken until the replacement is ready, so nothing is on its way now.
    await cluster.patch(budgetPath('db'), { spec: { maxUnavailable: 0 } });
    await eventually(async () => {
      const [current] = await cluster.list(DRAIN_COLLECTIONS.budgets);
      return numberAt(current, 'status', 'currentHealthy') === PODS &&
        numberAt(current, 'status', 'disruptionsAllowed') === 0;
    }, { what: 'every replacement to be ready under a closed budget' });
    await idleTime(site);
    expect((await evictions(bed(), site)).length).toBe(STOPPED_AFTER);
    await eventually(async () => (await reportedReasons(cluster)).includes('BudgetNeverAllows'), {
      what: 'an Event that names the budget',
    });

    await cluster.patch(budgetPath('db'), { spec: { maxUnavailable: 1 } });
    const [node = ''] = machines;
    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Drained' });
    const calls = await evictions(bed(), site);
    expect(calls.map(({ code }) => code)).toEqual(Array.from({ length: PODS }, () => 201));
    expect(new Set(calls.map(({ uid }) => uid)).size).toBe(PODS);
    await site.pods.upTo(await cluster.list(DRAIN_COLLECTIONS.pods));
    const steps = podSteps(site.pods.changes());
    expect(brokenBudgets(steps, [{ app: 'db', healthy: PODS - 1 }])).toEqual([]);
  });

  it('DR-31: pods that are unready or Pending leave at once behind a full budget', async () => {
    const replicas = 4;
    const site = await drainSite(bed(), {
      machines: { count: 1, prefix: 'weak-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [
          deployment('web', replicas),
          deployment('slow', 1, { readyAfter: '1h' }),
        ]],
        [DRAIN_COLLECTIONS.budgets, [
          budget('web', { minAvailable: replicas - 1 }),
          budget('slow', { maxUnavailable: 0 }),
        ]],
      ],
      pods: replicas,
      otherPods: 1,
      spares: { count: 1 },
    });
    const { cluster, fleet, machines } = site;
    const unready = await failProbeOf(cluster, 'web');
    const pending = (await cluster.list(DRAIN_COLLECTIONS.pods)).map(seenPod)
      .find(({ app }) => app === 'slow');
    expect(pending?.phase).toBe('Pending');
    await eventually(async () => {
      const current = await cluster.list(DRAIN_COLLECTIONS.budgets);
      return current.every((one) => numberAt(one, 'status', 'disruptionsAllowed') === 0);
    }, { what: 'both budgets to be full' });

    await reclaimEach(fleet, machines, GRACE_SECONDS);

    const [node = ''] = machines;
    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Drained' });
    const calls = await evictions(bed(), site);
    // The healthy ones wait until the unready one has a healthy successor.
    expect(calls.slice(0, 2).map(({ uid }) => uid).sort())
      .toEqual([unready, pending?.uid ?? ''].sort());
    expect(calls.map(({ code }) => code)).toEqual(Array.from({ length: replicas + 1 }, () => 201));
  });

  it('DR-31: a pod under two budgets is not evicted until one of them is deleted', async () => {
    const site = await drainSite(bed(), {
      machines: { count: 1, prefix: 'twice-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [deployment('twice', 2), deployment('free', 2)]],
        [DRAIN_COLLECTIONS.budgets, [budget('twice', { maxUnavailable: '100%' })]],
      ],
      pods: 4,
      spares: { count: 1 },
    });
    const { cluster, fleet, machines } = site;
    // Created when the pods are ready: the controller syncs only one budget of a changed pod.
    await cluster.create(DRAIN_COLLECTIONS.budgets, [
      budget('twice', { maxUnavailable: '100%' }, 'again'),
    ]);
    await untilBudgetsCurrent(cluster);
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    await eventually(async () => (await reportedReasons(cluster)).includes('TwoBudgets'), {
      what: 'an Event with the reason',
    });
    await idleTime(site);
    const asked = await evictions(bed(), site);
    expect(asked.length).toBe(2);
    expect(asked.filter(({ pod }) => pod.startsWith('twice'))).toEqual([]);

    expect((await cluster.call('DELETE', budgetPath('again'))).status).toBe(200);
    const [node = ''] = machines;
    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Drained' });
    const calls = await evictions(bed(), site);
    expect(calls.map(({ code }) => code)).toEqual([201, 201, 201, 201]);
    expect(listOrEmptyAt(await fleet.script('GET', '/reclaims'), 'acks').length).toBe(1);
  });
});
