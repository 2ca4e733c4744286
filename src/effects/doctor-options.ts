/**
 * The options of `tidegate doctor`: those of the operator that tell what it needs, so that the
 * command finds the operator's own variables where it runs beside it.
 */
import { type ClusterId, clusterId } from '../domain/ids.ts';
import type { EvictionsApiOption } from '../domain/native-evictions/evictions-api.ts';
import type { RoleName } from '../domain/operator-roles.ts';
import type { CredentialFiles } from './credentials.ts';
import { choice, defaulted, optional, target, text } from './option-kinds.ts';
import { decodeOptions, decodeTls, settingsProblem, type Settled } from './options.ts';
import { OPERATOR_OPTIONS, ROLE_OPTIONS } from './operator-options.ts';
import { OPERATOR_VARIABLES, type ProcessEnvironment } from './settings.ts';

/** Output formats. */
const DOCTOR_FORMATS = ['text', 'json'] as const;

/** Every option of `tidegate doctor`, by the name of its setting. */
export const DOCTOR_OPTIONS = {
  clusterId: optional(text('ID'), {
    name: 'cluster-id',
    help: 'Name of this cluster in the fleet, which the certificate must carry',
  }),
  shardAddress: optional(target, {
    name: 'shard-addr',
    help: "Address of the fleet's shard; without it, the shard is not checked",
  }),
  ...ROLE_OPTIONS,
  kubeconfig: OPERATOR_OPTIONS.kubeconfig,
  context: optional(text('NAME'), {
    name: 'context',
    help: 'Context of the kubeconfig (default its current one)',
  }),
  tlsCert: OPERATOR_OPTIONS.tlsCert,
  tlsKey: OPERATOR_OPTIONS.tlsKey,
  tlsCa: OPERATOR_OPTIONS.tlsCa,
  evictionsApi: OPERATOR_OPTIONS.evictionsApi,
  leaseName: OPERATOR_OPTIONS.leaseName,
  leaseNamespace: OPERATOR_OPTIONS.leaseNamespace,
  format: defaulted(choice(DOCTOR_FORMATS), {
    name: 'output',
    help: 'Format of the answer',
    default: 'text',
  }),
} as const;

/** The settings of `tidegate doctor`. */
export interface DoctorSettings {
  readonly roles: readonly RoleName[];
  readonly evictionsApi: EvictionsApiOption;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly lease: { readonly name: string; readonly namespace: string };
  readonly shardAddress: string | undefined;
  /** Undefined: plaintext. */
  readonly certificate:
    | { readonly files: CredentialFiles; readonly cluster: ClusterId }
    | undefined;
  readonly format: (typeof DOCTOR_FORMATS)[number];
}

/** The settings from flags and environment. */
export const doctorSettings = (
  flags: Readonly<Record<string, string>>,
  { environment, namespace }: Pick<ProcessEnvironment, 'environment' | 'namespace'>,
): Settled<DoctorSettings> => {
  const decoded = decodeOptions(DOCTOR_OPTIONS, { flags, environment, prefix: OPERATOR_VARIABLES });
  if (decoded._tag === 'SettingsProblem') return decoded;
  const {
    clusterId: cluster,
    roles,
    withPods,
    kubeconfig,
    context,
    shardAddress,
    format,
    evictionsApi,
    ...more
  } = decoded.settings;
  const tls = decodeTls(more);
  if (tls._tag === 'SettingsProblem') return tls;
  if (tls.settings !== undefined && cluster === undefined) {
    return settingsProblem(
      'Cannot check --tls-cert without --cluster-id: the certificate must name the cluster; add ' +
        '--cluster-id=ID',
    );
  }
  const { certFile = '', keyFile = '', caFile = '' } = tls.settings ?? {};
  return {
    _tag: 'Settled',
    settings: {
      roles: withPods && !roles.includes('pods') ? [...roles, 'pods'] : roles,
      kubeconfig,
      context,
      shardAddress,
      format,
      evictionsApi,
      lease: { name: more.leaseName, namespace: more.leaseNamespace ?? namespace ?? 'default' },
      certificate: tls.settings === undefined || cluster === undefined ? undefined : {
        files: { certificate: certFile, key: keyFile, authority: caFile },
        cluster: clusterId(cluster),
      },
    },
  };
};
