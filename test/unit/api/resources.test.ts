/** The custom resources: structural schemas equal to the Effect schemas. */
import { Schema } from 'effect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { customResourceDefinition, structuralSchema } from '../../../src/api/crd.ts';
import { exampleObject, referencePage } from '../../../tools/crd-reference.ts';
import { CUSTOM_RESOURCES, LIFECYCLE_RESOURCES } from '../../../src/api/resources.ts';
import { capacityRequest } from '../../../src/api/capacity-request.ts';
import {
  asList,
  asRecord,
  type JsonRecord,
  recordAt,
  textAt,
  valueAt,
} from '../../../src/domain/json.ts';

const RESOURCES = [...CUSTOM_RESOURCES, ...LIFECYCLE_RESOURCES];
const INT_OR_STRING = 'x-kubernetes-int-or-string';

interface Node {
  readonly path: string;
  readonly schema: JsonRecord;
}

const childrenOf = ({ path, schema }: Node): readonly Node[] => {
  const properties = Object.entries(recordAt(schema, 'properties') ?? {})
    .map(([name, value]) => ({ path: `${path}.${name}`, schema: asRecord(value) ?? {} }));
  const rest = ['items', 'additionalProperties'].flatMap((keyword) => {
    const child = asRecord(schema[keyword]);
    return child === undefined ? [] : [{ path: `${path}[]`, schema: child }];
  });
  return [...properties, ...rest];
};

const nodesUnder = (node: Node): readonly Node[] => [
  node,
  ...childrenOf(node).flatMap(nodesUnder),
];

const nodesOf = (resource: (typeof CUSTOM_RESOURCES)[number]): readonly Node[] =>
  ['spec', 'status'].flatMap((path) =>
    nodesUnder({
      path,
      schema: structuralSchema(path === 'spec' ? resource.spec : resource.status),
    })
  );

describe.each(RESOURCES.map((resource) => [resource.kind, resource] as const))(
  'the CRD of %s',
  (_, resource) => {
    it('gives every field a type, and leaves nothing open', () => {
      for (const { path, schema } of nodesOf(resource)) {
        const isTyped = schema['type'] !== undefined || schema[INT_OR_STRING] === true;
        expect(isTyped, path).toBe(true);
        expect(schema, path).not.toHaveProperty('allOf');
        expect(schema['additionalProperties'], path).not.toBe(true);
      }
    });

    it('describes every named field in a sentence', () => {
      for (const { path, schema } of nodesOf(resource)) {
        if (!path.includes('.') || path.endsWith('[]')) continue;
        expect(schema['description'], path).toMatch(/^[A-Z`].*\.$/);
      }
    });

    it('gives every quantity the Kubernetes pattern', () => {
      const quantities = nodesOf(resource).filter(({ schema }) =>
        schema[INT_OR_STRING] === true && !String(schema['pattern']).endsWith('%$')
      );
      expect(quantities.length > 0).toBe(resource.category === 'fleet');
      for (const { path, schema } of quantities) {
        expect(String(schema['pattern']), path).toContain('[KMGTPE]i');
      }
    });

    it('schema: is no stricter than the described one', () => {
      for (const { path, schema } of nodesOf(resource)) {
        // Conditions are not in the described schema; several writers may own one each.
        const isShared = resource.category === 'lifecycle' || path === 'status.conditions';
        if (!isShared) expect(schema['x-kubernetes-list-type'] ?? 'atomic', path).toBe('atomic');
        if (path.endsWith('maxSkew')) expect(schema['minimum'], path).toBeLessThan(0);
      }
    });

    it('has conditions by type, and none of them required', () => {
      const lists = nodesOf(resource).filter(({ path }) => path === 'status.conditions');
      expect(lists.length).toBe(resource.kind === 'AvailableCapacity' ? 0 : 1);
      for (const { schema } of lists) {
        expect(schema).toMatchObject({
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
        });
      }
      const status = nodesOf(resource).find(({ path }) => path === 'status')?.schema;
      expect(status?.['required'] ?? []).not.toContain('conditions');
    });

    it('has an example that its own schema accepts', () => {
      const isSpec = Schema.is(resource.spec);
      expect(isSpec(exampleObject(resource)['spec'])).toBe(true);
      expect(isSpec({})).toBe(false);
    });

    it('has a status subresource and the category of its group', () => {
      const definition = customResourceDefinition(resource);
      expect(valueAt(definition, 'spec', 'names', 'categories')).toEqual([resource.category]);
      expect(valueAt(definition, 'spec', 'versions')).toMatchObject([{
        name: 'v1alpha1',
        subresources: { status: {} },
      }]);
    });
  },
);

describe('the messages for quantities', () => {
  const { schema } = nodesOf(capacityRequest)
    .find(({ path }) => path === 'spec.interruptionPenalty') ?? {};
  const accepted = new RegExp(String(schema?.['pattern']), 'u');
  const [rule] = asList(schema?.['x-kubernetes-validations']) ?? [];
  const worded = new RegExp(/matches\(r'(.*)'\)/.exec(textAt(rule, 'rule') ?? '')?.[1] ?? 'none');

  it('schema: refuse exactly what the pattern refuses', () => {
    const near = fc.string({
      unit: fc.constantFrom(...'0123456789.+-eEKMGTPinumk '),
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.oneof(fc.stringMatching(accepted), near), (text) => {
        expect(worded.test(text), text).toBe(accepted.test(text));
      }),
      { numRuns: 20_000 },
    );
  });

  it('name the resource, and cost less than an API server of any version allows', () => {
    const { schema: resources } = nodesOf(capacityRequest)
      .find(({ path }) => path === 'spec.resources') ?? {};
    const rules = asList(resources?.['x-kubernetes-validations']) ?? [];
    expect(rules.map((one) => textAt(one, 'message')?.split(' ')[0]))
      .toEqual(['resources.cpu', 'resources.memory']);
    // A tenth of the longest text of an object, times a quarter of the characters of the pattern.
    const cost = 3 * 1024 * 1024 * 0.1 * worded.source.length * 0.25;
    expect(cost).toBeLessThan(10_000_000);
  });
});

describe('the reference page', () => {
  it('has a row for every field', () => {
    const page = referencePage(RESOURCES, JSON.stringify);
    for (const resource of RESOURCES) {
      for (const { path } of nodesOf(resource)) {
        const isField = path.includes('.') && !path.endsWith('[]');
        if (isField && !path.includes('[]')) expect(page).toContain(`| \`${path}\` |`);
      }
    }
  });
});
