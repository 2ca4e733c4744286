/**
 * Fields that a kind does not have: they are dropped, or refused with `fieldValidation=Strict`.
 *
 * Promises: a custom kind has the fields of its schema, a built-in one those of Kubernetes' own
 * OpenAPI documents, at every depth.
 */
import { asList, asRecord, type JsonRecord } from '../values/json.ts';
import type { Kind } from '../kinds/kind.ts';
import { badRequest } from '../validation/problem.ts';
import { builtInShaped, metadataShaped } from './built-in-fields.ts';

/** Paths of the fields that `kept` lost. */
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

/** What happens to fields that a kind does not have (`fieldValidation` of a request). */
export interface FieldPolicy {
  readonly isStrict: boolean;
  /** Hears of what is dropped, in the words of a `Warning` header. */
  readonly warn: (text: string) => void;
}

/** An object without the fields that its kind does not have; refuses it when it is strict. */
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
