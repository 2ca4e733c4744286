/**
 * The process: parses the command line, runs the command, and exits with its code. Runs unchanged
 * on Node and Deno.
 *
 * Roles are imported on demand, so that help and `explain` start fast.
 */
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import type { LogFields } from './api/telemetry.ts';
import { EXIT } from './cli/exit-codes.ts';
import { failureSentence } from './cli/failures.ts';
import type { StartCluster } from './cli/cluster.ts';
import type { StartFleet } from './cli/fleet.ts';
import { loadEmbeddedKubernetes, loadStandInFleet } from './cli/on-demand-packages.ts';
import type { StartOperator } from './cli/operator/operator.ts';
import { type Roles, runProgram } from './cli/program.ts';
import { processTerminal } from './cli/terminal/terminal.ts';
import { PackageMissing } from './domain/package-missing.ts';
import { realTime } from './effects/real-time.ts';
import { readProcessEnvironment } from './effects/settings.ts';

const processEnvironment = readProcessEnvironment();
const terminal = processTerminal(processEnvironment.environment);

/** Values of a log line are scalars; nested ones are written as JSON. */
const logFields = (fields: Readonly<Record<string, unknown>>): LogFields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string'
        ? value
        : JSON.stringify(value),
    ]),
  );

const startFleet: StartFleet = async (settings) => {
  const { runFleet } = await loadStandInFleet('fleet');
  const { makeLogs } = await import('./observability/logs.ts');
  const { bindingsFile, kubeconfig, scriptListen, tls } = settings;
  const logs = makeLogs({ level: 'info', time: realTime, target: 1, base: { role: 'fleet' } });
  return await runFleet({
    time: realTime,
    listen: settings.listen,
    seedMachines: settings.seedMachines,
    timing: settings.timing,
    guarded: settings.emptyRollupGuard,
    log: (message, fields) => logs.log('info', message, logFields(fields)),
    ...(scriptListen === undefined ? {} : { scriptListen }),
    ...(bindingsFile === undefined ? {} : { bindingsFile }),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(tls === undefined ? {} : { tls: { cert: tls.certFile, key: tls.keyFile, ca: tls.caFile } }),
  });
};

const startCluster: StartCluster = async (settings) => {
  const { runCluster, tokenUsersIn } = await loadEmbeddedKubernetes('cluster');
  const { definitions } = await import('./api/definitions.ts');
  const { tokenAuthFile, clientCaFile, ...others } = settings;
  const users = tokenAuthFile === undefined
    ? {}
    : { users: tokenUsersIn(await readFile(tokenAuthFile, 'utf8')) };
  const authority = clientCaFile === undefined
    ? {}
    : { clientAuthority: await readFile(clientCaFile, 'utf8') };
  const time = realTime;
  return await runCluster({ time, ...others, ...users, ...authority, definitions: definitions() });
};

/** The operator's modules are loaded only after its settings are valid. */
const startOperator: StartOperator = async (settings) => {
  const { startOperatorProcess } = await import('./cli/operator/operator-process.ts');
  return await startOperatorProcess(settings);
};

/** The lifecycles of the operator. */
const drawnMachines = async () => (await import('./machines/index.ts')).MACHINES;

