/**
 * A bound pod as drains need it: its node, its blockers, and its controller.
 *
 * Promises: total for any API object; plain data, suitable for machine context; small, because
 * there are up to a hundred thousand of them (`podProjection` shares what pods of one workload have
 * in common).
 */
import type { Identity } from '../facts.ts';
import type { Uid } from '../ids.ts';
import { uid } from '../ids.ts';
import { isConditionTrue } from '../condition.ts';
import { booleanAt, listOrEmptyAt, numberAt, recordAt, textAt, timeAt } from '../json.ts';
import { annotationsOf, identityOf, labelsOf } from '../object-meta.ts';
import { type PodStorage, podStorage } from '../node-availability/local-volumes.ts';
import { textPool } from '../text-pool.ts';
import { type ServingGate, servingGateOf } from './serving-gate.ts';
import { valuePool } from '../value-pool.ts';

/** `status.phase` of a pod; other values read as `Unknown`. */
export const POD_PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;
export type PodPhase = (typeof POD_PHASES)[number];

/** The owner marked as the controller; a DaemonSet needs no mark. */
export interface PodController {
  readonly kind: string;
  readonly name: string;
  readonly uid: Uid;
}

/** The cached fields of a pod. */
export interface DrainPod extends Identity {
  readonly namespace: string;
  readonly name: string;
  /** Empty while the pod is unscheduled. */
  readonly node: string;
  readonly priority: number;
  readonly phase: PodPhase;
  /** Its `Ready` condition is true. */
  readonly ready: boolean;
  /** When it was created, as milliseconds of the wall clock. */
  readonly createdMs: number | null;
  readonly terminating: boolean;
  /** When it must be gone at the latest, as milliseconds of the wall clock. */
  readonly deletionMs: number | null;
  readonly deletionGraceSeconds: number | null;
  /** How long its containers may take to stop. */
  readonly graceSeconds: number;
  readonly controller: PodController | null;
  /** A mirror pod of the kubelet: it goes with its file on the node. */
  readonly mirror: boolean;
  /** It may be scheduled on a cordoned node. */
  readonly toleratesCordon: boolean;
  readonly finalizers: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** It has an emptyDir, whose content is lost with it. */
  readonly losesData: boolean;
  /** Succeeded or Failed: no container runs any more. */
  readonly finished: boolean;
  /** Volumes that may be on its Node only; absent without any. */
  readonly storage?: PodStorage;
  /** Its readiness gate `tidegate.dev/serving`; absent without it. */
  readonly gate?: ServingGate;
}

/** Kubernetes' default of `terminationGracePeriodSeconds`. */
const GRACE_SECONDS_DEFAULT = 30;
const MIRROR_KEY = 'kubernetes.io/config.mirror';
const CORDON_TAINT = 'node.kubernetes.io/unschedulable';
/** A full pool is cleared; far above the number of workloads of one cluster. */
const SHARED_TEXTS_MAX = 20_000;
const NO_TEXTS: readonly string[] = [];

const toleratesCordon = (toleration: unknown): boolean => {
  const key = textAt(toleration, 'key') ?? '';
  const effect = textAt(toleration, 'effect') ?? '';
  if (effect !== '' && effect !== 'NoSchedule') return false;
  const operator = textAt(toleration, 'operator') ?? 'Equal';
  if (operator === 'Exists') return key === '' || key === CORDON_TAINT;
  return operator === 'Equal' && key === CORDON_TAINT && (textAt(toleration, 'value') ?? '') === '';
};

const controllerOf = (raw: unknown): PodController | null => {
  const owners = listOrEmptyAt(raw, 'metadata', 'ownerReferences');
  const owner = owners.find((reference) => textAt(reference, 'kind') === 'DaemonSet') ??
    owners.find((reference) => booleanAt(reference, 'controller') === true);
  if (owner === undefined) return null;
  return {
    kind: textAt(owner, 'kind') ?? '',
    name: textAt(owner, 'name') ?? '',
    uid: uid(textAt(owner, 'uid') ?? ''),
  };
};

const isReady = (raw: unknown): boolean => isConditionTrue(raw, 'Ready');

const finalizersOf = (raw: unknown): readonly string[] => {
  const texts = listOrEmptyAt(raw, 'metadata', 'finalizers')
    .filter((finalizer) => typeof finalizer === 'string');
  return texts.length === 0 ? NO_TEXTS : texts;
};

/** Reads a pod as the API server returns it. Total; `undefined` without an identity. */
export const projectPod = (raw: unknown): DrainPod | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const storage = podStorage(raw);
  const gate = servingGateOf(raw);
  const isStoring = storage.nodeVolumes.length + storage.claims.length > 0;
  const phase = POD_PHASES.find((name) => name === textAt(raw, 'status', 'phase')) ?? 'Unknown';
  return {
    ...identity,
    namespace: textAt(raw, 'metadata', 'namespace') ?? '',
    name: textAt(raw, 'metadata', 'name') ?? '',
    node: textAt(raw, 'spec', 'nodeName') ?? '',
    priority: numberAt(raw, 'spec', 'priority') ?? 0,
    phase,
    ready: isReady(raw),
    createdMs: timeAt(raw, 'metadata', 'creationTimestamp'),
    terminating: textAt(raw, 'metadata', 'deletionTimestamp') !== undefined,
    deletionMs: timeAt(raw, 'metadata', 'deletionTimestamp'),
    deletionGraceSeconds: numberAt(raw, 'metadata', 'deletionGracePeriodSeconds') ?? null,
    graceSeconds: numberAt(raw, 'spec', 'terminationGracePeriodSeconds') ?? GRACE_SECONDS_DEFAULT,
    controller: controllerOf(raw),
    mirror: Object.hasOwn(annotationsOf(raw), MIRROR_KEY),
    toleratesCordon: listOrEmptyAt(raw, 'spec', 'tolerations').some(toleratesCordon),
    finalizers: finalizersOf(raw),
    labels: labelsOf(raw),
    losesData: listOrEmptyAt(raw, 'spec', 'volumes')
      .some((volume) => recordAt(volume, 'emptyDir') !== undefined),
    finished: phase === 'Succeeded' || phase === 'Failed',
    ...(isStoring ? { storage } : {}),
    ...(gate === undefined ? {} : { gate }),
  };
};

/** `projectPod` for a cache: pods of one node or workload share their common values. */
export const podProjection = (): (raw: unknown) => DrainPod | undefined => {
  const text = textPool(SHARED_TEXTS_MAX);
  const labels = valuePool<DrainPod['labels']>();
  const controllers = valuePool<PodController>();
  return (raw) => {
    const pod = projectPod(raw);
    if (pod === undefined) return undefined;
    return {
      ...pod,
      namespace: text(pod.namespace),
      node: text(pod.node),
      labels: labels(pod.labels),
      controller: pod.controller === null ? null : controllers(pod.controller),
    };
  };
};

/**
 * When the deletion of the pod was requested, as milliseconds of the wall clock: its deletion time
 * less its grace. `undefined` before.
 */
export const terminatingSinceMs = (pod: DrainPod): number | undefined =>
  pod.deletionMs === null ? undefined : pod.deletionMs - (pod.deletionGraceSeconds ?? 0) * 1000;
