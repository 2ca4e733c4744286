/** The drain commands against a scripted API server: requests, output and exit codes. */
import { afterEach, describe, expect, test } from 'vitest';
import { runDrainPlan } from '../../../src/cli/drain/drain-plan.ts';
import type { DrainPlanRequest, DrainStatusRequest } from '../../../src/cli/drain/drain-request.ts';
import { runDrainStatus } from '../../../src/cli/drain/drain-status.ts';
import { runExplain } from '../../../src/cli/explain/explain.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { type Handle, json, startStubApi, type StubApi } from '../../support/api/stub-api.ts';
import { rawBudget, rawPod } from '../../support/drains/drain-facts.ts';
import { rawSceneNode, SCENE_NOW_MS } from '../../support/drains/drain-scene.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';

const apis: StubApi[] = [];

afterEach(async () => {
  for (const api of apis.splice(0)) await api.stop();
});

const NODES = [rawSceneNode(), rawSceneNode({ name: 'free', unschedulable: false, cordons: {} })];
const PODS = ['a', 'b', 'c'].map((name) => rawPod({ name }));

/** The content of the cluster; any request may be refused. */
interface Cluster {
  readonly refused?: Readonly<Record<string, number>>;
  readonly evictions?: number;
  /** A pod of another node that the budget counts as disrupted. */
  readonly counted?: string;
}

const listOf = (path: string, { counted }: Cluster): readonly object[] => {
  if (path === '/api/v1/nodes') return NODES;
  if (path === '/api/v1/pods') return PODS;
  if (path.endsWith('/poddisruptionbudgets')) {
    const disruptedPods = counted === undefined ? {} : { [counted]: '2026-03-01T11:59:00Z' };
    return [rawBudget({ status: { currentHealthy: 2, desiredHealthy: 2, disruptedPods } })];
  }
  return [];
};

