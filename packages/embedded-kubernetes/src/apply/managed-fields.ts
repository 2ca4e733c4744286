/**
 * `metadata.managedFields`: who manages which fields of an object.
 *
 * Promises: entries that did not change stay the same objects, also in later versions of an object.
 * Source: `apimachinery/pkg/util/managedfields` (entries, their order, the limit of updaters).
 */
import { asList, asRecord, type JsonRecord, textAt } from '../values/json.ts';
import { sameJson } from '../patches/same-json.ts';
import { type FieldSet, isEmptySet, isFieldSet, LEAF, union } from './field-set.ts';

/** How a manager writes: it applies configurations, or it updates. */
export type Operation = 'Apply' | 'Update';

/** One entry, with its keys in the API server's order. */
export interface ManagedEntry {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: FieldSet;
  readonly subresource?: string;
}

/** Who writes, when, and through which subresource. */
export interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string | undefined;
  readonly time: string | undefined;
}

/** The manager of what was there before anybody applied to an untracked object. */
export const BEFORE_FIRST_APPLY = 'before-first-apply';

const ANCIENT = 'ancient-changes';
const UPDATERS_MAX = 10;

/** An applier is the same in every API version. */
export const isSameManager = (one: ManagedEntry, other: ManagedEntry): boolean =>
  one.manager === other.manager && one.operation === other.operation &&
  (one.subresource ?? '') === (other.subresource ?? '') &&
  (one.operation === 'Apply' || one.apiVersion === other.apiVersion);

/** A new entry of a writer. */
export const entryOf = (
  { manager, apiVersion, subresource }: Writer,
  operation: Operation,
  { fields, time }: { readonly fields: FieldSet; readonly time: string | undefined },
): ManagedEntry => ({
  manager,
  operation,
  apiVersion,
  ...(time === undefined ? {} : { time }),
  fieldsType: 'FieldsV1',
  fieldsV1: fields,
  ...(subresource === undefined ? {} : { subresource }),
});

const isEntry = (value: unknown): value is ManagedEntry => {
  const operation = textAt(value, 'operation');
  return (operation === 'Apply' || operation === 'Update') &&
    textAt(value, 'fieldsType') === 'FieldsV1' && isFieldSet(asRecord(value)?.['fieldsV1'] ?? LEAF);
};

/** Entries that this server wrote, and that need no second look. */
const checked = new WeakSet<readonly unknown[]>();

const isChecked = (value: unknown): value is readonly ManagedEntry[] =>
  Array.isArray(value) && checked.has(value);

const NO_ENTRIES: readonly ManagedEntry[] = [];

/** The entries of a stored object; undefined when its fields have no managers. */
export const entriesOf = (object: JsonRecord): readonly ManagedEntry[] | undefined => {
  const list = asRecord(object['metadata'])?.['managedFields'];
  if (isChecked(list)) return list;
  return decoded(list);
};

const withFields = (entry: ManagedEntry): ManagedEntry => {
  const { manager = '', operation, apiVersion = '', time, fieldsV1 = LEAF, subresource } = entry;
  const writer = { manager, apiVersion, time, subresource: subresource || undefined };
  return entryOf(writer, operation, { fields: fieldsV1, time });
};

/** The entries that a client sent; undefined when one of them is none, or there is none. */
const decoded = (value: unknown): readonly ManagedEntry[] | undefined => {
  const list = asList(value) ?? [];
  const entries = list.filter(isEntry).map(withFields);
  return entries.length === 0 || entries.length < list.length ? undefined : entries;
};

const isReset = (list: readonly unknown[]): boolean =>
  list.length === 0 || (list.length === 1 && Object.keys(asRecord(list[0]) ?? {}).length === 0);

/**
 * The entries that a write starts from: those that it sends, or those of the object. An empty list
 * and a list of one empty entry take them away.
 */
