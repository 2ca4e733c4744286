/**
 * The table of everything that can be set about the operator: name, kind, default and help.
 *
 * Promises: help, reference page, flags and variables are made from this table. The flags of the Go
 * operator keep their names and defaults (CLU-05), except that `--qps` and `--burst` are one budget
 * for all writes (DR-36).
 */
import { ROLE_NAMES, type RoleName, rolesIn } from '../domain/operator-roles.ts';
import {
  choice,
  defaulted,
  duration,
  file,
  type Kind,
  listen,
  optional,
  rate,
  required,
  target,
  text,
  whole,
  yesOrNo,
} from './option-kinds.ts';
import { POD_DEMAND_OPTIONS } from './pod-demand-options.ts';

const FLEET = 'the role fleet';

/** A list of roles, such as `fleet,pods`. */
const roleList: Kind<readonly RoleName[]> = {
  placeholder: 'ROLE,…',
  read: (given) => {
    const reading = rolesIn(given);
    return reading._tag === 'Roles'
      ? { _tag: 'Read', value: reading.roles }
      : { _tag: 'Unreadable', why: reading.why, remedy: reading.remedy };
  },
};

/** Which roles the operator has. */
export const ROLE_OPTIONS = {
  roles: defaulted(roleList, {
    name: 'roles',
    help: `Roles of this operator, with commas between them: ${ROLE_NAMES.join(', ')}`,
    default: 'fleet',
  }),
  withPods: defaulted(yesOrNo, {
    name: 'with-pods',
    help: 'Add the role pods: make a CapacityRequest for every pod, as `tidegate pods` does',
    default: 'false',
  }),
} as const;

/** What only an operator with a fleet must be told. */
export const FLEET_ROLE_OPTIONS = {
  clusterId: required(text('ID'), {
    name: 'cluster-id',
    help: 'Name of this cluster in the fleet',
    requiredBecause: 'the fleet must know which cluster speaks',
    requiredWith: FLEET,
  }),
  shardAddress: required(target, {
    name: 'shard-addr',
    help: "Address of the fleet's shard",
    requiredBecause: 'the operator must know which shard to dial',
    requiredWith: FLEET,
  }),
} as const;

/** Every option of `tidegate operator`, by the name of its setting. */
export const OPERATOR_OPTIONS = {
  ...FLEET_ROLE_OPTIONS,
  ...ROLE_OPTIONS,
  kubeconfig: optional(file, {
    name: 'kubeconfig',
    help: 'Kubeconfig of the cluster; without it, $KUBECONFIG or the pod it runs in',
  }),
  metricsAddress: defaulted(listen, {
    name: 'metrics-addr',
    help: 'Where to serve /metrics; 0 turns it off and leaves the probes',
    default: ':8770',
  }),
  healthAddress: defaulted(listen, {
    name: 'health-addr',
    help: 'Where to serve /healthz and /readyz',
    default: ':8771',
  }),
  inspectAddress: defaulted(listen, {
    name: 'inspect-addr',
    help: 'Where to serve the live page of all lifecycles, read-only; :PORT is this machine alone',
    default: '0',
  }),
  recordFile: optional(file, {
    name: 'record',
    help: 'Write down what happens to all lifecycles, for "tidegate replay"; grows without bound',
  }),
  writesPerSecond: defaulted(rate, {
    name: 'qps',
    help: 'Writes a second to the API server, all writers together',
    default: '200',
  }),
  writeBurst: defaulted(whole(1, 100_000), {
    name: 'burst',
    help: 'Writes that may be sent at once after a quiet time',
    default: '400',
  }),
  acknowledgeConcurrency: defaulted(whole(1, 1024), {
    name: 'ack-concurrency',
    help: 'CapacityRequests that are acknowledged at the same time',
    default: '16',
  }),
  rollupIntervalMs: defaulted(duration(100), {
    name: 'rollup-interval',
    help: 'Time between two roll-ups; three without an answer end a session',
    default: '10s',
  }),
  bootstrapTemplateFile: optional(file, {
    name: 'bootstrap-template-file',
    help: "Template (Go text/template) of a machine's user data; without it, a #cloud-config stub",
  }),
  tierWaitMs: optional(duration(1), {
    name: 'tier-wait',
    help: 'How long pods of a drain wait for those of lower priority that do not move; ' +
      'without it, 30s or a quarter of the grace if that is less',
  }),
  pauseDrains: defaulted(yesOrNo, {
    name: 'pause-drains',
    help: 'Evict nothing new; deadlines of drains run on',
    default: 'false',
  }),
  evictionsPerBudget: defaulted(whole(1, 100), {
    name: 'evictions-per-budget',
    help: 'Evictions under one disruption budget that wait for an answer at the same time',
    default: '1',
  }),
  ...POD_DEMAND_OPTIONS,
  tlsCert: optional(file, {
    name: 'tls-cert',
    help: 'Client certificate for the shard (PEM); needs --tls-key and --tls-ca',
  }),
  tlsKey: optional(file, {
    name: 'tls-key',
    help: 'Private key of --tls-cert (PEM)',
  }),
  tlsCa: optional(file, {
    name: 'tls-ca',
    help: 'Certificates that may have signed the one of the shard (PEM)',
  }),
  logLevel: defaulted(choice(['debug', 'info', 'warn', 'error']), {
    name: 'log-level',
    help: 'Least urgent messages that are logged',
    default: 'info',
  }),
  leaseDurationMs: defaulted(duration(1000), {
    name: 'lease-duration',
    help: 'How long a standby waits for a silent leader',
    default: '15s',
  }),
  leaseRenewDeadlineMs: defaulted(duration(500), {
    name: 'lease-renew-deadline',
    help: 'How long a leader that cannot renew goes on writing',
    default: '10s',
  }),
  leaseRetryPeriodMs: defaulted(duration(100), {
    name: 'lease-retry-period',
    help: 'Time between two attempts to get or renew the lease',
    default: '2s',
  }),
  leaseName: defaulted(text('NAME'), {
    name: 'lease-name',
    help: 'Name of the Lease that says who leads',
    default: 'tidegate-operator',
  }),
  leaseNamespace: optional(text('NAME'), {
    name: 'lease-namespace',
    help: 'Namespace of that Lease; without it, the one of the pod, or "default"',
  }),
  identity: optional(text('NAME'), {
    name: 'identity',
    help: 'Name of this process in the Lease; without it, host name and a random part',
  }),
} as const;