const roles: Roles = {
  operator: async (flags) => {
    const { runOperator } = await import('./cli/operator/operator.ts');
    return await runOperator(flags, processEnvironment, { terminal, start: startOperator });
  },
  pods: async (flags) => {
    const { runPods } = await import('./cli/operator/pods.ts');
    return await runPods(flags, processEnvironment, { terminal, start: startOperator });
  },
  fleet: async (flags) => {
    const { runFleetCommand } = await import('./cli/fleet.ts');
    return await runFleetCommand(flags, processEnvironment, { terminal, start: startFleet });
  },
  cluster: async (flags) => {
    const { runClusterCommand } = await import('./cli/cluster.ts');
    return await runClusterCommand(flags, processEnvironment, { terminal, start: startCluster });
  },
  explain: async (request) => {
    const { runExplain } = await import('./cli/explain/explain.ts');
    return await runExplain(request, terminal, realTime);
  },
  doctor: async (flags) => {
    const { runDoctor } = await import('./cli/doctor/doctor.ts');
    return await runDoctor(flags, processEnvironment, { terminal, time: realTime });
  },
  tree: async (request) => {
    const { runTree } = await import('./cli/explain/tree.ts');
    return await runTree(request, terminal, realTime);
  },
  drainNodes: async (request) => {
    const { runDrainNodes } = await import('./cli/drain-node/drain-node.ts');
    return await runDrainNodes(request, { terminal, time: realTime });
  },
  drainStatus: async (request) => {
    const { runDrainStatus } = await import('./cli/drain/drain-status.ts');
    return await runDrainStatus(request, {
      terminal,
      time: realTime,
      follow: async (following) => {
        const { followDrains } = await import('./cli/drain/drain-following.ts');
        return await followDrains(following);
      },
    });
  },
  drainPlan: async (request) => {
    const { runDrainPlan } = await import('./cli/drain/drain-plan.ts');
    return await runDrainPlan(request, terminal, realTime);
  },
  drainAcknowledge: async (request) => {
    const { runDrainAcknowledge } = await import('./cli/drain/drain-acknowledge.ts');
    return await runDrainAcknowledge(request, { terminal });
  },
  maintenancePlan: async (request) => {
    const { runMaintenancePlan } = await import('./cli/maintenance/maintenance-plan.ts');
    const { progressLine } = await import('./cli/terminal/progress-line.ts');
    const progress = progressLine(realTime);
    return await runMaintenancePlan(request, { terminal, time: realTime, progress });
  },
  evict: async (request) => {
    const { runEvict } = await import('./cli/evictions/evict.ts');
    return await runEvict(request, { terminal, time: realTime });
  },
  evictions: async (request) => {
    const { runEvictions } = await import('./cli/evictions/evictions.ts');
    return await runEvictions(request, { terminal, time: realTime });
  },
  maintenanceShow: async (request) => {
    const { runMaintenanceShow } = await import('./cli/maintenance/maintenance-show.ts');
    return await runMaintenanceShow(request, { terminal, time: realTime });
  },
  maintenanceStart: async (request) => {
    const { runMaintenanceStart } = await import('./cli/maintenance/maintenance-change.ts');
    return await runMaintenanceStart(request, { terminal, time: realTime });
  },
  maintenanceMove: async (request) => {
    const { runMaintenanceMove } = await import('./cli/maintenance/maintenance-change.ts');
    return await runMaintenanceMove(request, { terminal, time: realTime });
  },
  nodeStatus: async (request) => {
    const { runNodeStatus } = await import('./cli/node/node-status.ts');
    return await runNodeStatus(request, { terminal, nowMs: realTime.now() });
  },
  nodeDisable: async (request) => {
    const { runNodeDisable } = await import('./cli/node/node-change.ts');
    return await runNodeDisable(request, { terminal, time: realTime });
  },
  nodeEnable: async (request) => {
    const { runNodeEnable } = await import('./cli/node/node-change.ts');
    return await runNodeEnable(request, { terminal });
  },
  nodeConfirmGone: async (request) => {
    const { runNodeConfirmGone } = await import('./cli/node/node-change.ts');
    return await runNodeConfirmGone(request, { terminal, time: realTime });
  },
  chartsExport: async (request) => {
    const { runChartsExport } = await import('./cli/charts/charts.ts');
    return await runChartsExport(request, await drawnMachines(), terminal);
  },
  demo: async (request) => {
    const { runDemo } = await import('./cli/demo/demo.ts');
    const { startDemoSite } = await import('./demo.ts');
    return await runDemo(request, startDemoSite, { terminal, time: realTime });
  },
  replay: async (request) => {
    const { runReplay } = await import('./cli/replay/replay.ts');
    return await runReplay(request, terminal, realTime);
  },
  chartsDiff: async (request) => {
    const { runChartsDiff } = await import('./cli/charts/charts.ts');
    return await runChartsDiff(request, await drawnMachines(), terminal);
  },
};

try {
  process.exit(await runProgram(process.argv.slice(2), roles, terminal));
} catch (error) {
  terminal.report(failureSentence(error));
  process.exit(error instanceof PackageMissing ? EXIT.usage : EXIT.failure);
}
