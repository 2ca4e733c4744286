/** `tidegate operator` as a child process on a test bed, with its metrics and probes. */
import type { TestbedUser } from '../../../tools/testbed/credentials.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { roleBy, type RoleProcess } from './role-child.ts';
import type { Runtime, StartTidegate } from './tidegate-child.ts';

export interface OperatorOptions {
  readonly bed: Testbed;
  /** `host:port` of the fleet. */
  readonly shardAddress: string;
  readonly clusterId?: string;
  /** The user for API requests. */
  readonly user?: TestbedUser;
  readonly runtime?: Runtime;
  readonly isSource?: boolean;
  /** Further flags, by name without dashes. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A running operator. */
export type OperatorProcess = RoleProcess;

/** Starts it by `start`. */
export const operatorBy = (
  start: StartTidegate,
  options: OperatorOptions,
): Promise<OperatorProcess> => {
  const user = options.user ?? 'tidegate';
  return roleBy(start, {
    role: 'operator',
    name: `operator as ${user}`,
    flags: {
      'cluster-id': options.clusterId ?? 'test',
      'shard-addr': options.shardAddress,
      'kubeconfig': options.bed.kubeconfigFor(user),
      'rollup-interval': '1s',
      'log-level': 'debug',
      ...(options.flags?.['tls-cert'] === undefined ? { 'insecure-plaintext': 'true' } : {}),
      ...options.flags,
    },
    ...(options.isSource === undefined ? {} : { isSource: options.isSource }),
    ...(options.runtime === undefined ? {} : { runtime: options.runtime }),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
};
