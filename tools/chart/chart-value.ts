/**
 * How a value of the Helm chart is described: once, for values.yaml, its schema and its reference.
 *
 * Promises: a group accepts no key that it does not name, so that a slip fails at install.
 */

/** A JSON schema, without the description. */
export type Schema = Readonly<Record<string, unknown>>;

/** A value: one sentence, a schema, and the default. */
export interface ChartValue {
  readonly description: string;
  readonly schema: Schema;
  /** Undefined: not set; values.yaml has it as a comment. */
  readonly default?: unknown;
  /** What the comment shows where there is no default. */
  readonly example?: unknown;
  /** The values below it, of a group. */
  readonly fields?: ChartValues;
}

/** Values by their keys. */
export type ChartValues = Readonly<Record<string, ChartValue>>;

/** A group, which accepts the keys of its fields only. */
export const group = (description: string, fields: ChartValues): ChartValue => ({
  description,
  schema: { type: 'object' },
  fields,
});

/** A value with a default. */
export const value = (description: string, schema: Schema, usual: unknown): ChartValue => ({
  description,
  schema,
  default: usual,
});

/** A value that is not set by default. */
export const unset = (description: string, schema: Schema, example: unknown): ChartValue => ({
  description,
  schema,
  example,
});

/** Any text, also an empty one. */
export const TEXT: Schema = { type: 'string' };
/** True or false. */
export const SWITCH: Schema = { type: 'boolean' };
/** An object that goes into a manifest as it is; the API server knows its fields. */
export const OBJECT: Schema = { type: 'object' };
/** A list of such objects. */
export const OBJECTS: Schema = { type: 'array', items: OBJECT };
/** Labels, annotations. */
export const TEXTS_BY_KEY: Schema = { type: 'object', additionalProperties: TEXT };
/** A list of texts. */
export const LINES: Schema = { type: 'array', items: TEXT };
/** A duration of Go. */
export const DURATION: Schema = {
  type: 'string',
  pattern: String.raw`^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`,
};

/** The whole schema of a value. */
export const schemaOf = (described: ChartValue): Schema => ({
  description: described.description,
  ...described.schema,
  ...(described.fields === undefined ? {} : {
    additionalProperties: false,
    required: groupsIn(described.fields),
    properties: propertiesOf(described.fields),
  }),
});

/**
 * The keys of groups, which must be there: helm drops a key without a value, and its templates
 * would fail without the name of it.
 */
export const groupsIn = (fields: ChartValues): readonly string[] =>
  Object.entries(fields).flatMap(([key, field]) => (field.fields === undefined ? [] : [key]));

/** The schemas of a group's fields. */
export const propertiesOf = (fields: ChartValues): Schema =>
  Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, schemaOf(field)]));
