/**
 * Unknown fields of an object: dropped, or refused with `fieldValidation=Strict`.
 *
 * Promises: a custom kind has the fields of its schema, a built-in one those of Kubernetes' own
 * OpenAPI documents, at every depth.
 */
import { asList, asRecord, type JsonRecord } from '../values/json.ts';
import type { Kind } from '../kinds/kind.ts';
import { badRequest } from '../validation/problem.ts';
import { builtInShaped, metadataShaped } from './built-in-fields.ts';

/** Paths of the fields that are missing in `kept`. */
const lost = (value: unknown, kept: unknown, path = ''): readonly string[] => {
  const list = asList(value);
  if (list !== undefined) {
    return list.flatMap((item, index) => lost(item, asList(kept)?.[index], `${path}[${index}]`));
  }
  return Object.entries(asRecord(value) ?? {}).flatMap(([field, inner]) => {
    const at = path === '' ? field : `${path}.${field}`;
    if (inner === null) return [];
    const left = asRecord(kept);
    return left !== undefined && Object.hasOwn(left, field) ? lost(inner, left[field], at) : [at];
  });
};

/** What to do with unknown fields (`fieldValidation` of a request). */
export interface FieldPolicy {
  readonly isStrict: boolean;
  /** Receives dropped fields in the wording of a `Warning` header. */
  readonly warn: (text: string) => void;
}

/** The object without unknown fields; throws when they are refused. */
export const withKnownFields = (
  object: JsonRecord,
  kind: Kind,
  { isStrict, warn }: FieldPolicy,
): JsonRecord => {
  const unknown: string[] = [];
  const drop = (path: string): void => void unknown.push(path);
  const pruned = kind.pruned?.(object);
  const kept = pruned === undefined
    ? builtInShaped(object, kind, drop)
    : metadataShaped(pruned, kind, drop);
  if (pruned !== undefined) unknown.push(...lost(object, pruned));
  const messages = unknown.map((field) => `unknown field "${field}"`);
  if (messages.length > 0 && isStrict) {
    throw badRequest(`strict decoding error: ${messages.join(', ')}`);
  }
  for (const message of messages) warn(message);
  return kept;
};
