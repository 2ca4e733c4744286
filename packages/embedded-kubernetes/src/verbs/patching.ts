/**
 * `PATCH`: JSON, merge and strategic merge patches; the last for built-in kinds only.
 *
 * Source: `apiserver/pkg/endpoints/handlers/patch.go`; server-side apply is in `src/apply`.
 */
import type { FieldWriter } from '../apply/tracking.ts';
import { asRecord, type JsonRecord, recordAt, textAt } from '../values/json.ts';
import { type ApiServerState, servedBy, storedOrRefuse, type Target } from '../api-server-state.ts';
import { apiVersionOf, type Kind, kindSubjectOf, subjectOf } from '../kinds/kind.ts';
import { nameOf, withMetadata } from '../kinds/metadata.ts';
import { jsonPatched } from '../patches/json-patch.ts';
import { mergePatched } from '../patches/merge-patch.ts';
import { strategicPatched } from '../patches/strategic-patch.ts';
import { invalid, invalidObject } from '../validation/field-problem.ts';
import { badRequest, conflict, OUTDATED, unsupportedMediaType } from '../validation/problem.ts';
import { type FieldPolicy, withKnownFields } from '../schema/known-fields.ts';
import type { WriteOptions } from './creating.ts';
import { replace, type UpdateOptions } from './updating.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

/** A patch request. */
export interface Patch extends UpdateOptions {
  readonly contentType: string;
  readonly body: unknown;
  /** What to do with unknown fields. */
  readonly fields: FieldPolicy;
}

const acceptedBy = ({ custom }: Kind): readonly string[] =>
  custom ? [JSON_PATCH, MERGE_PATCH, APPLY] : [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY];

const assertAccepted = (contentType: string, kind: Kind): void => {
  const accepted = acceptedBy(kind);
  if (accepted.includes(contentType)) return;
  throw unsupportedMediaType(
    'the body of the request was in an unknown format - accepted media types include: ' +
      accepted.join(', '),
  );
};

/** The patched document; throws when the patch does not apply. */
export const patched = (
  document: JsonRecord,
  { contentType, body }: Patch,
  kind: Kind,
): JsonRecord => {
  assertAccepted(contentType, kind);
  if (contentType !== JSON_PATCH && asRecord(body) === undefined) {
    throw badRequest('error decoding patch: json: cannot unmarshal value into an object');
  }
  const result = contentType === JSON_PATCH
    ? jsonPatched(document, body)
    : contentType === MERGE_PATCH
    ? mergePatched(document, body)
    : strategicPatched(document, body);
  const object = asRecord(result);
  if (object !== undefined) return object;
  throw invalidObject({ group: '', kind: '' }, '', [
    invalid('patch', JSON.stringify(result), 'the patched document is no object'),
  ]);
};

const assertSameType = (object: JsonRecord, kind: Kind): void => {
  if (object['kind'] === kind.kind && object['apiVersion'] === apiVersionOf(kind)) return;
  throw badRequest(
    `the patch changes the type of the object to "${object['apiVersion']}, Kind=${object['kind']}"`,
  );
};

const assertSameIdentity = (object: JsonRecord, current: JsonRecord, kind: Kind): void => {
  const [name, actual] = [nameOf(object), nameOf(current)];
  if (name !== actual) {
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${actual})`,
    );
  }
  const uid = textAt(object, 'metadata', 'uid') ?? '';
  if (uid === textAt(current, 'metadata', 'uid')) return;
  throw invalidObject(kindSubjectOf(kind), name, [
    invalid('metadata.uid', uid, 'field is immutable'),
  ]);
};

/** Whether the patch is an applied configuration. */
export const isApply = (contentType: string): boolean => contentType === APPLY;

/** A document that a patch led to, and how it is written. */
interface PatchResult {
  readonly result: JsonRecord;
  readonly current: JsonRecord;
  readonly options: WriteOptions & Pick<FieldWriter, 'part'> & Pick<Patch, 'fields'>;
}

/** Writes the result of a patch; returns the stored object. */
export const written = (
  server: ApiServerState,
  target: Target,
  { result, current, options: { fields, ...options } }: PatchResult,
): JsonRecord => {
  const { kind, at } = target;
  assertSameType(result, kind);
  const revision = textAt(result, 'metadata', 'resourceVersion');
  if (revision !== textAt(current, 'metadata', 'resourceVersion') && revision !== undefined) {
    throw conflict(subjectOf(kind), at.name, OUTDATED);
  }
  assertSameIdentity(result, current, kind);
  const given = recordAt(result, 'metadata')?.['managedFields'];
  const named = withMetadata(result, {
    resourceVersion: textAt(current, 'metadata', 'resourceVersion'),
    managedFields: undefined,
  });
  const known = withKnownFields(named, kind, fields);
  const wanted = kind.defaulted?.(known) ?? known;
  return replace(server, target, { wanted, current, given, ...options });
};

/** Patches an object; returns the stored object. */
export const patch = (server: ApiServerState, target: Target, given: Patch): JsonRecord => {
  const { kind } = target;
  assertAccepted(given.contentType, kind);
  const current = servedBy(kind, storedOrRefuse(server, target));
  const result = patched(current, given, kind);
  const { contentType: _, body: __, ...options } = given;
  return written(server, target, { result, current, options });
};
