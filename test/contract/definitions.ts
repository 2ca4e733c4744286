/** Three custom resources of the contract: boats (with everything), buoys and harbours. */
import type { JsonRecord } from '../../src/domain/json.ts';
import { get, ok, post, type Step, until } from './steps.ts';

const GROUP = 'contract.tidegate.dev';
const API_VERSION = 'apiextensions.k8s.io/v1';

/** A definition with one version. */
export const definition = (
  names: { readonly kind: string; readonly plural: string; readonly scope?: string },
  version: JsonRecord,
): JsonRecord => {
  const { kind, plural, scope = 'Namespaced' } = names;
  return {
    apiVersion: API_VERSION,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, ...version }],
    },
  };
};

const text = { type: 'string' };
const integer = { type: 'integer' };

const CARGO = {
  type: 'object',
  required: ['name'],
  properties: {
    name: text,
    tons: { type: 'number', minimum: 0, default: 1 },
    fragile: { type: 'boolean' },
  },
};

const BOAT_SPEC = {
  type: 'object',
  required: ['length'],
  properties: {
    length: { type: 'integer', minimum: 1, maximum: 400 },
    kind: { type: 'string', enum: ['sail', 'motor', 'row'], default: 'sail' },
    flag: { type: 'string', pattern: '^[A-Z]{2}$' },
    motto: { type: 'string', minLength: 2, maxLength: 10 },
    oars: integer,
    crew: { type: 'array', maxItems: 3, items: text },
    cargo: {
      type: 'array',
      items: CARGO,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    berth: { type: 'object', additionalProperties: text },
    price: {
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      'x-kubernetes-int-or-string': true,
    },
    papers: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    master: { type: 'string', nullable: true },
    built: { type: 'string', format: 'date-time' },
    lights: {
      type: 'object',
      default: { port: 'red' },
      properties: { port: text, starboard: { type: 'string', default: 'green' } },
    },
  },
};

const BOATS = definition({ kind: 'Boat', plural: 'boats' }, {
  schema: {
    openAPIV3Schema: {
      type: 'object',
      required: ['spec'],
      properties: {
        spec: BOAT_SPEC,
        status: {
          type: 'object',
          properties: { afloat: { type: 'boolean' }, rowers: integer },
        },
      },
    },
  },
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.oars', statusReplicasPath: '.status.rowers' },
  },
  selectableFields: [{ jsonPath: '.spec.kind' }],
  additionalPrinterColumns: [
    { name: 'Length', type: 'integer', jsonPath: '.spec.length' },
    { name: 'Afloat', type: 'boolean', jsonPath: '.status.afloat' },
    { name: 'Flag', type: 'string', jsonPath: '.spec.flag', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

const LOOSE = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const BUOYS = definition({ kind: 'Buoy', plural: 'buoys' }, { schema: { openAPIV3Schema: LOOSE } });
const HARBOURS = definition({ kind: 'Harbour', plural: 'harbours', scope: 'Cluster' }, {
  schema: { openAPIV3Schema: LOOSE },
});

const established = (plural: string): Step =>
  until(get(
    `customresourcedefinitions/${plural}.${GROUP}`,
    ok({
      status: { acceptedNames: { plural }, storedVersions: ['v1'] },
    }),
  ));

/** The plural is served. */
export const served = (plural: string): readonly Step[] => [
  established(plural),
  until(get(`/apis/${GROUP}/v1/${plural}`)),
];

/** The three are served: after a start the API server answers 429 until it has read them. */
export const ALL_SERVED: readonly Step[] = ['boats', 'buoys', 'harbours'].flatMap(served);

/** Creates the three and waits until they are served. */
export const DEFINED: readonly Step[] = [
  ...[BOATS, BUOYS, HARBOURS].map((one) => post('customresourcedefinitions', one)),
  ...ALL_SERVED,
];

/** A definition of ferries with columns of a label, a reference and a map. */
export const FERRIES = definition({ kind: 'Ferry', plural: 'ferries' }, {
  schema: { openAPIV3Schema: LOOSE },
  additionalPrinterColumns: [
    { name: 'Owner', type: 'string', jsonPath: '.metadata.ownerReferences[?(@.kind=="Pod")].name' },
    {
      name: 'Zone',
      type: 'string',
      jsonPath: String.raw`.spec.labels.topology\.kubernetes\.io/zone`,
      priority: 1,
    },
    { name: 'Seats', type: 'string', jsonPath: '.spec.seats', priority: 1 },
  ],
});

const RULED_SPEC = {
  length: { type: 'integer', minimum: 1, maximum: 400 },
  kind: { type: 'string', maxLength: 10 },
  oars: { type: 'integer', maximum: 1000 },
  keel: { type: 'string', maxLength: 20 },
};

/** A definition whose objects have this schema of their spec. */
export const withSpec = (plural: string, spec: JsonRecord): JsonRecord =>
  definition({ kind: `Of${plural}`, plural }, {
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
  });

/** A definition of skiffs whose spec, or whose field `keel`, has rules in CEL. */
export const ruled = (
  plural: string,
  { spec = [], keel = [] }: {
    readonly spec?: readonly object[];
    readonly keel?: readonly object[];
  },
): JsonRecord =>
  withSpec(plural, {
    type: 'object',
    properties: {
      ...RULED_SPEC,
      keel: {
        ...RULED_SPEC.keel,
        ...(keel.length === 0 ? {} : { 'x-kubernetes-validations': keel }),
      },
    },
    ...(spec.length === 0 ? {} : { 'x-kubernetes-validations': spec }),
  });
