/**
 * What `tidegate pods` can be set to, and its settings from flags and environment.
 *
 * Promises: flags that the operator has, too, mean the same here; its Lease is its own, so that
 * pods and sessions may be led by different processes.
 */
import { OPERATOR_OPTIONS } from './operator-options.ts';
import { defaulted, type ListenAddress, text } from './option-kinds.ts';
import { decodeOptions, type Given, type Settled } from './options.ts';
import { POD_DEMAND_OPTIONS, podPolicyOf, type PodSettings } from './pod-demand-options.ts';
import {
  type LeaseSettings,
  leaseSettings,
  type OperatorSettings,
  type ProcessEnvironment,
  unlessOff,
} from './settings.ts';

/** What the variables of the pods role begin with. */
export const POD_VARIABLES = 'TIDEGATE_PODS';

/** Every option of `tidegate pods`, by the name of its setting. */
export const POD_OPTIONS = {
  kubeconfig: OPERATOR_OPTIONS.kubeconfig,
  ...POD_DEMAND_OPTIONS,
  metricsAddress: OPERATOR_OPTIONS.metricsAddress,
  healthAddress: OPERATOR_OPTIONS.healthAddress,
  inspectAddress: OPERATOR_OPTIONS.inspectAddress,
  recordFile: OPERATOR_OPTIONS.recordFile,
  writesPerSecond: OPERATOR_OPTIONS.writesPerSecond,
  writeBurst: OPERATOR_OPTIONS.writeBurst,
  logLevel: OPERATOR_OPTIONS.logLevel,
  leaseDurationMs: OPERATOR_OPTIONS.leaseDurationMs,
  leaseRenewDeadlineMs: OPERATOR_OPTIONS.leaseRenewDeadlineMs,
  leaseRetryPeriodMs: OPERATOR_OPTIONS.leaseRetryPeriodMs,
  leaseName: defaulted(text('NAME'), {
    name: 'lease-name',
    help: OPERATOR_OPTIONS.leaseName.help,
    default: 'tidegate-pods',
  }),
  leaseNamespace: OPERATOR_OPTIONS.leaseNamespace,
  identity: OPERATOR_OPTIONS.identity,
} as const;

/** What `tidegate pods` runs with. */
export interface PodRoleSettings {
  readonly kubeconfig: string | undefined;
  readonly metricsAddress: ListenAddress | undefined;
  readonly healthAddress: ListenAddress | undefined;
  readonly inspectAddress: ListenAddress | undefined;
  readonly recordFile: string | undefined;
  readonly writesPerSecond: number;
  readonly writeBurst: number;
  readonly logLevel: OperatorSettings['logLevel'];
  readonly lease: LeaseSettings;
  readonly pods: PodSettings;
}

/** The settings of the pods role from its flags and its environment. */
export const podRoleSettings = (
  flags: Given['flags'],
  processEnvironment: ProcessEnvironment,
): Settled<PodRoleSettings> => {
  const decoded = decodeOptions(POD_OPTIONS, {
    flags,
    environment: processEnvironment.environment,
    prefix: POD_VARIABLES,
  });
  if (decoded._tag === 'SettingsProblem') return decoded;
  const options = decoded.settings;
  const lease = leaseSettings(options, processEnvironment);
  if (lease._tag === 'SettingsProblem') return lease;
  return {
    _tag: 'Settled',
    settings: {
      kubeconfig: options.kubeconfig,
      metricsAddress: unlessOff(options.metricsAddress),
      healthAddress: unlessOff(options.healthAddress),
      inspectAddress: unlessOff(options.inspectAddress),
      recordFile: options.recordFile,
      writesPerSecond: options.writesPerSecond,
      writeBurst: options.writeBurst,
      logLevel: options.logLevel,
      lease: lease.settings,
      pods: podPolicyOf(options),
    },
  };
};
