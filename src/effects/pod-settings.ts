/**
 * The settings of `tidegate pods`: an operator with only the role pods.
 *
 * Promises: flags have the same meaning as in `tidegate operator`; its Lease is its own, so that
 * different processes may lead pods and sessions.
 */
import { OPERATOR_OPTIONS } from './operator-options.ts';
import { defaulted, listen, text } from './option-kinds.ts';
import { decodeOptions, type Given, type Settled } from './options.ts';
import { POD_DEMAND_OPTIONS, podPolicyOf, type PodSettings } from './pod-demand-options.ts';
import { type OperatorSettings, type ProcessEnvironment, processSettings } from './settings.ts';

/** The prefix of the pods role's variables. */
export const POD_VARIABLES = 'TIDEGATE_PODS';

/** Every option of `tidegate pods`, by the name of its setting. */
export const POD_OPTIONS = {
  kubeconfig: OPERATOR_OPTIONS.kubeconfig,
  ...POD_DEMAND_OPTIONS,
  metricsAddress: defaulted(listen, {
    name: 'metrics-addr',
    help: OPERATOR_OPTIONS.metricsAddress.help,
    // That of the Go pod controller (CLU-05).
    default: ':8080',
  }),
  healthAddress: OPERATOR_OPTIONS.healthAddress,
  inspectAddress: OPERATOR_OPTIONS.inspectAddress,
  inspectHosts: OPERATOR_OPTIONS.inspectHosts,
  inspectTokenFile: OPERATOR_OPTIONS.inspectTokenFile,
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

/** The settings of an operator with only the role pods, from its flags and environment. */
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
    settings: {
      ...settled.settings,
      fleet: undefined,
      pods: podPolicyOf(decoded.settings),
      evictions: undefined,
      maintenance: undefined,
      availability: undefined,
      interceptors: undefined,
    },
  };
};
