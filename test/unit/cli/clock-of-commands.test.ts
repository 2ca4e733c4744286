/**
 * Commands on a machine whose clock is wrong, against a scripted API server.
 *
 * Regression: they computed states and wrote times by the clock of the machine, although deadlines
 * are by that of the API server.
 */
import { afterEach, expect, test } from 'vitest';
import { runDrainStatus } from '../../../src/cli/drain/drain-status.ts';
import { runDrainNodes } from '../../../src/cli/drain-node/drain-node.ts';
import { runNodeDisable } from '../../../src/cli/node/node-change.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { json, startStubApi, type StubApi } from '../../support/api/stub-api.ts';
import { DRAIN_DEFAULTS } from '../../support/drains/drain-nodes-defaults.ts';
import { rawSceneNode, SCENE_NOW_MS } from '../../support/drains/drain-scene.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';

const apis: StubApi[] = [];

afterEach(async () => {
  for (const api of apis.splice(0)) await api.stop();
});

/** Past the deadline of the scene's drain. */
const time = { ...realTime, now: () => SCENE_NOW_MS + 20 * 60_000 };
const NODE = '/api/v1/nodes/n1';

const bed = async (node: object) => {
  const api = await startStubApi(({ path }, response) => {
    response.setHeader('date', new Date(SCENE_NOW_MS).toUTCString());
    const items = path === '/api/v1/nodes' ? [node] : [];
    json(response, 200, path === NODE ? node : { metadata: { resourceVersion: '9' }, items });
  });
  apis.push(api);
  let stdout = '';
  return {
    cluster: {
      kubeconfig: api.source._tag === 'File' ? api.source.path : undefined,
      context: undefined,
    },
    environment: {
      terminal: {
        ...PLAIN_TERMINAL,
        print: (text: string) => void (stdout += text),
        report: () => {},
      },
      time,
    },
    stdout: () => stdout,
    patched: () => api.requests.find(({ method }) => method === 'PATCH')?.body ?? '',
  };
};

const FREE = rawSceneNode({ unschedulable: false, cordons: {} });
const SINCE = new Date(SCENE_NOW_MS).toISOString().slice(0, 16);

test('drain status takes the time that is left from the API server', async () => {
  const { cluster, environment, stdout } = await bed(rawSceneNode());
  const request = { nodes: [], selector: undefined, format: 'table', watch: false, ...cluster };
  const follow = () => Promise.resolve(0 as const);
  expect(await runDrainStatus(request, { ...environment, follow })).toBe(0);
  expect(stdout()).toMatch(/^n1 +Draining +reclaim +i-7 +2m +8m /m);
});

test('node disable writes the time of the API server', async () => {
  const { cluster, environment, patched } = await bed(FREE);
  const request = { node: 'n1', why: 'memory', acceptsDowntime: false, format: 'text', ...cluster };
  expect(await runNodeDisable(request, environment)).toBe(0);
  expect(patched()).toContain(SINCE);
});

test('drain NODE writes the time of the API server into the cordon', async () => {
  const { cluster, environment, patched } = await bed(FREE);
  const request = { ...DRAIN_DEFAULTS, nodes: ['n1'], ...cluster };
  expect(await runDrainNodes(request, environment)).toBe(0);
  expect(patched()).toContain(SINCE);
});
