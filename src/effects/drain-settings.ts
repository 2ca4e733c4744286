/** The settings of drains. */
import type { DrainingLimit } from '../domain/drain/draining-limit.ts';
import type { LocalVolumes } from '../domain/drain/kept-pods.ts';
import type { EvictionMode } from '../domain/eviction-requests/drain-requester.ts';
import type { EvictionsApiOption } from '../domain/native-evictions/evictions-api.ts';
import { defaultInterceptorsOf } from './eviction-request-options.ts';
import type { OPERATOR_OPTIONS } from './operator-options.ts';
import type { Decoded, Given } from './options.ts';
import type { Selects } from './pod-demand-options.ts';

/** The settings of drains. */
export interface DrainSettings {
  /** Undefined: derived from the grace of each drain. */
  readonly tierWaitMs: number | undefined;
  readonly isPaused: boolean;
  readonly evictionsPerBudget: number;
  /** How drains let pods leave. */
  readonly via: EvictionMode;
  /** Which API the requests of drains are in. */
  readonly evictionsApi: EvictionsApiOption;
  readonly defaultInterceptors: readonly string[];
  /** Which Nodes the shard may reclaim, by their labels. */
  readonly isReclaimable: Selects;
  readonly maxDraining: DrainingLimit;
  /** What becomes of pods whose data is on their Node only. */
  readonly localVolumes: LocalVolumes;
  /** The pod of this process; null outside a cluster. */
  readonly ownPod: { readonly namespace: string; readonly name: string } | null;
}

/** What a process knows of its pod. */
interface PodEnvironment {
  readonly environment: Given['environment'];
  readonly hostname: string;
  readonly namespace: string | undefined;
}

/** The pod of this process: from the downward API, or from its host name. */
export const ownPod = (
  { environment, hostname, namespace }: PodEnvironment,
): DrainSettings['ownPod'] => {
  const name = environment['POD_NAME'] || (namespace === undefined ? undefined : hostname);
  const room = environment['POD_NAMESPACE'] || namespace;
  return name === undefined || room === undefined ? null : { namespace: room, name };
};

type DrainOptions = Pick<
  Decoded<typeof OPERATOR_OPTIONS>,
  | ('tierWaitMs' | 'pauseDrains' | 'evictionsPerBudget' | 'via' | 'evictionsApi')
  | ('isNodeReclaimable' | 'maxDraining' | 'defaultInterceptors' | 'localVolumes' | 'roles')
>;

/** The settings from the options. */
export const drainSettings = (
  options: DrainOptions,
  ownPod: DrainSettings['ownPod'],
): DrainSettings => ({
  tierWaitMs: options.tierWaitMs,
  isPaused: options.pauseDrains,
  evictionsPerBudget: options.evictionsPerBudget,
  via: options.via,
  evictionsApi: options.evictionsApi,
  defaultInterceptors: defaultInterceptorsOf(options, options.roles),
  isReclaimable: options.isNodeReclaimable,
  maxDraining: options.maxDraining,
  localVolumes: options.localVolumes,
  ownPod,
});
