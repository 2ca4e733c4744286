/**
 * `PUT`, and the write of a `PATCH`: replaces an object.
 *
 * Source: `apiserver/pkg/registry/rest/update.go`, `generic/registry/store.go` (Update).
 */
import { type FieldWriter, isSameObject, updatedFields } from '../apply/tracking.ts';
import { type JsonRecord, numberAt, recordAt, textAt, valueAt } from '../values/json.ts';
import {
  type ApiServerState,
  momentOf,
  servedBy,
  storedAt,
  storedBy,
  type Target,
} from '../api-server-state.ts';
import {
  type Change,
  type Kind,
  kindSubjectOf,
  type StatusScope,
  subjectOf,
} from '../kinds/kind.ts';
import {
  finalizersOf,
  generationOf,
  isDeleting,
  metadataChangeProblems,
  metadataProblems,
  nameOf,
  withMetadata,
  withoutEmptyMetadata,
} from '../kinds/metadata.ts';
import { sameJson } from '../patches/same-json.ts';
import { invalid, invalidObject } from '../validation/field-problem.ts';
import { badRequest, conflict, notFound, OUTDATED } from '../validation/problem.ts';
import { create, inNamespace, type WriteOptions } from './creating.ts';

/** Options of an update. */
export interface UpdateOptions extends WriteOptions {
  /** The subresource it goes through. */
  readonly part?: 'status' | 'finalize';
}

/** The result of an update. */
export interface Updated {
  readonly object: JsonRecord;
  readonly created: boolean;
}

const revisionOf = (object: JsonRecord): string =>
  textAt(object, 'metadata', 'resourceVersion') ?? '';

