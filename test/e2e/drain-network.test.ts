/** Drains with an unreliable API server connection or clock. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../support/api/fault-proxy.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { deadlinesWritten, evictionsIn, requestsBy } from '../support/drains/audited-drains.ts';
import type { DrainSite } from '../support/drains/drain-site.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { brokenBudgets, nodesOfPods, podSteps } from '../support/drains/pod-history.ts';
import { acksAt, reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { untilLeaseLost, untilWatchesFail } from '../support/processes/operator-outage.ts';
import { atScale, isReleaseScale } from '../support/scale.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 1000 };
const NODES = 2;
const PODS = atScale({ commit: 12, release: 24 });
const UNAVAILABLE = 3;
const GRACE_SECONDS = 3600;
/** Watches that fail in the outage, of all collections. */
const FAILED_WATCHES = atScale({ commit: 10, release: 20 });
const CUTS = atScale({ commit: 2, release: 5 });
const CLOCK_JUMP = fileURLToPath(new URL('../support/processes/clock-jump.ts', import.meta.url));

const fixture = (prefix: string) => ({
  machines: { count: NODES, prefix, pods: PODS / NODES },
  objects: () =>
    [
      [DRAIN_COLLECTIONS.budgets, [budget('web', { maxUnavailable: UNAVAILABLE })]],
      [DRAIN_COLLECTIONS.deployments, [deployment('web', PODS, { readyAfter: '2s' })]],
    ] as const,
  pods: PODS,
  spares: { count: 1 },
});

const evicted = async (bed: Testbed, readyMs: number): Promise<number> =>
  evictionsIn(await requestsBy(bed, 'tidegate', readyMs)).filter(({ code }) => code === 201).length;

/** Waits until `count` pods were evicted. */
const untilEvicted = async ({ bed, readyMs }: DrainSite, count: number): Promise<void> => {
  await eventually(async () => await evicted(bed, readyMs) >= count, {
    what: `${count} evictions`,
    timeoutMs: 120_000,
  });
};

/** All nodes are Drained, by evictions of their pods, within the budget, in time. */
const expectRightEnd = async (site: DrainSite): Promise<void> => {
  const { bed, cluster, fleet, machines } = site;
  expect(await untilEnded(cluster, machines))
    .toEqual(Object.fromEntries(machines.map((name) => [name, 'Drained'])));
  await site.pods.upTo(await cluster.list(DRAIN_COLLECTIONS.pods));
  const steps = podSteps(site.pods.changes());
  const nodeOf = nodesOfPods(steps);
  const requests = await requestsBy(bed, 'tidegate', site.readyMs);
  const evictions = evictionsIn(requests);
  expect(evictions.filter(({ uid }) => !machines.includes(nodeOf.get(uid) ?? ''))).toEqual([]);
  expect(brokenBudgets(steps, [{ app: 'web', healthy: PODS - UNAVAILABLE }])).toEqual([]);
  for (const node of machines) {
    expect([node, new Set(deadlinesWritten(requests, node)).size]).toEqual([node, 1]);
  }
  // How many nodes had started by then depends on what was refused.
  expect((await acksAt(fleet)).length).toBe(machines.length);
};

const refuse = (
  proxy: FaultProxy,
  target: RegExp,
  { status, times }: { readonly status: number; readonly times: number },
): void =>
  proxy.answer({
    method: target.source.includes('eviction') ? 'POST' : 'PATCH',
    matches: (asked) => target.test(asked),
    answer: {
      status,
      body: { kind: 'Status', status: 'Failure', code: status, message: 'trouble' },
      ...(status === 429 ? { headers: { 'retry-after': '1' } } : {}),
    },
    times,
  });

describeWithTestbed('drains over a bad network', BED, (bed) => {
  it('DR-37: drains end correctly despite broken watches and failed requests', async () => {
    const proxy = await startFaultProxy(bed());
    const site = await drainSite(bed(), fixture('faults-'), {
      flags: { kubeconfig: proxy.kubeconfig },
    });
    for (const status of [409, 500, 429, 503]) {
      refuse(proxy, /\/nodes\/faults-/, { status, times: 2 });
      refuse(proxy, /\/eviction/, { status, times: 2 });
      refuse(proxy, /\/upcomingnodes\/un-faults-/, { status, times: 2 });
    }
    refuse(proxy, /\/eviction/, { status: 401, times: 1 });
    await reclaimEach(site.fleet, site.machines, GRACE_SECONDS);
    for (let cut = 1; cut <= CUTS; cut += 1) {
      await untilEvicted(site, cut * Math.floor(PODS / (CUTS + 1)));
      proxy.cut();
    }
    await expectRightEnd(site);
    expect(proxy.answered().length).toBeGreaterThan(10);
  });

  it('DR-37: drains continue after an outage of the API server, and after 410', async () => {
    const site = await drainSite(bed(), fixture('outage-'));
    await reclaimEach(site.fleet, site.machines, GRACE_SECONDS);
    await untilEvicted(site, PODS / 3);
    await bed().stopApiServer();
    await untilWatchesFail(site.operator, FAILED_WATCHES);
    if (isReleaseScale()) await untilLeaseLost(site.operator);
    await bed().startApiServer();
    await untilEvicted(site, PODS / 3 + UNAVAILABLE);
    await bed().compactHistory();
    const { cluster, machines } = site;
    expect(await untilEnded(cluster, machines))
      .toEqual(Object.fromEntries(machines.map((name) => [name, 'Drained'])));
    const requests = await requestsBy(bed(), 'tidegate', site.readyMs);
    for (const node of machines) {
      expect([node, new Set(deadlinesWritten(requests, node)).size]).toEqual([node, 1]);
    }
    // One call a pod, but for what an API server that was killed had not answered.
    const uids = evictionsIn(requests).filter(({ code }) => code === 201).map(({ uid }) => uid);
    expect(new Set(uids).size).toBe(uids.length);
  });

  it('DR-16: a wall clock that jumps by hours ends no drain', async () => {
    const site = await drainSite(bed(), fixture('clock-'), {
      runtime: 'node',
      env: { NODE_OPTIONS: `--import=${CLOCK_JUMP}` },
    });
    await reclaimEach(site.fleet, site.machines, GRACE_SECONDS);
    await untilEvicted(site, PODS / 3);
    site.operator.signal('HUP');
    await expectRightEnd(site);
  });
});
