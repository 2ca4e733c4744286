/** Pods and budgets as a fake cluster keeps them, and as they are on the wire. */

import { SERVING_GATE } from '../../../src/domain/drain/serving-gate.ts';

/** A pod to begin with. Pods of one app are covered by the budgets of that app. */
export interface PodSeed {
  readonly name: string;
  readonly node: string;
  readonly app: string;
  readonly phase?: string;
  readonly ready?: boolean;
  readonly finalizers?: readonly string[];
  /** The revision of its Deployment, and when it was created (RFC 3339). */
  readonly rollout?: { readonly template: string; readonly created: string };
  /** It has the serving gate, which is as this says; `absent`: nobody has set it yet. */
  readonly gate?: 'open' | 'evicting' | 'absent';
  /** The kind of its controller; default: ReplicaSet. */
  readonly kind?: string;
}

export interface BudgetSeed {
  readonly name: string;
  readonly app: string;
  readonly maxUnavailable: number;
  readonly alwaysAllow?: boolean;
}

export interface PodState {
  seed: PodSeed;
  uid: string;
  ready: boolean;
  phase: string;
  deletedAt: string | undefined;
  grace: number;
}

export interface BudgetState {
  seed: BudgetSeed;
  uid: string;
  generation: number;
  observed: number;
  allowed: number;
  healthy: number;
  desired: number;
  expected: number;
  disrupted: Record<string, string>;
  resourceVersion: number;
}

/** The namespace of all of them. */
export const NAMESPACE = 'ns';

const gateConditions = (gate: PodSeed['gate']): readonly object[] => {
  const containers = { type: 'ContainersReady', status: 'True' };
  if (gate === undefined) return [];
  if (gate === 'absent') return [containers];
  const isOpen = gate === 'open';
  return [containers, {
    type: SERVING_GATE,
    status: isOpen ? 'True' : 'False',
    reason: isOpen ? 'Serving' : 'Evicting',
  }];
};

/** The pod on the wire, at a revision. */
export const rawPod = (pod: PodState, at: string): object => ({
  metadata: {
    name: pod.seed.name,
    namespace: NAMESPACE,
    uid: pod.uid,
    resourceVersion: at,
    labels: {
      app: pod.seed.app,
      ...(pod.seed.rollout === undefined ? {} : { 'pod-template-hash': pod.seed.rollout.template }),
    },
    creationTimestamp: pod.seed.rollout?.created,
    finalizers: pod.seed.finalizers ?? [],
    ownerReferences: [{
      kind: pod.seed.kind ?? 'ReplicaSet',
      name: [pod.seed.app, pod.seed.rollout?.template ?? []].flat().join('-'),
      uid: pod.seed.app,
      controller: true,
    }],
    ...(pod.deletedAt === undefined
      ? {}
      : { deletionTimestamp: pod.deletedAt, deletionGracePeriodSeconds: pod.grace }),
  },
  spec: {
    nodeName: pod.seed.node,
    ...(pod.seed.gate === undefined ? {} : { readinessGates: [{ conditionType: SERVING_GATE }] }),
  },
  status: {
    phase: pod.phase,
    conditions: [
      { type: 'Ready', status: pod.ready ? 'True' : 'False' },
      ...gateConditions(pod.seed.gate),
    ],
  },
});

/** The budget on the wire, at a revision. */
export const rawBudget = (budget: BudgetState, at: string): object => ({
  metadata: {
    name: budget.seed.name,
    namespace: NAMESPACE,
    uid: budget.uid,
    resourceVersion: at,
    generation: budget.generation,
  },
  spec: {
    selector: { matchLabels: { app: budget.seed.app } },
    maxUnavailable: budget.seed.maxUnavailable,
    ...(budget.seed.alwaysAllow === true ? { unhealthyPodEvictionPolicy: 'AlwaysAllow' } : {}),
  },
  status: {
    observedGeneration: budget.observed,
    disruptionsAllowed: budget.allowed,
    currentHealthy: budget.healthy,
    desiredHealthy: budget.desired,
    expectedPods: budget.expected,
    disruptedPods: budget.disrupted,
  },
});
