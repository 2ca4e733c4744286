/** `tidegate tree` on an embedded cluster. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCluster, type RunningCluster } from '@tidegate/embedded-kubernetes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { definitions } from '../../src/api/definitions.ts';
import { runTree } from '../../src/cli/explain/tree.ts';
import { GROUP_PATH, GROUP_VERSION } from '../../src/domain/api-group.ts';
import { MACHINE_ID_KEY, machineId } from '../../src/domain/ids.ts';
import { textAt } from '../../src/domain/json.ts';
import { upcomingNodeName } from '../../src/domain/names.ts';
import { OWNED_BY_POD } from '../../src/domain/pod-demand/pod-request.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { PLAIN_TERMINAL } from '../support/terminal/plain-terminal.ts';

const UPCOMING = upcomingNodeName(machineId('m-1'));

let cluster: RunningCluster;
let folder: string;

const make = (path: string, body: object): unknown => {
  const answer = cluster.cluster.answer({ method: 'POST', path, body });
  if (answer._tag !== 'Answer' || answer.status !== 201) {
    throw new Error(`Cannot create at ${path}: ${JSON.stringify(answer)}`);
  }
  return answer.body;
};

const patch = (path: string, body: object): void =>
  void cluster.cluster.answer({
    method: 'PATCH',
    path,
    body,
    headers: { 'content-type': 'application/merge-patch+json' },
  });

const CONTAINERS = [{ name: 'main', image: 'none' }];

beforeAll(async () => {
  cluster = await runCluster({
    time: realTime,
    listen: { host: '127.0.0.1', port: 0 },
    seed: 1,
    nodes: 1,
    rate: 1,
    definitions: definitions(),
  });
  folder = await mkdtemp(join(tmpdir(), 'tidegate-tree-'));
  await writeFile(join(folder, 'kubeconfig'), cluster.kubeconfig);
  make(`${GROUP_PATH}/upcomingnodes`, {
    apiVersion: GROUP_VERSION,
    kind: 'UpcomingNode',
    metadata: { name: UPCOMING, annotations: { [MACHINE_ID_KEY]: 'm-1' } },
    spec: { resources: { cpu: '8' } },
  });
  patch(`${GROUP_PATH}/upcomingnodes/${UPCOMING}/status`, {
    status: { phase: 'Ready', nodeRef: { apiVersion: 'v1', kind: 'Node', name: 'node-1' } },
  });
  make('/api/v1/namespaces/default/pods', {
    metadata: { name: 'bound' },
    spec: { nodeName: 'node-1', containers: CONTAINERS },
  });
  const pod = make('/api/v1/namespaces/default/pods', {
    metadata: { name: 'waiting' },
    spec: { nodeSelector: { none: 'none' }, containers: CONTAINERS },
  });
  const uid = textAt(pod, 'metadata', 'uid') ?? '';
  make(`${GROUP_PATH}/namespaces/default/capacityrequests`, {
    apiVersion: GROUP_VERSION,
    kind: 'CapacityRequest',
    metadata: {
      name: 'cr-pod-waiting',
      labels: { [OWNED_BY_POD]: uid },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'waiting', uid }],
    },
    spec: { priority: 0, resources: { cpu: '4' } },
  });
});
afterAll(async () => {
  await cluster.stop();
  await rm(folder, { recursive: true });
});

const tree = async (
  name: string,
  { format = 'name', namespace }: { readonly format?: string; readonly namespace?: string } = {},
) => {
  let stdout = '';
  const lines: string[] = [];
  const kubeconfig = join(folder, 'kubeconfig');
  const code = await runTree({ name, namespace, format, kubeconfig, context: undefined }, {
    print: (text) => void (stdout += text),
    report: (line) => void lines.push(line),
    ...PLAIN_TERMINAL,
  }, realTime);
  return { code, stdout, lines };
};

test.each(['node-1', 'm-1', UPCOMING])(
  'the tree of %s has the machine, its Node and its pods',
  async (name) => {
    expect(await tree(name)).toEqual({
      code: 0,
      lines: [],
      stdout: `upcomingnode.bigfleet.lucy.sh/${UPCOMING}\nnode/node-1\npod/bound\n`,
    });
  },
);

test.each(['default/waiting', 'default/cr-pod-waiting'])(
  'the tree of %s has the pod and its request',
  async (name) => {
    expect(await tree(name)).toEqual({
      code: 0,
      lines: [],
      stdout: 'pod/waiting\ncapacityrequest.bigfleet.lucy.sh/cr-pod-waiting\n',
    });
  },
);

test('the tree is a table, or one document', async () => {
  const { stdout } = await tree('waiting', { format: 'table', namespace: 'default' });
  expect(stdout).toMatch(/^OBJECT +STATE +AGE\nPod default\/waiting +Pending/);
  expect(stdout).toContain('   └─ Demand cpu 4');
  expect(JSON.parse((await tree('m-1', { format: 'json' })).stdout)).toMatchObject({
    kind: 'Machine',
    name: 'm-1',
  });
});

test.each([
  ['nothing', 3, /^Cannot find "nothing": there is no Node, machine or UpcomingNode of that name/],
  ['default/nothing', 3, /^Cannot find "default\/nothing": there is no CapacityRequest or pod/],
  ['a/b/c', 2, /^Cannot show "a\/b\/c": it is not an object name/],
])('the tree of %s ends with %i and one line', async (name, code, line) => {
  const ended = await tree(name);
  expect([ended.code, ended.stdout, ended.lines.length]).toEqual([code, '', 1]);
  expect(ended.lines[0]).toMatch(line);
});
