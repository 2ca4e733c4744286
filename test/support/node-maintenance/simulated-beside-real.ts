/**
 * A maintenance as `maintenance plan --simulate` foresees it, and as it then goes on a real API
 * server with its controllers, scheduler and kwok's kubelets.
 *
 * Promises: the simulation runs before the maintenance exists, from what its own user lists.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runMaintenancePlan } from '../../../src/cli/maintenance/maintenance-plan.ts';
import { isConditionTrue } from '../../../src/domain/condition.ts';
import {
  type JsonRecord,
  listOrEmptyAt,
  parseJson,
  recordAt,
  textAt,
} from '../../../src/domain/json.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { NODE_MAINTENANCES_PATH } from '../../../src/effects/node-maintenance.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { type ClusterClient, COLLECTIONS, nameOf } from '../api/cluster-connection.ts';
import { untilPodsReady } from '../drains/drain-site.ts';
import { DRAIN_COLLECTIONS } from '../drains/workloads.ts';
import { eventually } from '../eventually.ts';
import type { RoleProcess } from '../processes/role-child.ts';
import { POD_SECONDS, type RandomCluster } from './random-cluster.ts';
import { PLAIN_TERMINAL } from '../terminal/plain-terminal.ts';

/** How a maintenance went. */
export interface MaintenanceOutcome {
  readonly drained: boolean;
  /** Nodes as they were admitted. */
  readonly order: readonly string[];
  /** Reasons with their messages, sorted. */
  readonly blockers: readonly string[];
  /** Until it was drained; else until nothing moved any more. */
  readonly seconds: number;
}

/** Both outcomes. */
export interface Comparison {
  readonly simulated: MaintenanceOutcome;
  readonly real: MaintenanceOutcome;
}

/** The user of the preview, whom the audit tells from the operator. */
export const PREVIEWER = 'tidegate-a';

const PATIENT_MS = 300_000;
/** Some retries of a blocked eviction. */
const STILL_MS = 30_000;

/** The answer of the command as JSON. */
const planned = async (bed: Testbed, source: string, simulate: boolean): Promise<unknown> => {
  let text = '';
  const code = await runMaintenancePlan({
    source,
    format: 'json',
    simulate,
    podStartup: `${POD_SECONDS}s`,
    podShutdown: `${POD_SECONDS}s`,
    nodeWork: '0s',
    kubeconfig: bed.kubeconfigFor(PREVIEWER),
    context: undefined,
  }, {
    terminal: {
      print: (printed) => void (text += printed),
      report: (line) => void (text += `${line}\n`),
      ...PLAIN_TERMINAL,
    },
    time: realTime,
    progress: { show: () => {}, clear: () => {} },
  });
  const answer = parseJson(text);
  if (answer === undefined) throw new Error(`The preview ended with ${code}: ${text}`);
  return answer;
};

const blockersIn = (view: unknown): readonly string[] =>
  listOrEmptyAt(view, 'blockers')
    .map((one) => `${textAt(one, 'reason')}: ${textAt(one, 'message')}`).toSorted();

const simulatedOutcome = async (bed: Testbed, maintenance: object): Promise<MaintenanceOutcome> => {
  const folder = await mkdtemp(join(tmpdir(), 'maintenance-'));
  const file = join(folder, 'maintenance.json');
  await writeFile(file, JSON.stringify(maintenance));
  const simulation = recordAt(await planned(bed, file, true), 'simulation');
  await rm(folder, { recursive: true });
  return {
    drained: simulation?.['drained'] === true,
    order: listOrEmptyAt(simulation, 'nodes').map((node) => textAt(node, 'node') ?? ''),
    blockers: blockersIn(simulation),
    seconds: Number(simulation?.['seconds']),
  };
};

const isDrained = (maintenance: unknown): boolean => isConditionTrue(maintenance, 'Drained');

const admittedIn = (maintenance: unknown): readonly string[] =>
  listOrEmptyAt(maintenance, 'status', 'nodeStatuses')
    .filter((node) => textAt(node, 'state') !== 'Waiting')
    .map((node) => textAt(node, 'nodeRef', 'name') ?? '');

