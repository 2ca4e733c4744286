/**
 * Decodes built-in objects as Go does: drops unknown fields, refuses values of a wrong type, and
 * canonicalizes quantities.
 *
 * Promises: the result has the shape of the kind at every depth, so rules may trust it. Source: the
 * OpenAPI documents of Kubernetes (`src/gen/kubernetes/fields.ts`), `encoding/json` of Go.
 */
import { asList, asRecord, type JsonRecord } from '../values/json.ts';
import { parseQuantity, printQuantity } from '../values/quantity.ts';
import { KIND_FIELDS, TYPE_FIELDS } from '../gen/kubernetes/fields.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';
import { badRequest } from '../validation/problem.ts';

type Fields = Readonly<Record<string, string>>;

/** The path of a value (`spec.containers[0].name`), and the callback for dropped fields. */
interface Place {
  readonly kind: Kind;
  readonly path: string;
  readonly dropped: (path: string) => void;
}

const GO_TYPES: Readonly<Record<string, string>> = {
  s: 'string',
  i: 'int32',
  n: 'float64',
  b: 'bool',
  o: 'intstr.IntOrString',
};

const jsonType = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

const within = (place: Place, part: string): Place => ({
  ...place,
  path: place.path === '' ? part : `${place.path}.${part}`,
});

const mismatch = (value: unknown, { kind, path }: Place, wanted: string): Error =>
  badRequest(
    `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: json: cannot ` +
      `unmarshal ${jsonType(value)} into Go struct field ${kind.kind}.${path} of type ${wanted}`,
  );

const isScalar = (value: unknown, note: string): boolean => {
  switch (note) {
    case 's':
      return typeof value === 'string';
    case 'i':
      return Number.isInteger(value);
    case 'o':
      return typeof value === 'string' || Number.isInteger(value);
    case 'n':
      return typeof value === 'number';
    default:
      return typeof value === 'boolean';
  }
};

/** Cached texts in canonical form. */
const CANONICAL = /^[1-9][0-9]{0,2}(?:m|[kMGT]|[KMGT]i)?$/;

const quantity = (value: unknown, place: Place): unknown => {
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw mismatch(value, place, 'resource.Quantity');
  }
  if (CANONICAL.test(`${value}`)) return `${value}`;
  const reading = parseQuantity(`${value}`);
  if (reading._tag === 'Quantity') return printQuantity(reading.quantity);
  throw badRequest(
    `${place.kind.kind} in version "${place.kind.version}" cannot be handled as a ` +
      `${place.kind.kind}: quantities must match the regular expression ` +
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  );
};

/** Empty lists and maps are omitted. */
const isOmitted = (value: unknown, note: string): boolean =>
  (note[0] === '[' && Array.isArray(value) && value.length === 0) ||
  (note[0] === '{' && asRecord(value) !== undefined && Object.keys(value ?? {}).length === 0);

/**
 * Fields with `omitempty` on a zero value, by type. The OpenAPI documents do not mark them, so this
 * lists the ones that clients set.
 */
const ZEROES: Readonly<Record<string, readonly string[]>> = {
  PodSpec: ['hostname', 'hostIPC', 'hostNetwork', 'hostPID', 'nodeName', 'subdomain'],
  Container: ['stdin', 'stdinOnce', 'tty'],
  EnvVar: ['value'],
  NodeSpec: ['podCIDR', 'providerID', 'unschedulable'],
  Taint: ['value'],
  Toleration: ['effect', 'key', 'operator', 'value'],
  VolumeMount: ['readOnly', 'subPath'],
};

const withoutZeroes = (
  record: JsonRecord,
  fields: readonly string[] | undefined,
): JsonRecord => {
  const zero = fields?.filter((field) => record[field] === '' || record[field] === false) ?? [];
  if (zero.length === 0) return record;
  return Object.fromEntries(Object.entries(record).filter(([field]) => !zero.includes(field)));
};

const structured = (value: unknown, fields: Fields, place: Place): JsonRecord => {
  const record = asRecord(value);
  if (record === undefined) throw mismatch(value, place, 'object');
  const kept: Record<string, unknown> = {};
  for (const [field, inner] of Object.entries(record)) {
    const note = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (note === undefined) place.dropped(within(place, field).path);
    else if (inner !== null && !isOmitted(inner, note)) {
      kept[field] = shaped(inner, note, within(place, field));
    }
  }
  return kept;
};

/** Fields of a type; a claim's template is a whole kind within another. */
const fieldsOf = (type: string): Fields => TYPE_FIELDS[type] ?? KIND_FIELDS[`v1/${type}`] ?? {};

const shaped = (value: unknown, note: string, place: Place): unknown => {
  const rest = note.slice(1);
  switch (note[0]) {
    case '*':
      return value;
    case 'q':
      return quantity(value, place);
    case '.':
      return withoutZeroes(structured(value, fieldsOf(rest), place), ZEROES[rest]);
    case '[': {
      const list = asList(value);
      if (list === undefined) throw mismatch(value, place, '[]object');
      return list.map((item, index) =>
        shaped(item, rest, { ...place, path: `${place.path}[${index}]` })
      );
    }
    case '{': {
      const record = asRecord(value);
      if (record === undefined) throw mismatch(value, place, 'map');
      return Object.fromEntries(
        Object.entries(record).filter(([, inner]) => inner !== null || rest === '*')
          .map(([key, inner]) => [key, shaped(inner, rest, within(place, key))]),
      );
    }
    default:
      if (isScalar(value, note)) return value;
      throw mismatch(value, place, GO_TYPES[note] ?? 'string');
  }
};

/** The object in the shape of its built-in kind; `dropped` receives the unknown paths. */
export const builtInShaped = (
  object: JsonRecord,
  kind: Kind,
  dropped: Place['dropped'],
): JsonRecord => {
  const fields = KIND_FIELDS[`${apiVersionOf(kind)}/${kind.kind}`];
  return fields === undefined ? object : structured(object, fields, { kind, path: '', dropped });
};

/** The metadata of a custom object in its shape. */
export const metadataShaped = (
  object: JsonRecord,
  kind: Kind,
  dropped: Place['dropped'],
): JsonRecord => {
  const { metadata } = object;
  if (asRecord(metadata) === undefined) return object;
  const place = { kind, path: 'metadata', dropped };
  return { ...object, metadata: structured(metadata, TYPE_FIELDS['ObjectMeta'] ?? {}, place) };
};
