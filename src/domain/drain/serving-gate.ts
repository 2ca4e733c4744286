/**
 * The readiness gate `tidegate.dev/serving` of a pod: open while the pod may serve, closed before
 * its eviction (RS-14).
 *
 * Promises: pure and total; a pod without the gate has none.
 */
import { booleanAt, listOrEmptyAt, textAt } from '../json.ts';
import { rfc3339Seconds } from '../time.ts';
import type { Budget } from './budget.ts';

/** The type of the readiness gate and of its condition. */
export const SERVING_GATE = 'tidegate.dev/serving';
/** The reason of the condition while an eviction keeps it closed. */
const EVICTING = 'Evicting';

/** The gate as the pod shows it. */
export interface ServingGate {
  /** Its condition is True. */
  readonly isOpen: boolean;
  /** Its condition is False because of an eviction. */
  readonly isEvicting: boolean;
  /** All containers are ready, so that the pod may serve. */
  readonly areContainersReady: boolean;
}

/** Reads the gate of a pod; `undefined` when the pod declares none. */
export const servingGateOf = (raw: unknown): ServingGate | undefined => {
  const isDeclared = listOrEmptyAt(raw, 'spec', 'readinessGates')
    .some((gate) => textAt(gate, 'conditionType') === SERVING_GATE);
  if (!isDeclared) return undefined;
  const conditions = listOrEmptyAt(raw, 'status', 'conditions');
  const find = (type: string) => conditions.find((one) => textAt(one, 'type') === type);
  const gate = find(SERVING_GATE);
  return {
    isOpen: textAt(gate, 'status') === 'True',
    isEvicting: textAt(gate, 'status') === 'False' && textAt(gate, 'reason') === EVICTING,
    areContainersReady: textAt(find('ContainersReady'), 'status') === 'True',
  };
};

/** The strategic merge patch of a pod's status that opens its gate, or closes it. */
export const servingGatePatch = (
  uid: string,
  { isOpen, nowMs }: { readonly isOpen: boolean; readonly nowMs: number },
): object => ({
  metadata: { uid },
  status: {
    conditions: [{
      type: SERVING_GATE,
      status: isOpen ? 'True' : 'False',
      reason: isOpen ? 'Serving' : EVICTING,
      message: isOpen ? 'The pod may serve' : 'The pod leaves its Services before it is evicted',
      lastTransitionTime: rfc3339Seconds(nowMs),
    }],
  },
});

/**
 * True when an unready pod could not be evicted under this budget: it requires no healthy pod, and
 * without this one there is none. Its pods are evicted without closing their gates (Kubernetes:
 * `unhealthyPodEvictionPolicy`).
 */
export const wouldHoldUnready = (
  { unhealthyPods, desiredHealthy, currentHealthy }: Pick<
    Budget,
    'unhealthyPods' | 'desiredHealthy' | 'currentHealthy'
  >,
): boolean => unhealthyPods !== 'AlwaysAllow' && desiredHealthy <= 0 && currentHealthy <= 1;

/** True when an EndpointSlice lists the pod as ready: clients are sent to it. */
export const listsAsReady = (slice: unknown, uid: string): boolean =>
  listOrEmptyAt(slice, 'endpoints').some((endpoint) =>
    textAt(endpoint, 'targetRef', 'uid') === uid &&
    // Kubernetes: no value means ready.
    booleanAt(endpoint, 'conditions', 'ready') !== false
  );
