/**
 * Who manages which fields after a write: updates take what they change, applies take what they
 * name, and give up what they no longer name.
 *
 * Promises: pure; an update that changes nothing returns the entries that it was given. Source:
 * structured-merge-diff (`merge/update.go`), Kubernetes docs (Server-Side Apply).
 */
import type { JsonRecord } from '../values/json.ts';
import { sameJson } from '../patches/same-json.ts';
import { namedFields } from './applied-fields.ts';
import { applyConflict, type ManagerConflict } from './apply-conflict.ts';
import { type FieldChanges, fieldChanges } from './field-changes.ts';
import { difference, type FieldSet, intersection, isEmptySet, LEAF, union } from './field-set.ts';
import type { MapType } from './field-schemas.ts';
import {
  entryOf,
  isSameManager,
  type ManagedEntry,
  type Operation,
  settledEntries,
  type Writer,
} from './managed-fields.ts';
import { mergedObject, objectWithout, withStructuresOf } from './merging.ts';

/** A write, and what it means to the managers of fields. */
export interface OwnedWrite {
  readonly type: MapType;
  readonly writer: Writer;
  /** The part of an object that has managers. */
  readonly tracked: (object: JsonRecord) => JsonRecord;
}

const changesOf = (
  before: JsonRecord,
  after: JsonRecord,
  { type, tracked }: OwnedWrite,
): FieldChanges | undefined => fieldChanges(tracked(before), tracked(after), type);

const withFields = (entry: ManagedEntry, fieldsV1: FieldSet): ManagedEntry =>
  entry.fieldsV1 === fieldsV1 ? entry : { ...entry, fieldsV1 };

const locate = (
  entries: readonly ManagedEntry[],
  writer: Writer,
  operation: Operation,
): ManagedEntry | undefined => {
  const sought = entryOf(writer, operation, { fields: LEAF, time: undefined });
  return entries.find((entry) => isSameManager(entry, sought));
};

const released = (entry: ManagedEntry, { touched, removed }: FieldChanges): ManagedEntry =>
  withFields(entry, difference(difference(entry.fieldsV1, touched), removed));

/** The entries after an update of an object whose entries are these. */
export const updatedEntries = (
  entries: readonly ManagedEntry[],
  { before, after }: { readonly before: JsonRecord; readonly after: JsonRecord },
  write: OwnedWrite,
): readonly ManagedEntry[] => {
  const changes = changesOf(before, after, write);
  if (changes === undefined) return entries;
  const { writer } = write;
  const own = locate(entries, writer, 'Update');
  const others = entries.filter((entry) => entry !== own).map((entry) => released(entry, changes));
  if (own !== undefined && isEmptySet(changes.touched)) {
    return settledEntries([...others, released(own, changes)]);
  }
  const kept = own === undefined ? LEAF : difference(own.fieldsV1, changes.removed);
  const fields = union(kept, changes.touched);
  const entry = entryOf(writer, 'Update', { fields, time: writer.time });
  return settledEntries([...others, entry]);
};

/** What comes of an apply. */
interface Applied {
  /** Undefined when it changes no field. */
  readonly object: JsonRecord | undefined;
  readonly entries: readonly ManagedEntry[];
}

/** Removes what the applier named last time and does not name now, unless others own it. */
const pruned = (
  merged: JsonRecord,
  { last, owned, type }: {
    readonly last: FieldSet;
    /** What anybody owns now, the applier included. */
    readonly owned: FieldSet;
    readonly type: MapType;
  },
): JsonRecord => {
  const given = withStructuresOf(last, type);
  const all = withStructuresOf(namedFields(merged, type), type);
  const left = withStructuresOf(namedFields(objectWithout(merged, given, type), type), type);
  const kept = union(left, withStructuresOf(owned, type));
  const owning = objectWithout(merged, difference(all, kept), type);
  const rest = withStructuresOf(namedFields(owning, type), type);
  return objectWithout(merged, intersection(difference(all, rest), given), type);
};

const ownedBy = (entries: readonly ManagedEntry[]): FieldSet =>
  entries.reduce((all, { fieldsV1 }) => union(all, fieldsV1), LEAF);

const conflictsOf = (
  entries: readonly ManagedEntry[],
  touched: FieldSet,
): readonly ManagerConflict[] =>
  entries.map((entry) => ({ entry, fields: intersection(entry.fieldsV1, touched) }))
    .filter(({ fields }) => !isEmptySet(fields));

/** A configuration to apply to an object. */
interface Application {
  readonly live: JsonRecord;
  readonly entries: readonly ManagedEntry[];
  readonly config: JsonRecord;
  readonly isForced: boolean;
  /** Fields that it may take from others without force. */
  readonly mayTake?: FieldSet;
}

const assertNoConflict = (
  { isForced, mayTake = LEAF }: Application,
  conflicts: readonly ManagerConflict[],
): void => {
  if (isForced) return;
  const refused = conflicts
    .map(({ entry, fields }) => ({ entry, fields: difference(fields, mayTake) }))
    .filter(({ fields }) => !isEmptySet(fields));
  if (refused.length > 0) throw applyConflict(refused);
};

const withoutBareMetadata = (object: JsonRecord): JsonRecord => {
  const { metadata, ...rest } = object;
  return sameJson(metadata, {}) ? rest : object;
};

/** Applies a configuration; throws 409 when it would change fields of others. */
export const appliedTo = (application: Application, write: OwnedWrite): Applied => {
  const { live, entries, config } = application;
  const { type, writer, tracked } = write;
  const last = locate(entries, writer, 'Apply');
  const others = entries.filter((entry) => entry !== last);
  const fields = namedFields(withoutBareMetadata(tracked(config)), type);
  const merged = mergedObject(live, config, type);
  const next = last === undefined ? merged : pruned(merged, {
    last: last.fieldsV1,
    owned: union(ownedBy(others), namedFields(config, type)),
    type,
  });
  const changes = changesOf(live, next, write);
  assertNoConflict(application, conflictsOf(others, changes?.touched ?? LEAF));
  const left = changes === undefined ? others : others.map((entry) => released(entry, changes));
  const isSame = sameJson(next, live);
  const time = isSame ? last?.time : writer.time;
  const own = entryOf(writer, 'Apply', { fields, time });
  return {
    object: isSame ? undefined : next,
    entries: settledEntries([...left, own]),
  };
};
