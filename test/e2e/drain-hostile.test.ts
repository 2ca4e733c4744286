/**
 * Hostile responses and pods: each is reported with its own reason, and healthy pods beside them
 * leave undisturbed.
 *
 * A proxy injects the responses that a real API server cannot produce in a test.
 */
import { expect, it } from 'vitest';
import { textAt } from '../../src/domain/json.ts';
import type { KubeAnswer } from '../../src/effects/kube-api.ts';
import { type ClusterClient, COLLECTIONS, uidOf } from '../support/api/cluster-client.ts';
import { type CannedAnswer, type FaultProxy, startFaultProxy } from '../support/api/fault-proxy.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { evictionsIn, requestsBy } from '../support/drains/audited-drains.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { failure, REFUSED, TROUBLED } from '../support/drains/hostile-answers.ts';
import { seenPod } from '../support/drains/pod-history.ts';
import { reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import {
  barePod,
  budget,
  deployment,
  DRAIN_COLLECTIONS,
  evictionPolicy,
} from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 1000 };
const HEALTHY = 10;
const GRACE_SECONDS = 3600;
/** A second instruction brings the deadline forward, once all reasons are recorded. */
const LAST_SECONDS = 5;

/** An answer as the proxy writes it. */
const canned = ({ status, body, retryAfterSeconds }: KubeAnswer): CannedAnswer => ({
  status,
  body,
  ...(retryAfterSeconds === undefined
    ? {}
    : { headers: { 'retry-after': `${retryAfterSeconds}` } }),
});

const evictionOf = (name: string) => (target: string): boolean =>
  target.startsWith(`${DRAIN_COLLECTIONS.pods}/${name}/eviction`);

const answerFor = (
  proxy: FaultProxy,
  name: string,
  { answer, times }: { readonly answer: KubeAnswer; readonly times?: number },
): void =>
  proxy.answer({
    method: 'POST',
    matches: evictionOf(name),
    answer: canned(answer),
    ...(times === undefined ? {} : { times }),
  });

const eventReasons = async (cluster: ClusterClient, node: string): Promise<readonly string[]> =>
  (await cluster.list(COLLECTIONS.events))
    .filter((event) => textAt(event, 'regarding', 'name') === node)
    .map((event) => textAt(event, 'reason') ?? '');

const untilRecorded = (
  cluster: ClusterClient,
  node: string,
  wanted: readonly string[],
): Promise<unknown> =>
  eventually(async () => {
    const recorded = await eventReasons(cluster, node);
    const missing = wanted.filter((reason) => !recorded.includes(reason));
    if (missing.length > 0) throw new Error(`no Event has the reason ${missing.join(', ')}`);
    return recorded;
  }, { what: 'the Events of all reasons' });

const podsOn = async (cluster: ClusterClient, node: string) =>
  (await cluster.list(DRAIN_COLLECTIONS.pods)).map(seenPod).filter((pod) => pod.node === node);

