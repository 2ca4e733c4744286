/**
 * The role availability as a process of its own, with the rights of docs/reference/rbac.yaml, under
 * a real control plane: the test is the kubelet of twelve Nodes. One is disabled, one falls silent,
 * and then a third of them at once.
 *
 * Their waits overlap: all happens once, in the first of these tests.
 */
import { expect, it, onTestFinished } from 'vitest';
import { rawConditionOf } from '../../src/domain/condition.ts';
import { type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import type { Testbed } from '../../tools/testbed/testbed.ts';
import { COLLECTIONS, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { barePod, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { isLeaving, LeasedNodes, must } from '../support/node-availability/leased-nodes.ts';
import { requestsBy } from '../support/drains/audited-drains.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { spawnTidegate } from '../support/processes/tidegate-child.ts';

const STORM_AFTER_MS = 30_000;
const REPLICAS = 36;
const MORE_REPLICAS = 44;
const NODES = Array.from({ length: 12 }, (_, at) => `worker-${at + 1}`);
const STORM_NODES = 4;
const STATEFUL_SETS = '/apis/apps/v1/namespaces/default/statefulsets';
const EVENTS = '/apis/events.k8s.io/v1/events';
const CONTAINERS = [{ name: 'main', image: 'example.com/main' }];
/** As kube-controller-manager has it by default. */
const NODE_GRACE = '50s';
const BED = { controllers: true, nodeGrace: NODE_GRACE, scheduler: true };

const nodeOf = (pod: unknown): string => textAt(pod, 'spec', 'nodeName') ?? '';

const conditionIn = (object: unknown, type: string): unknown => rawConditionOf(object, type);

const stateOf = (node: unknown): string =>
  textAt(conditionIn(node, 'tidegate.dev/Availability'), 'reason') ?? '';

const taintsOf = (node: unknown): readonly string[] =>
  listOrEmptyAt(node, 'spec', 'taints').map((taint) => textAt(taint, 'key') ?? '');

const statefulSet = {
  metadata: { name: 'db' },
  spec: {
    replicas: 1,
    serviceName: 'db',
    selector: { matchLabels: { app: 'db' } },
    template: { metadata: { labels: { app: 'db' } }, spec: { containers: CONTAINERS } },
  },
};

/** Runs a command of an administrator: its exit code and its lines. */
const command = (bed: Testbed) => async (...args: readonly string[]) => {
  const child = spawnTidegate({
    name: args.join(' '),
    args: [...args, '--kubeconfig', bed.kubeconfig],
  });
  const code = await child.exited;
  return { code, output: child.logs().map(({ msg }) => String(msg)).join('\n') };
};

const site = async (bed: Testbed) => {
  const cluster = await freshCluster(bed);
  const kubelets = new LeasedNodes(cluster);
  onTestFinished(kubelets.stop);
  await kubelets.join(NODES);
  await cluster.create(DRAIN_COLLECTIONS.deployments, [deployment('web', REPLICAS)]);
  await cluster.create(STATEFUL_SETS, [statefulSet]);
  const pods = () => cluster.list(DRAIN_COLLECTIONS.pods);
  const webOn = async (holds: (node: string) => boolean): Promise<readonly JsonRecord[]> =>
    (await pods()).filter((pod) =>
      nameOf(pod).startsWith('web-') && !isLeaving(pod) && holds(nodeOf(pod))
    );
  await eventually(async () => {
    const found = await pods();
    return found.length === REPLICAS + 1 &&
      found.every((pod) => textAt(pod, 'status', 'phase') === 'Running');
  }, { what: 'all pods to run', timeoutMs: 60_000 });
  const operator = await startOperator({
    bed,
    shardAddress: '127.0.0.1:1',
    flags: {
      roles: 'availability',
      'lease-name': 'tidegate-availability',
      'lease-namespace': 'tidegate',
    },
  });
  await operator.untilReady();
  const node = (name: string) => must(cluster, 'GET', `${COLLECTIONS.nodes}/${name}`);
  const untilNode = (name: string, what: string, isSo: (node: JsonRecord) => boolean) =>
    eventually(async () => isSo(await node(name)), {
      what: `${name} to be ${what}`,
      everyMs: 100,
      timeoutMs: 90_000,
    });
  const database = () => must(cluster, 'GET', `${DRAIN_COLLECTIONS.pods}/db-0`);
  return { bed, cluster, kubelets, pods, webOn, node, untilNode, database, tidegate: command(bed) };
};

type Site = Awaited<ReturnType<typeof site>>;

/** A person disables a Node, and the workload grows meanwhile. */
const drainOne = async ({ cluster, webOn, node, untilNode, tidegate }: Site, name: string) => {
  const before = (await webOn((one) => one === name)).map(uidOf);
  const disabled = await tidegate('node', 'disable', name, '--why=memory');
  await must(cluster, 'PATCH', `${DRAIN_COLLECTIONS.deployments}/web`, {
    spec: { replicas: MORE_REPLICAS },
  });
  await untilNode(
    name,
    'drained',
    (one) =>
      (textAt(one, 'metadata', 'annotations', 'cordon.tidegate.dev/disabled') ?? '')
        .includes('"Drained"'),
  );
  await eventually(async () => (await webOn((one) => one !== name)).length === MORE_REPLICAS, {
    what: 'all pods on other nodes',
    timeoutMs: 30_000,
  });
  const left = (await webOn((one) => one === name)).length;
  return { code: disabled.code, before: before.length, left, state: stateOf(await node(name)) };
};

/** A Node falls silent; a person confirms that it is gone; it comes back. */
const loseOne = async (all: Site, name: string) => {
  const { cluster, kubelets, webOn, node, untilNode, database, tidegate } = all;
  const uid = uidOf(await database());
  await eventually(async () => (await webOn((one) => one !== name)).length === MORE_REPLICAS, {
    what: 'all pods on other nodes',
    everyMs: 200,
    timeoutMs: 120_000,
  });
  const state = stateOf(await node(name));
  const waiting = await eventually(async () => {
    const pod = await database();
    return conditionIn(pod, 'tidegate.dev/VolumeHomeNodeOffline') === undefined ? undefined : pod;
  }, { what: 'the stateful pod to show why it waits', timeoutMs: 10_000 });
  const refused = await tidegate('node', 'confirm-gone', name);
  const kept = await database();
  const confirmed = await tidegate('node', 'confirm-gone', name, '--accept-local-loss');
  const moved = await eventually(async () => {
    const { status, body } = await cluster.call('GET', `${DRAIN_COLLECTIONS.pods}/db-0`);
    return status === 200 && uidOf(body) !== uid && nodeOf(body) !== '' ? body : undefined;
  }, { what: 'the stateful pod to move', timeoutMs: 60_000 });
  await kubelets.go(name);
  await untilNode(
    name,
    'active',
    (one) =>
      stateOf(one) === 'Active' && !taintsOf(one).includes('node.kubernetes.io/out-of-service'),
  );
  return {
    name,
    state,
    waiting: { isSame: uidOf(waiting) === uid, isLeaving: isLeaving(waiting) },
    refused: { code: refused.code, output: refused.output },
    kept: { isSame: uidOf(kept) === uid, isLeaving: isLeaving(kept) },
    confirmedCode: confirmed.code,
    movedTo: nodeOf(moved),
  };
};

/** Nodes fall silent together. */
const failMany = async (
  { cluster, kubelets, webOn, node, untilNode }: Site,
  names: readonly string[],
) => {
  await kubelets.fail(names);
  const before = (await webOn((one) => names.includes(one))).map(uidOf).toSorted();
  for (const name of names) {
    await untilNode(name, 'offline', (one) => stateOf(one).startsWith('Offline'));
  }
  const alarms = async () =>
    (await cluster.list(EVENTS)).filter((event) => textAt(event, 'reason') === 'OfflineStorm');
  await eventually(async () => (await alarms()).length > 0, {
    what: 'an alarm',
    timeoutMs: 30_000,
  });
  return {
    states: await Promise.all(names.map(async (name) => stateOf(await node(name)))),
    alarms: (await alarms()).map((event) => textAt(event, 'note') ?? ''),
    before,
    left: (await webOn((one) => names.includes(one))).map(uidOf).toSorted(),
  };
};

const play = async (bed: Testbed) => {
  const all = await site(bed);
  const name = nodeOf(await all.database());
  await all.cluster.create(DRAIN_COLLECTIONS.pods, [barePod('job', name)]);
  const [disabled = '', ...others] = NODES.filter((node) => node !== name);
  const failedMs = await all.kubelets.fail([name]);
  const drained = await drainOne(all, disabled);
  const stormMs = Math.max(0, failedMs + STORM_AFTER_MS - realTime.monotonic());
  const [lost, storm] = await Promise.all([
    loseOne(all, name),
    new Promise<void>((resolve) => void realTime.schedule(stormMs, resolve))
      .then(() => failMany(all, others.slice(0, STORM_NODES))),
  ]);
  const forbidden = (await requestsBy(bed, 'tidegate')).filter(({ code }) => code === 403);
  return { drained, lost, storm, forbidden: forbidden.map(({ verb, uri }) => `${verb} ${uri}`) };
};

describeWithTestbed('the role availability', BED, (bed) => {
  let executed: ReturnType<typeof play> | undefined;
  const outcome = () => (executed ??= play(bed()));

  it(
    'Compliance 1: a draining node takes no new placement, its stateless pods are replaced, then it is drained',
    {
      timeout: 300_000,
    },
    async () => {
      const { drained, forbidden } = await outcome();
      expect(drained).toEqual({ code: 0, before: expect.any(Number), left: 0, state: 'Disabled' });
      expect(drained.before).toBeGreaterThan(0);
      expect(forbidden).toEqual([]);
    },
  );

  it(
    'Compliance 2: stateless pods of a silent node move; a stateful one shows why it stays, until its machine is confirmed gone',
    {
      timeout: 300_000,
    },
    async () => {
      const { lost } = await outcome();
      expect(lost).toMatchObject({
        state: 'Offline',
        waiting: { isSame: true, isLeaving: false },
        refused: { code: 5, output: expect.stringContaining('--accept-local-loss') },
        kept: { isSame: true, isLeaving: false },
        confirmedCode: 0,
      });
      expect(lost.movedTo).not.toBe(lost.name);
    },
  );

  it('RS-06: a third of the nodes gone at once: no eviction, one alarm', {
    timeout: 300_000,
  }, async () => {
    const { storm } = await outcome();
    expect(storm.states).toEqual(storm.states.map(() => 'OfflineStorm'));
    expect(storm.alarms).toHaveLength(1);
    expect(storm.before.length).toBeGreaterThan(0);
    expect(storm.left).toEqual(expect.arrayContaining([...storm.before]));
  });
});
