/**
 * `tidegate cluster`: runs an embedded cluster until a signal ends it.
 *
 * Promises: the kubeconfig goes to stdout, or into the requested file; a line on stderr reports
 * when the cluster can be reached.
 */
import { writeFile } from 'node:fs/promises';
import { type ClusterSettings, clusterSettings } from '../effects/cluster-options.ts';
import type { ProcessEnvironment } from '../effects/settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { GivenFlags } from './program.ts';
import { endingSignal } from './signals.ts';
import type { Terminal } from './terminal/terminal.ts';

/** A running cluster. */
export interface RunningCluster {
  readonly kubeconfig: string;
  readonly address: { readonly host: string; readonly port: number };
  readonly stop: () => Promise<void>;
}

/** Starts a cluster. */
export type StartCluster = (settings: ClusterSettings) => Promise<RunningCluster>;

/** A kubeconfig grants full access: only its owner may read it. */
const KUBECONFIG_MODE = 0o600;

const EVERY_ADDRESS: readonly string[] = ['', '0.0.0.0', '::'];

/** Where a client of this machine finds the server. */
const urlOf = (
  { host, port }: RunningCluster['address'],
  { authorization }: ClusterSettings,
): string => {
  const reachable = EVERY_ADDRESS.includes(host) ? '127.0.0.1' : host;
  const scheme = authorization === 'RBAC' ? 'https' : 'http';
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
};

/** Runs the cluster until a signal ends it. */
export const runClusterCommand = async (
  flags: GivenFlags,
  { environment }: Pick<ProcessEnvironment, 'environment'>,
  { terminal, start }: { readonly terminal: Terminal; readonly start: StartCluster },
): Promise<ExitCode> => {
  const settled = clusterSettings(flags, environment);
  if (settled._tag === 'SettingsProblem') {
    terminal.report(settled.message);
    return EXIT.usage;
  }
  const signal = endingSignal();
  const { writeKubeconfig } = settled.settings;
  const { kubeconfig, address, stop } = await start(settled.settings);
  const where = urlOf(address, settled.settings);
  if (writeKubeconfig === undefined) {
    terminal.print(kubeconfig);
    terminal.report(`Cluster listens on ${where}`);
  } else {
    await writeFile(writeKubeconfig, kubeconfig, { mode: KUBECONFIG_MODE });
    terminal.report(
      `Cluster listens on ${where}: kubectl --kubeconfig=${writeKubeconfig} get nodes`,
    );
  }
  await signal;
  await stop();
  return EXIT.ok;
};