describeWithTestbed('drains among hostile answers and pods', BED, (bed) => {
  it('DR-42: every pod that cannot leave is named with its own reason, and the others leave', async () => {
    const proxy = await startFaultProxy(bed());
    const names = [...Object.keys(REFUSED), ...Object.keys(TROUBLED)];
    const keeping = evictionPolicy('keep-guarded', 'guarded');
    const { cluster, fleet, machines } = await drainSite(bed(), {
      machines: { count: 1, prefix: 'hostile-' },
      objects: ([node = '']) => [
        [DRAIN_COLLECTIONS.policies, [keeping.policy]],
        [DRAIN_COLLECTIONS.policyBindings, [keeping.binding]],
        [DRAIN_COLLECTIONS.deployments, [deployment('web', HEALTHY), deployment('db', 1)]],
        [DRAIN_COLLECTIONS.pods, [
          ...names.map((name) => barePod(name, node)),
          barePod('guarded', node),
          barePod('held', node, { finalizers: ['example.com/never'] }),
          barePod('alone', node),
        ]],
        [DRAIN_COLLECTIONS.budgets, [
          budget('db', { maxUnavailable: 0 }),
          budget('alone', { maxUnavailable: '50%' }),
        ]],
      ],
      pods: HEALTHY + names.length + 4,
      spares: { count: 1 },
    }, { flags: { kubeconfig: proxy.kubeconfig } });
    const [node = ''] = machines;
    for (const [name, { answer }] of Object.entries(REFUSED)) answerFor(proxy, name, { answer });
    for (const [name, answer] of Object.entries(TROUBLED)) {
      answerFor(proxy, name, { answer, times: 1 });
    }

    await reclaimEach(fleet, machines, GRACE_SECONDS);

    const reasons = [
      ...Object.values(REFUSED).map(({ reason }) => reason),
      'DeadlineUnreachable',
      'BudgetNeverAllows',
      'DrainStarted',
      'Finalizer',
      'PolicyRefused',
    ];
    await untilRecorded(cluster, node, reasons);
    const stay = [...Object.keys(REFUSED), 'alone', 'db', 'guarded', 'held'].sort();
    const left = async () => (await podsOn(cluster, node)).map(({ app }) => app).sort();
    await eventually(async () => (await left()).length === stay.length, {
      what: 'every other pod to leave',
    });
    await reclaimEach(fleet, machines, LAST_SECONDS);

    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Failed' });
    expect(await left()).toEqual(stay);
    await untilRecorded(cluster, node, [...reasons, 'DeadlinePassed']);
    const [upcoming] = await cluster.list(COLLECTIONS.upcomingNodes);
    expect(textAt(upcoming, 'status', 'lastError'))
      .toMatch(/^9 pods remain: (?:default\/\S+ \([^)]+\), ){4}default\/.+, and 4 more$/);
  });

  it('DR-22: a pod of the same name on another node is left alone', async () => {
    const proxy = await startFaultProxy(bed());
    const { cluster, fleet, machines, readyMs } = await drainSite(bed(), {
      machines: { count: 1, prefix: 'namesake-' },
      objects: ([node = '']) => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', HEALTHY)]],
        [DRAIN_COLLECTIONS.pods, [barePod('same', node)]],
      ],
      pods: HEALTHY + 1,
      spares: { count: 1 },
    }, { flags: { kubeconfig: proxy.kubeconfig } });
    const [node = ''] = machines;
    const path = `${DRAIN_COLLECTIONS.pods}/same`;
    proxy.hold(evictionOf('same'));
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    await eventually(() => proxy.held().length === 1, { what: 'the call to be under way' });
    const old = uidOf((await cluster.call('GET', path)).body);
    await cluster.call('DELETE', path, { gracePeriodSeconds: 0 });
    await cluster.create(DRAIN_COLLECTIONS.pods, [barePod('same', 'spare-0')]);
    proxy.release();

    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Drained' });
    const namesake = await cluster.call('GET', path);
    expect(seenPod(namesake.body)).toMatchObject({ node: 'spare-0', terminating: false });
    const calls = evictionsIn(await requestsBy(bed(), 'tidegate', readyMs))
      .filter(({ pod }) => pod === 'same');
    expect(calls.map(({ uid, code }) => [uid, code])).toEqual([[old, 409]]);
  });

  it('DR-33: an unanswered call blocks no other pod, and is not sent twice', async () => {
    const proxy = await startFaultProxy(bed());
    const { cluster, fleet, machines, readyMs } = await drainSite(bed(), {
      machines: { count: 1, prefix: 'hanging-' },
      objects: ([node = '']) => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', HEALTHY)]],
        [DRAIN_COLLECTIONS.pods, [barePod('hangs', node)]],
      ],
      pods: HEALTHY + 1,
      spares: { count: 1 },
    }, { flags: { kubeconfig: proxy.kubeconfig } });
    const [node = ''] = machines;
    proxy.hold(evictionOf('hangs'));
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    await eventually(async () => (await podsOn(cluster, node)).length === 1, {
      what: 'every other pod to leave',
    });
    // A pod that comes now shows that the drain goes on, and when it has gone on.
    await cluster.create(DRAIN_COLLECTIONS.pods, [barePod('comes', node)]);
    await eventually(
      async () => (await cluster.call('GET', `${DRAIN_COLLECTIONS.pods}/comes`)).status === 404,
      { what: 'the pod that came to leave' },
    );
    expect(proxy.held().length).toBe(1);
    proxy.release();
    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Drained' });
    const calls = evictionsIn(await requestsBy(bed(), 'tidegate', readyMs));
    expect(calls.filter(({ pod }) => pod === 'hangs').length).toBe(1);
  });

  it('a drain without permission to evict fails, and names the missing permission', async () => {
    const proxy = await startFaultProxy(bed());
    const { cluster, fleet, machines } = await drainSite(bed(), {
      machines: { count: 1, prefix: 'rights-' },
      objects: () => [[DRAIN_COLLECTIONS.deployments, [deployment('web', HEALTHY)]]],
      pods: HEALTHY,
      spares: { count: 1 },
    }, { flags: { kubeconfig: proxy.kubeconfig } });
    const [node = ''] = machines;
    proxy.answer({
      method: 'POST',
      matches: (target) => target.includes('/eviction'),
      answer: canned(failure(403, {
        reason: 'Forbidden',
        message: 'pods "web" is forbidden: User "tidegate" cannot create resource ' +
          '"pods/eviction" in API group "" in the namespace "default"',
      })),
    });
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Failed' });
    const [upcoming] = await cluster.list(COLLECTIONS.upcomingNodes);
    expect(textAt(upcoming, 'status', 'lastError')).toMatch(
      /cannot create resource "pods\/eviction"/,
    );
    expect((await podsOn(cluster, node)).length).toBe(HEALTHY);
    expect(await eventReasons(cluster, node)).toContain('EvictionForbidden');
  });
});
