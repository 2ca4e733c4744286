/** NodeMaintenances from Cordon to their deletion, on a real API server. */
import { beforeAll, expect, it } from 'vitest';
import { rawConditionOf } from '../../src/domain/condition.ts';
import { type JsonRecord, listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import { CORDON_PREFIX } from '../../src/domain/drain/cordon.ts';
import { MAINTENANCE_FINALIZER } from '../../src/domain/node-maintenance/observed-maintenance.ts';
import { annotationsOf } from '../../src/domain/object-meta.ts';
import { type ClusterClient, COLLECTIONS, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { serveMaintenances } from '../support/node-maintenance/served-maintenances.ts';

const MAINTENANCES = '/apis/lifecycle.tidegate.dev/v1alpha1/nodemaintenances';
const PODS = '/api/v1/namespaces/default/pods';
const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const NODES = ['worker-1', 'worker-2'];
const POOL = { 'example.com/pool': 'maintained' };

const must = async (
  cluster: ClusterClient,
  ...[method, path, body]: Parameters<ClusterClient['call']>
): Promise<JsonRecord> => {
  const answer = await cluster.call(method, path, body);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

const containers = [{ name: 'c', image: 'none' }];

/** A pod that goes at once when it is evicted, unless it has a grace: no kubelet ends that. */
const createPod = (
  cluster: ClusterClient,
  { name, app, node, owner, graceSeconds = 0 }: {
    readonly name: string;
    readonly app: string;
    readonly node: string;
    readonly owner?: JsonRecord;
    readonly graceSeconds?: number;
  },
): Promise<JsonRecord> =>
  must(cluster, 'POST', PODS, {
    metadata: {
      name,
      labels: { app },
      ...(owner === undefined ? {} : {
        ownerReferences: [{
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          name: nameOf(owner),
          uid: uidOf(owner),
          controller: true,
        }],
      }),
    },
    spec: {
      nodeName: node,
      containers,
      terminationGracePeriodSeconds: graceSeconds,
      automountServiceAccountToken: false,
    },
  });

const maintenance = (name: string, stage: string) => ({
  apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
  kind: 'NodeMaintenance',
  metadata: { name },
  spec: {
    nodeSelector: {
      nodeSelectorTerms: [{
        matchExpressions: [{ key: 'example.com/pool', operator: 'In', values: ['maintained'] }],
      }],
    },
    drainPlan: [{ podPriority: 0, podSelector: { matchLabels: { app: 'early' } } }],
    reason: 'New kernel',
    stage,
  },
});

const conditionOf = (object: unknown, type: string): string | undefined =>
  textAt(
    rawConditionOf(object, type),
    'status',
  );

/** The lifecycle conditions of KEP-5683 that a Node shows as True. */
const lifecycleOf = (node: unknown): readonly string[] =>
  listOrEmptyAt(node, 'status', 'conditions')
    .filter((one) => textAt(one, 'reason') === 'NodeMaintenance')
    .map((one) => `${textAt(one, 'type')} ${textAt(one, 'status')}`).toSorted();

const isCordoned = (node: unknown): boolean => valueAt(node, 'spec', 'unschedulable') === true;

const keysOf = (node: unknown): readonly string[] =>
  Object.keys(annotationsOf(node)).filter((key) => key.startsWith(CORDON_PREFIX));

describeWithTestbed('node maintenances on a real API server', {}, (bed) => {
  beforeAll(() => bed().installCrds());

  const site = async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(MAINTENANCES);
    for (const name of NODES) {
      await must(cluster, 'POST', COLLECTIONS.nodes, { metadata: { name, labels: POOL } });
    }
    const get = (path: string) => cluster.call('GET', path).then(({ body }) => body);
    const nodes = () => Promise.all(NODES.map((name) => get(`${COLLECTIONS.nodes}/${name}`)));
    const until = (
      name: string,
      what: string,
      isSo: (object: JsonRecord) => boolean,
    ): Promise<JsonRecord> =>
      eventually(async () => {
        const object = await get(`${MAINTENANCES}/${name}`);
        if (isSo(object)) return object;
        throw new Error(JSON.stringify(object));
      }, { what, everyMs: 100 });
    const untilNodes = (what: string, isSo: (node: unknown) => boolean) =>
      eventually(async () => {
        const all = await nodes();
        if (all.every(isSo)) return all;
        throw new Error(JSON.stringify(all));
      }, { what, everyMs: 100 });
    return { cluster, get, until, untilNodes };
  };

  it('NM-31: Cordon, Drain in plan order, and a deletion that gives the nodes back', {
    timeout: 300_000,
  }, async () => {
    const { cluster, until, untilNodes } = await site();
    const selector = { matchLabels: { app: 'agent' } };
    const agents = await must(cluster, 'POST', DAEMON_SETS, {
      metadata: { name: 'agent' },
      spec: {
        selector,
        template: { metadata: { labels: { app: 'agent' } }, spec: { containers } },
      },
    });
    for (const node of NODES) {
      await createPod(cluster, { name: `agent-${node}`, app: 'agent', node, owner: agents });
      await createPod(cluster, { name: `late-${node}`, app: 'late', node });
      await createPod(cluster, { name: `early-${node}`, app: 'early', node });
    }
    const { start, notes } = await serveMaintenances(bed().kubeconfig);
    expect(start).toEqual({ _tag: 'Started' });
    const { deleted } = await cluster.history(PODS);
    await must(cluster, 'POST', MAINTENANCES, maintenance('kernel', 'Cordon'));
    const cordoned = await untilNodes('both nodes are cordoned', isCordoned);
    expect(cordoned.map((node) => keysOf(node).length)).toEqual([1, 1]);
    const protectedOne = await until(
      'kernel',
      'NM-08: it has the finalizer',
      (one) => listOrEmptyAt(one, 'metadata', 'finalizers').includes(MAINTENANCE_FINALIZER),
    );
    expect(textAt(protectedOne, 'spec', 'stage')).toBe('Cordon');
    expect(deleted()).toEqual([]);

    await must(cluster, 'PATCH', `${MAINTENANCES}/kernel`, { spec: { stage: 'Drain' } });
    const drained = await until(
      'kernel',
      'NM-41: it is drained',
      (one) => conditionOf(one, 'Drained') === 'True',
    );
    expect(textAt(drained, 'spec', 'stage')).toBe('Drain');
    expect(textAt(drained, 'status', 'progress')).toBe('2/2');
    expect(listOrEmptyAt(drained, 'status', 'stageStatuses').map((one) => textAt(one, 'name')))
      .toEqual(['Cordon', 'Drain']);
    expect(
      listOrEmptyAt(drained, 'status', 'nodeStatuses').map((one) => textAt(one, 'drainMessage')),
    ).toEqual(['Drained', 'Drained']);
    await expect.poll(() => deleted().map((name) => name.split('-')[0]), {
      message: 'the plan on both nodes, entry by entry',
    }).toEqual(['early', 'early', 'late', 'late', 'agent', 'agent']);

    await must(cluster, 'PATCH', `${COLLECTIONS.nodes}/${NODES[0]}`, {
      spec: { unschedulable: null },
    });
    await untilNodes('NM-13: an uncordon is reverted', isCordoned);

    await must(cluster, 'DELETE', `${MAINTENANCES}/kernel`);
    await eventually(async () => {
      const { status, body } = await cluster.call('GET', `${MAINTENANCES}/kernel`);
      if (status !== 404) throw new Error(JSON.stringify(body));
      return true;
    }, { what: 'NM-09: it is gone', everyMs: 100 });
    const released = await untilNodes('the nodes are schedulable', (node) => !isCordoned(node));
    expect(released.flatMap(keysOf)).toEqual([]);
    expect(notes.filter(({ reason }) => reason.startsWith('NodeMaintenance'))).toEqual([]);
    await must(cluster, 'DELETE', `${DAEMON_SETS}/agent`);
  });

  it('NM-41: only the pods of its selector leave, with the grace that it names', {
    timeout: 300_000,
  }, async () => {
    const { cluster, get, until } = await site();
    for (const node of NODES) {
      for (const app of ['web', 'db']) {
        await createPod(cluster, { name: `${app}-${node}`, app, node, graceSeconds: 60 });
      }
    }
    await serveMaintenances(bed().kubeconfig);
    const planned = maintenance('some', 'Drain');
    await must(cluster, 'POST', MAINTENANCES, {
      ...planned,
      spec: {
        ...planned.spec,
        podSelector: { matchLabels: { app: 'web' } },
        gracePeriodSeconds: 7,
      },
    });
    const webPods = NODES.map((node) => `${PODS}/web-${node}`);
    await eventually(async () => {
      const graces = (await Promise.all(webPods.map(get)))
        .map((pod) => valueAt(pod, 'metadata', 'deletionGracePeriodSeconds'));
      if (graces.every((grace) => grace === 7)) return true;
      throw new Error(JSON.stringify(graces));
    }, { what: 'both are evicted with the grace', everyMs: 100 });
    for (const pod of webPods) await must(cluster, 'DELETE', pod, { gracePeriodSeconds: 0 });
    const drained = await until(
      'some',
      'it is drained',
      (one) => conditionOf(one, 'Drained') === 'True',
    );
    expect(textAt(drained, 'status', 'progress')).toBe('2/2');
    const left = (await cluster.list(PODS))
      .map((pod) => [nameOf(pod), textAt(pod, 'metadata', 'deletionTimestamp')]);
    expect(left).toEqual(NODES.map((node) => [`db-${node}`, undefined]));
    await must(cluster, 'DELETE', PODS, { gracePeriodSeconds: 0 });
    await must(cluster, 'DELETE', `${MAINTENANCES}/some`);
  });

  it('NM-43: an idle maintenance previews its drain, and no longer once it begins', {
    timeout: 300_000,
  }, async () => {
    const { cluster, until, untilNodes } = await site();
    for (const node of NODES) {
      await createPod(cluster, { name: `early-${node}`, app: 'early', node });
      // Budgets hold pods that run.
      await must(cluster, 'PATCH', `${PODS}/early-${node}/status`, {
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      });
    }
    await must(cluster, 'POST', BUDGETS, {
      metadata: { name: 'early' },
      spec: { selector: { matchLabels: { app: 'early' } }, maxUnavailable: 0 },
    });
    // No controller of budgets runs here.
    await must(cluster, 'PATCH', `${BUDGETS}/early/status`, {
      status: {
        observedGeneration: 1,
        expectedPods: 2,
        currentHealthy: 2,
        desiredHealthy: 2,
        disruptionsAllowed: 0,
      },
    });
    await serveMaintenances(bed().kubeconfig);
    await must(cluster, 'POST', MAINTENANCES, maintenance('planned', 'Idle'));
    const blockedPods = (one: unknown): unknown =>
      valueAt(
        listOrEmptyAt(one, 'status', 'preview', 'findings')
          .find((finding) => textAt(finding, 'reason') === 'BudgetNeverAllows'),
        'pods',
      );
    const previewed = await until('planned', 'it has a preview', (one) => blockedPods(one) === 2);
    expect(valueAt(previewed, 'status', 'preview')).toMatchObject({
      nodes: 2,
      entries: [{
        podType: 'Default',
        podPriority: 0,
        podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['early'] }] },
        pods: 2,
      }],
      staticPods: 0,
    });
    expect(listOrEmptyAt(previewed, 'metadata', 'finalizers')).toEqual([]);
    const untouched = await untilNodes('NM-05: no node is touched', (node) => !isCordoned(node));
    expect(untouched.flatMap(keysOf)).toEqual([]);

    await must(cluster, 'PATCH', `${MAINTENANCES}/planned`, { spec: { stage: 'Cordon' } });
    await untilNodes('both nodes are cordoned', isCordoned);
    await until(
      'planned',
      'it has no preview',
      (one) => valueAt(one, 'status', 'preview') === undefined,
    );
    await must(cluster, 'DELETE', `${MAINTENANCES}/planned`);
    await untilNodes('they are schedulable', (node) => !isCordoned(node));
    await must(cluster, 'DELETE', `${BUDGETS}/early`);
    for (const node of NODES) await must(cluster, 'DELETE', `${PODS}/early-${node}`);
  });

  it('NM-15: a node that no longer matches is given back, and another one is cordoned', {
    timeout: 300_000,
  }, async () => {
    const { cluster, get } = await site();
    await serveMaintenances(bed().kubeconfig);
    const [left = '', kept = ''] = NODES;
    await must(cluster, 'POST', MAINTENANCES, maintenance('labels', 'Cordon'));
    const untilOne = (name: string, isSo: (node: unknown) => boolean) =>
      eventually(async () => {
        const node = await get(`${COLLECTIONS.nodes}/${name}`);
        if (isSo(node)) return node;
        throw new Error(JSON.stringify(node));
      }, { what: `node ${name}`, everyMs: 100 });
    for (const name of [left, kept]) await untilOne(name, isCordoned);
    await must(cluster, 'POST', COLLECTIONS.nodes, { metadata: { name: 'late', labels: POOL } });
    await must(cluster, 'PATCH', `${COLLECTIONS.nodes}/${left}`, {
      metadata: { labels: { 'example.com/pool': null } },
    });
    await untilOne('late', isCordoned);
    const free = await untilOne(left, (node) => !isCordoned(node));
    expect(keysOf(free)).toEqual([]);
    expect(isCordoned(await untilOne(kept, () => true))).toBe(true);
    await must(cluster, 'DELETE', `${MAINTENANCES}/labels`);
    await untilOne(kept, (node) => !isCordoned(node));
  });

  it('NM-17: the last of two maintenances gives the nodes back', {
    timeout: 300_000,
  }, async () => {
    const { cluster, until, untilNodes } = await site();
    await serveMaintenances(bed().kubeconfig);
    for (const name of ['first', 'second']) {
      await must(cluster, 'POST', MAINTENANCES, maintenance(name, 'Cordon'));
    }
    await untilNodes('both are owners', (node) => keysOf(node).length === 2);
    await must(cluster, 'PATCH', `${MAINTENANCES}/first`, { spec: { stage: 'Complete' } });
    await until('first', 'it is completed', (one) => conditionOf(one, 'Completed') === 'True');
    const held = await untilNodes('one is the owner', (node) => keysOf(node).length === 1);
    expect(held.map(isCordoned)).toEqual([true, true]);
    await must(cluster, 'PATCH', `${MAINTENANCES}/second`, { spec: { stage: 'Complete' } });
    await until('second', 'it is completed', (one) => conditionOf(one, 'Completed') === 'True');
    await untilNodes('NM-17: they are schedulable', (node) => !isCordoned(node));
    for (const name of ['first', 'second']) {
      await until(
        name,
        'it has no finalizer',
        (one) => listOrEmptyAt(one, 'metadata', 'finalizers').length === 0,
      );
      await must(cluster, 'DELETE', `${MAINTENANCES}/${name}`);
    }
  });

  it('NM-42: nodes show their maintenances, beside what their kubelets report', {
    timeout: 300_000,
  }, async () => {
    const { cluster, until, untilNodes } = await site();
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady' };
    // Somebody else has drained the first node.
    const byOther = { type: 'Drained', status: 'True', reason: 'DrainCompleted' };
    for (const [index, name] of NODES.entries()) {
      await must(cluster, 'PATCH', `${COLLECTIONS.nodes}/${name}/status`, {
        status: { conditions: index === 0 ? [ready, byOther] : [ready] },
      });
    }
    await serveMaintenances(bed().kubeconfig);
    await must(cluster, 'POST', MAINTENANCES, maintenance('shown', 'Idle'));
    const showing = (...types: readonly string[]) =>
      untilNodes(types.join(), (node) => lifecycleOf(node).join() === types.join());
    const reasonsOf = (node: unknown) =>
      listOrEmptyAt(node, 'status', 'conditions').map((one) => textAt(one, 'reason')).toSorted();
    await showing('MaintenancePlanned True');
    await must(cluster, 'POST', MAINTENANCES, maintenance('other', 'Cordon'));
    await showing('MaintenanceInProgress True', 'MaintenancePlanned True');
    await must(cluster, 'PATCH', `${MAINTENANCES}/shown`, { spec: { stage: 'Drain' } });
    await until('shown', 'it is drained', (one) => conditionOf(one, 'Drained') === 'True');
    const drained = await untilNodes(
      'nothing is planned or under way',
      (node) => !/Planned|DrainIn/u.test(lifecycleOf(node).join()),
    );
    expect(drained.map(lifecycleOf)).toEqual([
      ['MaintenanceInProgress True'],
      ['Drained True', 'MaintenanceInProgress True'],
    ]);
    await untilNodes('their drains end', (node) => reasonsOf(node).includes('DrainFinished'));
    await must(cluster, 'DELETE', `${MAINTENANCES}/shown`);
    await showing('MaintenanceInProgress True');
    await must(cluster, 'DELETE', `${MAINTENANCES}/other`);
    const left = await showing();
    // `tidegate.dev/Draining` is of the drain, and False.
    expect(left.map(reasonsOf)).toEqual([
      ['DrainCompleted', 'DrainFinished', 'KubeletReady'],
      ['DrainFinished', 'KubeletReady'],
    ]);
  });
});
