/** Pods, budgets and cordons as the API server returns them, with the test's overrides. */
import { type Budget, projectBudget } from '../../../src/domain/drain/budget.ts';
import { type DrainPod, projectPod } from '../../../src/domain/drain/pod.ts';
import { SERVING_GATE } from '../../../src/domain/drain/serving-gate.ts';

/** The test's overrides of a pod; the default is a healthy one of a ReplicaSet. */
export interface PodTraits {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly node?: string;
  readonly priority?: number;
  readonly phase?: string;
  readonly ready?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  /** `null` makes a bare pod. */
  readonly controller?: { readonly kind: string; readonly name: string } | null;
  readonly tolerations?: readonly object[];
  readonly volumes?: readonly object[];
  /** RFC 3339. */
  readonly created?: string;
  /** RFC 3339. */
  readonly deletion?: string;
  readonly deletionGraceSeconds?: number;
  /** An eviction has closed its serving gate. */
  readonly isNotServing?: boolean;
}

/** A Pod object. */
export const rawPod = (traits: PodTraits = {}): object => {
  const { name = 'a', namespace = 'ns', phase = 'Running', ready = true } = traits;
  const { controller = { kind: 'ReplicaSet', name: 'web' } } = traits;
  return {
    metadata: {
      name,
      namespace,
      uid: traits.uid ?? `uid-${name}`,
      resourceVersion: traits.resourceVersion ?? '10',
      labels: traits.labels ?? { app: 'web' },
      annotations: traits.annotations,
      finalizers: traits.finalizers,
      creationTimestamp: traits.created,
      deletionTimestamp: traits.deletion,
      deletionGracePeriodSeconds: traits.deletionGraceSeconds,
      ownerReferences: controller === null ? undefined : [
        { kind: 'Node', name: 'other', uid: 'uid-other' },
        { ...controller, uid: `uid-${controller.name}`, controller: true },
      ],
    },
    spec: {
      nodeName: traits.node ?? 'n1',
      priority: traits.priority ?? 0,
      tolerations: traits.tolerations,
      volumes: traits.volumes,
      readinessGates: traits.isNotServing === true ? [{ conditionType: SERVING_GATE }] : undefined,
    },
    status: {
      phase,
      conditions: [
        { type: 'Ready', status: ready ? 'True' : 'False' },
        ...(traits.isNotServing === true
          ? [{ type: SERVING_GATE, status: 'False', reason: 'Evicting' }]
          : []),
      ],
    },
  };
};

const projected = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('the object has no identity');
  return value;
};

/** A pod as the cache keeps it. */
export const podOf = (traits?: PodTraits): DrainPod => projected(projectPod(rawPod(traits)));

/** The test's overrides of a budget; the default selects `app: web` and allows 0 disruptions. */
export interface BudgetTraits {
  readonly name?: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly selector?: object | null;
  readonly spec?: object;
  readonly generation?: number;
  readonly status?: object;
}

/** A PodDisruptionBudget object. */
export const rawBudget = (traits: BudgetTraits = {}): object => {
  const { name = 'db', namespace = 'ns', selector = { matchLabels: { app: 'web' } } } = traits;
  const { generation = 1 } = traits;
  return {
    metadata: {
      name,
      namespace,
      uid: `uid-${name}`,
      resourceVersion: traits.resourceVersion ?? '100',
      generation,
    },
    spec: { ...(selector === null ? {} : { selector }), minAvailable: 1, ...traits.spec },
    status: { observedGeneration: generation, expectedPods: 4, ...traits.status },
  };
};

/** A budget as the cache keeps it. */
export const budgetOf = (traits?: BudgetTraits): Budget =>
  projected(projectBudget(rawBudget(traits)));
