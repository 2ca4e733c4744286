/** `maintenance plan` against a scripted API server: requests, output and exit codes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import type { MaintenancePlanRequest } from '../../../src/cli/maintenance/maintenance-plan-request.ts';
import { runMaintenancePlan } from '../../../src/cli/maintenance/maintenance-plan.ts';
import { type Handle, json, startStubApi, type StubApi } from '../../support/api/stub-api.ts';
import { rawBudget, rawPod } from '../../support/drains/drain-facts.ts';
import { maintenanceRaw } from '../../support/node-maintenance/maintenance-fixture.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';

const apis: StubApi[] = [];

afterEach(async () => {
  for (const api of apis.splice(0)) await api.stop();
});

const nodeOf = (name: string, zone: string, pool = 'a') => ({
  metadata: { name, uid: name, resourceVersion: '1', labels: { pool, zone } },
  spec: {},
});

const NODES = [
  nodeOf('a-1', 'a'),
  nodeOf('a-2', 'a'),
  nodeOf('b-1', 'b'),
  nodeOf('other', 'b', 'b'),
];
const PODS = [
  rawPod({ name: 'one', node: 'a-1', priority: 10 }),
  rawPod({ name: 'two', node: 'a-2', controller: null, labels: { app: 'bare' } }),
  rawPod({ name: 'three', node: 'b-1' }),
  rawPod({ name: 'agent', node: 'b-1', controller: { kind: 'DaemonSet', name: 'agent' } }),
  rawPod({ name: 'far', node: 'other' }),
];

const KERNEL = maintenanceRaw('7', {
  spec: {
    maxNodesAtOnce: 1,
    topologyKey: 'zone',
    drainPlan: [{ podPriority: 5, podSelector: { matchLabels: { app: 'web' } } }],
  },
});

/** The content of the cluster. */
interface Cluster {
  readonly allowed?: number;
  readonly refused?: string;
}

const listOf = (path: string, query: URLSearchParams, allowed: number): readonly object[] => {
  if (path === '/api/v1/nodes') return NODES;
  if (path === '/api/v1/pods') {
    const [, node] = (query.get('fieldSelector') ?? '').split('spec.nodeName=');
    if (node === undefined) return PODS;
    return PODS.filter((pod) => JSON.stringify(pod).includes(`"nodeName":"${node}"`));
  }
  if (!path.endsWith('/poddisruptionbudgets')) return [];
  return [rawBudget({
    status: { currentHealthy: 2, desiredHealthy: 2 - allowed, disruptionsAllowed: allowed },
  })];
};

const serving = ({ allowed = 1, refused }: Cluster): Handle => (request, response) => {
  const { path, query } = request;
  if (path === refused) {
    return json(response, 403, { kind: 'Status', message: `${path} is not for you` });
  }
  const name = /\/nodemaintenances\/(.+)$/.exec(path)?.[1];
  if (name !== undefined) {
    return name === 'kernel'
      ? json(response, 200, KERNEL)
      : json(response, 404, { kind: 'Status', details: { name } });
  }
  const items = listOf(path, query, allowed);
  const from = Number(query.get('continue') ?? 0);
  // Pages of two, whatever the requested limit.
  json(response, 200, {
    metadata: {
      resourceVersion: '1',
      ...(from + 2 < items.length ? { continue: `${from + 2}` } : {}),
    },
    items: items.slice(from, from + 2),
  });
};

const plan = async (source: string, { format = 'table', asked = {}, ...traits }: Cluster & {
  readonly format?: string;
  readonly asked?: Partial<MaintenancePlanRequest>;
} = {}) => {
  const api = await startStubApi(serving(traits));
  apis.push(api);
  let stdout = '';
  let stderr = '';
  const code = await runMaintenancePlan({
    source,
    format,
    simulate: false,
    podStartup: '10s',
    podShutdown: undefined,
    nodeWork: '0s',
    ...asked,
    kubeconfig: api.source._tag === 'File' ? api.source.path : '',
    context: undefined,
  }, {
    terminal: {
      print: (text) => void (stdout += text),
      report: (line) => void (stderr += `${line}\n`),
      ...PLAIN_TERMINAL,
    },
    time: { now: () => Date.parse('2026-01-01T00:00:00Z') },
    progress: { show: () => {}, clear: () => {} },
  });
  return { code, stdout, stderr, requests: api.requests };
};

const fileWith = async (content: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'maintenance-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'kernel.yaml');
  await writeFile(path, content);
  return path;
};

const WRITTEN = `
apiVersion: v1
kind: ConfigMap
metadata: { name: other }
---
apiVersion: lifecycle.tidegate.dev/v1alpha1
kind: NodeMaintenance
metadata: { name: file }
spec:
  nodeSelector:
    nodeSelectorTerms: [{ matchExpressions: [{ key: pool, operator: In, values: [a] }] }]
`;

