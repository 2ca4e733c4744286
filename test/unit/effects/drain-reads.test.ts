/** All objects about drains, as interactive commands read them. */
import { expect, test } from 'vitest';
import { INTERCEPTORS_ANNOTATION } from '../../../src/domain/eviction-requests/interceptor-list.ts';
import { recordAt } from '../../../src/domain/json.ts';
import { type NodeChoice, readDrains } from '../../../src/effects/drain-reads.ts';
import { readableApi, type ReadableCluster } from '../../support/api/readable-api.ts';
import { rawBudget, rawPod } from '../../support/drains/drain-facts.ts';
import { maintenanceRaw } from '../../support/node-maintenance/maintenance-fixture.ts';
import { rawSceneNode } from '../../support/drains/drain-scene.ts';

const BUDGETS = '/apis/policy/v1/namespaces/ns/poddisruptionbudgets';
const NODE_COUNT = 51;
const manyNodes = Array.from({ length: NODE_COUNT }, (_, index) => `n${index}`);

const podsAt = (...pods: readonly { readonly name: string; readonly node: string }[]) =>
  Object.fromEntries(pods.map((pod) => [`/api/v1/namespaces/ns/pods/${pod.name}`, rawPod(pod)]));
const nodesAt = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`/api/v1/nodes/${name}`, rawSceneNode({ name })]));
const leaseAt = (namespace: string, holderIdentity: string) => ({
  [`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/tidegate-operator`]: {
    metadata: { name: 'tidegate-operator', namespace },
    spec: { holderIdentity },
  },
});
const budgetCounting = (disrupted: readonly string[]) => ({
  [`${BUDGETS}/db`]: rawBudget({
    status: {
      disruptedPods: Object.fromEntries(disrupted.map((name) => [name, '2026-03-01T11:59:00Z'])),
    },
  }),
});

const named = (...names: readonly string[]): NodeChoice => ({ _tag: 'Named', names });
const all: NodeChoice = { _tag: 'All', isMeant: ({ name }) => name !== 'n2' };

const reading = async (objects: ReadableCluster['objects'], choice: NodeChoice) => {
  const { run, calls } = readableApi({ objects });
  const read = await run(readDrains(choice));
  if (read._tag === 'Refused') throw new Error(read.why);
  const { nodes, pods, missing, own, terminatingNamespaces } = read.reading;
  return {
    nodes: nodes.map(({ name }) => name),
    pods: pods.map(({ key }) => key),
    missing,
    own,
    terminatingNamespaces,
    interceptors: [...read.interceptors.values()],
    calls,
  };
};

test('named Nodes are read once each with their pods, and the missing ones are named', async () => {
  const objects = {
    ...nodesAt('n1', 'n2'),
    ...podsAt({ name: 'a', node: 'n1' }, { name: 'b', node: 'n2' }),
  };
  const read = await reading(objects, named('n1', 'n1', 'n9'));
  expect(read).toMatchObject({ nodes: ['n1'], missing: ['n9'], pods: ['ns/a'] });
  expect(read.calls.filter(({ path }) => path.endsWith('/n1'))).toHaveLength(1);
});

test('the interceptors of a pod are read with it, in order', async () => {
  const annotations = { [INTERCEPTORS_ANNOTATION]: 'backup.example.com,move.example.com' };
  const intercepted = { ...rawPod({ name: 'a', node: 'n1' }) };
  const objects = {
    ...nodesAt('n1'),
    ...podsAt({ name: 'b', node: 'n1' }),
    '/api/v1/namespaces/ns/pods/a': {
      ...intercepted,
      metadata: { ...recordAt(intercepted, 'metadata'), annotations },
    },
  };
  expect((await reading(objects, named('n1'))).interceptors)
    .toEqual([['backup.example.com', 'move.example.com']]);
});

test('of all Nodes only those that are meant are kept, with their pods', async () => {
  const objects = {
    ...nodesAt('n1', 'n2'),
    ...podsAt({ name: 'a', node: 'n1' }, { name: 'b', node: 'n2' }),
  };
  expect(await reading(objects, all)).toMatchObject({ nodes: ['n1'], missing: [], pods: ['ns/a'] });
});

