/** What `tidegate cluster` can be set to, and its settings from flags and environment. */
import {
  defaulted,
  file,
  listen,
  type ListenAddress,
  optional,
  rate,
  whole,
} from './option-kinds.ts';
import { decodeOptions, type Given, settingsProblem, type Settled } from './options.ts';

/** What the variables of the embedded cluster begin with. */
export const CLUSTER_VARIABLES = 'TIDEGATE_CLUSTER';

/** Every option of `tidegate cluster`, by the name of its setting. */
export const CLUSTER_OPTIONS = {
  listen: defaulted(listen, {
    name: 'listen',
    help: 'Where kubectl and the operator connect; port 0 takes a free one',
    default: '127.0.0.1:7780',
  }),
  writeKubeconfig: optional(file, {
    name: 'write-kubeconfig',
    help: 'Where to write the kubeconfig; without it, it is printed',
  }),
  nodes: defaulted(whole(0, 100_000), {
    name: 'nodes',
    help: 'Nodes that are there at the start',
    default: '3',
  }),
  rate: defaulted(rate, {
    name: 'time-rate',
    help: 'How many seconds of the cluster pass in a real one',
    default: '1',
  }),
  seed: defaulted(whole(0, 4_294_967_295), {
    name: 'seed',
    help: 'Decides UIDs, generated names and how long things take',
    default: '1',
  }),
} as const;

/** What `tidegate cluster` runs with. */
export interface ClusterSettings {
  readonly listen: ListenAddress;
  readonly writeKubeconfig: string | undefined;
  readonly nodes: number;
  readonly rate: number;
  readonly seed: number;
}

/** The settings of the embedded cluster from its flags and the environment. */
export const clusterSettings = (
  flags: Given['flags'],
  environment: Given['environment'],
): Settled<ClusterSettings> => {
  const decoded = decodeOptions(CLUSTER_OPTIONS, { flags, environment, prefix: CLUSTER_VARIABLES });
  if (decoded._tag === 'SettingsProblem') return decoded;
  const { listen: address, ...others } = decoded.settings;
  if (address === 'off') {
    return settingsProblem(
      'Cannot use --listen "0": a cluster that nobody can reach does nothing; write HOST:PORT',
    );
  }
  return { _tag: 'Settled', settings: { listen: address, ...others } };
};
