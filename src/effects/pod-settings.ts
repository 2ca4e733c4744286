/**
 * What `tidegate pods` can be set to: an operator with the role pods alone.
 *
 * Promises: flags of `tidegate operator` mean the same here; its Lease is its own, so that pods and
 * sessions may be led by different processes.
 */
import { OPERATOR_OPTIONS } from './operator-options.ts';
import { defaulted, text } from './option-kinds.ts';
import { decodeOptions, type Given, type Settled } from './options.ts';
import { POD_DEMAND_OPTIONS, podPolicyOf, type PodSettings } from './pod-demand-options.ts';
import { type OperatorSettings, type ProcessEnvironment, processSettings } from './settings.ts';

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

/** The settings of an operator with the role pods alone, from its flags and its surroundings. */
export const podsOperatorSettings = (
  flags: Given['flags'],
  processEnvironment: ProcessEnvironment,
): Settled<OperatorSettings & { readonly pods: PodSettings }> => {
  const decoded = decodeOptions(POD_OPTIONS, {
    flags,
    environment: processEnvironment.environment,
    prefix: POD_VARIABLES,
  });
  if (decoded._tag === 'SettingsProblem') return decoded;
  const settled = processSettings(decoded.settings, processEnvironment);
  if (settled._tag === 'SettingsProblem') return settled;
  return {
    _tag: 'Settled',
    settings: { ...settled.settings, fleet: undefined, pods: podPolicyOf(decoded.settings) },
  };
};
