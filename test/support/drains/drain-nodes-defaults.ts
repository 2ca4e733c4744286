/** The request of `tidegate drain` without flags. */
import type { DrainNodesRequest } from '../../../src/cli/drain-node/drain-node-request.ts';

export const DRAIN_DEFAULTS: Omit<DrainNodesRequest, 'nodes'> = {
  selector: undefined,
  podSelector: undefined,
  force: false,
  ignoreDaemonSets: false,
  deleteEmptyDirData: false,
  disableEviction: false,
  gracePeriod: '-1',
  timeout: '0',
  skipWaitSeconds: '0',
  chunkSize: '500',
  dryRun: 'none',
  kubeconfig: undefined,
  context: undefined,
};
