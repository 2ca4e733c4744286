/**
 * Decodes all configuration of a process, once: the only reader of its environment.
 *
 * Promises: the result is complete and consistent, so that no other code validates it; an invalid
 * option is one problem in one line (`options.ts`).
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { goDuration } from '../domain/go-duration.ts';
import { type ClusterId, clusterId } from '../domain/ids.ts';
import { leaseTimesProblem } from '../domain/lease.ts';
import { type DrainSettings, drainSettings, ownPod } from './drain-settings.ts';
import {
  evictionPolicyOf,
  type EvictionSettings,
  type InterceptorSettings,
} from './eviction-request-options.ts';
import { FLEET_OPTIONS } from './fleet-options.ts';
import {
  type NodeAvailabilitySettings,
  nodeAvailabilitySettings,
} from './node-availability-options.ts';
import type { ListenAddress } from './option-kinds.ts';
import { FLEET_ROLE_OPTIONS, OPERATOR_OPTIONS, ROLE_OPTIONS } from './operator-options.ts';
import { podPolicyOf, type PodSettings } from './pod-demand-options.ts';
import {
  type Decoded,
  decodeOptions,
  decodeTls,
  type Given,
  type SettingsProblem,
  settingsProblem,
  type Settled,
  type TlsFiles,
} from './options.ts';
import { type TracingSettings, tracingSettings } from './tracing-options.ts';

/** The prefix of the operator's variables. */
export const OPERATOR_VARIABLES = 'TIDEGATE';
/** The fleet has its own, so that one shell can start both. */
export const FLEET_VARIABLES = 'TIDEGATE_FLEET';