export const givenEntries = (
  given: unknown,
  current: readonly ManagedEntry[],
): readonly ManagedEntry[] => {
  const list = asList(given);
  if (list === undefined || list === current) return current;
  if (isReset(list)) return NO_ENTRIES;
  const entries = decoded(list);
  return entries === undefined || sameJson(entries, current) ? current : entries;
};

const orderKey = ({ operation, time = '', manager, apiVersion, subresource }: ManagedEntry) =>
  [operation, time, manager, apiVersion, subresource ?? ''] as const;

const byOrder = (left: ManagedEntry, right: ManagedEntry): number => {
  const [one, other] = [orderKey(left), orderKey(right)];
  const at = one.findIndex((part, index) => part !== other[index]);
  if (at < 0) return 0;
  return (one[at] ?? '') < (other[at] ?? '') ? -1 : 1;
};

const identifierOf = ({ manager, operation, apiVersion, subresource }: ManagedEntry): string =>
  JSON.stringify({ manager, operation, apiVersion, subresource });

const byAge = (left: ManagedEntry, right: ManagedEntry): number => {
  const [one, other] = [left.time ?? '', right.time ?? ''];
  if (one !== other) return one < other ? -1 : 1;
  return identifierOf(left) < identifierOf(right) ? -1 : 1;
};

/** One entry for the oldest updates, so that no more than the limit are left. */
const withoutAncient = (entries: readonly ManagedEntry[]): readonly ManagedEntry[] => {
  const updaters = entries.filter(({ operation }) => operation === 'Update').toSorted(byAge);
  if (updaters.length <= UPDATERS_MAX) return entries;
  const merged = new Map<string, ManagedEntry>();
  const gone = new Set<ManagedEntry>();
  for (const entry of updaters) {
    if (updaters.length - gone.size + merged.size <= UPDATERS_MAX && gone.size > 0) break;
    const { apiVersion, fieldsV1 } = entry;
    const writer = { manager: ANCIENT, apiVersion, subresource: undefined, time: entry.time };
    const fields = union(merged.get(apiVersion)?.fieldsV1 ?? LEAF, fieldsV1);
    merged.set(apiVersion, entryOf(writer, 'Update', { fields, time: entry.time }));
    gone.add(entry);
  }
  return [...entries.filter((entry) => !gone.has(entry)), ...merged.values()];
};

const INTERNED_MAX = 1000;
const interned = new Map<string, FieldSet>();
const internedSets = new WeakSet<FieldSet>();

/** One set for all objects that have the same: thousands of pods are written alike. */
const shared = (set: FieldSet): FieldSet => {
  if (internedSets.has(set)) return set;
  const text = JSON.stringify(set);
  const known = interned.get(text);
  if (known !== undefined) return known;
  if (interned.size >= INTERNED_MAX) interned.clear();
  interned.set(text, set);
  internedSets.add(set);
  return set;
};

const sharing = (entry: ManagedEntry): ManagedEntry => {
  const fieldsV1 = shared(entry.fieldsV1);
  return fieldsV1 === entry.fieldsV1 ? entry : { ...entry, fieldsV1 };
};

/** The entries as an object keeps them: those with fields, in order, few enough. */
export const settledEntries = (entries: readonly ManagedEntry[]): readonly ManagedEntry[] => {
  const kept = withoutAncient(entries.filter(({ fieldsV1 }) => !isEmptySet(fieldsV1)));
  if (checked.has(kept)) return kept;
  const sorted = kept.map(sharing).toSorted(byOrder);
  checked.add(sorted);
  return sorted;
};

/** Whether two lists differ in nothing but their times. */
export const areSameEntries = (
  one: readonly ManagedEntry[],
  other: readonly ManagedEntry[],
  isSameSet: (one: FieldSet, other: FieldSet) => boolean,
): boolean =>
  one.length === other.length &&
  one.every((entry) =>
    other.some((twin) =>
      isSameManager(entry, twin) && entry.apiVersion === twin.apiVersion &&
      isSameSet(entry.fieldsV1, twin.fieldsV1)
    )
  );
