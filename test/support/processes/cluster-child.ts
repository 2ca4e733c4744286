/** `tidegate cluster` as a child process: an embedded cluster with one node. */
import { readFile } from 'node:fs/promises';
import { listOrEmptyAt, parseJson, textAt } from '../../../src/domain/json.ts';
import type { StartTidegate } from './tidegate-child.ts';

/** Starts it; returns when it listens. The kubeconfig is written to the file. */
export const startClusterBy = async (start: StartTidegate, kubeconfig: string) => {
  const child = start({
    name: 'cluster',
    args: ['cluster', '--listen=127.0.0.1:0', '--nodes=1', `--write-kubeconfig=${kubeconfig}`],
  });
  await child.untilLog(({ msg }) => `${msg}`.startsWith('Cluster listens on'), {
    what: 'that it listens',
  });
  const [cluster] = listOrEmptyAt(parseJson(await readFile(kubeconfig, 'utf8')), 'clusters');
  return { child, kubeconfig, server: textAt(cluster, 'cluster', 'server') ?? '' };
};
