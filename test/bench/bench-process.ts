/** Processes of benches: how they reach an API server, what they take, and their end. */
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { IMAGE_NODE_OPTION } from '../../tools/package/image-files.ts';

/** A kubeconfig for a bench's own API server. */
export const kubeconfig = (port: number): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bench',
    clusters: [{ name: 'bench', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'bench', user: { token: 'bench' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
  });

/** Current and peak resident memory in bytes; Linux only. */
export const memoryOf = async (
  pid: number,
): Promise<{ readonly now: number; readonly peak: number }> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { now: kibibytes('VmRSS'), peak: kibibytes('VmHWM') };
};

const TICKS_PER_SECOND = 100;

/** Processor time of a process so far, in milliseconds; on a busy machine fairer than the clock. */
export const processorMs = async (pid: number): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // Behind the name, which may hold spaces: user and system time are fields 14 and 15 of the whole.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND * 1000;
};

/** Ends a process at once, unless it has ended. */
export const endChild = (child: ChildProcess): void => {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    process.kill(child.pid, 'SIGKILL');
  }
};

/** How Node is started. */
export interface NodeSettings {
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** As Node does it. */
export const ITS_OWN: NodeSettings = { options: [], env: {} };

/** How the chart and the image start Node in a pod with this memory limit. */
export const podNode = (limitMebibytes: number): NodeSettings => ({
  options: [
    IMAGE_NODE_OPTION,
    `--max-old-space-size=${Math.floor(limitMebibytes * 3 / 4)}`,
    `--max-semi-space-size=${limitMebibytes <= 512 ? 1 : Math.min(16, limitMebibytes / 256)}`,
  ],
  env: { MALLOC_ARENA_MAX: '1' },
});