/** The settings of leader election. */
export interface LeaseSettings {
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly durationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** The options of a Lease. */
export type LeaseOptions = Pick<
  Decoded<typeof OPERATOR_OPTIONS>,
  | 'leaseName'
  | 'leaseNamespace'
  | 'identity'
  | 'leaseDurationMs'
  | 'leaseRenewDeadlineMs'
  | 'leaseRetryPeriodMs'
>;

/** The settings of an operator with a fleet. */
export interface FleetRoleSettings {
  readonly clusterId: ClusterId;
  readonly shardAddress: string;
  readonly acknowledgeConcurrency: number;
  readonly rollupIntervalMs: number;
  readonly bootstrapTemplateFile: string | undefined;
  /** Undefined: plaintext. */
  readonly tls: TlsFiles | undefined;
  readonly tlsRenewalDelayMs: number;
  readonly drains: DrainSettings;
}

/** The settings of an operator with any roles. */
export interface ProcessSettings {
  readonly kubeconfig: string | undefined;
  readonly metricsAddress: ListenAddress | undefined;
  readonly healthAddress: ListenAddress | undefined;
  /** Undefined: no live page. */
  readonly inspectAddress: ListenAddress | undefined;
  /** Further host names of the live page, in lower case. */
  readonly inspectHosts: readonly string[];
  /** Undefined: the live page needs no token. */
  readonly inspectTokenFile: string | undefined;
  /** Undefined: nothing is recorded. */
  readonly recordFile: string | undefined;
  readonly writesPerSecond: number;
  readonly writeBurst: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly lease: LeaseSettings;
}

/** The settings of an operator; roles without settings are not selected. */
export interface OperatorSettings extends ProcessSettings, TracingSettings {
  readonly fleet: FleetRoleSettings | undefined;
  readonly pods: PodSettings | undefined;
  readonly evictions: EvictionSettings | undefined;
  /** How maintenances drain; undefined without the role. */
  readonly maintenance: DrainSettings | undefined;
  /** When Nodes are degraded or offline; undefined without the role. */
  readonly availability: NodeAvailabilitySettings | undefined;
  /** How surges go; undefined without the role. */
  readonly interceptors: InterceptorSettings | undefined;
}

/** The options that process settings derive from. */
export type ProcessOptions =
  & LeaseOptions
  & Pick<
    Decoded<typeof OPERATOR_OPTIONS>,
    | 'kubeconfig'
    | 'metricsAddress'
    | 'healthAddress'
    | 'inspectAddress'
    | 'inspectHosts'
    | 'inspectTokenFile'
    | 'recordFile'
    | 'writesPerSecond'
    | 'writeBurst'
    | 'logLevel'
  >;

/** The settings of `tidegate fleet`. */
export interface FleetSettings {
  readonly listen: ListenAddress;
  readonly scriptListen: ListenAddress | undefined;
  readonly bindingsFile: string | undefined;
  readonly seedMachines: number;
  readonly kubeconfig: string | undefined;
  readonly tls: TlsFiles | undefined;
  /** False: a loss of demand is accepted at once. */
  readonly emptyRollupGuard: boolean;
  /** The duration of each step of the fleet. */
  readonly timing: Omit<
    Decoded<typeof FLEET_OPTIONS>,
    | 'listen'
    | 'scriptListen'
    | 'bindingsFile'
    | 'seedMachines'
    | 'kubeconfig'
    | 'tlsCert'
    | 'tlsKey'
    | 'tlsCa'
    | 'emptyRollupGuard'
  >;
}

/** Creates the environment of a process. */
export interface ProcessEnvironment {
  readonly environment: Given['environment'];
  readonly hostname: string;
  /** The namespace of the pod; undefined outside a cluster. */
  readonly namespace: string | undefined;
  /** Distinguishes two processes of one host. */
  readonly nonce: string;
}

const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

const ownNamespace = (): string | undefined => {
  try {
    return readFileSync(NAMESPACE_FILE, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
};

/** The environment of this process. */
export const readProcessEnvironment = (): ProcessEnvironment => ({
  environment: process.env,
  hostname: hostname(),
  namespace: ownNamespace(),
  nonce: crypto.randomUUID().slice(0, 8),
});

const DNS_SUBDOMAIN =
  /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const leaseTimesProblemOf = (lease: LeaseSettings): SettingsProblem | undefined => {
  const [duration, deadline, period] = [
    goDuration(lease.durationMs),
    goDuration(lease.renewDeadlineMs),
    goDuration(lease.retryPeriodMs),
  ];
  const problem = leaseTimesProblem({
    leaseMs: lease.durationMs,
    renewMs: lease.renewDeadlineMs,
    retryMs: lease.retryPeriodMs,
  });
  switch (problem) {
    case undefined:
      return undefined;
    case 'RenewDeadlineTooLong':
      return settingsProblem(
        `Cannot use --lease-renew-deadline "${deadline}": two leaders could write at once; make ` +
          `it shorter than --lease-duration (${duration})`,
      );
    case 'RetryPeriodTooLong':
      return settingsProblem(
        `Cannot use --lease-retry-period "${period}": one lost call would end the leadership; ` +
          `make it at most half of --lease-renew-deadline (${deadline})`,
      );
  }
};

const leaseProblem = (lease: LeaseSettings): SettingsProblem | undefined => {
  const ofTimes = leaseTimesProblemOf(lease);
  if (ofTimes !== undefined) return ofTimes;
  if (!DNS_SUBDOMAIN.test(lease.name)) {
    return settingsProblem(
      `Cannot use --lease-name "${lease.name}": invalid object name; write lower-case ` +
        `letters, digits, "-" and "."`,
    );
  }
  return DNS_LABEL.test(lease.namespace) ? undefined : settingsProblem(
    `Cannot use --lease-namespace "${lease.namespace}": invalid namespace name; write ` +
      `lower-case letters, digits and "-"`,
  );
};

/** The leader election of this cluster. */
const leaseSettings = (
  options: LeaseOptions,
  processEnvironment: ProcessEnvironment,
): Settled<LeaseSettings> => {
  const lease: LeaseSettings = {
    name: options.leaseName,
    namespace: options.leaseNamespace ?? processEnvironment.namespace ?? 'default',
    // Readers of the Lease take the part before the last "_" as the pod name.
    identity: options.identity ??
      `${
        processEnvironment.environment['POD_NAME'] || processEnvironment.hostname
      }_${processEnvironment.nonce}`,
    durationMs: options.leaseDurationMs,
    renewDeadlineMs: options.leaseRenewDeadlineMs,
    retryPeriodMs: options.leaseRetryPeriodMs,
  };
  return leaseProblem(lease) ?? { _tag: 'Settled', settings: lease };
};

/** The listen address; undefined when disabled. */
const unlessOff = (address: ListenAddress | 'off'): ListenAddress | undefined =>
  address === 'off' ? undefined : address;

const namesIn = (list = ''): readonly string[] =>
  list.split(',').map((name) => name.trim().toLowerCase()).filter((name) => name !== '');

/** Process settings from the options of every operator. */
export const processSettings = (
  options: ProcessOptions,
  processEnvironment: ProcessEnvironment,
): Settled<ProcessSettings> => {
  const lease = leaseSettings(options, processEnvironment);
  if (lease._tag === 'SettingsProblem') return lease;
  const { kubeconfig, recordFile, writesPerSecond, writeBurst, logLevel } = options;
  return {
    _tag: 'Settled',
    settings: {
      kubeconfig,
      metricsAddress: unlessOff(options.metricsAddress),
      healthAddress: unlessOff(options.healthAddress),
      inspectAddress: unlessOff(options.inspectAddress),
      inspectHosts: namesIn(options.inspectHosts),
      inspectTokenFile: options.inspectTokenFile,
      recordFile,
      writesPerSecond,
      writeBurst,
      logLevel,
      lease: lease.settings,
    },
  };
};

type FleetRoleTable = typeof FLEET_ROLE_OPTIONS;
/** The options without those that require a fleet. */
type OtherOptions = Omit<Decoded<typeof OPERATOR_OPTIONS>, keyof FleetRoleTable>;

/** The transport of the session: mTLS, or plaintext for those who ask for it. */
const sessionTls = (options: OtherOptions): Settled<TlsFiles | undefined> => {
  const tls = decodeTls(options, 'give none and --insecure-plaintext');
  if (tls._tag === 'SettingsProblem') return tls;
  if (tls.settings === undefined && !options.isPlaintextAccepted) {
    return settingsProblem(
      'Cannot start without --tls-cert, --tls-key and --tls-ca: anyone on the network could read ' +
        'user data and reclaim Nodes; add the three files, or --insecure-plaintext to accept that',
    );
  }
  if (tls.settings !== undefined && options.isPlaintextAccepted) {
    return settingsProblem(
      'Cannot use --insecure-plaintext with --tls-cert: the session has one transport; remove one',
    );
  }
  return tls;
};

const fleetRoleSettings = (
  { clusterId: id, shardAddress }: Decoded<FleetRoleTable>,
  options: OtherOptions,
  processEnvironment: ProcessEnvironment,
): Settled<FleetRoleSettings> => {
  const tls = sessionTls(options);
  if (tls._tag === 'SettingsProblem') return tls;
  return {
    _tag: 'Settled',
    settings: {
      clusterId: clusterId(id),
      shardAddress,
      acknowledgeConcurrency: options.acknowledgeConcurrency,
      rollupIntervalMs: options.rollupIntervalMs,
      bootstrapTemplateFile: options.bootstrapTemplateFile,
      tls: tls.settings,
      tlsRenewalDelayMs: options.tlsRenewalDelayMs,
      drains: drainSettings(options, ownPod(processEnvironment)),
    },
  };
};

/** The settings of the operator from its flags and environment. */
export const operatorSettings = (
  flags: Given['flags'],
  processEnvironment: ProcessEnvironment,
): Settled<OperatorSettings> => {
  const given: Given = {
    flags,
    environment: processEnvironment.environment,
    prefix: OPERATOR_VARIABLES,
  };
  const chosen = decodeOptions(ROLE_OPTIONS, given);
  if (chosen._tag === 'SettingsProblem') return chosen;
  const { roles, withPods } = chosen.settings;
  const fleetOptions = roles.includes('fleet')
    ? decodeOptions(FLEET_ROLE_OPTIONS, given)
    : undefined;
  if (fleetOptions?._tag === 'SettingsProblem') return fleetOptions;
  const { clusterId: _id, shardAddress: _address, ...others } = OPERATOR_OPTIONS;
  const decoded = decodeOptions(others, given);
  if (decoded._tag === 'SettingsProblem') return decoded;
  const options = decoded.settings;
  const fleet = fleetOptions &&
    fleetRoleSettings(fleetOptions.settings, options, processEnvironment);
  if (fleet?._tag === 'SettingsProblem') return fleet;
  const settled = processSettings(options, processEnvironment);
  if (settled._tag === 'SettingsProblem') return settled;
  const drains = drainSettings(options, ownPod(processEnvironment));
  return {
    _tag: 'Settled',
    settings: {
      ...settled.settings,
      ...tracingSettings(options, processEnvironment.environment),
      fleet: fleet?.settings,
      pods: withPods || roles.includes('pods') ? podPolicyOf(options) : undefined,
      evictions: roles.includes('evictions') ? evictionPolicyOf(options, roles) : undefined,
      maintenance: roles.includes('maintenance') ? drains : undefined,
      availability: roles.includes('availability')
        ? nodeAvailabilitySettings(options, drains)
        : undefined,
      interceptors: roles.includes('interceptors')
        ? { withoutSurge: options.withoutSurge }
        : undefined,
    },
  };
};

/** The settings of the stand-in fleet from its flags and the environment. */
export const fleetSettings = (
  flags: Given['flags'],
  processEnvironment: Pick<ProcessEnvironment, 'environment'>,
): Settled<FleetSettings> => {
  const decoded = decodeOptions(FLEET_OPTIONS, {
    flags,
    environment: processEnvironment.environment,
    prefix: FLEET_VARIABLES,
  });
  if (decoded._tag === 'SettingsProblem') return decoded;
  const { tlsCert, tlsKey, tlsCa, listen, scriptListen, ...others } = decoded.settings;
  const { bindingsFile, seedMachines, kubeconfig, emptyRollupGuard, ...timing } = others;
  const tls = decodeTls({ tlsCert, tlsKey, tlsCa });
  if (tls._tag === 'SettingsProblem') return tls;
  if (listen === 'off') {
    const reason = 'the fleet would be unreachable; write HOST:PORT';
    return settingsProblem(`Cannot use --listen "0": ${reason}`);
  }
  return {
    _tag: 'Settled',
    settings: {
      listen,
      scriptListen: unlessOff(scriptListen),
      bindingsFile,
      seedMachines,
      kubeconfig,
      tls: tls.settings,
      emptyRollupGuard: emptyRollupGuard === 'true',
      timing,
    },
  };
};
