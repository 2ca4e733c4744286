/** `tidegate drain NODE` of nodes from which no pod has to leave, against a scripted API server. */
import { afterEach, describe, expect, test } from 'vitest';
import { drainEmptyNodes } from '../../../src/cli/drain-node/drain-empty-nodes.ts';
import { filteredNode } from '../../../src/cli/drain-node/drain-node-filtering.ts';
import { drainQuestion } from '../../../src/cli/drain-node/drain-node-request.ts';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import { type Handle, json, startStubApi, type StubApi } from '../../support/api/stub-api.ts';
import { rawPod } from '../../support/drains/drain-facts.ts';
import { DRAIN_DEFAULTS } from '../../support/drains/drain-nodes-defaults.ts';

const apis: StubApi[] = [];

afterEach(async () => {
  for (const api of apis.splice(0)) await api.stop();
});

const RAW_NODE = { metadata: { name: 'n1', uid: 'uid-n1', resourceVersion: '7' } };
const NODE_PATH = '/api/v1/nodes/n1';
const MAINTENANCES = '/apis/lifecycle.tidegate.dev/v1alpha1/nodemaintenances';
const EARLIER = { metadata: { name: 'drain-n1', uid: 'uid-1', resourceVersion: '3' } };
const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

/** What the API server has, and refuses. */
interface Served {
  /** Pods that are there after the cordon. */
  readonly pods?: readonly object[];
  readonly maintenances?: readonly object[];
  readonly refused?: Readonly<Record<string, number>>;
}

const serving =
  ({ pods = [], maintenances = [], refused = {} }: Served): Handle => (request, response) => {
    const code = refused[`${request.method} ${request.path}`];
    if (code !== undefined) {
      return json(response, code, { kind: 'Status', message: 'not for you', code });
    }
    if (request.path === NODE_PATH) return json(response, 200, RAW_NODE);
    const items = request.path === MAINTENANCES ? maintenances : pods;
    json(response, 200, { metadata: { resourceVersion: '9' }, items });
  };

const drained = async (served: Served = {}) => {
  const api = await startStubApi(serving(served));
  apis.push(api);
  const question = drainQuestion({ ...DRAIN_DEFAULTS, nodes: ['n1'] });
  const node = projectDrainedNode(RAW_NODE);
  if (typeof question === 'string' || node === undefined) throw new Error('the test is wrong');
  const nodes = [filteredNode(
    {
      _tag: 'Read',
      node,
      pods: [],
      listed: { objects: [], resourceVersion: '8' },
      goneDaemonSets: new Set(),
    },
    question,
    NOW_MS,
  )];
  let stdout = '';
  let stderr = '';
  const answer = await drainEmptyNodes({
    cluster: {
      kubeconfig: api.source._tag === 'File' ? api.source.path : undefined,
      context: undefined,
    },
    question,
    nodes,
  }, {
    terminal: {
      print: (text) => void (stdout += text),
      report: (line) => void (stderr += `${line}\n`),
    },
    time: { now: () => NOW_MS },
  });
  const left = answer._tag === 'Answered' ? answer.value : undefined;
  const sent = api.requests.map(({ method, path }) => `${method} ${path}`);
  return { left, stdout, stderr, sent, requests: api.requests };
};

const THEN_LISTED = [`GET ${MAINTENANCES}`, `PATCH ${NODE_PATH}`, 'GET /api/v1/pods'];

describe('drain NODE without a pod that has to leave', () => {
  test('cordons for a person and lists again, without a NodeMaintenance', async () => {
    const { left, stdout, stderr, sent, requests } = await drained();
    expect(left).toEqual({ nodes: [], areAll: true });
    expect([stdout, stderr]).toEqual(['node/n1 cordoned\nnode/n1 drained\n', '']);
    expect(sent).toEqual(THEN_LISTED);
    expect(JSON.parse(requests[1]?.body ?? '')).toMatchObject({
      metadata: {
        uid: 'uid-n1',
        annotations: { 'cordon.tidegate.dev/person': expect.stringContaining('"v":1') },
      },
      spec: { unschedulable: true },
    });
  });

  test('needs no kind NodeMaintenance', async () => {
    const { left, stdout } = await drained({ refused: { [`GET ${MAINTENANCES}`]: 404 } });
    expect(left).toEqual({ nodes: [], areAll: true });
    expect(stdout).toContain('node/n1 drained');
  });

  test('drains a node whose pod came before the cordon', async () => {
    const { left, stdout, sent } = await drained({ pods: [rawPod()] });
    expect(left).toMatchObject({
      nodes: [{ name: 'n1', wasCordoned: false, before: { unschedulable: true } }],
      areAll: true,
    });
    expect(left?.nodes[0]?.pods.map(({ pod }) => pod.name)).toEqual(['a']);
    expect(stdout).toBe('');
    expect(sent).toEqual(THEN_LISTED);
  });

  test('reports a pod that came before the cordon and that the filters refuse', async () => {
    const { left, stdout, stderr } = await drained({ pods: [rawPod({ controller: null })] });
    expect(left).toEqual({ nodes: [], areAll: false });
    expect(stdout).toBe('');
    expect(stderr).toContain('Cannot drain node "n1": it has pods without a controller');
  });

  test.each([
    ['has the maintenance of an earlier run', { maintenances: [EARLIER] }],
    ['may have one', { refused: { [`GET ${MAINTENANCES}`]: 403 } }],
  ])('leaves a node that %s to the whole drain', async (_, served) => {
    const { left, stdout, sent } = await drained(served);
    expect(left).toMatchObject({ nodes: [{ name: 'n1' }], areAll: true });
    expect([stdout, sent]).toEqual(['', [`GET ${MAINTENANCES}`]]);
  });

  test('reports a cordon that is refused', async () => {
    const { left, stdout, stderr } = await drained({ refused: { [`PATCH ${NODE_PATH}`]: 403 } });
    expect(left).toEqual({ nodes: [], areAll: false });
    expect([stdout, stderr]).toEqual(['', 'Cannot cordon node "n1": not for you\n']);
  });
});
