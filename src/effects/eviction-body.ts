/** The body of the requests that evict a pod. */
import type { DrainPod } from '../domain/drain/pod.ts';

/** How a pod is evicted. */
export interface EvictionBodyOptions {
  /** What the pod gets to stop, in seconds; `null`: its own grace, and nothing is sent (DR-23). */
  readonly graceSeconds: number | null;
  /** The API server answers as if, and evicts nothing. */
  readonly isDryRun?: boolean;
}

/** Names the UID, so that another pod of the name stays (DR-21). */
export const evictionBody = (
  { namespace, name, uid }: Pick<DrainPod, 'namespace' | 'name'> & { readonly uid: string },
  { graceSeconds, isDryRun = false }: EvictionBodyOptions,
): object => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name, namespace },
  deleteOptions: {
    preconditions: { uid },
    ...(graceSeconds === null ? {} : { gracePeriodSeconds: graceSeconds }),
    ...(isDryRun ? { dryRun: ['All'] } : {}),
  },
});
