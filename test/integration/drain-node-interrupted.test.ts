/** `tidegate drain NODE` that is interrupted: the operator goes on, and a second run takes over. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import { type CaseCluster, caseCluster, PODS, populate } from '../support/drains/case-cluster.ts';
import type { DrainCase } from '../support/drains/drain-cases.ts';
import { eventually } from '../support/eventually.ts';
import { startMaintenances } from '../support/node-maintenance/served-maintenances.ts';
import { tidegateCommand } from '../support/processes/program.ts';

const MAINTENANCES = '/apis/lifecycle.tidegate.dev/v1alpha1/nodemaintenances';
const GUARD = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/guarded';

const pod = (name: string, guarded: boolean): DrainCase['pods'][number] => ({
  name,
  node: 'node-1',
  kind: 'Controlled',
  losesData: false,
  finished: false,
  guarded,
  priority: 0,
});

const ASKED: DrainCase = {
  seed: 1,
  nodes: ['node-1', 'node-2'],
  pods: [pod('pod-0', false), pod('pod-1', true)],
  hasDaemonSet: false,
  replicas: 0,
  drained: ['node-1'],
  flags: { force: false, ignoreDaemonSets: false, deleteEmptyDirData: false },
};

const site = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-interrupted-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const cluster = await caseCluster(ASKED);
  onTestFinished(() => cluster.running.stop());
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, cluster.running.kubeconfig);
  const operator = await startMaintenances(kubeconfig);
  onTestFinished(() => operator.stop());
  await populate(cluster, ASKED);
  return { cluster, kubeconfig };
};

/** The command as a process of its own. */
const drained = (kubeconfig: string, ...flags: readonly string[]) => {
  const { file, args } = tidegateCommand();
  const child = spawn(file, [...args, 'drain', 'node-1', `--kubeconfig=${kubeconfig}`, ...flags]);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  const code = new Promise<number | null>((resolve) => child.on('close', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  const untilPrinted = (text: string) =>
    eventually(() => {
      if (`${output.stdout}${output.stderr}`.includes(text)) return true;
      throw new Error(JSON.stringify(output));
    }, { what: `that the command says "${text}"` });
  return { child, output, code, untilPrinted };
};

const stateOf = ({ ask }: CaseCluster) => ({
  maintenances: listOrEmptyAt(ask('GET', MAINTENANCES), 'items')
    .map((one) => textAt(one, 'metadata', 'name')),
  pods: listOrEmptyAt(ask('GET', PODS), 'items').map((one) => textAt(one, 'metadata', 'name')),
  isCordoned: valueAt(ask('GET', '/api/v1/nodes/node-1'), 'spec', 'unschedulable') === true,
});

test('Ctrl-C leaves the drain to the operator, and a second run ends it', {
  timeout: 300_000,
}, async () => {
  const { cluster, kubeconfig } = await site();
  const first = drained(kubeconfig);
  await first.untilPrinted('pod/pod-0 evicted');
  first.child.kill('SIGINT');
  expect(await first.code).toBe(1);
  expect(first.output.stderr).toContain(
    'Stopped waiting for node "node-1" (default/pod-1 left): NodeMaintenance "drain-node-1" stays',
  );
  expect(stateOf(cluster)).toEqual({
    maintenances: ['drain-node-1'],
    pods: ['pod-1'],
    isCordoned: true,
  });

  const other = drained(kubeconfig, '--pod-selector=role=web');
  expect(await other.code).toBe(1);
  expect(other.output.stderr).toContain(
    'NodeMaintenance "drain-node-1" of an earlier run has another --pod-selector or --grace-period',
  );
  expect(stateOf(cluster).maintenances).toEqual(['drain-node-1']);

  const second = drained(kubeconfig);
  await second.untilPrinted('Going on with NodeMaintenance "drain-node-1"');
  cluster.ask('PATCH', GUARD, { spec: { minAvailable: 0 } });
  expect(await second.code, JSON.stringify(second.output)).toBe(0);
  expect(second.output.stdout).toBe(
    'node/node-1 already cordoned\nevicting pod default/pod-1\npod/pod-1 evicted\n' +
      'node/node-1 drained\n',
  );
  await expect.poll(() => stateOf(cluster))
    .toEqual({ maintenances: [], pods: [], isCordoned: true });
  expect(valueAt(cluster.ask('GET', '/api/v1/nodes/node-1'), 'metadata', 'annotations')).toEqual({
    'cordon.tidegate.dev/person': expect.stringContaining('"v":1'),
  });
});
