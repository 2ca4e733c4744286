/**
 * `PUT`, and the second half of `PATCH`: an object in place of another.
 *
 * Source: `apiserver/pkg/registry/rest/update.go`, `generic/registry/store.go` (Update).
 */
import { type JsonRecord, numberAt, recordAt, textAt } from '../../../domain/json.ts';
import { type Desk, momentOf, shownBy, storedAt, storedBy, type Target } from '../desk.ts';
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
import { invalid, invalidObject } from '../problems/field-problem.ts';
import { badRequest, conflict, notFound, OUTDATED } from '../problems/problem.ts';
import { create, inNamespace, type WriteOptions } from './creating.ts';

/** How an update is meant. */
export interface UpdateOptions extends WriteOptions {
  /** Through which subresource. */
  readonly part?: 'status' | 'finalize';
}

/** What an update came to. */
export interface Updated {
  readonly object: JsonRecord;
  readonly created: boolean;
}

const revisionOf = (object: JsonRecord): string =>
  textAt(object, 'metadata', 'resourceVersion') ?? '';

const assertRevision = ({ wanted, shown }: Change, kind: Kind): void => {
  const said = revisionOf(wanted);
  const unsaid = said === '' || said === '0';
  if (unsaid && kind.unconditionalUpdate) return;
  if (unsaid) {
    throw invalidObject(subjectOf(kind), nameOf(shown), [
      invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (said !== revisionOf(shown)) throw conflict(subjectOf(kind), nameOf(shown), OUTDATED);
};

const assertUid = ({ wanted, shown }: Change, kind: Kind): void => {
  const said = textAt(wanted, 'metadata', 'uid') ?? '';
  const actual = textAt(shown, 'metadata', 'uid') ?? '';
  if (said === '' || said === actual) return;
  const path = [kind.plural, textAt(shown, 'metadata', 'namespace') ?? '', nameOf(shown)];
  throw conflict(
    subjectOf(kind),
    nameOf(shown),
    'StorageError: invalid object, Code: 4, Key: ' +
      `/registry/${path.filter((part) => part !== '').join('/')}, ResourceVersion: 0, ` +
      `AdditionalErrorMsg: Precondition failed: UID in precondition: ${said}, ` +
      `UID in object meta: ${actual}`,
  );
};

/** Fields that no update changes, from the object that is there. */
const rooted = ({ wanted, shown }: Change): JsonRecord => {
  const metadata = recordAt(shown, 'metadata') ?? {};
  return withMetadata(withoutEmptyMetadata(wanted), {
    uid: metadata['uid'],
    creationTimestamp: metadata['creationTimestamp'],
    generation: metadata['generation'],
    ...(isDeleting(shown) ? { deletionTimestamp: metadata['deletionTimestamp'] } : {
      deletionTimestamp: undefined,
    }),
    deletionGracePeriodSeconds: metadata['deletionGracePeriodSeconds'],
    managedFields: undefined,
    selfLink: undefined,
  });
};

const throughStatus = ({ wanted, shown }: Change, scope: StatusScope): JsonRecord => {
  if (scope === 'all but status') {
    const { status: _, ...rest } = shown;
    return { ...rest, ...('status' in wanted ? { status: wanted['status'] } : {}) };
  }
  const { spec: _, ...rest } = wanted;
  const kept = { ...rest, ...('spec' in shown ? { spec: shown['spec'] } : {}) };
  const owners = { ownerReferences: recordAt(shown, 'metadata')?.['ownerReferences'] };
  const labels = { labels: recordAt(shown, 'metadata')?.['labels'] };
  return withMetadata(kept, scope === 'spec' ? owners : { ...owners, ...labels });
};

const throughMain = (change: Change, kind: Kind, desk: Desk): JsonRecord => {
  if (kind.onUpdate !== undefined) return kind.onUpdate(change, momentOf(desk));
  if (kind.status === undefined) return change.wanted;
  const { status: _, ...rest } = change.wanted;
  return 'status' in change.shown ? { ...rest, status: change.shown['status'] } : rest;
};

const parted = (
  change: Change,
  { kind, desk, part }: {
    readonly kind: Kind;
    readonly desk: Desk;
    readonly part: UpdateOptions['part'];
  },
): JsonRecord => {
  if (part === 'status') return throughStatus(change, kind.status ?? 'spec');
  if (part === 'finalize') {
    return { ...change.shown, spec: { ...recordAt(change.wanted, 'spec') } };
  }
  return throughMain(change, kind, desk);
};

const withGeneration = ({ wanted, shown }: Change, { generationOf: of }: Kind): JsonRecord => {
  if (of === undefined) return wanted;
  const moved = sameJson(of(wanted), of(shown)) ? 0 : 1;
  const generation = generationOf(shown) + moved;
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
  throw invalidObject(kindSubjectOf(kind), nameOf(change.shown), problems);
};

/** Whether an object only waited for what held it, and that is gone now. */
export const isReleased = (object: JsonRecord, kind: Kind): boolean =>
  isDeleting(object) && finalizersOf(object).length === 0 &&
  (numberAt(object, 'metadata', 'deletionGracePeriodSeconds') ?? 0) === 0 &&
  kind.held?.(object) !== true;

const stored = (
  { store }: Desk,
  { kind, at }: Target,
  { object, before }: { readonly object: JsonRecord; readonly before: JsonRecord },
): JsonRecord => {
  if (isReleased(object, kind)) {
    store.remove(kind.resource, at);
    return object;
  }
  return sameJson(object, before) ? before : store.put(kind.resource, at, object);
};

const assertName = (object: JsonRecord, { at }: Target): void => {
  const said = nameOf(object);
  if (said === '' || said === at.name) return;
  throw badRequest(
    `the name of the object (${said}) does not match the name on the URL (${at.name})`,
  );
};

/** Writes `sent` over what is there. */
export const update = (
  desk: Desk,
  target: Target,
  { object: sent, dryRun, part }: UpdateOptions & { readonly object: JsonRecord },
): Updated => {
  const { kind, at } = target;
  const before = storedAt(desk, target);
  assertName(sent, target);
  const placed = inNamespace(withMetadata(sent, { name: at.name }), target);
  if (before === undefined) {
    if (kind.createOnUpdate !== true || part !== undefined) {
      throw notFound(subjectOf(kind), at.name);
    }
    return { object: create(desk, target, { object: placed, dryRun }), created: true };
  }
  const shown = shownBy(kind, before);
  const wanted = kind.defaulted?.(placed) ?? placed;
  return { object: replace(desk, target, { wanted, shown, dryRun, part }), created: false };
};

/** The part of an update that patches share: `wanted` has the identity of `shown`. */
export const replace = (
  desk: Desk,
  target: Target,
  { wanted, shown, dryRun, part }: Change & {
    readonly dryRun: boolean;
    readonly part: UpdateOptions['part'] | undefined;
  },
): JsonRecord => {
  const { kind } = target;
  assertUid({ wanted, shown }, kind);
  assertRevision({ wanted, shown }, kind);
  const merged = parted({ wanted: rooted({ wanted, shown }), shown }, { kind, desk, part });
  const revised = withMetadata(merged, { resourceVersion: revisionOf(shown) });
  const whole = withGeneration({ wanted: revised, shown }, kind);
  assertValid({ wanted: whole, shown }, kind);
  if (dryRun) return whole;
  const object = storedBy(kind, whole);
  const before = storedBy(kind, shown);
  return shownBy(kind, stored(desk, target, { object, before }));
};
