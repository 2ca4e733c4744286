/**
 * Server-side apply: one PATCH with the fields that a field manager wants to own, and the fields
 * that other managers own (https://kubernetes.io/docs/reference/using-api/server-side-apply/).
 */
import { asText, listOrEmptyAt, parseJson, textAt } from '../domain/json.ts';
import type { FieldConflict } from '../domain/object-write.ts';
import type { KubeAnswer, KubeCall } from './kube-api.ts';

/** YAML is a superset of JSON, so the body is sent as JSON. */
const APPLY_PATCH = 'application/apply-patch+yaml';

/** The field manager, and how to resolve conflicts. */
export interface ApplyOptions {
  /** One name per writer: fields that it applied before and now omits are removed. */
  readonly fieldManager: string;
  /** Force: takes ownership instead of failing; only for fields that are ours by contract. */
  readonly force: boolean;
}

/** Takes the fields from whoever wrote them before: only for fields that are ours by contract. */
export const forcedBy = (fieldManager: string): ApplyOptions => ({ fieldManager, force: true });

/**
 * The call that applies `object` at `path` (of the object, or of a subresource). The object names
 * its `apiVersion`, `kind`, `metadata.name` and the wanted fields, and no `managedFields`. With
 * `metadata.uid` it never touches a successor of the same name.
 */
export const applyCall = (
  path: string,
  object: object,
  { fieldManager, force }: ApplyOptions,
): KubeCall => ({
  method: 'PATCH',
  path,
  query: { fieldManager, force: `${force}` },
  body: object,
  contentType: APPLY_PATCH,
});

/** `conflict with "kubectl" with subresource "status" using apps/v1`: names are quoted as in Go. */
const MANAGER = /^conflicts? with (?<name>"(?:[^"\\]|\\.)*")/;

const managerIn = (message: string): string =>
  asText(parseJson(MANAGER.exec(message)?.groups?.['name'] ?? '')) ?? message;

/**
 * The fields of other managers, in the order of the answer; empty unless they caused the refusal (a
 * 409 may also be about the resourceVersion).
 */
export const fieldConflictsIn = ({ status, body }: KubeAnswer): readonly FieldConflict[] => {
  if (status !== 409) return [];
  return listOrEmptyAt(body, 'details', 'causes')
    .filter((cause) => textAt(cause, 'reason') === 'FieldManagerConflict')
    .map((cause) => ({
      manager: managerIn(textAt(cause, 'message') ?? ''),
      field: textAt(cause, 'field') ?? '',
    }));
};
