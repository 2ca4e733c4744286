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

/** The flag of commands about EvictionRequests. */
export const REQUEST_API_ROW = [
  '`--eviction-request-api auto|tidegate|native`',
  'Which API has the requests, as of the [operator](../native-evictions.md); default `auto`',
] as const;

/** The flag of commands that watch. */
export const WATCH_ROW = [
  '`-w`, `--watch`',
  'Keeps watching: redraws the table on a terminal, prints changes with their time otherwise; ' +
  'Ctrl-C ends it, and so does a pipe without a reader, at the next change',
] as const;