const serving = (traits: Cluster): Handle => (request, response) => {
  const { refused = {}, evictions = 201, counted = '' } = traits;
  response.setHeader('date', new Date(SCENE_NOW_MS).toUTCString());
  const { path, method, query } = request;
  const code = refused[path];
  if (code !== undefined) {
    return json(response, code, { kind: 'Status', message: `${path} is not for you` });
  }
  if (method === 'POST') {
    const message = 'admission webhook "guard.example.com" denied the request: not today';
    return json(response, evictions, { kind: 'Status', message });
  }
  const name = /^\/api\/v1\/nodes\/(.+)$/.exec(path)?.[1];
  if (name !== undefined) {
    const node = NODES.find((raw) => JSON.stringify(raw).includes(`"name":"${name}"`));
    return node === undefined
      ? json(response, 404, { kind: 'Status', details: { name } })
      : json(response, 200, node);
  }
  if (path === `/api/v1/namespaces/ns/pods/${counted}`) {
    return json(response, 200, rawPod({ name: counted, node: 'elsewhere' }));
  }
  const items = listOf(path, traits);
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

const cluster = async (traits: Cluster = {}): Promise<StubApi> => {
  const api = await startStubApi(serving(traits));
  apis.push(api);
  return api;
};

const output = () => {
  let stdout = '';
  let stderr = '';
  return {
    terminal: {
      print: (text: string) => void (stdout += text),
      report: (line: string) => void (stderr += `${line}\n`),
      ...PLAIN_TERMINAL,
    },
    ended: (code: number) => ({ code, stdout, stderr }),
  };
};

const pathOf = ({ source }: StubApi): string => source._tag === 'File' ? source.path : '';
const time = { ...realTime, now: () => SCENE_NOW_MS };

const status = async (api: StubApi, asked: Partial<DrainStatusRequest> = {}) => {
  const { terminal, ended } = output();
  const request = {
    nodes: [],
    selector: undefined,
    format: 'table',
    watch: false,
    context: undefined,
    ...asked,
  };
  const follow = () => Promise.resolve(0 as const);
  return ended(
    await runDrainStatus({ ...request, kubeconfig: pathOf(api) }, { terminal, time, follow }),
  );
};

const plan = async (api: StubApi, asked: Partial<DrainPlanRequest> = {}) => {
  const { terminal, ended } = output();
  const request = {
    node: 'free',
    format: 'table',
    grace: undefined,
    dryRun: 'none',
    defaultInterceptors: undefined,
    context: undefined,
    ...asked,
  };
  return ended(await runDrainPlan({ ...request, kubeconfig: pathOf(api) }, terminal, time));
};

describe('drain status', () => {
  test('DR-43: shows every drain, from pages, and reads only', async () => {
    const api = await cluster();
    const { code, stdout, stderr } = await status(api);
    expect([code, stderr]).toEqual([0, '']);
    const [, line, ...more] = stdout.trimEnd().split('\n');
    expect(line).toMatch(/^n1 +Draining +reclaim +i-7 +2m +8m +3\/0\/3 +BlockedByBudget ns\/a\+2:/);
    expect(more).toEqual([]);
    expect(new Set(api.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  });

  test('names are printed as kubectl prints them', async () => {
    const { code, stdout } = await status(await cluster(), { format: 'name' });
    expect([code, stdout]).toEqual([0, 'node/n1\n']);
  });

  test('a label selector is left to the API server', async () => {
    const api = await cluster();
    expect((await status(api, { selector: 'zone=a' })).code).toBe(0);
    const nodes = api.requests.filter(({ path }) => path === '/api/v1/nodes');
    expect(nodes.map(({ query }) => query.get('labelSelector'))).toContain('zone=a');
    expect(nodes.every(({ query }) => query.get('labelSelector') === 'zone=a')).toBe(true);
  });

  test.each([
    [{ selector: 'zone==(' }, /^Cannot use --selector "zone==\(": /],
    [{ selector: 'zone=a', nodes: ['n1'] }, /^Cannot use --selector with names of nodes: /],
  ])('%j is a usage error', async (asked, line) => {
    const { code, stdout, stderr } = await status(await cluster(), asked);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(line);
  });

  test('a list whose continue token expired is read again without pages', async () => {
    const api = await cluster();
    const forgetful = serving({});
    api.script((request, response) => {
      if (request.query.get('continue') !== null) {
        return json(response, 410, { kind: 'Status', message: 'too old' });
      }
      if (request.query.get('limit') !== null) return forgetful(request, response);
      json(response, 200, { metadata: { resourceVersion: '1' }, items: PODS });
    });
    const { code, stdout } = await status(api);
    expect(code).toBe(0);
    expect(stdout).toContain(' 3/0/3 ');
  });

  test('lists the pods of the requested nodes, and no others', async () => {
    const api = await cluster();
    await status(api, { nodes: ['n1'] });
    const asked = api.requests.filter(({ path }) => path === '/api/v1/pods')
      .map(({ query }) => query.get('fieldSelector'));
    expect(new Set(asked)).toEqual(new Set(['spec.nodeName=n1']));
  });

  test('DR-34: a slot held by an eviction on another node is reported, after reading its pod', async () => {
    const api = await cluster({ counted: 'far' });
    const { stdout } = await status(api, { format: 'json' });
    expect(stdout).toContain('"SlotHeldByInterruptedEviction"');
    expect(stdout).not.toContain('far');
    expect(api.requests.filter(({ path }) => path.endsWith('/pods/far')).length).toBe(1);
  });

  test('a named node is shown with or without a drain', async () => {
    const { stdout } = await status(await cluster(), { nodes: ['free'], format: 'json' });
    expect(JSON.parse(stdout).items).toMatchObject([{ node: 'free', state: 'Schedulable' }]);
  });

  test('exit code 3: a missing node is named, the others are shown', async () => {
    const ended = await status(await cluster(), { nodes: ['n1', 'n9'] });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toBe('Cannot find Node "n9": it does not exist\n');
    expect(ended.stdout).toContain('\nn1 ');
  });

  test('exit code 1: missing permission to list budgets is reported', async () => {
    const path = '/apis/policy/v1/poddisruptionbudgets';
    const ended = await status(await cluster({ refused: { [path]: 403 } }));
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: `Cannot list PodDisruptionBudgets: ${path} is not for you\n`,
    });
  });

  test('Events, UpcomingNodes and Leases are optional', async () => {
    const ended = await status(
      await cluster({
        refused: {
          '/apis/events.k8s.io/v1/namespaces/default/events': 403,
          '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes': 404,
          '/apis/coordination.k8s.io/v1/leases': 403,
          '/api/v1/namespaces': 403,
        },
      }),
    );
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('exit code 2: an unknown format', async () => {
    const ended = await status(await cluster(), { format: 'xml' });
    expect(ended).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'Cannot use --output "xml": unknown value; write one of table, wide, name, json, yaml\n',
    });
  });

  test('exit code 4: an unreachable cluster', async () => {
    const api = await cluster();
    api.cut();
    api.script((request) => request.socket.destroy());
    expect(await status(api)).toMatchObject({ code: 4, stdout: '' });
  });
});

describe('drain plan', () => {
  const node = 'n1';

  test('DR-43: previews a drain without an eviction', async () => {
    const api = await cluster();
    const { code, stdout } = await plan(api, { node });
    expect(code).toBe(0);
    expect(stdout).toContain('Node n1: 3 pods must leave in 1 tier, 3 would be blocked');
    expect(api.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('DR-43: --dry-run=server sends dry runs, with the UID of each pod', async () => {
    const api = await cluster({ evictions: 403 });
    const { stdout } = await plan(api, { node, dryRun: 'server', format: 'json' });
    const asked = api.requests.filter(({ method }) => method === 'POST');
    expect(asked.map(({ query }) => query.get('dryRun'))).toEqual(['All', 'All', 'All']);
    const options = asked.map(({ body }) => JSON.parse(body).deleteOptions);
    expect(options.map(({ preconditions }) => preconditions.uid).toSorted())
      .toEqual(['uid-a', 'uid-b', 'uid-c']);
    expect(options.map(({ dryRun }) => dryRun)).toEqual([['All'], ['All'], ['All']]);
    expect(JSON.parse(stdout)).toMatchObject({
      dryRun: true,
      blockers: [{ reason: 'PolicyRefused', pods: ['ns/a', 'ns/b', 'ns/c'] }],
    });
  });

  test('exit code 3: a missing node', async () => {
    expect(await plan(await cluster(), { node: 'n9' })).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'Cannot find Node "n9": it does not exist\n',
    });
  });

  test.each([
    [{ grace: '10' }, /^Cannot use --grace "10": it is not a duration/],
    [{ grace: '-5s' }, /^Cannot use --grace "-5s"/],
    [{ dryRun: 'client' }, /^Cannot use --dry-run "client": .*none, server\n$/],
    [{ format: 'wide' }, /^Cannot use --output "wide"/],
    [
      { defaultInterceptors: 'x' },
      /^Cannot use --default-interceptors "x": .*tidegate.dev, none\n$/,
    ],
  ])('exit code 2: %j', async (asked, line) => {
    const ended = await plan(await cluster(), asked);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(line);
  });
});

describe('explain', () => {
  const explain = async (kind: string, name: string | undefined) => {
    const { terminal, ended } = output();
    const question = { kind, name, namespace: undefined, format: 'text', context: undefined };
    const kubeconfig = pathOf(await cluster());
    return ended(await runExplain({ ...question, kubeconfig }, terminal, time));
  };

  test.each([['node', 'n1'], ['no', 'n1'], ['n1', undefined]])(
    'DR-43: explain %s %s tells the drain of a node',
    async (kind, name) => {
      const { code, stdout } = await explain(kind, name);
      expect(code).toBe(0);
      expect(stdout).toContain('Node n1: Draining');
    },
  );

  test('exit code 3: a missing node', async () => {
    expect(await explain('n9', undefined)).toMatchObject({
      code: 3,
      stderr: 'Cannot find Node "n9": it does not exist\n',
    });
  });

  test('exit code 2: a kind without a name', async () => {
    expect(await explain('cr', undefined)).toMatchObject({
      code: 2,
      stderr: 'Cannot start without <name>: it is required; see "tidegate explain --help"\n',
    });
  });
});
