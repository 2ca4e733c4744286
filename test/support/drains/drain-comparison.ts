/** `tidegate drain` and `kubectl drain` on the same cluster, each on an embedded cluster of its own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../../tools/testbed/commands.ts';
import { runDrainNodes } from '../../../src/cli/drain-node/drain-node.ts';
import { listOrEmptyAt, textAt, valueAt } from '../../../src/domain/json.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { startCountingProxy } from '../api/counting-proxy.ts';
import { startMaintenances } from '../node-maintenance/served-maintenances.ts';
import { type CaseCluster, caseCluster, PODS, populate } from './case-cluster.ts';
import type { DrainCase } from './drain-cases.ts';
import { PLAIN_TERMINAL } from '../terminal/plain-terminal.ts';

/** What a drain did. */
export interface DrainRun {
  readonly code: number;
  /** Pods that were there before: those that are gone, and those that are left. */
  readonly gone: readonly string[];
  readonly left: readonly string[];
  /** Replicas of the Deployment that were on the drained nodes before, and are left there. */
  readonly replicasLeft: number;
  /** The same of the DaemonSet. */
  readonly agentsLeft: number;
  /** The drained nodes that are cordoned, of those that were not refused. */
  readonly cordoned: readonly string[];
  /** NodeMaintenances that are left. */
  readonly maintenances: number;
  /** Of the command itself. */
  readonly requests: readonly string[];
  /** Of the operator, which kubectl needs none of. */
  readonly operatorRequests: number;
  readonly ms: number;
  readonly output: string;
}

/** When a drain gives up: one that meets a budget that never opens, or any other. */
const timeoutOf = ({ pods }: DrainCase): string =>
  pods.some(({ guarded }) => guarded) ? '20s' : '120s';

const MAINTENANCES = '/apis/lifecycle.tidegate.dev/v1alpha1/nodemaintenances';

const podsOf = ({ ask }: CaseCluster) =>
  listOrEmptyAt(ask('GET', PODS), 'items').map((pod) => ({
    name: textAt(pod, 'metadata', 'name') ?? '',
    uid: textAt(pod, 'metadata', 'uid') ?? '',
    node: textAt(pod, 'spec', 'nodeName') ?? '',
  }));

/** One run of a command on a fresh cluster. */
const runOn = async (
  asked: DrainCase,
  command: (kubeconfig: string) => Promise<{ readonly code: number; readonly output: string }>,
  withOperator: boolean,
): Promise<DrainRun> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-compared-'));
  const made = await caseCluster(asked);
  const { running, ask } = made;
  const [proxy, operatorProxy] = [
    await startCountingProxy(running.address),
    await startCountingProxy(running.address),
  ];
  const kubeconfigOf = async (url: string, name: string): Promise<string> => {
    const file = join(folder, name);
    const config = running.kubeconfig.replace(/"server": "[^"]*"/u, `"server": "${url}"`);
    await writeFile(file, config);
    return file;
  };
  const operator = withOperator
    ? await startMaintenances(await kubeconfigOf(operatorProxy.url, 'operator'))
    : undefined;
  try {
    await populate(made, asked);
    const before = podsOf(made);
    const operatorBefore = operatorProxy.requests().length;
    const kubeconfig = await kubeconfigOf(proxy.url, 'command');
    const startedMs = realTime.monotonic();
    const { code, output } = await command(kubeconfig);
    const ms = realTime.monotonic() - startedMs;
    const after = new Set(podsOf(made).map(({ uid }) => uid));
    const isFixed = ({ name }: { readonly name: string }): boolean => /^pod-\d+$/u.test(name);
    const names = (isLeft: boolean): readonly string[] =>
      before.filter((pod) => isFixed(pod) && after.has(pod.uid) === isLeft)
        .map(({ name }) => name).toSorted();
    const staying = (prefix: string): number =>
      before.filter(({ name, node, uid }) =>
        name.startsWith(prefix) && asked.drained.includes(node) && after.has(uid)
      ).length;
    return {
      code,
      gone: names(false),
      left: names(true),
      replicasLeft: staying('web-'),
      agentsLeft: staying('agent-'),
      cordoned: asked.drained.filter((node) =>
        valueAt(ask('GET', `/api/v1/nodes/${node}`), 'spec', 'unschedulable') === true
      ),
      maintenances: listOrEmptyAt(ask('GET', MAINTENANCES), 'items').length,
      requests: [...proxy.requests()],
      operatorRequests: operatorProxy.requests().length - operatorBefore,
      ms,
      output,
    };
  } finally {
    await operator?.stop();
    await Promise.all([proxy.stop(), operatorProxy.stop()]);
    await running.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

const flagsOf = (asked: DrainCase): readonly string[] => {
  const { flags, podSelector, gracePeriod } = asked;
  return [
    ...(flags.force ? ['--force'] : []),
    ...(flags.ignoreDaemonSets ? ['--ignore-daemonsets'] : []),
    ...(flags.deleteEmptyDirData ? ['--delete-emptydir-data'] : []),
    ...(podSelector === undefined ? [] : [`--pod-selector=${podSelector}`]),
    ...(gracePeriod === undefined ? [] : [`--grace-period=${gracePeriod}`]),
    `--timeout=${timeoutOf(asked)}`,
  ];
};

/** `kubectl drain` of the case. */
export const drainByKubectl = (asked: DrainCase, kubectl: string): Promise<DrainRun> =>
  runOn(asked, async (kubeconfig) => {
    const always = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${kubeconfig}-cache`];
    const args = [...always, 'drain', ...asked.drained, ...flagsOf(asked)];
    const { code, stdout, stderr } = await runCommand(kubectl, args);
    return { code, output: `${stdout}${stderr}` };
  }, false);

/** `tidegate drain` of the case, in this process. */
export const drainByTidegate = (asked: DrainCase): Promise<DrainRun> =>
  runOn(asked, async (kubeconfig) => {
    let output = '';
    const code = await runDrainNodes({
      nodes: asked.drained,
      selector: undefined,
      podSelector: asked.podSelector,
      disableEviction: false,
      gracePeriod: asked.gracePeriod ?? '-1',
      timeout: timeoutOf(asked),
      skipWaitSeconds: '0',
      chunkSize: '500',
      dryRun: 'none',
      kubeconfig,
      context: undefined,
      ...asked.flags,
    }, {
      time: realTime,
      terminal: {
        print: (text) => void (output += text),
        report: (line) => void (output += `${line}\n`),
        ...PLAIN_TERMINAL,
      },
    });
    return { code, output };
  }, true);

/**
 * What must be the same. Where replicas of a node that is not drained were placed, nobody decided.
 */
export const outcomeOf = ({ gone, left, code, replicasLeft, agentsLeft }: DrainRun) => ({
  gone,
  left,
  code,
  agentsLeft,
  ...(code === 0 ? { replicasLeft } : {}),
});
