/** The facts that decide the eviction of a pod, from the pod, its budgets and its node. */
import type { Budget } from './budget.ts';
import type { DrainPod } from './pod.ts';
import { type SlotBlocker, slotNeed } from './slots.ts';

/** The slots that a pod needs from the budgets that cover it (DR-31). */
export type EvictionNeed =
  | { readonly _tag: 'None' }
  | { readonly _tag: 'One'; readonly budget: string }
  | { readonly _tag: 'Blocked'; readonly reason: SlotBlocker };

/** The current facts about a pod, from the caches. */
export interface PodFacts {
  readonly terminating: boolean;
  /** The kubelet has released it, but a finalizer has not. */
  readonly finalizers: boolean;
  readonly need: EvictionNeed;
  /** Its node is unreachable, so no pod can terminate there (DR-44). */
  readonly kubeletSilent: boolean;
  /** An EvictionRequest asks its interceptors first; nothing else evicts it meanwhile. */
  readonly intercepted: boolean;
  /** Its Services must stop sending clients to it before its eviction is sent (RS-14). */
  readonly serving: boolean;
}

const needOf = (pod: DrainPod, budgets: readonly Budget[]): EvictionNeed => {
  const need = slotNeed(pod, budgets);
  switch (need._tag) {
    case 'None':
      return { _tag: 'None' };
    case 'One':
      return { _tag: 'One', budget: need.budget.key };
    case 'Blocked':
      return { _tag: 'Blocked', reason: need.reason };
  }
};

/** The facts about a pod covered by `budgets`. */
export const podFacts = (
  pod: DrainPod,
  budgets: readonly Budget[],
  { kubeletSilent, intercepted, serving }: Pick<
    PodFacts,
    'kubeletSilent' | 'intercepted' | 'serving'
  >,
): PodFacts => ({
  terminating: pod.terminating,
  finalizers: pod.terminating && pod.deletionGraceSeconds === 0 && pod.finalizers.length > 0,
  need: needOf(pod, budgets),
  kubeletSilent,
  intercepted,
  serving,
});

/** True for the same slot, the same blocker, or no need at all. */
export const sameNeed = (left: EvictionNeed, right: EvictionNeed): boolean =>
  left._tag === right._tag &&
  (left._tag !== 'One' || right._tag !== 'One' || left.budget === right.budget) &&
  (left._tag !== 'Blocked' || right._tag !== 'Blocked' || left.reason === right.reason);

/** True when the facts are equal for a statechart. */
export const sameFacts = (left: PodFacts, right: PodFacts): boolean =>
  left.terminating === right.terminating && left.finalizers === right.finalizers &&
  left.kubeletSilent === right.kubeletSilent && left.intercepted === right.intercepted &&
  left.serving === right.serving &&
  sameNeed(left.need, right.need);
