/**
 * All configuration of a process, decoded once: the only reader of its environment.
 *
 * Promises: what comes out is complete and consistent, so nobody checks it again; what cannot be
 * used is one problem in one line (`options.ts`).
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { goDuration } from '../domain/go-duration.ts';
import { type ClusterId, clusterId } from '../domain/ids.ts';
import { FLEET_OPTIONS } from './fleet-options.ts';
import type { ListenAddress } from './option-kinds.ts';
import { OPERATOR_OPTIONS } from './operator-options.ts';
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

/** What the variables of the operator begin with. */
export const OPERATOR_VARIABLES = 'TIDEGATE';
/** The fleet has its own, so that one shell can start both. */
export const FLEET_VARIABLES = 'TIDEGATE_FLEET';

/** Who leads, where that is written, and how patient everybody is. */
export interface LeaseSettings {
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly durationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** The options that a Lease is settled from. */
export type LeaseOptions = Pick<
  Decoded<typeof OPERATOR_OPTIONS>,
  | 'leaseName'
  | 'leaseNamespace'
  | 'identity'
  | 'leaseDurationMs'
  | 'leaseRenewDeadlineMs'
  | 'leaseRetryPeriodMs'
>;

/** How nodes are drained. */
export interface DrainSettings {
  /** Undefined: by the grace of each drain. */
  readonly tierWaitMs: number | undefined;
  readonly isPaused: boolean;
  readonly evictionsPerBudget: number;
  /** The pod that this process runs in; null outside a cluster. */
  readonly ownPod: { readonly namespace: string; readonly name: string } | null;
}

/** What `tidegate operator` runs with. */
export interface OperatorSettings {
  readonly clusterId: ClusterId;
  readonly shardAddress: string;
  readonly kubeconfig: string | undefined;
  readonly metricsAddress: ListenAddress | undefined;
  readonly healthAddress: ListenAddress | undefined;
  /** Undefined: no live page. */
  readonly inspectAddress: ListenAddress | undefined;
  /** Undefined: nothing is recorded. */
  readonly recordFile: string | undefined;
  readonly writesPerSecond: number;
  readonly writeBurst: number;
  readonly acknowledgeConcurrency: number;
  readonly rollupIntervalMs: number;
  readonly bootstrapTemplateFile: string | undefined;
  /** Undefined: plaintext. */
  readonly tls: TlsFiles | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly lease: LeaseSettings;
  readonly drains: DrainSettings;
  /** Undefined: somebody else makes CapacityRequests. */
  readonly pods: PodSettings | undefined;
}

/** What `tidegate fleet` runs with. */
export interface FleetSettings {
  readonly listen: ListenAddress;
  readonly scriptListen: ListenAddress | undefined;
  readonly bindingsFile: string | undefined;
  readonly seedMachines: number;
  readonly kubeconfig: string | undefined;
  readonly tls: TlsFiles | undefined;
  /** False: demand that vanishes is believed at once. */
  readonly emptyRollupGuard: boolean;
  /** How long the fleet takes for each of its steps. */
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

/** What a process knows about the place it runs in. */
export interface ProcessEnvironment {
  readonly environment: Given['environment'];
  readonly hostname: string;
  /** The namespace of the pod; undefined outside a cluster. */
  readonly namespace: string | undefined;
  /** Makes two processes of one host differ. */
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

/** By the downward API, or by what a pod knows of itself: its host name is its own. */
const ownPod = (
  { environment, hostname: host, namespace }: ProcessEnvironment,
): DrainSettings['ownPod'] => {
  const name = environment['POD_NAME'] || (namespace === undefined ? undefined : host);
  const room = environment['POD_NAMESPACE'] || namespace;
  return name === undefined || room === undefined ? null : { namespace: room, name };
};

const DNS_SUBDOMAIN =
  /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** A leader must have stopped before a standby may start, and must get more than one attempt. */
const leaseProblem = (lease: LeaseSettings): SettingsProblem | undefined => {
  if (lease.renewDeadlineMs >= lease.durationMs) {
    return settingsProblem(
      `Cannot use --lease-renew-deadline "${
        goDuration(lease.renewDeadlineMs)
      }": two leaders could ` +
        `write at once; make it shorter than --lease-duration (${goDuration(lease.durationMs)})`,
    );
  }
  if (lease.retryPeriodMs * 2 > lease.renewDeadlineMs) {
    return settingsProblem(
      `Cannot use --lease-retry-period "${goDuration(lease.retryPeriodMs)}": one lost call would ` +
        `end the leadership; make it at most half of --lease-renew-deadline (${
          goDuration(lease.renewDeadlineMs)
        })`,
    );
  }
  if (!DNS_SUBDOMAIN.test(lease.name)) {
    return settingsProblem(
      `Cannot use --lease-name "${lease.name}": it cannot name an object; write lower-case ` +
        `letters, digits, "-" and "."`,
    );
  }
  return DNS_LABEL.test(lease.namespace) ? undefined : settingsProblem(
    `Cannot use --lease-namespace "${lease.namespace}": it cannot name a namespace; write ` +
      `lower-case letters, digits and "-"`,
  );
};

/** Who leads in this cluster, from the options that every role with a Lease has. */
export const leaseSettings = (
  options: LeaseOptions,
  processEnvironment: ProcessEnvironment,
): Settled<LeaseSettings> => {
  const lease: LeaseSettings = {
    name: options.leaseName,
    namespace: options.leaseNamespace ?? processEnvironment.namespace ?? 'default',
    // Readers of the Lease take the part before the last "_" for the name of the pod.
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

/** Where to listen; undefined when it was turned off. */
export const unlessOff = (address: ListenAddress | 'off'): ListenAddress | undefined =>
  address === 'off' ? undefined : address;

/** The settings of the operator from its flags and its environment. */
export const operatorSettings = (
  flags: Given['flags'],
  processEnvironment: ProcessEnvironment,
): Settled<OperatorSettings> => {
  const decoded = decodeOptions(OPERATOR_OPTIONS, {
    flags,
    environment: processEnvironment.environment,
    prefix: OPERATOR_VARIABLES,
  });
  if (decoded._tag === 'SettingsProblem') return decoded;
  const options = decoded.settings;
  const tls = decodeTls(options);
  if (tls._tag === 'SettingsProblem') return tls;
  const lease = leaseSettings(options, processEnvironment);
  if (lease._tag === 'SettingsProblem') return lease;
  return {
    _tag: 'Settled',
    settings: {
      clusterId: clusterId(options.clusterId),
      shardAddress: options.shardAddress,
      kubeconfig: options.kubeconfig,
      metricsAddress: unlessOff(options.metricsAddress),
      healthAddress: unlessOff(options.healthAddress),
      inspectAddress: unlessOff(options.inspectAddress),
      recordFile: options.recordFile,
      writesPerSecond: options.writesPerSecond,
      writeBurst: options.writeBurst,
      acknowledgeConcurrency: options.acknowledgeConcurrency,
      rollupIntervalMs: options.rollupIntervalMs,
      bootstrapTemplateFile: options.bootstrapTemplateFile,
      tls: tls.settings,
      logLevel: options.logLevel,
      lease: lease.settings,
      pods: options.withPods ? podPolicyOf(options) : undefined,
      drains: {
        tierWaitMs: options.tierWaitMs,
        isPaused: options.pauseDrains,
        evictionsPerBudget: options.evictionsPerBudget,
        ownPod: ownPod(processEnvironment),
      },
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
    return settingsProblem(
      'Cannot use --listen "0": a fleet that nobody can dial does nothing; write HOST:PORT',
    );
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
