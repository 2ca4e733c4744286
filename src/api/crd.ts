/**
 * A custom resource as data, and its CustomResourceDefinition.
 *
 * Promises: the schema is structural as required by `apiextensions.k8s.io/v1` (every field has a
 * type, nothing is left open by accident) and adds nothing to the Effect schemas.
 */
import { Schema } from 'effect';
import { API_VERSION } from '../domain/api-group.ts';
import { asList, asRecord, asText, type JsonRecord } from '../domain/json.ts';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  /** 1: only with `-o wide`. */
  readonly priority?: 1;
}

/** A CEL rule on whole objects. */
export interface ObjectRule {
  readonly rule: string;
  readonly message: string;
}

/** The source of a CRD and its reference page. */
export interface CustomResource {
  readonly group: string;
  /** Of `kubectl get <category>`. */
  readonly category: 'fleet' | 'lifecycle';
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  readonly description: string;
  /** What relates `metadata.name` and `spec`. */
  readonly rules?: readonly ObjectRule[];
  readonly spec: Schema.Top;
  readonly status: Schema.Top;
  readonly columns: readonly PrinterColumn[];
  /** JSON paths for `--field-selector` (Kubernetes 1.31 and later). */
  readonly selectableFields: readonly string[];
  /** `metadata` and `spec` of a valid example object, for the reference page. */
  readonly example: JsonRecord;
}

/** When the object was created. */
export const ageColumn: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
};

/** A text column of `kubectl get -o wide`. */
export const wideColumn = (name: string, jsonPath: string): PrinterColumn => ({
  name,
  type: 'string',
  jsonPath,
  priority: 1,
});

const INT_OR_STRING = 'x-kubernetes-int-or-string';
const VALIDATIONS = 'x-kubernetes-validations';

/** JSON Schema keywords that a structural schema shares, copied unchanged. */
const KEPT_KEYWORDS = [
  'type',
  'format',
  'description',
  'enum',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
  'default',
] as const;

const isKept = (keyword: string): boolean =>
  keyword.startsWith('x-kubernetes-') || KEPT_KEYWORDS.some((kept) => kept === keyword);

const records = (value: unknown): readonly JsonRecord[] =>
  (asList(value) ?? []).map(asRecord).filter((item) => item !== undefined);

/** Bounds of every JavaScript integer, redundant with `type: integer`. */
const isIdleBound = (keyword: string, value: unknown): boolean =>
  (keyword === 'minimum' && value === Number.MIN_SAFE_INTEGER) ||
  (keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER);

/** Merges the parts of `allOf` into their parent, which is equivalent. */
const folded = (schema: JsonRecord): JsonRecord => {
  const { allOf, ...rest } = schema;
  const own = Object.entries(rest).filter(([keyword, value]) => !isIdleBound(keyword, value));
  return Object.assign({}, Object.fromEntries(own), ...records(allOf).map(folded));
};

/** An integer or a text, in Kubernetes' notation; the pattern constrains the text. */
const intOrString = (schema: JsonRecord): JsonRecord => {
  const text = records(schema['anyOf']).map(folded).find(({ type }) => type === 'string');
  const pattern = asText(text?.['pattern']);
  const maxLength = text?.['maxLength'];
  return {
    ...(asText(schema['description']) === undefined ? {} : { description: schema['description'] }),
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    ...(pattern === undefined ? {} : { pattern }),
    ...(maxLength === undefined ? {} : { maxLength }),
    [INT_OR_STRING]: true,
    ...(schema[VALIDATIONS] === undefined ? {} : { [VALIDATIONS]: schema[VALIDATIONS] }),
  };
};

const mapValues = (record: JsonRecord, change: (value: unknown) => unknown): JsonRecord =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** Converts a node of a JSON Schema to a structural schema. */
const structural = (value: unknown): JsonRecord => {
  const schema = folded(asRecord(value) ?? {});
  if (schema[INT_OR_STRING] === true) return intOrString(schema);
  const kept = Object.entries(schema).filter(([keyword]) => isKept(keyword));
  const properties = asRecord(schema['properties']);
  const values = asRecord(schema['additionalProperties']);
  return {
    ...Object.fromEntries(kept),
    ...(properties === undefined ? {} : { properties: mapValues(properties, structural) }),
    ...(values === undefined ? {} : { additionalProperties: structural(values) }),
    ...(schema['items'] === undefined ? {} : { items: structural(schema['items']) }),
  };
};

/** The structural schema of an object's Effect schema; without fields it is still an object. */
export const structuralSchema = (schema: Schema.Top): JsonRecord => ({
  type: 'object',
  ...structural(
    Schema.toJsonSchemaDocument(schema, {
      includeAnnotationKey: (key) => key.startsWith('x-kubernetes-'),
    }).schema,
  ),
});

/** `apiVersion` of the objects of a resource. */
export const groupVersion = ({ group }: CustomResource): string => `${group}/${API_VERSION}`;

const openApiSchema = (resource: CustomResource): JsonRecord => ({
  description: resource.description,
  type: 'object',
  required: ['spec'],
  ...(resource.rules === undefined ? {} : { [VALIDATIONS]: resource.rules }),
  properties: {
    apiVersion: { type: 'string', description: `\`${groupVersion(resource)}\`.` },
    kind: { type: 'string', description: `\`${resource.kind}\`.` },
    metadata: { type: 'object' },
    spec: structuralSchema(resource.spec),
    status: structuralSchema(resource.status),
  },
});

/** `<plural>.<group>`: the name of the CRD. */
export const crdName = ({ plural, group }: CustomResource): string => `${plural}.${group}`;

/** The CustomResourceDefinition of a resource. */
export const customResourceDefinition = (resource: CustomResource): JsonRecord => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: crdName(resource) },
  spec: {
    group: resource.group,
    scope: resource.scope,
    names: {
      kind: resource.kind,
      listKind: `${resource.kind}List`,
      plural: resource.plural,
      singular: resource.kind.toLowerCase(),
      shortNames: resource.shortNames,
      categories: [resource.category],
    },
    versions: [{
      name: API_VERSION,
      served: true,
      storage: true,
      subresources: { status: {} },
      additionalPrinterColumns: resource.columns,
      ...(resource.selectableFields.length === 0 ? {} : {
        selectableFields: resource.selectableFields.map((jsonPath) => ({ jsonPath })),
      }),
      schema: { openAPIV3Schema: openApiSchema(resource) },
    }],
  },
});
