/**
 * `metadata`: the fields that the server sets, and the validation of the client's.
 *
 * Source: `apimachinery/pkg/api/validation/objectmeta.go`, `apiserver/pkg/registry/rest/meta.go`.
 */
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  valueAt,
} from '../values/json.ts';
import {
  fieldForbidden,
  type FieldProblem,
  invalid,
  required,
  tooLong,
} from '../validation/field-problem.ts';
import {
  labelNameProblems,
  labelValueProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
  serviceNameProblems,
  subdomainProblems,
} from '../validation/names.ts';
import type { Change, Kind } from './kind.ts';

/** The object with some fields of its metadata set; `undefined` removes one. */
export const withMetadata = (object: JsonRecord, fields: JsonRecord): JsonRecord => {
  // Hot path: filling an object costs a third of `fromEntries`.
  const metadata: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(recordAt(object, 'metadata') ?? {})) {
    if (!Object.hasOwn(fields, field)) metadata[field] = value;
    else if (fields[field] !== undefined) metadata[field] = fields[field];
  }
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined) metadata[field] = value;
  }
  return { ...object, metadata };
};

const OMITTED_EMPTY = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const;

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** The object without empty lists and maps in its metadata. */
export const withoutEmptyMetadata = (object: JsonRecord): JsonRecord => {
  const metadata = recordAt(object, 'metadata') ?? {};
  const empty = OMITTED_EMPTY.filter((field) => field in metadata && isEmpty(metadata[field]));
  if (empty.length === 0) return object;
  return withMetadata(object, Object.fromEntries(empty.map((field) => [field, undefined])));
};

/** `metadata.name`. */
export const nameOf = (object: JsonRecord): string => textAt(object, 'metadata', 'name') ?? '';

/** `metadata.namespace`; '' when there is none. */
export const namespaceOf = (object: JsonRecord): string =>
  textAt(object, 'metadata', 'namespace') ?? '';

/** `metadata.finalizers`. */
export const finalizersOf = (object: JsonRecord): readonly string[] =>
  listOrEmptyAt(object, 'metadata', 'finalizers').filter((one) => typeof one === 'string');

/** Whether the object has a deletion timestamp. */
export const isDeleting = (object: JsonRecord): boolean =>
  textAt(object, 'metadata', 'deletionTimestamp') !== undefined;

/** `metadata.generation`; 0 when there is none. */
export const generationOf = (object: JsonRecord): number =>
  numberAt(object, 'metadata', 'generation') ?? 0;

const NAME_RULES = {
  'subdomain': subdomainProblems,
  'label': labelNameProblems,
  'service': serviceNameProblems,
  'path segment': pathSegmentProblems,
};

const nameProblems = (object: JsonRecord, { nameRule = 'subdomain' }: Kind): FieldProblem[] => {
  const name = nameOf(object);
  if (name === '') {
    return [required('metadata.name', 'name or generateName is required')];
  }
  return NAME_RULES[nameRule](name).map((problem) => invalid('metadata.name', name, problem));
};

const namespaceProblems = (object: JsonRecord, { namespaced }: Kind): FieldProblem[] => {
  const namespace = namespaceOf(object);
  if (!namespaced) {
    return namespace === ''
      ? []
      : [fieldForbidden('metadata.namespace', 'not allowed on this type')];
  }
  if (namespace === '') return [required('metadata.namespace')];
  return labelNameProblems(namespace).map((problem) =>
    invalid('metadata.namespace', namespace, problem)
  );
};

const labelProblems = (object: JsonRecord): FieldProblem[] =>
  Object.entries(recordAt(object, 'metadata', 'labels') ?? {}).flatMap(([key, value]) => [
    ...qualifiedNameProblems(key).map((problem) => invalid('metadata.labels', key, problem)),
    ...(typeof value === 'string' ? labelValueProblems(value) : []).map((problem) =>
      invalid('metadata.labels', value, problem)
    ),
  ]);

const ANNOTATION_BYTES_MAX = 256 * 1024;

const annotationProblems = (object: JsonRecord): FieldProblem[] => {
  const entries = Object.entries(recordAt(object, 'metadata', 'annotations') ?? {});
  const bytes = entries.reduce((sum, [key, value]) => sum + key.length + `${value}`.length, 0);
  return [
    ...entries.flatMap(([key]) =>
      qualifiedNameProblems(key.toLowerCase()).map((problem) =>
        invalid('metadata.annotations', key, problem)
      )
    ),
    ...(bytes > ANNOTATION_BYTES_MAX
      ? [tooLong('metadata.annotations', `may not be more than ${ANNOTATION_BYTES_MAX} bytes`)]
      : []),
  ];
};