/** Runs it to its end, or until no pod has changed for long. */
const realOutcome = async (
  { bed, cluster }: { readonly bed: Testbed; readonly cluster: ClusterClient },
  maintenance: object,
): Promise<MaintenanceOutcome> => {
  const name = nameOf(maintenance);
  const path = `${NODE_MAINTENANCES_PATH}/${name}`;
  const [pods, maintenances] = [
    await cluster.history(DRAIN_COLLECTIONS.pods),
    await cluster.history(NODE_MAINTENANCES_PATH),
  ];
  const written = recordAt(maintenance, 'spec');
  const beganMs = realTime.monotonic();
  await cluster.create(NODE_MAINTENANCES_PATH, [
    { ...maintenance, spec: { ...written, stage: 'Drain' } },
  ]);
  let [changes, movedMs] = [0, beganMs];
  await eventually(() => {
    const nowMs = realTime.monotonic();
    const all = pods.changes().length + maintenances.changes().length;
    if (all > changes) [changes, movedMs] = [all, nowMs];
    return maintenances.of(name).some(isDrained) || nowMs - movedMs > STILL_MS;
  }, { what: 'the maintenance to end or to stand still', everyMs: 50, timeoutMs: PATIENT_MS });
  const drained = maintenances.of(name).some(isDrained);
  const endMs = drained ? realTime.monotonic() : movedMs;
  const blockers = drained ? [] : blockersIn(await planned(bed, name, false));
  await cluster.call('DELETE', path);
  await eventually(
    async () => (await cluster.call('GET', path)).status === 404,
    { what: 'the maintenance to be gone' },
  );
  return {
    drained,
    order: [...new Set(maintenances.of(name).flatMap(admittedIn))],
    blockers,
    seconds: (endMs - beganMs) / 1000,
  };
};

/** Takes away what a cluster consists of. */
const clear = async (cluster: ClusterClient): Promise<void> => {
  const { deployments, budgets, pods } = DRAIN_COLLECTIONS;
  for (const collection of [budgets, deployments]) await cluster.clear(collection);
  await eventually(async () => {
    await cluster.call('DELETE', pods, { gracePeriodSeconds: 0 });
    return (await cluster.list(pods)).length === 0;
  }, { what: 'every pod to go', timeoutMs: PATIENT_MS });
  await cluster.clear(COLLECTIONS.nodes);
};

/** Resolves when the caches of the operator hold as many objects as the cluster has. */
const untilCached = async (
  operator: Pick<RoleProcess, 'metric'>,
  cluster: ClusterClient,
): Promise<void> => {
  const { pods, budgets } = DRAIN_COLLECTIONS;
  const cached = { nodes: COLLECTIONS.nodes, pods, poddisruptionbudgets: budgets };
  for (const [resource, path] of Object.entries(cached)) {
    const { length } = await cluster.list(path);
    await eventually(
      async () => await operator.metric('tidegate_watch_objects', { resource }) === length,
      { what: `${length} ${resource} in the cache of the operator` },
    );
  }
};

const isBudgetCounted = (budget: JsonRecord): boolean =>
  Number(recordAt(budget, 'status')?.['currentHealthy'] ?? 0) > 0;

/** A test bed, and an operator with the role `maintenance` on it. */
export interface MaintainedSite {
  readonly bed: Testbed;
  readonly cluster: ClusterClient;
  readonly operator: Pick<RoleProcess, 'metric'>;
}

/** Makes the cluster, simulates its maintenance, and runs it. */
export const compareMaintenance = async (
  site: MaintainedSite,
  { nodes, deployments, budgets, pods, maintenance }: RandomCluster,
): Promise<Comparison> => {
  const { bed, cluster, operator } = site;
  await clear(cluster);
  await cluster.create(COLLECTIONS.nodes, nodes);
  await cluster.create(DRAIN_COLLECTIONS.deployments, deployments);
  await untilPodsReady(cluster, pods);
  await cluster.create(DRAIN_COLLECTIONS.budgets, budgets);
  await eventually(
    async () => (await cluster.list(DRAIN_COLLECTIONS.budgets)).every(isBudgetCounted),
    { what: 'the budgets to be counted' },
  );
  await untilCached(operator, cluster);
  const simulated = await simulatedOutcome(bed, maintenance);
  const real = await realOutcome(site, maintenance);
  await clear(cluster);
  return { simulated, real };
};
