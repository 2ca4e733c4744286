/** Commands whose output has no reader any more (`| head -1`), over a scripted API server. */
import { afterEach, expect, test } from 'vitest';
import { followDrains } from '../../../src/cli/drain/drain-following.ts';
import { runDrainStatus } from '../../../src/cli/drain/drain-status.ts';
import { runEvict } from '../../../src/cli/evictions/evict.ts';
import { runEvictions } from '../../../src/cli/evictions/evictions.ts';
import { changePrinter } from '../../../src/cli/maintenance/maintenance-printer.ts';
import { runMaintenanceShow } from '../../../src/cli/maintenance/maintenance-show.ts';
import { waitForMaintenance } from '../../../src/cli/maintenance/maintenance-wait.ts';
import type { Terminal } from '../../../src/cli/terminal/terminal.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import {
  event,
  type Handle,
  json,
  startStubApi,
  type StubApi,
} from '../../support/api/stub-api.ts';
import { rawSceneNode } from '../../support/drains/drain-scene.ts';
import {
  DRAIN,
  rawPod,
  rawRequest,
  statusWith,
} from '../../support/eviction-requests/request-fixture.ts';
import {
  conditionRaw,
  maintenanceOf,
  maintenanceRaw,
} from '../../support/node-maintenance/maintenance-fixture.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';

const apis: StubApi[] = [];

afterEach(async () => {
  for (const api of apis.splice(0)) await api.stop();
});

/** A command that goes on without its reader never ends. */
const PATIENCE_MS = 120_000;

const LIFECYCLE = '/apis/lifecycle.tidegate.dev/v1alpha1';
const KERNEL = { stage: 'Drain', started: ['Cordon', 'Drain'] } as const;
const DRAINED = conditionRaw('Drained', 'True', ['Drained', 'All pods have left']);

/** The only object of each collection; of a collection that changes, also what it becomes. */
const COLLECTIONS: readonly {
  readonly path: RegExp;
  readonly object: object;
  readonly changed?: object;
}[] = [
  { path: /\/nodes$/, object: rawSceneNode() },
  {
    path: /\/evictionrequests$/,
    object: rawRequest(),
    changed: rawRequest({
      metadata: { resourceVersion: '11' },
      status: statusWith({ active: null, conditions: [{ type: 'Evicted', status: 'True' }] }),
    }),
  },
  {
    path: /\/nodemaintenances$/,
    object: maintenanceRaw('10', KERNEL),
    changed: maintenanceRaw('11', { ...KERNEL, conditions: [DRAINED] }),
  },
];

/** A cluster whose objects change, when they do, once they are watched. */
const serving = ({ isChanging }: { readonly isChanging: boolean }): Handle =>
(
  { path, method, query },
  response,
) => {
  const { object, changed } = COLLECTIONS.find((one) => one.path.test(path)) ?? {};
  if (query.has('watch')) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (isChanging && changed !== undefined) event(response, 'MODIFIED', changed);
    return;
  }
  if (method === 'PATCH') return json(response, 201, rawRequest());
  if (path.endsWith('/pods/p-1')) return json(response, 200, rawPod());
  if (path === LIFECYCLE) return json(response, 200, { resources: [{ name: 'evictionrequests' }] });
  if (path.startsWith(`${LIFECYCLE}/namespaces/blueberry/evictionrequests/`)) {
    return json(response, 404, { kind: 'Status', details: { name: 'p-1' } });
  }
  json(response, 200, {
    metadata: { resourceVersion: '10' },
    items: object === undefined ? [] : [object],
  });
};

const clusterOf = async (traits: { readonly isChanging: boolean }) => {
  const api = await startStubApi(serving(traits));
  apis.push(api);
  return {
    kubeconfig: api.source._tag === 'File' ? api.source.path : undefined,
    context: undefined,
  };
};

/** The reader takes the first text and leaves. */
const readOnce = (): { readonly printed: string[]; readonly terminal: Terminal } => {
  const { promise: readerGone, resolve: leave } = Promise.withResolvers<void>();
  const printed: string[] = [];
  return {
    printed,
    terminal: {
      ...PLAIN_TERMINAL,
      print: (text) => {
        printed.push(text);
        leave();
      },
      report: () => {},
      readerGone,
    },
  };
};

type Cluster = Awaited<ReturnType<typeof clusterOf>>;
type Run = (cluster: Cluster, terminal: Terminal) => Promise<number>;

const WATCHES: Readonly<Record<string, Run>> = {
  'drain status': (cluster, terminal) =>
    runDrainStatus(
      { nodes: [], selector: undefined, format: 'name', watch: true, ...cluster },
      { terminal, time: realTime, follow: followDrains },
    ),
  evictions: (cluster, terminal) =>
    runEvictions({
      namespace: undefined,
      allNamespaces: true,
      selector: undefined,
      format: 'name',
      watch: true,
      api: 'auto',
      ...cluster,
    }, { terminal, time: realTime }),
  'maintenance list': (cluster, terminal) =>
    runMaintenanceShow(
      { name: undefined, format: 'name', watch: true, ...cluster },
      { terminal, time: realTime },
    ),
};

test.each(Object.entries(WATCHES))(
  '%s --watch ends with exit code 0 once its output has no reader',
  async (_, run) => {
    const { printed, terminal } = readOnce();
    expect(await run(await clusterOf({ isChanging: false }), terminal)).toBe(0);
    expect(printed).toHaveLength(1);
  },
  PATIENCE_MS,
);

const WAITS: Readonly<Record<string, Run>> = {
  'evict --wait': (cluster, terminal) =>
    runEvict({
      pod: 'blueberry/p-1',
      namespace: undefined,
      requester: DRAIN,
      wait: true,
      timeout: undefined,
      cancel: false,
      format: 'json',
      api: 'auto',
      ...cluster,
    }, { terminal, time: realTime }),
  'maintenance drain --wait': (cluster, terminal) =>
    waitForMaintenance({
      cluster,
      maintenance: maintenanceOf('10', KERNEL),
      timeoutMs: undefined,
      print: changePrinter(terminal, { format: 'json', isTrial: false }),
    }, { terminal, time: realTime }),
};

test.each(Object.entries(WAITS))(
  '%s waits for its end, and has its exit code, also when its output has no reader',
  async (_, run) => {
    const { printed, terminal } = readOnce();
    expect(await run(await clusterOf({ isChanging: true }), terminal)).toBe(0);
    expect(printed.length).toBeGreaterThan(1);
  },
  PATIENCE_MS,
);
