/**
 * The options of the operator: name, kind, default and help.
 *
 * Promises: help, reference page, flags and variables are generated from this table. The flags of
 * the Go operator keep their names and defaults (CLU-05), 0 included, except that `--qps` and
 * `--burst` are one budget for all writes (DR-36).
 */
import { type DrainingLimit, readDrainingLimit } from '../domain/drain/draining-limit.ts';
import { LOCAL_VOLUMES } from '../domain/drain/kept-pods.ts';
import { EVICTION_MODES } from '../domain/eviction-requests/drain-requester.ts';
import { ROLE_NAMES, type RoleName, rolesIn } from '../domain/operator-roles.ts';
import { EVICTION_REQUEST_OPTIONS } from './eviction-request-options.ts';
import { NODE_AVAILABILITY_OPTIONS } from './node-availability-options.ts';
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
  zeroMeans,
} from './option-kinds.ts';
import { POD_DEMAND_OPTIONS, selector } from './pod-demand-options.ts';
import { TRACING_OPTIONS } from './tracing-options.ts';

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

/** A number of Nodes, or a percentage. */
const drainingLimit: Kind<DrainingLimit> = {
  placeholder: 'NUMBER|PERCENT',
  read: (given) => {
    const limit = readDrainingLimit(given);
    return limit === undefined
      ? {
        _tag: 'Unreadable',
        why: 'it is neither a number of Nodes nor a percentage',
        remedy: 'write a whole number above 0 such as 10, or a percentage from 1% to 100%',
      }
      : { _tag: 'Read', value: limit };
  },
};

/** The roles of the operator. */
export const ROLE_OPTIONS = {
  roles: defaulted(roleList, {
    name: 'roles',
    help: `Roles of this operator, separated by commas: ${ROLE_NAMES.join(', ')}`,
    default: 'fleet',
  }),
  withPods: defaulted(yesOrNo, {
    name: 'with-pods',
    help: 'Add the role pods: create a CapacityRequest for every pod, like `tidegate pods`',
    default: 'false',
  }),
} as const;

