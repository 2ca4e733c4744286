/**
 * How the fields of a kind merge: which maps and lists have owners for each of their entries, and
 * which have one owner as a whole.
 *
 * Promises: a custom kind follows its schema, a built-in one the API server's OpenAPI documents,
 * and what neither describes merges by its value: maps by key, lists as a whole. Types are resolved
 * when they are asked for and then kept. Source: Kubernetes docs (Server-Side Apply, merge
 * strategy), `kube-openapi/pkg/schemaconv`.
 */
import { asRecord, asText, type JsonRecord, listOrEmptyAt, recordAt } from '../values/json.ts';
import { ATOMIC_TYPES, FIELD_MERGING } from '../gen/kubernetes/field-merging.ts';
import { KIND_FIELDS, TYPE_FIELDS } from '../gen/kubernetes/fields.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';

/** A key of the entries of a list; its default stands in for an absent one. */
interface ListKey {
  readonly name: string;
  readonly fallback: unknown;
}

/** A map, or a structure with declared fields. */
export interface MapType {
  readonly _tag: 'Map';
  readonly isAtomic: boolean;
  /** The type of a declared field. */
  readonly field: (name: string) => FieldType | undefined;
  /** The type of every other field; undefined allows none. */
  readonly element: FieldType | undefined;
}

/** A list: as a whole, a set, or entries with keys. */
export interface ListType {
  readonly _tag: 'List';
  readonly isAtomic: boolean;
  /** Sorted by name; empty for a set. */
  readonly keys: readonly ListKey[];
  readonly element: FieldType;
}

/** What a scalar is. */
export interface ScalarType {
  readonly _tag: 'Scalar';
  readonly of: 'string' | 'numeric' | 'boolean' | 'any';
}

/** A type; `Any` is known by its value only. */
export type FieldType = MapType | ListType | ScalarType | { readonly _tag: 'Any' };

const ANY: FieldType = { _tag: 'Any' };
const SCALAR: ScalarType = { _tag: 'Scalar', of: 'any' };
const ANY_MAP: MapType = { _tag: 'Map', isAtomic: false, field: () => undefined, element: ANY };
const ANY_LIST: ListType = { _tag: 'List', isAtomic: true, keys: [], element: ANY };

/** The type that a value has; a value that contradicts its type is a scalar. */
export const typeOfValue = (type: FieldType, value: unknown): MapType | ListType | ScalarType => {
  const isList = Array.isArray(value);
  const isMap = !isList && typeof value === 'object' && value !== null;
  switch (type._tag) {
    case 'Any':
      return isList ? ANY_LIST : isMap ? ANY_MAP : SCALAR;
    case 'Map':
      return isMap || value === null ? type : SCALAR;
    case 'List':
      return isList || value === null ? type : SCALAR;
    case 'Scalar':
      return type;
  }
};

/** The type of a field of a map; undefined when the map cannot have it. */
export const typeOfField = ({ field, element }: MapType, name: string): FieldType | undefined =>
  field(name) ?? element;

const remembered = (
  resolve: (name: string) => FieldType | undefined,
): (name: string) => FieldType | undefined => {
  const known = new Map<string, FieldType | undefined>();
  return (name) => {
    if (known.has(name)) return known.get(name);
    const type = resolve(name);
    known.set(name, type);
    return type;
  };
};

const byName = (left: ListKey, right: ListKey): number => left.name < right.name ? -1 : 1;

/** `port=0,protocol="TCP"`: the keys as the generated table writes them. */
const keysIn = (note: string): readonly ListKey[] =>
  note.split(',').map((key) => {
    const [name = '', fallback] = key.split('=');
    return { name, fallback: fallback === undefined ? undefined : JSON.parse(fallback) };
  }).toSorted(byName);

const listOf = (element: FieldType, merging: string | undefined): ListType => {
  if (merging === undefined) return { _tag: 'List', isAtomic: true, keys: [], element };
  const keys = merging === '=' ? [] : keysIn(merging);
  return { _tag: 'List', isAtomic: false, keys, element };
};

const SCALARS: Readonly<Record<string, ScalarType>> = {
  s: { _tag: 'Scalar', of: 'string' },
  i: { _tag: 'Scalar', of: 'numeric' },
  n: { _tag: 'Scalar', of: 'numeric' },
  b: { _tag: 'Scalar', of: 'boolean' },
};