test('maintenance plan draws waves, and lists entries, losses and the bound of the budgets', async () => {
  const { code, stdout, stderr, requests } = await plan('kernel');
  expect(stderr).toBe('');
  expect(stdout).toBe(`\
NodeMaintenance kernel (stage Idle): 3 nodes in 2 waves, 4 pods must leave, none would be blocked

Waves: 1 at once for each zone; others follow when they are done
  NODE   TOPOLOGY   PODS   CORDONED   WAVE
  a-1    a          1      no         #.
  b-1    b          2      no         #.
  a-2    a          1      no         .#

Pods leave in this order
  POD TYPE    PRIORITY           SELECTOR       PODS
  Default     up to 5            app In (web)   1
  Default     up to 1000000000   -              2
  DaemonSet   up to 1000000000   -              1

Would be lost
  REASON         PODS   CAUSE
  NoController   1      no controller recreates them

Time
  At least 4 evictions one after another; their terminations take up to 2m

Unknown
  How long the work on each node takes: the next node follows when it is done
  Where the pods find a place, and how long they take to start: see --simulate
`);
  expect(code).toBe(0);
  const lists = requests.filter(({ path }) => path === '/api/v1/nodes');
  expect(lists.map(({ query }) => [query.get('limit') !== null, query.get('continue')]))
    .toEqual([[true, null], [true, '2']]);
});

test('maintenance plan sends nothing but GET', async () => {
  const { requests } = await plan('kernel');
  expect(requests.length).toBeGreaterThan(5);
  expect(requests.filter(({ method, query }) => method !== 'GET' || query.has('watch'))).toEqual(
    [],
  );
});

test('maintenance plan --simulate sends nothing but GET, and lists in pages', async () => {
  const { requests, stdout, stderr } = await plan('kernel', {
    format: 'json',
    asked: { simulate: true },
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({ waves: 2, simulation: { podStartupSeconds: 10 } });
  expect(requests.filter(({ method, query }) => method !== 'GET' || query.has('watch'))).toEqual(
    [],
  );
  const lists = requests.filter(({ query }) => query.has('limit'));
  expect(new Set(lists.map(({ path }) => path)).size).toBeGreaterThanOrEqual(10);
});

test.each([
  ['--pod-startup', { podStartup: '10' }],
  ['--pod-shutdown', { podShutdown: 'soon' }],
  ['--node-work', { nodeWork: '-5m' }],
])('maintenance plan refuses %s without a duration', async (flag, asked) => {
  const { code, stderr } = await plan('kernel', { asked });
  expect([code, stderr.startsWith(`Cannot use ${flag} "`)]).toEqual([2, true]);
});

test('maintenance plan exits with 5 when a budget would block, and names it', async () => {
  const { code, stdout } = await plan('kernel', { allowed: 0, format: 'json' });
  expect(code).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({
    maintenance: 'kernel',
    waves: 2,
    blockers: [{
      reason: 'BlockedByBudget',
      pods: 3,
      message: 'budget ns/db allows 0 disruptions: 2 healthy, 2 required',
    }],
  });
});

test('maintenance plan reads the one NodeMaintenance of a file', async () => {
  const { code, stdout } = await plan(await fileWith(WRITTEN), { format: 'yaml' });
  expect(code).toBe(0);
  expect(stdout).toContain('maintenance: file\n');
  expect(stdout).toContain('waves: 1\n');
});

test.each([
  ['absent', 3, 'Cannot find NodeMaintenance "absent"; for a file of this name, write ./absent\n'],
  ['./absent.yaml', 2, 'Cannot read "./absent.yaml": ENOENT'],
])('maintenance plan %s exits with %i and one line', async (source, expected, line) => {
  const { code, stdout, stderr } = await plan(source);
  expect([code, stdout, stderr.slice(0, line.length)]).toEqual([expected, '', line]);
});

test.each([
  ['kind: Node', 'it has no NodeMaintenance of lifecycle.tidegate.dev/v1alpha1; write one\n'],
  [`${WRITTEN}---${WRITTEN}`, 'it has more than one NodeMaintenance'],
  [`${WRITTEN}  stage: Drained\n`, 'spec.stage: "Drained" is unknown; write one of Idle,'],
  [`${WRITTEN}  stage: Complete\n`, 'its stage is Complete'],
  ['a: [', 'Flow sequence'],
])('maintenance plan refuses the file %j', async (content, problem) => {
  const { code, stdout, stderr } = await plan(await fileWith(content));
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(problem);
});

test('maintenance plan says which list is refused', async () => {
  const { code, stderr } = await plan('kernel', { refused: '/api/v1/nodes' });
  expect([code, stderr]).toEqual([1, 'Cannot list Nodes: /api/v1/nodes is not for you\n']);
});

test('maintenance plan refuses an unknown format', async () => {
  const { code, stderr } = await plan('kernel', { format: 'xml' });
  expect([code, stderr]).toEqual([
    2,
    'Cannot use --output "xml": unknown value; write one of table, json, yaml\n',
  ]);
});
