/**
 * `tidegate operator` as a child process on a test bed, with its metrics and probes.
 *
 * Promises: it has the token of an account with the rights that the chart gives to its roles, and
 * no others; what it is refused fails a suite (`../rights/used-rights.ts`).
 */
import { type RoleName, rolesIn } from '../../../src/domain/operator-roles.ts';
import type { TestbedUser } from '../../../tools/testbed/credentials.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { roleKubeconfig } from '../rights/role-account.ts';
import { roleBy, type RoleProcess } from './role-child.ts';
import type { Runtime, StartTidegate } from './tidegate-child.ts';

export interface OperatorOptions {
  readonly bed: Testbed;
  /** `host:port` of the fleet. */
  readonly shardAddress: string;
  readonly clusterId?: string;
  /** The user for API requests, by whom the audit log tells operators apart. */
  readonly user?: TestbedUser;
  /** Why it must be the administrator, instead of an account with the rights of its roles. */
  readonly asAdministrator?: string;
  readonly runtime?: Runtime;
  readonly isSource?: boolean;
  /** Further flags, by name without dashes. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A running operator. */
export type OperatorProcess = RoleProcess;

const rolesOf = ({ flags = {} }: OperatorOptions): readonly RoleName[] => {
  const reading = rolesIn(flags['roles'] ?? 'fleet');
  // Without any it does not start, which is what a test wants to see then.
  const roles = reading._tag === 'Roles' ? reading.roles : [];
  return flags['with-pods'] === 'true' ? [...new Set([...roles, 'pods' as const])] : roles;
};

const kubeconfigOf = async (options: OperatorOptions): Promise<string> => {
  const { bed, user = 'tidegate', asAdministrator, flags = {} } = options;
  if (flags['kubeconfig'] !== undefined) return flags['kubeconfig'];
  if (asAdministrator !== undefined) return bed.kubeconfigFor(user);
  const leaseNamespace = flags['lease-namespace'];
  return await roleKubeconfig(bed, { user, roles: rolesOf(options), leaseNamespace });
};

/** Starts it by `start`. */
export const operatorBy = async (
  start: StartTidegate,
  options: OperatorOptions,
): Promise<OperatorProcess> => {
  const user = options.user ?? 'tidegate';
  return await roleBy(start, {
    role: 'operator',
    name: `operator as ${user}`,
    flags: {
      'cluster-id': options.clusterId ?? 'test',
      'shard-addr': options.shardAddress,
      'kubeconfig': await kubeconfigOf(options),
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
