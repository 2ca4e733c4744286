/** Reads `metadata` of a Kubernetes object. Total: without an identity, `undefined`. */
import type { Identity } from './facts.ts';
import { objectKey, resourceVersion, uid } from './ids.ts';
import { numberAt, recordAt, textAt, textRecordOrEmptyAt } from './json.ts';

/**
 * What requests of Tidegate call themselves. The API server takes it for the manager of the fields
 * of a write that names none (Server-Side Apply, Managers).
 */
export const USER_AGENT = 'tidegate';

/** The identity kept of every object; `undefined` without a name, UID or resourceVersion. */
export const identityOf = (raw: unknown): Identity | undefined => {
  const metadata = recordAt(raw, 'metadata');
  const name = textAt(metadata, 'name');
  const id = textAt(metadata, 'uid');
  const version = textAt(metadata, 'resourceVersion');
  if (!name || !id || version === undefined) return undefined;
  return {
    key: objectKey(name, textAt(metadata, 'namespace')),
    uid: uid(id),
    resourceVersion: resourceVersion(version),
  };
};

/** `metadata.labels`; empty when there are none. */
export const labelsOf = (raw: unknown): Readonly<Record<string, string>> =>
  textRecordOrEmptyAt(raw, 'metadata', 'labels');

/** `metadata.annotations`; empty when there are none. */
export const annotationsOf = (raw: unknown): Readonly<Record<string, string>> =>
  textRecordOrEmptyAt(raw, 'metadata', 'annotations');

/** `metadata.generation`, which counts the versions of the spec; 0 without one. */
export const generationOf = (raw: unknown): number => numberAt(raw, 'metadata', 'generation') ?? 0;

/** True when the object waits for its finalizers. */
export const isDeleting = (raw: unknown): boolean =>
  textAt(raw, 'metadata', 'deletionTimestamp') !== undefined;
