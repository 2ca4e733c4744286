/**
 * Pods that tolerate the cordon of a drain, and came back when it had ended (NM-55).
 *
 * Promises: without an admission policy their controller makes them again as soon as they have
 * left. Each is evicted once for a drain; then it stays and holds nothing, as the drain that is
 * under way has it, so that no drain follows another forever.
 */
import type { CordonAnnotation } from '../drain/cordon.ts';
import { podsBefore, returnedOwners, roleOf } from '../drain/plan.ts';
import type { DrainPod } from '../drain/pod.ts';

/** The API server cuts the times at which pods were created to seconds. */
const SECOND_MS = 1000;

/** The pods of a node that came back past the cordon of a drain that has ended. */
export const returnedPods = (
  pods: readonly DrainPod[],
  annotation: CordonAnnotation | undefined,
): readonly DrainPod[] => {
  if (annotation?.ended !== 'Drained') return [];
  const sinceMs = annotation.sinceMs - SECOND_MS;
  const terms = {
    own: null,
    evictedOwners: returnedOwners(pods, sinceMs),
    earlier: podsBefore(pods, sinceMs),
    daemonSetsLeave: true,
  };
  return pods.filter((pod) => roleOf(pod, terms) === 'ToleratesCordon');
};