const typeOfNote = (note: string, merging?: string): FieldType => {
  const rest = note.slice(1);
  switch (note[0]) {
    case '.':
      return structure(rest);
    case '[':
      return listOf(typeOfNote(rest), merging);
    case '{':
      return {
        _tag: 'Map',
        isAtomic: merging === '!',
        field: () => undefined,
        element: typeOfNote(rest),
      };
    case '*':
      return ANY;
    default:
      return SCALARS[note] ?? SCALAR;
  }
};

const structureOf = (fields: Readonly<Record<string, string>>, name: string): MapType => {
  const merging = FIELD_MERGING[name] ?? {};
  return {
    _tag: 'Map',
    isAtomic: ATOMIC_TYPES.has(name),
    field: remembered((field) => {
      const note = Object.hasOwn(fields, field) ? fields[field] : undefined;
      return note === undefined ? undefined : typeOfNote(note, merging[field]);
    }),
    element: undefined,
  };
};

const structures = new Map<string, MapType>();

const structure = (name: string): MapType => {
  const known = structures.get(name);
  if (known !== undefined) return known;
  const made = structureOf(TYPE_FIELDS[name] ?? KIND_FIELDS[`v1/${name}`] ?? {}, name);
  structures.set(name, made);
  return made;
};

/** Fields that an object has beside those of its schema. */
const objectField = (name: string): FieldType | undefined => {
  if (name === 'metadata') return structure('ObjectMeta');
  return name === 'apiVersion' || name === 'kind' ? SCALARS['s'] : undefined;
};

const schemaKeys = (schema: JsonRecord): readonly ListKey[] =>
  listOrEmptyAt(schema, 'x-kubernetes-list-map-keys')
    .filter((key) => typeof key === 'string')
    .map((name) => ({ name, fallback: recordAt(schema, 'items', 'properties', name)?.['default'] }))
    .toSorted(byName);

const schemaList = (schema: JsonRecord): ListType => {
  const relation = schema['x-kubernetes-list-type'];
  return {
    _tag: 'List',
    isAtomic: relation !== 'set' && relation !== 'map',
    keys: relation === 'map' ? schemaKeys(schema) : [],
    element: schemaType(recordAt(schema, 'items')),
  };
};

const elementOfSchema = (schema: JsonRecord): FieldType | undefined => {
  const additional = schema['additionalProperties'];
  if (asRecord(additional) !== undefined) return schemaType(asRecord(additional));
  const isOpen = additional === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  return isOpen ? ANY : undefined;
};

const schemaMap = (schema: JsonRecord, isObject: boolean): MapType => {
  const properties = recordAt(schema, 'properties') ?? {};
  return {
    _tag: 'Map',
    isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    field: remembered((name) => {
      const own = isObject ? objectField(name) : undefined;
      if (own !== undefined) return own;
      return Object.hasOwn(properties, name) ? schemaType(asRecord(properties[name])) : undefined;
    }),
    element: elementOfSchema(schema),
  };
};

const SCHEMA_SCALARS: Readonly<Record<string, ScalarType>> = {
  string: { _tag: 'Scalar', of: 'string' },
  integer: { _tag: 'Scalar', of: 'numeric' },
  number: { _tag: 'Scalar', of: 'numeric' },
  boolean: { _tag: 'Scalar', of: 'boolean' },
};

const schemaType = (schema: JsonRecord | undefined): FieldType => {
  if (schema === undefined) return ANY;
  if (schema['x-kubernetes-int-or-string'] === true) return SCALAR;
  switch (schema['type']) {
    case 'object':
      return schemaMap(schema, schema['x-kubernetes-embedded-resource'] === true);
    case 'array':
      return schemaList(schema);
    default:
      return SCHEMA_SCALARS[asText(schema['type']) ?? ''] ?? ANY;
  }
};

const kindType = (kind: Kind): MapType => {
  if (kind.schema !== undefined) return schemaMap(kind.schema, true);
  const fields = KIND_FIELDS[`${apiVersionOf(kind)}/${kind.kind}`];
  return fields === undefined ? ANY_MAP : structureOf(fields, kind.kind);
};

const kindTypes = new WeakMap<Kind, MapType>();

/** The type of a kind's objects. */
export const typeOfKind = (kind: Kind): MapType => {
  const known = kindTypes.get(kind);
  if (known !== undefined) return known;
  const made = kindType(kind);
  kindTypes.set(kind, made);
  return made;
};
