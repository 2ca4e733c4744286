/**
 * Keeps `metadata.managedFields` of what the verbs write.
 *
 * Promises: a created object is tracked; one that lost all its managers stays untracked until
 * somebody applies to it, as on the real API server.
 */
import { asRecord, type JsonRecord } from '../values/json.ts';
import { rfc3339Seconds } from '../values/time.ts';
import type { ApiServerState } from '../api-server-state.ts';
import { apiVersionOf, type Change, type Kind } from '../kinds/kind.ts';
import { withMetadata } from '../kinds/metadata.ts';
import { sameJson } from '../patches/same-json.ts';
import { intersection, isEmptySet, LEAF } from './field-set.ts';
import { typeOfKind } from './field-schemas.ts';
import {
  areSameEntries,
  entriesOf,
  givenEntries,
  type ManagedEntry,
  settledEntries,
  type Writer,
} from './managed-fields.ts';
import { type OwnedWrite, updatedEntries } from './ownership.ts';
import { trackedPart, type WritePart } from './tracked-subresources.ts';
import { zeroObject } from './zero-objects.ts';

/** Who writes, and through which path. */
export interface FieldWriter {
  readonly manager: string;
  readonly part?: WritePart;
  /** The managers that an apply found; undefined computes them from what changes. */
  readonly owned?: readonly ManagedEntry[];
}

const writerOf = (
  { time }: Pick<ApiServerState, 'time'>,
  kind: Kind,
  { manager, part }: FieldWriter,
): Writer => ({
  manager,
  apiVersion: apiVersionOf(kind),
  subresource: part,
  // The real API server does not time what goes through `/scale`.
  time: part === 'scale' ? undefined : rfc3339Seconds(time.now()),
});

/** The write as the managers of fields see it. */
export const ownedWrite = (
  server: Pick<ApiServerState, 'time'>,
  kind: Kind,
  writer: FieldWriter,
): OwnedWrite => ({
  type: typeOfKind(kind),
  writer: writerOf(server, kind, writer),
  tracked: (object) => trackedPart(object, kind, writer.part),
});

const listed = (entries: readonly ManagedEntry[]): readonly ManagedEntry[] | undefined =>
  entries.length === 0 ? undefined : entries;

/** `metadata.managedFields` of a new object; `given` is what the client sent as such. */
export const createdFields = (
  server: Pick<ApiServerState, 'time'>,
  { kind, object, given }: {
    readonly kind: Kind;
    readonly object: JsonRecord;
    readonly given: unknown;
  },
  writer: FieldWriter,
): readonly ManagedEntry[] | undefined => {
  if (writer.owned !== undefined) return listed(writer.owned);
  const write = ownedWrite(server, kind, writer);
  const entries = givenEntries(given, []);
  return listed(updatedEntries(entries, { before: zeroObject(kind), after: object }, write));
};

const isTracked = (
  entries: readonly ManagedEntry[],
  { kind, part }: { readonly kind: Kind; readonly part: WritePart },
): boolean => {
  if (part !== 'scale') return entries.length > 0;
  const path = (kind.scale?.specReplicas ?? []).map((name) => `f:${name}`);
  const replicas = path.reduceRight((below, element) => ({ [element]: below }), LEAF);
  return entries.some(({ fieldsV1 }) => !isEmptySet(intersection(fieldsV1, replicas)));
};

/** `metadata.managedFields` after an update; `given` is what the client sent as such. */
export const updatedFields = (
  server: Pick<ApiServerState, 'time'>,
  { kind, change, given }: {
    readonly kind: Kind;
    readonly change: Change;
    readonly given: unknown;
  },
  writer: FieldWriter,
): readonly ManagedEntry[] | undefined => {
  if (writer.owned !== undefined) return listed(writer.owned);
  const { wanted: after, current: before } = change;
  const present = entriesOf(before) ?? [];
  const entries = writer.part === undefined ? givenEntries(given, present) : present;
  if (!isTracked(entries, { kind, part: writer.part })) return listed(entries);
  const updated = updatedEntries(entries, { before, after }, ownedWrite(server, kind, writer));
  return listed(updated === present ? present : settledEntries(updated));
};

const managedIn = (object: JsonRecord): unknown => asRecord(object['metadata'])?.['managedFields'];

/** Whether two versions of an object differ in nothing but the times of their managers. */
export const isSameObject = (one: JsonRecord, other: JsonRecord): boolean => {
  if (managedIn(one) === managedIn(other)) return sameJson(one, other);
  const [left, right] = [entriesOf(one) ?? [], entriesOf(other) ?? []];
  return areSameEntries(left, right, sameJson) &&
    sameJson(withoutManagers(one), withoutManagers(other));
};

/** The object without its managers. */
export const withoutManagers = (object: JsonRecord): JsonRecord =>
  managedIn(object) === undefined ? object : withMetadata(object, { managedFields: undefined });
