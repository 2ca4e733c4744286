/** The role maintenance as a process of its own, with its own rights. */
import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { isConditionTrue } from '../../src/domain/condition.ts';
import { booleanAt, type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { annotationsOf } from '../../src/domain/object-meta.ts';
import { type ClusterClient, COLLECTIONS } from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { requestsBy } from '../support/drains/audited-drains.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { brokenBudgets, podSteps } from '../support/drains/pod-history.ts';
import { reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import { budget, daemonSet, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import {
  enforceMaintenancePolicies,
  maintenanceOf,
  MAINTENANCES,
  ofNode,
} from '../support/node-maintenance/maintenance-policies.ts';
import { startOperator } from '../support/processes/operator-process.ts';

const BED = {
  controllers: true,
  scheduler: true,
  kwok: true,
  podDeleteMs: 200,
  own: true,
};
const PODS = 4;
const GRACE_SECONDS = 600;
const POLICIES = new URL('../../charts/tidegate/files/policies/', import.meta.url);
const REQUESTS = '/apis/lifecycle.tidegate.dev/v1alpha1/evictionrequests';

const must = async (
  cluster: ClusterClient,
  ...[method, path, body]: Parameters<ClusterClient['call']>
): Promise<JsonRecord> => {
  const answer = await cluster.call(method, path, body);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

const isTrue = (object: unknown, type: string): boolean => isConditionTrue(object, type);

const isCordoned = (node: unknown): boolean => booleanAt(node, 'spec', 'unschedulable') === true;

const cordonsOf = (node: unknown): readonly string[] =>
  Object.keys(annotationsOf(node)).filter((key) => key.startsWith('cordon.tidegate.dev/'));

describeWithTestbed('the role maintenance', BED, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await enforceMaintenancePolicies(bed());
  });

  /** A machine with the pods of a Deployment behind a budget, and an operator of its fleet. */
  const site = async (prefix: string, flags: Readonly<Record<string, string>>) => {
    const made = await drainSite(bed(), {
      machines: { count: 1, prefix },
      objects: ([node = '']) => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]],
        [DRAIN_COLLECTIONS.budgets, [budget('web', { maxUnavailable: 1 })]],
        [DRAIN_COLLECTIONS.daemonSets, [daemonSet('agent', node)]],
      ],
      pods: PODS + 1,
      spares: { count: 1 },
    }, { flags });
    // What a set-up takes away.
    const names = await readdir(POLICIES);
    const texts = await Promise.all(names.map((name) => readFile(new URL(name, POLICIES), 'utf8')));
    await bed().apply(texts.join('\n---\n'));
    const { cluster, machines: [node = ''] } = made;
    const get = (path: string) => cluster.call('GET', path).then(({ body }) => body);
    const until = (what: string, path: string, isSo: (object: JsonRecord) => boolean) =>
      eventually(async () => {
        const object = await get(path);
        if (isSo(object)) return object;
        throw new Error(JSON.stringify(object['status']));
      }, { what, everyMs: 100, timeoutMs: 120_000 });
    const maintain = (name: string, stage: string) =>
      must(
        cluster,
        'POST',
        MAINTENANCES,
        maintenanceOf(name, { nodeSelector: { nodeSelectorTerms: [ofNode(node)] }, stage }),
      );
    const untilGone = (name: string) =>
      until(`${name} to be gone`, `${MAINTENANCES}/${name}`, (one) => one['status'] === 'Failure');
    return { ...made, node, nodePath: `${COLLECTIONS.nodes}/${node}`, until, maintain, untilGone };
  };

  const serve = async (role: string, flags: Record<string, string>) => {
    const operator = await startOperator({
      bed: bed(),
      shardAddress: '127.0.0.1:1',
      flags: {
        'roles': role,
        'lease-name': `tidegate-${role}`,
        'lease-namespace': 'tidegate',
        ...flags,
      },
    });
    await operator.untilReady();
  };

  /** Requests of operators that a policy refused. */
  const forbidden = async (): Promise<readonly string[]> =>
    (await requestsBy(bed(), 'tidegate')).filter(({ code }) => code === 403)
      .map(({ verb, uri }) => `${verb} ${uri}`);

  it.each([
    ['evictions', ''],
    ['requests', 'eviction-requests'],
  ])('NM-10: cordons, drains by %s and releases with its own rights, under the policies', {
    timeout: 300_000,
  }, async (_, via) => {
    const one = await site(`own${via.length}-`, { roles: 'fleet' });
    const { cluster, node, nodePath, until, maintain, untilGone, pods } = one;
    await serve('maintenance', via === '' ? {} : { via });
    if (via !== '') await serve('evictions', {});
    const requests = await cluster.history(REQUESTS);
    await maintain('kernel', 'Cordon');
    await until('the node to be cordoned', nodePath, isCordoned);
    await until('the node to say so', nodePath, (now) => isTrue(now, 'MaintenanceInProgress'));
    await must(cluster, 'PATCH', `${MAINTENANCES}/kernel`, { spec: { stage: 'Drain' } });
    await until('it to be drained', `${MAINTENANCES}/kernel`, (now) => isTrue(now, 'Drained'));
    const left = (await cluster.list(DRAIN_COLLECTIONS.pods))
      .filter((pod) => textAt(pod, 'spec', 'nodeName') === node);
    expect(left).toEqual([]);
    expect(brokenBudgets(podSteps(pods.changes()), [{ app: 'web', healthy: PODS - 1 }])).toEqual(
      [],
    );
    await must(cluster, 'DELETE', `${MAINTENANCES}/kernel`);
    await untilGone('kernel');
    const released = await until('the node to be released', nodePath, (now) => !isCordoned(now));
    expect(cordonsOf(released)).toEqual([]);
    await until('nothing to show', nodePath, (now) => !isTrue(now, 'MaintenanceInProgress'));
    const requesters = new Set(
      requests.changes().flatMap(({ object }) =>
        listOrEmptyAt(object, 'spec', 'requesters').map((by) => textAt(by, 'name'))
      ),
    );
    expect([...requesters]).toEqual(via === '' ? [] : ['kernel.nodemaintenance.tidegate.dev']);
    expect(await forbidden()).toEqual([]);
  });

  it('NM-16: a reclaim and a maintenance end on the same node, in one process', {
    timeout: 300_000,
  }, async () => {
    const roles = 'fleet,maintenance,evictions';
    const one = await site('both-', { roles, via: 'eviction-requests' });
    const { cluster, fleet, machines, nodePath, until, maintain, untilGone } = one;
    await maintain('firmware', 'Drain');
    await until('the node to be cordoned', nodePath, isCordoned);
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    expect(await untilEnded(cluster, machines)).toEqual({ [machines[0] ?? '']: 'Drained' });
    await must(cluster, 'DELETE', `${MAINTENANCES}/firmware`);
    await untilGone('firmware');
    const node = (await cluster.call('GET', nodePath)).body;
    // The reclaim holds it until the fleet takes it away.
    expect(cordonsOf(node).filter((key) => key.includes('maintenance'))).toEqual([]);
    // The end of a request is written after its pod has gone, by another part of the process.
    await eventually(async () => {
      const open = (await cluster.list(REQUESTS)).filter((request) =>
        listOrEmptyAt(request, 'spec', 'requesters').length > 0 && !isTrue(request, 'Evicted')
      );
      if (open.length > 0) throw new Error(JSON.stringify(open));
      return true;
    }, { what: 'every request to end' });
  });
});
