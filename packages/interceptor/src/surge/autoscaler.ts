/**
 * What owns the replicas of a Deployment: a KEDA ScaledObject, else a HorizontalPodAutoscaler.
 *
 * Promises: the highest owner is found, except that one that a surge has raised stays the owner
 * until it is restored. kube-controller-manager scales to `minReplicas` without any metric, and
 * never down without one (`reconcileAutoscaler` of its HorizontalPodAutoscaler controller). KEDA
 * writes `spec.minReplicaCount` into a HorizontalPodAutoscaler that it owns.
 */
import { listAt, numberAt, textAt, valueAt } from '../json.ts';
import { BASELINE_ANNOTATION, baselineOf, type SurgeBaseline } from './surge-baseline.ts';

/** The kinds of autoscalers, the highest one first. */
export type AutoscalerKind = 'ScaledObject' | 'HorizontalPodAutoscaler';

/** How a kind is read and written. */
interface AutoscalerApi {
  readonly group: string;
  readonly plural: string;
  /** Below `spec`: the fewest replicas. */
  readonly least: string;
  /** Below `spec`: the most replicas. */
  readonly most: string;
}

const API: Readonly<Record<AutoscalerKind, AutoscalerApi>> = {
  ScaledObject: {
    group: '/apis/keda.sh/v1alpha1',
    plural: 'scaledobjects',
    least: 'minReplicaCount',
    most: 'maxReplicaCount',
  },
  HorizontalPodAutoscaler: {
    group: '/apis/autoscaling/v2',
    plural: 'horizontalpodautoscalers',
    least: 'minReplicas',
    most: 'maxReplicas',
  },
};

/** All kinds, the highest one first. */
export const AUTOSCALER_KINDS = ['ScaledObject', 'HorizontalPodAutoscaler'] as const;

/** What KEDA takes without `maxReplicaCount`. */
const KEDA_MOST = 100;

/** While it is there, KEDA holds the replicas at its number. */
const PAUSED_REPLICAS = 'autoscaling.keda.sh/paused-replicas';
/** While it is there, KEDA has no HorizontalPodAutoscaler and leaves the replicas alone. */
const PAUSED = 'autoscaling.keda.sh/paused';

/** An autoscaler of a Deployment. */
export interface Autoscaler {
  readonly kind: AutoscalerKind;
  readonly name: string;
  readonly resourceVersion: string;
  /** The fewest replicas, as the field has it; null: it is absent. */
  readonly least: number | null;
  readonly most: number;
  /** The fewest replicas that are demanded of the Deployment as yet; KEDA follows its object. */
  readonly demanded: number;
  /** Why its field cannot be raised; null when it can. */
  readonly held: string | null;
}

/** `/apis/autoscaling/v2/horizontalpodautoscalers`, of a namespace or of all. */
export const autoscalersPath = (kind: AutoscalerKind, namespace: string | undefined): string => {
  const { group, plural } = API[kind];
  return `${group}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
};

/** `minReplicas`. */
export const leastField = (kind: AutoscalerKind): string => API[kind].least;

/** `maxReplicas`. */
export const mostField = (kind: AutoscalerKind): string => API[kind].most;

/** The name of the Deployment that an autoscaler scales. */
export const scaledDeployment = (object: unknown): string | undefined => {
  const path = ['spec', 'scaleTargetRef'];
  const kind = textAt(object, ...path, 'kind') ?? 'Deployment';
  const group = textAt(object, ...path, 'apiVersion') ?? 'apps/v1';
  return kind === 'Deployment' && group.startsWith('apps/')
    ? textAt(object, ...path, 'name')
    : undefined;
};

/** Objects of each kind. */
export type AutoscalerLists = Readonly<Record<AutoscalerKind, readonly unknown[]>>;

const annotationOf = (object: unknown, key: string): string | undefined =>
  textAt(object, 'metadata', 'annotations', key);

const isOwnedBy = (object: unknown, owner: unknown): boolean =>
  listAt(object, 'metadata', 'ownerReferences').some((one) =>
    textAt(one, 'uid') === textAt(owner, 'metadata', 'uid')
  );

const heldBy = (kind: AutoscalerKind, object: unknown): string | null => {
  const count = annotationOf(object, PAUSED_REPLICAS);
  const name = textAt(object, 'metadata', 'name') ?? '';
  return kind === 'ScaledObject' && count !== undefined
    ? `${kind} "${name}" is paused at ${count} replicas: remove its annotation ${PAUSED_REPLICAS}`
    : null;
};

const autoscalerIn = (
  kind: AutoscalerKind,
  object: unknown,
  { HorizontalPodAutoscaler: written }: AutoscalerLists,
): Autoscaler => {
  const least = numberAt(object, 'spec', leastField(kind)) ?? null;
  const follower = kind === 'ScaledObject' ? written.find((one) => isOwnedBy(one, object)) : object;
  return {
    kind,
    name: textAt(object, 'metadata', 'name') ?? '',
    resourceVersion: textAt(object, 'metadata', 'resourceVersion') ?? '',
    least,
    most: numberAt(object, 'spec', mostField(kind)) ?? KEDA_MOST,
    demanded: follower === undefined ? 0 : numberAt(follower, 'spec', 'minReplicas') ?? 1,
    held: heldBy(kind, object),
  };
};

const isIdle = (kind: AutoscalerKind, object: unknown): boolean =>
  kind === 'ScaledObject' && annotationOf(object, PAUSED) === 'true' &&
  annotationOf(object, PAUSED_REPLICAS) === undefined;

/** An autoscaler, and what a surge has changed of it. */
export interface FoundAutoscaler {
  readonly autoscaler: Autoscaler;
  readonly baseline: SurgeBaseline | null;
}

/** The autoscaler that owns the replicas of a Deployment; null without one. */
export const autoscalerOf = (
  deployment: string,
  lists: AutoscalerLists,
): FoundAutoscaler | null => {
  const found = AUTOSCALER_KINDS.flatMap((kind) =>
    lists[kind].filter((object) => scaledDeployment(object) === deployment)
      .map((object) => ({ kind, object, baseline: baselineOf(object) }))
  );
  const highest = found.find(({ baseline }) => baseline !== null) ??
    found.find(({ kind, object, baseline }) => baseline !== null || !isIdle(kind, object));
  return highest === undefined ? null : {
    autoscaler: autoscalerIn(highest.kind, highest.object, lists),
    baseline: highest.baseline,
  };
};

/** Whether a surge has raised the object. */
export const isRaised = (object: unknown): boolean =>
  valueAt(object, 'metadata', 'annotations', BASELINE_ANNOTATION) !== undefined;
