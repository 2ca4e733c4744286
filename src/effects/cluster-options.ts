/** The options of `tidegate cluster`, and its settings from flags and environment. */
import {
  choice,
  defaulted,
  file,
  listen,
  type ListenAddress,
  optional,
  rate,
  whole,
} from './option-kinds.ts';
import { decodeOptions, type Given, settingsProblem, type Settled } from './options.ts';

/** The prefix of the embedded cluster's variables. */
export const CLUSTER_VARIABLES = 'TIDEGATE_CLUSTER';

/** Every option of `tidegate cluster`, by the name of its setting. */
export const CLUSTER_OPTIONS = {
  listen: defaulted(listen, {
    name: 'listen',
    help: 'Address of the API server; port 0 picks a free one, :PORT listens on all addresses',
    default: '127.0.0.1:7780',
  }),
  writeKubeconfig: optional(file, {
    name: 'write-kubeconfig',
    help: 'File for the kubeconfig; printed to stdout without it',
  }),
  nodes: defaulted(whole(0, 100_000), {
    name: 'nodes',
    help: 'Number of nodes at the start',
    default: '3',
  }),
  rate: defaulted(rate, {
    name: 'time-rate',
    help: 'Simulated seconds per real second',
    default: '1',
  }),
  seed: defaulted(whole(0, 4_294_967_295), {
    name: 'seed',
    help: 'Seed of UIDs, generated names and durations',
    default: '1',
  }),
  authorization: defaulted(choice(['AlwaysAllow', 'RBAC']), {
    name: 'authorization',
    help: 'Who may do what: everyone everything, or users what roles grant, over HTTPS',
    default: 'AlwaysAllow',
  }),
  tokenAuthFile: optional(file, {
    name: 'token-auth-file',
    help: 'File of users with tokens, a line each: token,user,uid,"group1,group2"',
  }),
  clientCaFile: optional(file, {
    name: 'client-ca-file',
    help: 'Authorities whose client certificates name a user (CN) and groups (O)',
  }),
} as const;

/** The settings of `tidegate cluster`. */
export interface ClusterSettings {
  readonly listen: ListenAddress;
  readonly writeKubeconfig: string | undefined;
  readonly nodes: number;
  readonly rate: number;
  readonly seed: number;
  readonly authorization: 'AlwaysAllow' | 'RBAC';
  readonly tokenAuthFile: string | undefined;
  readonly clientCaFile: string | undefined;
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
      'Cannot use --listen "0": the cluster would be unreachable; write HOST:PORT',
    );
  }
  const { authorization, clientCaFile } = others;
  if (clientCaFile !== undefined && authorization !== 'RBAC') {
    return settingsProblem(
      'Cannot use --client-ca-file: without users the cluster is served over plain HTTP; add ' +
        '--authorization=RBAC',
    );
  }
  return { _tag: 'Settled', settings: { listen: address, ...others } };
};
