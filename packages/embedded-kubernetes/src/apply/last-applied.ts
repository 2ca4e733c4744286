/**
 * The hand-over from `kubectl apply` to `kubectl apply --server-side`: the annotation with what was
 * applied last is kept current, and fields that still are as it says are taken without force.
 *
 * Source: `managedfields/internal/lastappliedmanager.go`, `lastappliedupdater.go`; both are for the
 * manager `kubectl` only.
 */
import { asList, asRecord, type JsonRecord, parseJson, textAt } from '../values/json.ts';
import { withMetadata } from '../kinds/metadata.ts';
import { namedFields } from './applied-fields.ts';
import { fieldChanges } from './field-changes.ts';
import { difference, type FieldSet, LEAF } from './field-set.ts';
import type { MapType } from './field-schemas.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const KUBECTL = 'kubectl';

const lastAppliedIn = (object: JsonRecord): string | undefined =>
  textAt(object, 'metadata', 'annotations', ANNOTATION);

/** Fields that the annotation says and that the object still has with the same values. */
export const fieldsLastApplied = (
  live: JsonRecord,
  manager: string,
  type: MapType,
): FieldSet => {
  const last = manager === KUBECTL ? asRecord(parseJson(lastAppliedIn(live) ?? '')) : undefined;
  if (last === undefined) return LEAF;
  const changes = fieldChanges(live, last, type);
  return difference(namedFields(last, type), changes?.touched ?? LEAF);
};

const sorted = (value: unknown): unknown => {
  const list = asList(value);
  if (list !== undefined) return list.map(sorted);
  const record = asRecord(value);
  if (record === undefined) return value;
  const names = Object.keys(record).toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted(record[name])]));
};

/** The object with the annotation made current, if it has one and kubectl applies. */
export const withLastApplied = (
  object: JsonRecord,
  config: JsonRecord,
  manager: string,
): JsonRecord => {
  if (manager !== KUBECTL || lastAppliedIn(object) === undefined) return object;
  const annotations = asRecord(asRecord(object['metadata'])?.['annotations']);
  const text = `${JSON.stringify(sorted(config))}\n`;
  return withMetadata(object, { annotations: { ...annotations, [ANNOTATION]: text } });
};