test.each([[50, 50], [51, 1]])(
  'the pods of %i Nodes are read with %i list(s), and they are those of the Nodes',
  async (count, lists) => {
    const objects = {
      ...nodesAt(...manyNodes),
      ...podsAt({ name: 'a', node: 'n1' }, { name: 'far', node: 'elsewhere' }),
    };
    const { pods, calls } = await reading(objects, named(...manyNodes.slice(0, count)));
    expect(pods).toEqual(['ns/a']);
    expect(calls.filter(({ path }) => path === '/api/v1/pods')).toHaveLength(lists);
  },
);

test('DR-34: disrupted pods elsewhere are read when a budget of these pods counts them', async () => {
  const around = { ...nodesAt('n1'), ...podsAt({ name: 'far', node: 'elsewhere' }) };
  const objects = { ...around, ...budgetCounting(['a', 'far', 'gone']) };
  const covered = { ...objects, ...podsAt({ name: 'a', node: 'n1' }) };
  expect((await reading(covered, named('n1'))).pods).toEqual(['ns/a', 'ns/far']);
  expect((await reading(objects, named('n1'))).pods).toEqual([]);
});

test('at most fifty disrupted pods elsewhere are read', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `far-${index}`);
  const objects = {
    ...nodesAt('n1'),
    ...podsAt({ name: 'a', node: 'n1' }),
    ...budgetCounting(names),
  };
  const { calls } = await reading(objects, named('n1'));
  expect(calls.filter(({ path }) => path.includes('/pods/far-'))).toHaveLength(50);
});

test.each([
  ['web-7d_x1', { namespace: 'ops', name: 'web-7d' }],
  ['host_with_underscores_x1', { namespace: 'ops', name: 'host_with_underscores' }],
  ['nameless', null],
  ['', null],
])('the pod of the operator whose Lease says %j is %j', async (holder, own) => {
  const objects = { ...nodesAt('n1'), ...leaseAt('ops', holder) };
  expect((await reading(objects, named('n1'))).own).toEqual(own);
});

test('namespaces that terminate are named, and only these', async () => {
  const objects = {
    ...nodesAt('n1'),
    '/api/v1/namespaces/going': { metadata: { name: 'going' }, status: { phase: 'Terminating' } },
    '/api/v1/namespaces/ns': { metadata: { name: 'ns' }, status: { phase: 'Active' } },
  };
  expect((await reading(objects, named('n1'))).terminatingNamespaces).toEqual(['going']);
});

test('NodeMaintenances are read, and may be missing', async () => {
  const path = '/apis/lifecycle.tidegate.dev/v1alpha1/nodemaintenances';
  const objects = {
    ...nodesAt('n1'),
    [`${path}/kernel`]: maintenanceRaw('1', {}),
  };
  const read = async (refused: ReadableCluster['refused']) => {
    const { run } = readableApi({ objects, ...(refused && { refused }) });
    const result = await run(readDrains(named('n1')));
    if (result._tag === 'Refused') throw new Error(result.why);
    return result.reading.maintenances.map(({ name }) => name);
  };
  expect(await read(undefined)).toEqual(['kernel']);
  expect(await read({ [path]: 403 })).toEqual([]);
  expect(await read({ [path]: 404 })).toEqual([]);
});

test.each([
  ['/api/v1/nodes/n1', named('n1'), 'Cannot read Node "n1": '],
  ['/api/v1/nodes', all, 'Cannot list Nodes: '],
  ['/api/v1/pods', named('n1'), 'Cannot list pods: '],
  ['/apis/policy/v1/poddisruptionbudgets', named('n1'), 'Cannot list PodDisruptionBudgets: '],
])('without %s nothing is read, for the reason', async (path, choice, why) => {
  const { run } = readableApi({ objects: nodesAt('n1'), refused: { [path]: 403 } });
  expect(await run(readDrains(choice)))
    .toEqual({ _tag: 'Refused', why: `${why}${path} is not for you` });
});
