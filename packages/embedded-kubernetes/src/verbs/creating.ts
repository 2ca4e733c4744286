/**
 * `POST`: creates objects.
 *
 * Source: `apiserver/pkg/registry/rest/create.go`, `generic/registry/store.go` (Create).
 */
import { createdFields, type FieldWriter } from '../apply/tracking.ts';
import { type JsonRecord, textAt, valueAt } from '../values/json.ts';
import { rfc3339Seconds } from '../values/time.ts';
import {
  type ApiServerState,
  momentOf,
  servedBy,
  storedAt,
  storedBy,
  type Target,
} from '../api-server-state.ts';
import { kindSubjectOf, subjectOf } from '../kinds/kind.ts';
import {
  isDeleting,
  metadataProblems,
  nameOf,
  namespaceOf,
  withMetadata,
  withoutEmptyMetadata,
} from '../kinds/metadata.ts';
import { admitToNamespace } from '../kinds/namespaces.ts';
import { invalidObject } from '../validation/field-problem.ts';
import { alreadyExists, ApiProblem, badRequest } from '../validation/problem.ts';

/** Options of a write. */
export interface WriteOptions extends Pick<FieldWriter, 'manager' | 'owned'> {
  readonly dryRun: boolean;
}

/** Longer prefixes are truncated, so that the result is a valid name. */
const GENERATED_PREFIX_MAX = 58;

const named = ({ identifiers }: ApiServerState, object: JsonRecord): JsonRecord => {
  const prefix = textAt(object, 'metadata', 'generateName') ?? '';
  if (nameOf(object) !== '' || prefix === '') return object;
  return withMetadata(object, {
    name: prefix.slice(0, GENERATED_PREFIX_MAX) + identifiers.suffix(),
  });
};

/** The object in the request's namespace; throws when the body names another. */
export const inNamespace = (object: JsonRecord, { kind, at }: Target): JsonRecord => {
  const given = namespaceOf(object);
  if (!kind.namespaced) {
    return given === '' ? withMetadata(object, { namespace: undefined }) : object;
  }
  if (given !== '' && given !== at.namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  return given === at.namespace ? object : withMetadata(object, { namespace: at.namespace });
};

const born = ({ identifiers, time }: ApiServerState, object: JsonRecord): JsonRecord =>
  withMetadata(object, {
    uid: identifiers.uid(),
    creationTimestamp: rfc3339Seconds(time.now()),
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    managedFields: undefined,
    selfLink: undefined,
  });

const assertNew = (object: JsonRecord): void => {
  const revision = textAt(object, 'metadata', 'resourceVersion') ?? '';
  if (revision === '' || revision === '0') return;
  throw new ApiProblem({
    code: 500,
    message: 'resourceVersion should not be set on objects to be created',
  });
};

/** The object as it would be stored; throws when it is invalid. */
const prepared = (
  server: ApiServerState,
  { kind, at }: Target,
  { object: sent, manager, owned }: Creation,
): JsonRecord => {
  const moment = momentOf(server);
  const placed = withoutEmptyMetadata(inNamespace(sent, { kind, at }));
  const object = born(server, named(server, placed));
  const defaulted = kind.defaulted?.(object) ?? object;
  if (kind.namespaced) {
    admitToNamespace(server, kind, { object: defaulted, namespace: at.namespace });
  }
  kind.admit?.(defaulted, moment);
  const generation = kind.generationOf === undefined ? undefined : 1;
  const given = valueAt(sent, 'metadata', 'managedFields');
  const managedFields = createdFields(server, { kind, object: defaulted, given }, {
    manager,
    ...(owned === undefined ? {} : { owned }),
  });
  const begun = withMetadata(kind.onCreate?.(defaulted, moment) ?? defaulted, {
    generation,
    managedFields,
  });
  const problems = [...metadataProblems(begun, kind), ...(kind.problems?.(begun) ?? [])];
  if (problems.length > 0) throw invalidObject(kindSubjectOf(kind), nameOf(begun), problems);
  return begun;
};

interface Creation extends WriteOptions {
  readonly object: JsonRecord;
}

/** Creates an object; ignores `at.name`. Returns the stored object. */
export const create = (
  server: ApiServerState,
  target: Target,
  creation: Creation,
): JsonRecord => {
  const { kind } = target;
  const { object: sent, dryRun } = creation;
  const object = prepared(server, target, creation);
  const at = { namespace: kind.namespaced ? target.at.namespace : '', name: nameOf(object) };
  server.admit?.({ operation: 'CREATE', kind, at, object, dryRun });
  const inTheWay = storedAt(server, { kind, at });
  if (inTheWay !== undefined) {
    throw alreadyExists(subjectOf(kind), at.name, isDeleting(inTheWay));
  }
  assertNew(sent);
  if (dryRun) return withMetadata(object, { resourceVersion: undefined });
  return servedBy(kind, server.store.put(kind.resource, at, storedBy(kind, object)));
};
