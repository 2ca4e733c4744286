/** kubectl on an embedded cluster that runs in this process. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definitions } from '../../../src/api/definitions.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import {
  type ClusterRunOptions,
  runCluster,
  type RunningCluster,
} from '../../../packages/embedded-kubernetes/src/run.ts';
import { binaries } from '../../../tools/testbed/binaries.ts';
import { type CommandResult, runCommand } from '../../../tools/testbed/commands.ts';

/** kubectl and the cluster it connects to. */
export interface EmbeddedKubectl {
  readonly running: RunningCluster;
  /** Runs it to its end; the last argument may be `{ input }`. */
  readonly run: (args: string, input?: string) => Promise<CommandResult>;
  /** Its stdout; rejects when it fails. */
  readonly must: (args: string, input?: string) => Promise<string>;
  /** Starts it and gives what it has printed so far, until it is stopped. */
  readonly follow: (args: string) => { readonly printed: () => string; readonly stop: () => void };
  readonly stop: () => Promise<void>;
}

const SEED = 11;
const NODES = 3;
/** Pods start, and stop, in tenths of seconds. */
const RATE = 20;

/** Blanks part arguments, except within quotes. */
const argumentsOf = (text: string): readonly string[] =>
  [...text.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ''));

/** Starts a cluster of three nodes, with users if it is asked for. */
export const embeddedKubectl = async (
  options: Pick<ClusterRunOptions, 'authorization' | 'users' | 'clientAuthority'> = {},
): Promise<EmbeddedKubectl> => {
  const { kubectl } = await binaries(() => {});
  const directory = await mkdtemp(join(tmpdir(), 'tidegate-kubectl-'));
  const running = await runCluster({
    time: realTime,
    listen: { host: '127.0.0.1', port: 0 },
    seed: SEED,
    nodes: NODES,
    rate: RATE,
    definitions: definitions(),
    ...options,
  });
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, running.kubeconfig);
  const always = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(directory, 'cache')}`];
  const run: EmbeddedKubectl['run'] = (args, input) =>
    runCommand(kubectl, [...always, ...argumentsOf(args)], input === undefined ? {} : { input });
  return {
    running,
    run,
    must: async (args, input) => {
      const { code, stdout, stderr } = await run(args, input);
      if (code !== 0) throw new Error(`Cannot ${args}: ${stderr}${stdout}`);
      return stdout;
    },
    follow: (args) => {
      const child = spawn(kubectl, [...always, ...argumentsOf(args)], { stdio: 'pipe' });
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
      });
      return { printed: () => printed, stop: () => void child.kill() };
    },
    stop: async () => {
      await running.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
