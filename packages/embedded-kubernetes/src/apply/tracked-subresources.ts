/**
 * Which parts of an object have managers: not its identity, and not what a write through this path
 * cannot change.
 *
 * Source: `GetResetFields` of the strategies of Kubernetes, `stripmeta.go` of managedfields.
 */
import { asRecord, type JsonRecord } from '../values/json.ts';
import type { Kind } from '../kinds/kind.ts';

/** The path that a write takes: the object's own, or one of a subresource. */
export type WritePart = 'status' | 'finalize' | 'scale' | undefined;

const IDENTITY = new Set([
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'generation'],
  ...['managedFields', 'resourceVersion'],
]);

const STATUS_RESETS = {
  'spec': new Set([...IDENTITY, 'deletionTimestamp', 'ownerReferences']),
  'spec and labels': new Set([...IDENTITY, 'deletionTimestamp', 'ownerReferences', 'labels']),
};

const withoutFields = (record: JsonRecord, left: ReadonlySet<string>): JsonRecord => {
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(record)) if (!left.has(field)) kept[field] = value;
  return kept;
};

const MAIN = new Set(['apiVersion', 'kind']);
const MAIN_WITH_STATUS = new Set([...MAIN, 'status']);
const OF_STATUS = new Set([...MAIN, 'spec']);

/** The part of an object that has managers; its metadata is always there. */
export const trackedPart = (object: JsonRecord, kind: Kind, part: WritePart): JsonRecord => {
  const metadata = asRecord(object['metadata']) ?? {};
  if (part !== 'status') {
    const left = kind.status === undefined ? MAIN : MAIN_WITH_STATUS;
    return { ...withoutFields(object, left), metadata: withoutFields(metadata, IDENTITY) };
  }
  const scope = kind.status ?? 'spec';
  if (scope === 'all but status') {
    return 'status' in object ? { metadata: {}, status: object['status'] } : { metadata: {} };
  }
  const rest = withoutFields(object, OF_STATUS);
  return { ...rest, metadata: withoutFields(metadata, STATUS_RESETS[scope]) };
};
