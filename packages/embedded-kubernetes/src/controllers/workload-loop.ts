/**
 * The reconcile loop of all workload controllers: a while after a workload or one of its objects
 * changed, it takes one step towards the spec.
 */
import { type JsonRecord, numberAt } from '../values/json.ts';
import { keyQueue } from './key-queue.ts';
import { isTerminating } from './pod-reading.ts';
import { type OwnedObjects, ownedObjects } from './owned-objects.ts';
import { canonicalJson } from './replicas.ts';
import {
  type CollectionName,
  type Controller,
  type ControllerEnvironment,
  keyOf,
  nameIn,
  patchStatus,
  uidOf,
  within,
} from './controller-environment.ts';

/** One kind of workload. */
export interface WorkloadKind {
  readonly collection: CollectionName;
  /** The kind of the objects that it creates. */
  readonly owns: CollectionName;
  /** Takes one step; returns the resulting status of the workload. */
  readonly step: (workload: JsonRecord, owned: readonly JsonRecord[]) => JsonRecord;
  /** Other collections whose changes concern every workload of this kind. */
  readonly heeds?: readonly CollectionName[];
}

const metadataGeneration = (object: JsonRecord): number =>
  numberAt(object, 'metadata', 'generation') ?? 0;

/** `spec.replicas`; the API's default is 1. */
export const wantedReplicas = (workload: unknown): number =>
  numberAt(workload, 'spec', 'replicas') ?? 1;

const writeStatus =
  (environment: ControllerEnvironment, collection: CollectionName, workload: JsonRecord) =>
  (
    status: JsonRecord,
  ): void => {
    const next = { observedGeneration: metadataGeneration(workload), ...status };
    const before = workload['status'];
    const changed = Object.entries(next).some(([field, value]) =>
      canonicalJson(
        typeof before === 'object' && before !== null && Object.hasOwn(before, field)
          ? Object.entries(before).find(([key]) => key === field)?.[1]
          : undefined,
      ) !== canonicalJson(value)
    );
    if (changed) patchStatus(environment, collection, { object: workload, status: next });
  };

/** Starts a controller. */
export const startWorkloads = (
  environment: ControllerEnvironment,
  kind: WorkloadKind,
): Controller => {
  const { collection, owns, step } = kind;
  const keys = new Map<string, string>();
  const look = (key: string): void => {
    const workload = environment.get(collection, nameIn(key));
    if (workload === undefined || isTerminating(workload)) return;
    const status = step(workload, [...owned.of(workload)]);
    const now = environment.get(collection, nameIn(key));
    if (now !== undefined) writeStatus(environment, collection, now)(status);
  };
  const queue = keyQueue(environment.time, look);
  const enqueue = (key: string): void =>
    queue.schedule(key, within(environment, environment.timing.controllerMs));
  const owned: OwnedObjects = ownedObjects(environment, owns, (owner) => {
    const key = keys.get(owner);
    if (key !== undefined) enqueue(key);
  });
  const heeds = new Set<string>(kind.heeds ?? []);
  const unsubscribe = environment.subscribe(({ type, collection: changed, object }) => {
    if (changed === collection) {
      const key = keyOf(object);
      if (type === 'DELETED') keys.delete(uidOf(object));
      else {
        keys.set(uidOf(object), key);
        enqueue(key);
      }
    } else if (heeds.has(changed)) { for (const key of keys.values()) enqueue(key); }
  });
  return {
    stop: () => {
      unsubscribe();
      owned.stop();
      queue.stop();
    },
  };
};
