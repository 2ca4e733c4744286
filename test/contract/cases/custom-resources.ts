/** Contract: custom resources, structural schemas, pruning and defaults. */
import { expect } from 'vitest';
import type { JsonRecord } from '../../../src/domain/json.ts';
import { definition, ruled, served, withSpec } from '../definitions.ts';
import { boat, buoy, configMap, harbour } from '../objects.ts';
import {
  absent,
  containing,
  del,
  exactly,
  get,
  invalid,
  made,
  merge,
  names,
  ok,
  patch,
  post,
  refused,
  type Step,
  until,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const spec = (more: object) => boat('a', { spec: { length: 3, ...more } });
const takes = (more: object): readonly Step[] => [post('boats', spec(more), made({ spec: more }))];
const refuses = (
  more: object,
  ...causes: readonly (readonly [string, string])[]
): readonly Step[] => [
  post('boats', spec(more), invalid(...causes)),
  get('boats/a', refused(404, 'NotFound')),
];

const condition = (type: string, status: string) => ({
  status: { conditions: expect.arrayContaining([expect.objectContaining({ type, status })]) },
});

const SCHEMA = {
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
};

const at = (plural: string): string => `/apis/contract.tidegate.dev/v1/namespaces/{ns}/${plural}`;
const skiffs = (plural: string, rules: Parameters<typeof ruled>[1]): readonly Step[] => [
  post('customresourcedefinitions', ruled(plural, rules)),
  ...served(plural),
];
const skiff = (plural: string, of: object) => ({
  apiVersion: 'contract.tidegate.dev/v1',
  kind: `Of${plural}`,
  metadata: { name: 'a' },
  spec: of,
});

const MOTOR = {
  rule: "!has(self.kind) || self.kind != 'motor' || self.length >= 2",
  message: 'a motor boat is longer',
};
const OARS = { rule: '!has(self.oars) || self.oars <= self.length * 10' };

/** A definition of freights: amounts by name, and a rule for one of them. */
const weighed = (plural: string): JsonRecord =>
  withSpec(plural, {
    type: 'object',
    maxProperties: 64,
    additionalProperties: {
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      pattern: '^[0-9]+(\\.[0-9]+)?k?$',
      maxLength: 64,
      'x-kubernetes-int-or-string': true,
    },
    'x-kubernetes-validations': [{
      rule: "!('tons' in self) || type(self['tons']) == int || " +
        String.raw`self['tons'].matches(r'^\d+(\.\d+)?k?$')`,
      message: 'tons is no quantity',
    }],
  });
/** Custom resources and their definitions. */
export const customResources: Area = {
  title: 'Custom resources',
  cases: {
    'a custom resource has its kind': [
      post(
        'boats',
        { apiVersion: 'contract.tidegate.dev/v1', metadata: { name: 'a' }, spec: { length: 3 } },
        refused(400, 'BadRequest', { message: containing("Object 'Kind' is missing in") }),
      ),
    ],
    'a label and an annotation of null are kept as empty ones': [
      post(
        'boats',
        boat('a', {
          metadata: { labels: { a: null }, annotations: { b: null } },
          spec: { length: 3 },
        }),
        made({ metadata: { labels: { a: '' }, annotations: { b: '' } } }),
      ),
    ],
    'one is made and read': [
      post('boats', spec({}), made({ kind: 'Boat', apiVersion: 'contract.tidegate.dev/v1' })),
      get('boats/a', ok({ kind: 'Boat', metadata: { name: 'a', namespace: '{ns}' } })),
    ],
    'items of a list have kind and version of their own': [
      post('boats', spec({})),
      get(
        'boats',
        ok({
          kind: 'BoatList',
          apiVersion: 'contract.tidegate.dev/v1',
          items: [{ kind: 'Boat', apiVersion: 'contract.tidegate.dev/v1' }],
        }),
      ),
    ],
    'a cluster-wide one has no namespace': [
      post('harbours', harbour('{ns}')),
      absent('metadata.namespace'),
      get('harbours/{ns}'),
    ],
    'one that is not there is not found': [
      get(
        'boats/none',
        refused(404, 'NotFound', {
          message: 'boats.contract.tidegate.dev "none" not found',
          details: { name: 'none', group: 'contract.tidegate.dev', kind: 'boats' },
        }),
      ),
    ],
    'a refusal as invalid names kind and group': [
      post(
        'boats',
        boat('a', { spec: {} }),
        refused(422, 'Invalid', {
          details: { name: 'a', group: 'contract.tidegate.dev', kind: 'Boat' },
        }),
      ),
    ],
    'another kind in the body is a bad request': [
      post('boats', { ...configMap('a') }, refused(400, 'BadRequest')),
    ],
    'what is required must be there': [
      post('boats', boat('a', { spec: {} }), invalid(['spec.length', 'FieldValueRequired'])),
      post('boats', boat('a'), invalid(['spec', 'FieldValueRequired'])),
    ],
    'text where a number belongs is refused': refuses({ length: 'three' }, [
      'spec.length',
      'FieldValueTypeInvalid',
    ]),
    'a fraction where an integer belongs is refused': refuses({ oars: 1.5 }, [
      'spec.oars',
      'FieldValueTypeInvalid',
    ]),
    'a number where text belongs is refused': refuses({ motto: 12 }, [
      'spec.motto',
      'FieldValueTypeInvalid',
    ]),
    'an object where a list belongs is refused': refuses({ crew: {} }, [
      'spec.crew',
      'FieldValueTypeInvalid',
    ]),
    'a value below the least is refused': refuses({ length: 0 }, [
      'spec.length',
      'FieldValueInvalid',
    ]),
    'a value above the most is refused': refuses({ length: 401 }, [
      'spec.length',
      'FieldValueInvalid',
    ]),
    'the least and the most are taken': [
      post('boats', spec({ length: 1 })),
      patch('boats/a', merge({ spec: { length: 400 } })),
    ],
    'a string outside the enum is refused': refuses({ kind: 'steam' }, [
      'spec.kind',
      'FieldValueNotSupported',
    ]),
    'a text that is not of the form is refused': refuses({ flag: 'de' }, [
      'spec.flag',
      'FieldValueInvalid',
    ]),
    'a text that is too long is refused': refuses({ motto: 'x'.repeat(11) }, [
      'spec.motto',
      'FieldValueTooLong',
    ]),
    'a text that is too short is refused': refuses({ motto: 'x' }, [
      'spec.motto',
      'FieldValueInvalid',
    ]),
    'a list that is too long is refused': refuses({ crew: ['a', 'b', 'c', 'd'] }, [
      'spec.crew',
      'FieldValueTooMany',
    ]),
    'a time that is none is refused': refuses({ built: 'yesterday' }, [
      'spec.built',
      'FieldValueTypeInvalid',
    ]),
    'an entry of a list is named by its place': refuses({ crew: ['a', 2] }, [
      'spec.crew[1]',
      'FieldValueTypeInvalid',
    ]),
    'a field of an entry of a list is named': refuses({ cargo: [{ name: 'x', tons: -1 }] }, [
      'spec.cargo[0].tons',
      'FieldValueInvalid',
    ]),
    'an entry that lacks what is required is named': refuses({ cargo: [{ tons: 1 }] }, [
      'spec.cargo[0].name',
      'FieldValueRequired',
    ]),
    'two entries of one key are refused': refuses({ cargo: [{ name: 'x' }, { name: 'x' }] }, [
      'spec.cargo[1]',
      'FieldValueDuplicate',
    ]),
    'the values of a map are checked': refuses({ berth: { a: 1 } }, [
      'spec.berth.a',
      'FieldValueTypeInvalid',
    ]),
    'all errors are reported at once': refuses(
      { length: 'x', oars: 'y' },
      ['spec.length', 'FieldValueTypeInvalid'],
      ['spec.oars', 'FieldValueTypeInvalid'],
    ),
    'a number is taken where number or text belongs': takes({ price: 5 }),
    'a text is taken where number or text belongs': takes({ price: '5k' }),
    'a boolean is refused where number or text belongs': refuses({ price: true }, [
      'spec.price',
      'FieldValueTypeInvalid',
    ]),
    'an integer written as a float is taken': takes({ oars: 4 }),
    'null is taken where it may be': [
      post('boats', spec({ master: null })),
      get('boats/a', ok({ spec: { master: null } })),
    ],
    'null is dropped where it may not be': [
      post('boats', spec({ motto: null })),
      absent('spec.motto'),
    ],
    'null where there is a default becomes the default': [
      post('boats', spec({ kind: null }), made({ spec: { kind: 'sail' } })),
    ],
    'a field that is not in the schema is dropped': [
      post('boats', boat('a', { spec: { length: 3, sails: 2 }, colour: 'red' })),
      absent('spec.sails', 'colour'),
    ],
    'a field deep inside that is not in the schema is dropped': [
      post('boats', spec({ cargo: [{ name: 'x', smell: 'bad' }] })),
      exactly('spec.cargo', [{ name: 'x', tons: 1 }]),
    ],
    'a field that is not in the schema is refused on request': [
      post('boats?fieldValidation=Strict', spec({ sails: 2 }), 400),
    ],
    'a patch is pruned': [
      post('boats', spec({})),
      patch('boats/a', merge({ spec: { sails: 2, oars: 3 } }), ok({ spec: { oars: 3 } })),
      absent('spec.sails'),
    ],
    'what is to be preserved is preserved': takes({ papers: { any: { thing: [1, 'x', null] } } }),
    'a map keeps its keys': takes({ berth: { north: 'x', 'so.uth/1': 'y' } }),
    'defaults are filled in': [post('boats', spec({}), made({ spec: { kind: 'sail' } }))],
    'defaults inside of defaults are filled in': [
      post('boats', spec({}), made({ spec: { lights: { port: 'red', starboard: 'green' } } })),
    ],
    'defaults of entries are filled in': [
      post(
        'boats',
        spec({ cargo: [{ name: 'x' }] }),
        made({
          spec: { cargo: [{ name: 'x', tons: 1 }] },
        }),
      ),
    ],
    'a value stands before its default': takes({
      kind: 'row',
      lights: { port: 'x', starboard: 'y' },
    }),
    'removed defaults are set again': [
      post('boats', spec({ kind: 'row' })),
      patch('boats/a', merge({ spec: { kind: null } }), ok({ spec: { kind: 'sail' } })),
    ],
    'without a schema everything is kept': [
      post('buoys', buoy('a', { anything: { at: ['all'] } }), made({ anything: { at: ['all'] } })),
    ],
    'a patch that breaks the schema changes nothing': [
      post('boats', spec({ oars: 2 })),
      patch(
        'boats/a',
        merge({ spec: { oars: 'many' } }),
        invalid(['spec.oars', 'FieldValueTypeInvalid']),
      ),
      get('boats/a', ok({ spec: { oars: 2 } })),
    ],
    'a rule is kept': [
      ...skiffs('dories', { spec: [MOTOR] }),
      post(at('dories'), skiff('dories', { length: 2, kind: 'motor' })),
    ],
    'a violated rule reports its own message': [
      ...skiffs('yawls', { spec: [MOTOR] }),
      post(
        at('yawls'),
        skiff('yawls', { length: 1, kind: 'motor' }),
        refused(422, 'Invalid', {
          message: containing('a motor boat is longer'),
          details: { causes: [{ field: 'spec', reason: 'FieldValueInvalid' }] },
        }),
      ),
    ],
    'a rule may name a field and a reason': [
      ...skiffs('gigs', { spec: [{ ...OARS, fieldPath: '.oars', reason: 'FieldValueForbidden' }] }),
      post(
        at('gigs'),
        skiff('gigs', { length: 1, oars: 11 }),
        invalid([
          'spec.oars',
          'FieldValueForbidden',
        ]),
      ),
    ],
    'a rule may compute its message': [
      ...skiffs('punts', {
        spec: [{ ...OARS, messageExpression: "'too many oars for a ' + self.kind" }],
      }),
      post(
        at('punts'),
        skiff('punts', { length: 1, oars: 11, kind: 'punt' }),
        refused(
          422,
          'Invalid',
          { message: containing('too many oars for a punt') },
        ),
      ),
    ],
    'a rule words what a pattern refuses, in a map of integers and texts': [
      post('customresourcedefinitions', weighed('freights')),
      ...served('freights'),
      post(
        at('freights'),
        skiff('freights', { tons: 'many' }),
        refused(422, 'Invalid', {
          message: containing('tons is no quantity'),
          details: {
            causes: [
              { field: 'spec.tons', reason: 'FieldValueInvalid' },
              { field: 'spec', reason: 'FieldValueInvalid' },
            ],
          },
        }),
      ),
      post(at('freights'), skiff('freights', { tons: 12, crates: '1.5k' })),
    ],
    'rules are not evaluated on an object of another shape': [
      post('customresourcedefinitions', weighed('loads')),
      ...served('loads'),
      post(
        at('loads'),
        skiff('loads', { tons: true }),
        refused(422, 'Invalid', {
          message: containing(
            '<nil>: Invalid value: null: some validation rules were not checked because the ' +
              'object was invalid; correct the existing errors to complete validation',
          ),
        }),
      ),
    ],
    'a transition rule applies to updates, not to creations and deletions': [
      ...skiffs('prams', { keel: [{ rule: 'self == oldSelf', message: 'a keel stays' }] }),
      post(at('prams'), skiff('prams', { keel: 'oak' })),
      patch(`${at('prams')}/a`, merge({ spec: { oars: 1 } })),
      patch(
        `${at('prams')}/a`,
        merge({ spec: { keel: 'elm' } }),
        invalid([
          'spec.keel',
          'FieldValueInvalid',
        ]),
      ),
      patch(`${at('prams')}/a`, merge({ spec: { keel: null } })),
      absent('spec.keel'),
    ],
    'a definition whose rule is none is invalid': [
      post(
        'customresourcedefinitions',
        definition({ kind: 'Raft', plural: 'rafts' }, {
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.' }] },
              },
            },
          },
        }),
        { status: 422, body: { reason: 'Invalid' } },
      ),
    ],
    'metadata is checked as anywhere': [
      post(
        'boats',
        { ...spec({}), metadata: { name: 'A' } },
        invalid([
          'metadata.name',
          'FieldValueInvalid',
        ]),
      ),
    ],
    'a definition has NamesAccepted and Established conditions': [
      get(
        'customresourcedefinitions/boats.contract.tidegate.dev',
        ok(condition('Established', 'True')),
      ),
      get(
        'customresourcedefinitions/boats.contract.tidegate.dev',
        ok(condition('NamesAccepted', 'True')),
      ),
    ],
    'a definition whose name is not plural and group is invalid': [
      post('customresourcedefinitions', {
        ...definition({ kind: 'Raft', plural: 'rafts' }, SCHEMA),
        metadata: { name: 'raft.contract.tidegate.dev' },
      }, invalid(['metadata.name', 'FieldValueInvalid'])),
    ],
    'a definition without a schema is invalid': [
      post('customresourcedefinitions', definition({ kind: 'Raft', plural: 'rafts' }, {}), {
        status: 422,
        body: { reason: 'Invalid' },
      }),
    ],
    'a definition whose schema has a field without a type is invalid': [
      post(
        'customresourcedefinitions',
        definition({ kind: 'Raft', plural: 'rafts' }, {
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: {} } } },
        }),
        { status: 422, body: { reason: 'Invalid' } },
      ),
    ],
    'a resource is served when it is defined and not after': [
      post('customresourcedefinitions', definition({ kind: 'Canoe', plural: 'canoes' }, SCHEMA)),
      ...served('canoes'),
      post('/apis/contract.tidegate.dev/v1/namespaces/{ns}/canoes', {
        apiVersion: 'contract.tidegate.dev/v1',
        kind: 'Canoe',
        metadata: { name: 'a' },
      }),
      get('/apis/contract.tidegate.dev/v1/canoes'),
      names('a'),
      del('customresourcedefinitions/canoes.contract.tidegate.dev'),
      until(get('/apis/contract.tidegate.dev/v1/canoes', 404)),
      until(get('customresourcedefinitions/canoes.contract.tidegate.dev', 404)),
    ],
  },
};
