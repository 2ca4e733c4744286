/** `tidegate drain NODE…` where something is in its way. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { afterEach, describe, expect, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { runDrainNodes } from '../../../src/cli/drain-node/drain-node.ts';
import { NodeDrain } from '../../../src/cli/drain-node/drain-node-progress.ts';
import { filteredNode } from '../../../src/cli/drain-node/drain-node-filtering.ts';
import { drainQuestion } from '../../../src/cli/drain-node/drain-node-request.ts';
import { startNodeDrainWatch } from '../../../src/cli/drain-node/drain-node-watch.ts';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import type { ObservedMaintenance } from '../../../src/domain/node-maintenance/observed-maintenance.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { json, startStubApi, type StubApi } from '../../support/api/stub-api.ts';
import { rawPod } from '../../support/drains/drain-facts.ts';
import { DRAIN_DEFAULTS } from '../../support/drains/drain-nodes-defaults.ts';
import {
  maintenanceOf,
  maintenanceRaw,
  type MaintenanceTraits,
  nodeRaw,
} from '../../support/node-maintenance/maintenance-fixture.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const MAINTENANCES = '/apis/lifecycle.tidegate.dev/v1alpha1/nodemaintenances';
const OWN = `${MAINTENANCES}/drain-n1`;
const RAW_NODE = { metadata: { name: 'n1', uid: 'uid-n1', resourceVersion: '7' } };
const NEW = { name: 'drain-n1', uid: 'new', stage: 'Drain' } as const;

/** An API server that stores every write, and the calls that it got. */
const environmentOf = (time: ReturnType<typeof simulatedTime>) => {
  const calls: string[] = [];
  const api = Layer.succeed(KubeApi, {
    call: ({ method, path }) => {
      calls.push(`${method} ${path}`);
      const body = method === 'POST'
        ? maintenanceRaw('2', NEW)
        : { ...RAW_NODE, metadata: { ...RAW_NODE.metadata, resourceVersion: '9' }, items: [] };
      return Effect.succeed({ status: method === 'POST' ? 201 : 200, body });
    },
    watch: ({ path }) => {
      calls.push(`WATCH ${path}`);
      return Effect.never;
    },
  });
  const runtime = ManagedRuntime.make(Layer.merge(api, clockLayer(time)));
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  return { calls, environment };
};

/** The drain of a node without pods, which finds this maintenance. */
const drainOf = (found: MaintenanceTraits, timeout = '0') => {
  const time = simulatedTime();
  const { calls, environment } = environmentOf(time);
  const question = drainQuestion({ ...DRAIN_DEFAULTS, nodes: ['n1'], timeout });
  const before = projectDrainedNode(RAW_NODE);
  if (typeof question === 'string' || before === undefined) throw new Error('the test is wrong');
  const listed = { objects: [], resourceVersion: '8' };
  const node = filteredNode(
    { _tag: 'Read', node: before, pods: [], listed, goneDaemonSets: new Set() },
    question,
    time.now(),
  );
  const output: string[] = [];
  let current: ObservedMaintenance | undefined = maintenanceOf('1', { ...NEW, ...found });
  const drain = new NodeDrain({
    node,
    question,
    watch: {
      environment,
      maintenance: () => current,
      podsOn: () => [],
      whenReady: Promise.resolve(),
      onChange: () => () => {},
      stop: () => {},
    },
    terminal: {
      print: (text) => void output.push(text),
      report: (line) => void output.push(line),
    },
    time,
  });
  return {
    time,
    calls,
    output,
    run: drain.run,
    become: (maintenance: MaintenanceTraits | undefined) => {
      current = maintenance && maintenanceOf('3', { ...NEW, ...maintenance });
      drain.onChange();
    },
  };
};

describe('the drain of a node', () => {
  test('deletes a completed maintenance of an earlier run, which nobody else does', async () => {
    const { run, become, calls, output } = drainOf({ uid: 'old', stage: 'Complete' });
    const result = run();
    await expect.poll(() => calls).toEqual([`DELETE ${OWN}`]);
    become(undefined);
    await expect.poll(() => calls.at(-1)).toBe(`POST ${MAINTENANCES}`);
    const drainTargets = [{ podType: 'Default', podPriority: 100 }];
    become({ nodes: [nodeRaw('n1', { drainTargets })] });
    await expect.poll(() => calls.at(-1)).toBe(`DELETE ${OWN}`);
    become(undefined);
    expect(await result).toBe(true);
    expect(output.join('')).toContain('node/n1 drained');
  });

  test('ends at its timeout also while that maintenance stays', async () => {
    const { run, time, calls, output } = drainOf({ uid: 'old', stage: 'Complete' }, '10m');
    const result = run();
    await expect.poll(() => calls).toEqual([`DELETE ${OWN}`]);
    await time.advance(15_000);
    expect(output).toEqual([expect.stringContaining('stays until an operator with --roles')]);
    await time.advance(10 * 60_000);
    expect(await result).toBe(false);
    expect(output.at(-1)).toBe(
      'Cannot drain node "n1": NodeMaintenance "drain-n1" of an earlier run is still there after ' +
        '10m0s',
    );
  });

  test('ends when its maintenance is deleted before the node is cordoned', async () => {
    const { run, become, output } = drainOf({});
    const result = run();
    await expect.poll(() => output).toEqual([expect.stringContaining('Going on with')]);
    become(undefined);
    expect(await result).toBe(false);
    expect(output.at(-1)).toContain('was completed or deleted by others');
  });
});

test('the pods of many nodes are followed by one watch', async () => {
  const watched = async (count: number): Promise<readonly string[]> => {
    const { calls, environment } = environmentOf(simulatedTime());
    const nodes = Array.from({ length: count }, (_, index) => ({
      name: `n${index}`,
      listed: { objects: [], resourceVersion: '8' },
    }));
    const watch = startNodeDrainWatch(environment, { nodes, podSelector: undefined });
    await watch.whenReady;
    await expect.poll(() => calls).toContain('WATCH /api/v1/pods');
    watch.stop();
    return calls.filter((call) => call === 'WATCH /api/v1/pods');
  };
  expect(await watched(51)).toHaveLength(1);
  expect(await watched(3)).toHaveLength(3);
});

const apis: StubApi[] = [];

afterEach(async () => {
  for (const api of apis.splice(0)) await api.stop();
});

test('a cluster without the kind NodeMaintenance is refused before anything is done', async () => {
  const api = await startStubApi(({ path }, response) => {
    if (path === MAINTENANCES) return json(response, 404, { kind: 'Status', code: 404 });
    if (path === '/api/v1/nodes/n1') return json(response, 200, RAW_NODE);
    json(response, 200, { metadata: { resourceVersion: '9' }, items: [rawPod()] });
  });
  apis.push(api);
  const reported: string[] = [];
  const code = await runDrainNodes({
    ...DRAIN_DEFAULTS,
    nodes: ['n1'],
    kubeconfig: api.source._tag === 'File' ? api.source.path : undefined,
  }, {
    terminal: {
      ...PLAIN_TERMINAL,
      print: () => {},
      report: (line) => void reported.push(line),
    },
    time: realTime,
  });
  expect(code).toBe(1);
  expect(reported).toEqual([
    expect.stringMatching(/^Cannot list NodeMaintenances: the API server does not serve .*CRD/),
  ]);
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});
