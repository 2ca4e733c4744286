/** Tables of the flags of commands that have no table of options, for docs/reference/cli.md. */
import { table } from './pages.ts';

/** Flags of one command. */
export const flagTable = (rows: readonly (readonly [flag: string, meaning: string])[]) =>
  table(['Flag', 'Meaning'], rows);

/** The flags that select the cluster. */
export const CLUSTER_ROWS = [
  ['`--kubeconfig FILE`', 'Kubeconfig; without it `$KUBECONFIG`, `~/.kube/config` or the pod'],
  ['`--context NAME`', 'Context of the kubeconfig'],
] as const;