/** Required only with the role fleet. */
export const FLEET_ROLE_OPTIONS = {
  clusterId: required(text('ID'), {
    name: 'cluster-id',
    help: 'Name of this cluster in the fleet',
    requiredBecause: 'the fleet must identify the cluster',
    requiredWith: FLEET,
  }),
  shardAddress: required(target, {
    name: 'shard-addr',
    help: "Address of the fleet's shard",
    requiredBecause: 'the operator must know the address of its shard',
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
    help: 'Address of /metrics; :PORT listens on all addresses, 0 disables it and keeps the probes',
    default: ':8770',
  }),
  healthAddress: defaulted(listen, {
    name: 'health-addr',
    help: 'Address of /healthz and /readyz; :PORT listens on all addresses, 0 disables it',
    default: ':8771',
  }),
  inspectAddress: defaulted(listen, {
    name: 'inspect-addr',
    help: 'Address of the live page of all lifecycles, read-only; :PORT listens on loopback only',
    default: '0',
  }),
  inspectHosts: optional(text('NAMES'), {
    name: 'inspect-hosts',
    help: 'Further host names of the live page, with commas; localhost and its address are allowed',
  }),
  inspectTokenFile: optional(file, {
    name: 'inspect-token-file',
    help:
      'File with a token that readers of the live page must send (Bearer, or Basic as password)',
  }),
  recordFile: optional(file, {
    name: 'record',
    help: 'Record all lifecycles, for "tidegate replay"; previous files become FILE.1 to FILE.9',
  }),
  ...TRACING_OPTIONS,
  writesPerSecond: defaulted(rate, {
    name: 'qps',
    help: 'Writes per second to the API server, all writers together',
    default: '200',
  }),
  writeBurst: defaulted(whole(1, 100_000), {
    name: 'burst',
    help: 'Writes that may be sent at once after an idle time',
    default: '400',
  }),
  acknowledgeConcurrency: defaulted(zeroMeans(whole(1, 1024), '16'), {
    name: 'ack-concurrency',
    help: 'Maximum concurrent acknowledgements of CapacityRequests',
    default: '16',
  }),
  rollupIntervalMs: defaulted(zeroMeans(duration(100), '10s'), {
    name: 'rollup-interval',
    help: 'Time between two roll-ups; three unacknowledged intervals end a session',
    default: '10s',
  }),
  bootstrapTemplateFile: optional(file, {
    name: 'bootstrap-template-file',
    help: "Template (Go text/template) of a machine's user data; without it, a #cloud-config stub",
  }),
  tierWaitMs: optional(duration(1), {
    name: 'tier-wait',
    help: 'How long pods of a drain wait for blocked pods of lower priority; ' +
      'without it, 30s or a quarter of the grace if that is less',
  }),
  pauseDrains: defaulted(yesOrNo, {
    name: 'pause-drains',
    help: 'Send no new evictions; deadlines of drains still apply',
    default: 'false',
  }),
  isNodeReclaimable: defaulted(selector, {
    name: 'reclaimable-node-selector',
    help: 'Label selector of Nodes that the shard may reclaim; others are never drained for it',
    default: '!node-role.kubernetes.io/control-plane',
  }),
  maxDraining: defaulted(drainingLimit, {
    name: 'max-draining',
    help: 'How many Nodes drain at once, as a number or as a percentage of all Nodes; ' +
      'further reclaims wait until their deadline',
    default: '100%',
  }),
  localVolumes: defaulted(choice(LOCAL_VOLUMES), {
    name: 'local-volumes',
    help: 'What drains of reclaims and maintenances do with pods whose data is on their node ' +
      'only: evict them, or keep them until a person acknowledges it; disabled nodes keep them',
    default: 'evict',
  }),
  via: defaulted(choice(EVICTION_MODES), {
    name: 'via',
    help: 'How drains let pods leave: by EvictionRequest, by plain eviction, or auto: by request ' +
      'where pods have interceptors',
    default: 'auto',
  }),
  evictionsPerBudget: defaulted(whole(1, 100), {
    name: 'evictions-per-budget',
    help: 'Maximum evictions in flight per disruption budget',
    default: '1',
  }),
  ...POD_DEMAND_OPTIONS,
  ...EVICTION_REQUEST_OPTIONS,
  ...NODE_AVAILABILITY_OPTIONS,
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
    help: 'CA certificates of the shard (PEM)',
  }),
  tlsRenewalDelayMs: defaulted(duration(1000), {
    name: 'tls-renewal-delay',
    help: 'A session is renewed this long after its key files changed, or up to three times as ' +
      'long, so that clusters with one issuer do not dial together',
    default: '30s',
  }),
  isPlaintextAccepted: defaulted(yesOrNo, {
    name: 'insecure-plaintext',
    help: 'Connect to the shard without TLS; refused without this flag',
    default: 'false',
  }),
  logLevel: defaulted(choice(['debug', 'info', 'warn', 'error']), {
    name: 'log-level',
    help: 'Minimum level of logged messages',
    default: 'info',
  }),
  leaseDurationMs: defaulted(duration(1000), {
    name: 'lease-duration',
    help: 'How long a standby waits for a leader that does not renew',
    default: '15s',
  }),
  leaseRenewDeadlineMs: defaulted(duration(500), {
    name: 'lease-renew-deadline',
    help: 'How long a leader that cannot renew continues to write',
    default: '10s',
  }),
  leaseRetryPeriodMs: defaulted(duration(100), {
    name: 'lease-retry-period',
    help: 'Time between two attempts to acquire or renew the lease',
    default: '2s',
  }),
  leaseName: defaulted(text('NAME'), {
    name: 'lease-name',
    help: 'Name of the leader election Lease',
    default: 'tidegate-operator',
  }),
  leaseNamespace: optional(text('NAME'), {
    name: 'lease-namespace',
    help: 'Namespace of that Lease; without it, the pod\'s, or "default"',
  }),
  identity: optional(text('NAME'), {
    name: 'identity',
    help: 'Name of this process in the Lease; without it, host name and a random part',
  }),
} as const;
