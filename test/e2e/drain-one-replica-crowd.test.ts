/** Drains of many workloads of one replica: all that can be replaced first are. */
import { expect, it, onTestFinished } from 'vitest';
import { listOrEmptyAt, recordAt, textAt } from '../../src/domain/json.ts';
import { type ClusterClient, nameOf } from '../support/api/cluster-connection.ts';
import { evictionRequestPolicies } from '../support/api/impersonated-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import {
  changedSince,
  SERVED_COLLECTIONS,
  servedObjects,
  servedWorkloads,
  unservedAt,
} from '../support/drains/served-workloads.ts';
import { DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { atScale } from '../support/scale.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 500 };
const GRACE_SECONDS = 3600;
const COUNT = atScale({ commit: 10, release: 50 });
const REQUESTS = '/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/default/evictionrequests';
const ACCEPTED = { metadata: { annotations: { 'tidegate.dev/accept-downtime': 'true' } } };
const FLAGS = {
  'roles': 'fleet,evictions,interceptors',
  'log-level': 'info',
  'without-surge': 'wait',
};

/** The specs and the surge's annotations of all that a surge may change. */
const wanted = async (cluster: ClusterClient): Promise<readonly string[]> => {
  const { autoscalers } = SERVED_COLLECTIONS;
  const lists = await Promise.all(
    [DRAIN_COLLECTIONS.deployments, autoscalers, DRAIN_COLLECTIONS.budgets]
      .map((collection) => cluster.list(collection)),
  );
  return lists.flat().map((object) =>
    JSON.stringify([
      nameOf(object),
      recordAt(object, 'spec'),
      textAt(object, 'metadata', 'annotations', 'surge.tidegate.dev/baseline'),
    ])
  ).toSorted();
};

/** The workloads whose pods stay, with the reason. */
const blockers = async (cluster: ClusterClient): Promise<ReadonlyMap<string, string>> =>
  new Map(
    (await cluster.list(REQUESTS)).flatMap((request) => {
      const app = textAt(request, 'metadata', 'labels', 'app') ?? '';
      const [entry] = listOrEmptyAt(request, 'status', 'interceptors');
      const reason = /^(\w+ForbidsSurge): /.exec(textAt(entry, 'message') ?? '')?.[1];
      return reason === undefined ? [] : [[app, reason] as const];
    }),
  );

describeWithTestbed('a drain of many workloads of one replica', BED, (bed) => {
  it('RS-10: has no gap where a surge is possible; the others are blockers with a reason', {
    timeout: 600_000,
  }, async () => {
    const workloads = servedWorkloads(COUNT);
    const site = await drainSite(bed(), {
      machines: { count: 1, prefix: 'crowded-' },
      objects: () => servedObjects(workloads),
      pods: COUNT,
      spares: { count: 1 },
    }, { flags: FLAGS });
    const { cluster, fleet, machines } = site;
    const { autoscalers, services, claims, volumes, slices } = SERVED_COLLECTIONS;
    onTestFinished(async () => {
      await cluster.clear(DRAIN_COLLECTIONS.deployments);
      for (const one of [autoscalers, services, claims, volumes]) await cluster.clear(one);
    });
    await cluster.clear(REQUESTS);
    await bed().apply(await evictionRequestPolicies());
    const before = await wanted(cluster);
    const endpoints = await cluster.history(slices);
    const first = await cluster.list(slices);
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    const { holding } = workloads;
    // As many requests may exist while they are made, so that their number alone says nothing.
    await eventually(
      async () =>
        (await blockers(cluster)).size === holding.length &&
        (await cluster.list(REQUESTS)).length === holding.length,
      { what: 'all others to have left', timeoutMs: 300_000 },
    );
    expect(await blockers(cluster)).toEqual(
      new Map(holding.map((name) => [name, 'StrategyForbidsSurge'])),
    );
    await endpoints.upTo(changedSince(first, await cluster.list(slices)));
    expect([...unservedAt(first, endpoints.changes())]).toEqual([]);
    for (const name of holding) {
      await cluster.patch(`${DRAIN_COLLECTIONS.deployments}/${name}`, ACCEPTED);
    }
    const [node = ''] = machines;
    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Drained' });
    await eventually(async () => `${await wanted(cluster)}` === `${before}`, {
      what: 'counts and budgets to be as before',
      timeoutMs: 60_000,
    });
    await endpoints.upTo(changedSince(first, await cluster.list(slices)));
    const unserved = unservedAt(first, endpoints.changes());
    expect([...unserved].filter((name) => !holding.includes(name))).toEqual([]);
  });
});
