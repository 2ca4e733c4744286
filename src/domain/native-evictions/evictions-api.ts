/**
 * Which API has the requests of a cluster: our own custom resource, or that of Kubernetes itself.
 *
 * Promises: what is installed on purpose wins over what a version of Kubernetes brings, so that an
 * upgrade of the cluster never takes the requests away from their interceptors.
 */

/** The API that has the requests. */
export type EvictionsApi = 'tidegate' | 'native';

/** The values of `--eviction-request-api`. */
export const EVICTIONS_APIS = ['auto', 'tidegate', 'native'] as const;
/** `--eviction-request-api`. */
export type EvictionsApiOption = (typeof EVICTIONS_APIS)[number];

/** The API for a process, from what the cluster serves. */
export const evictionsApiOf = (
  option: EvictionsApiOption,
  served: Readonly<Record<EvictionsApi, boolean>>,
): EvictionsApi => {
  if (option !== 'auto') return option;
  return served.native && !served.tidegate ? 'native' : 'tidegate';
};