const ownerProblems = (object: JsonRecord): FieldProblem[] => {
  const owners = listOrEmptyAt(object, 'metadata', 'ownerReferences');
  const field = 'metadata.ownerReferences';
  const missing = owners.flatMap((owner) =>
    ['apiVersion', 'kind', 'name', 'uid'].filter((part) => !textAt(owner, part)).map((part) =>
      part === 'uid' ? invalid(`${field}.${part}`, '', 'uid must not be empty') : invalid(
        `${field}.${part}`,
        '',
        `${part === 'apiVersion' ? 'version' : part} must not be empty`,
      )
    )
  );
  const controllers = owners.filter((owner) => valueAt(owner, 'controller') === true);
  if (controllers.length < 2) return missing;
  const [first, second] = controllers.map((owner) => textAt(owner, 'name') ?? '');
  return [
    ...missing,
    invalid(
      field,
      owners,
      'Only one reference can have Controller set to true. Found "true" in references for ' +
        `${first} and ${second}`,
    ),
  ];
};

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';
/** Definitions of custom resources have it, and the API server takes it back in a patch. */
const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

const finalizerProblems = (object: JsonRecord, custom: boolean): FieldProblem[] => {
  const finalizers = finalizersOf(object);
  const field = 'metadata.finalizers';
  const unnamed = finalizers.flatMap((finalizer) => {
    const shape = qualifiedNameProblems(finalizer).map((problem) =>
      invalid(field, finalizer, problem)
    );
    const standard = [ORPHAN, FOREGROUND, CLEANUP, 'kubernetes'].includes(finalizer);
    if (shape.length > 0 || standard || finalizer.includes('/') || custom) return shape;
    return [
      invalid(
        `${field}[0]`,
        finalizer,
        'name is neither a standard finalizer name nor is it fully qualified',
      ),
    ];
  });
  return finalizers.includes(ORPHAN) && finalizers.includes(FOREGROUND)
    ? [
      ...unnamed,
      invalid(
        field,
        finalizers,
        `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`,
      ),
    ]
    : unnamed;
};

/** Validates an object's metadata. */
export const metadataProblems = (object: JsonRecord, kind: Kind): readonly FieldProblem[] => [
  ...nameProblems(object, kind),
  ...namespaceProblems(object, kind),
  ...labelProblems(object),
  ...annotationProblems(object),
  ...ownerProblems(object),
  ...finalizerProblems(object, kind.custom),
];

const IMMUTABLE = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const;

/** Validates a change of metadata. */
export const metadataChangeProblems = ({ wanted, current }: Change): readonly FieldProblem[] => {
  const [now, before] = [recordAt(wanted, 'metadata'), recordAt(current, 'metadata')];
  const immutable = IMMUTABLE.filter((field) => now?.[field] !== before?.[field]).map((field) =>
    invalid(`metadata.${field}`, now?.[field] ?? null, 'field is immutable')
  );
  const old = finalizersOf(current);
  const added = finalizersOf(wanted).filter((finalizer) => !old.includes(finalizer)).sort();
  if (!isDeleting(current) || added.length === 0) return immutable;
  return [
    ...immutable,
    fieldForbidden(
      'metadata.finalizers',
      'no new finalizers can be added if the object is being deleted, found new finalizers ' +
        `[]string{${added.map((one) => JSON.stringify(one)).join(', ')}}`,
    ),
  ];
};

const TEXT_MAPS = ['labels', 'annotations'] as const;

/** Metadata as clients may send it: a map of strings or nulls, or undefined. */
export const isMetadata = (value: unknown): boolean => {
  const metadata = asRecord(value);
  if (metadata === undefined) return value === undefined || value === null;
  return TEXT_MAPS.every((field) =>
    Object.values(asRecord(metadata[field]) ?? {}).every((text) =>
      typeof text === 'string' || text === null
    )
  );
};

/** Replaces null labels and annotations with empty strings, as Go's decoder does. */
export const withoutNullTexts = (object: JsonRecord): JsonRecord => {
  const mended = TEXT_MAPS.flatMap((field) => {
    const texts = recordAt(object, 'metadata', field) ?? {};
    if (!Object.values(texts).includes(null)) return [];
    return [[
      field,
      Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text ?? ''])),
    ]];
  });
  return mended.length === 0 ? object : withMetadata(object, Object.fromEntries(mended));
};