const assertRevision = ({ wanted, current }: Change, kind: Kind): void => {
  const given = revisionOf(wanted);
  const isUnconditional = given === '' || given === '0';
  if (isUnconditional && kind.unconditionalUpdate) return;
  if (isUnconditional) {
    throw invalidObject(subjectOf(kind), nameOf(current), [
      invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (given !== revisionOf(current)) throw conflict(subjectOf(kind), nameOf(current), OUTDATED);
};

const assertUid = ({ wanted, current }: Change, kind: Kind): void => {
  const given = textAt(wanted, 'metadata', 'uid') ?? '';
  const actual = textAt(current, 'metadata', 'uid') ?? '';
  if (given === '' || given === actual) return;
  const path = [kind.plural, textAt(current, 'metadata', 'namespace') ?? '', nameOf(current)];
  throw conflict(
    subjectOf(kind),
    nameOf(current),
    'StorageError: invalid object, Code: 4, Key: ' +
      `/registry/${path.filter((part) => part !== '').join('/')}, ResourceVersion: 0, ` +
      `AdditionalErrorMsg: Precondition failed: UID in precondition: ${given}, ` +
      `UID in object meta: ${actual}`,
  );
};

/** Immutable fields, copied from the current object. */
const rooted = ({ wanted, current }: Change): JsonRecord => {
  const metadata = recordAt(current, 'metadata') ?? {};
  return withMetadata(withoutEmptyMetadata(wanted), {
    uid: metadata['uid'],
    creationTimestamp: metadata['creationTimestamp'],
    generation: metadata['generation'],
    ...(isDeleting(current) ? { deletionTimestamp: metadata['deletionTimestamp'] } : {
      deletionTimestamp: undefined,
    }),
    deletionGracePeriodSeconds: metadata['deletionGracePeriodSeconds'],
    selfLink: undefined,
  });
};

const statusUpdated = ({ wanted, current }: Change, scope: StatusScope): JsonRecord => {
  if (scope === 'all but status') {
    const { status: _, ...rest } = current;
    return { ...rest, ...('status' in wanted ? { status: wanted['status'] } : {}) };
  }
  const { spec: _, ...rest } = wanted;
  const kept = { ...rest, ...('spec' in current ? { spec: current['spec'] } : {}) };
  const owners = { ownerReferences: recordAt(current, 'metadata')?.['ownerReferences'] };
  const labels = { labels: recordAt(current, 'metadata')?.['labels'] };
  return withMetadata(kept, scope === 'spec' ? owners : { ...owners, ...labels });
};

const mainUpdated = (change: Change, kind: Kind, server: ApiServerState): JsonRecord => {
  if (kind.onUpdate !== undefined) return kind.onUpdate(change, momentOf(server));
  if (kind.status === undefined) return change.wanted;
  const { status: _, ...rest } = change.wanted;
  return 'status' in change.current ? { ...rest, status: change.current['status'] } : rest;
};

const parted = (
  change: Change,
  { kind, server, part }: {
    readonly kind: Kind;
    readonly server: ApiServerState;
    readonly part: UpdateOptions['part'];
  },
): JsonRecord => {
  if (part === 'status') return statusUpdated(change, kind.status ?? 'spec');
  if (part === 'finalize') {
    return { ...change.current, spec: { ...recordAt(change.wanted, 'spec') } };
  }
  return mainUpdated(change, kind, server);
};

const withGeneration = ({ wanted, current }: Change, { generationOf: of }: Kind): JsonRecord => {
  if (of === undefined) return wanted;
  const moved = sameJson(of(wanted), of(current)) ? 0 : 1;
  const generation = generationOf(current) + moved;
  return generation === 0 ? wanted : withMetadata(wanted, { generation });
};

const assertValid = (change: Change, kind: Kind): void => {
  const problems = [
    ...metadataProblems(change.wanted, kind),
    ...metadataChangeProblems(change),
    ...(kind.problems?.(change.wanted) ?? []),
    ...(kind.changeProblems?.(change) ?? []),
  ];
  if (problems.length === 0) return;
  throw invalidObject(kindSubjectOf(kind), nameOf(change.current), problems);
};

/** Whether a terminating object just lost its last blocker. */
export const isReleased = (object: JsonRecord, kind: Kind): boolean =>
  isDeleting(object) && finalizersOf(object).length === 0 &&
  (numberAt(object, 'metadata', 'deletionGracePeriodSeconds') ?? 0) === 0 &&
  kind.held?.(object) !== true;

const stored = (
  { store }: ApiServerState,
  { kind, at }: Target,
  { object, before }: { readonly object: JsonRecord; readonly before: JsonRecord },
): JsonRecord => {
  if (isReleased(object, kind)) {
    store.remove(kind.resource, at);
    return object;
  }
  return isSameObject(object, before) ? before : store.put(kind.resource, at, object);
};

const assertName = (object: JsonRecord, { at }: Target): void => {
  const given = nameOf(object);
  if (given === '' || given === at.name) return;
  throw badRequest(
    `the name of the object (${given}) does not match the name on the URL (${at.name})`,
  );
};

/** Replaces the current object with `sent`. */
export const update = (
  server: ApiServerState,
  target: Target,
  { object: sent, ...options }: UpdateOptions & { readonly object: JsonRecord },
): Updated => {
  const { kind, at } = target;
  const before = storedAt(server, target);
  assertName(sent, target);
  const placed = inNamespace(withMetadata(sent, { name: at.name }), target);
  if (before === undefined) {
    if (kind.createOnUpdate !== true || options.part !== undefined) {
      throw notFound(subjectOf(kind), at.name);
    }
    return { object: create(server, target, { object: placed, ...options }), created: true };
  }
  const current = servedBy(kind, before);
  const wanted = kind.defaulted?.(placed) ?? placed;
  const given = valueAt(sent, 'metadata', 'managedFields');
  return {
    object: replace(server, target, { wanted, current, given, ...options }),
    created: false,
  };
};

interface Replacement extends Change, WriteOptions, Pick<FieldWriter, 'part'> {
  /** What the client sent as `metadata.managedFields`. */
  readonly given?: unknown;
}

/** The part of an update that patches share: `wanted` has the identity of `current`. */
export const replace = (
  server: ApiServerState,
  target: Target,
  { wanted, current, given, dryRun, ...writer }: Replacement,
): JsonRecord => {
  const { kind } = target;
  const part = writer.part === 'scale' ? undefined : writer.part;
  assertUid({ wanted, current }, kind);
  assertRevision({ wanted, current }, kind);
  const merged = parted({ wanted: rooted({ wanted, current }), current }, { kind, server, part });
  const change = { wanted: merged, current };
  const revised = withMetadata(merged, {
    resourceVersion: revisionOf(current),
    managedFields: updatedFields(server, { kind, change, given }, writer),
  });
  const whole = withGeneration({ wanted: revised, current }, kind);
  assertValid({ wanted: whole, current }, kind);
  server.admit?.({
    operation: 'UPDATE',
    kind,
    at: target.at,
    object: whole,
    oldObject: current,
    dryRun,
    ...(part === undefined ? {} : { subresource: part }),
  });
  if (dryRun) return whole;
  const object = storedBy(kind, whole);
  const before = storedBy(kind, current);
  return servedBy(kind, stored(server, target, { object, before }));
};
