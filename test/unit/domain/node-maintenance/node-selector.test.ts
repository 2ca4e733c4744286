/** Which nodes a NodeMaintenance is about. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  nodeSelectorOf,
  selectsNode,
} from '../../../../src/domain/node-maintenance/node-selector.ts';

const NODE = { name: 'one', labels: { zone: 'a', cores: '16', odd: 'x' } };

const selects = (...nodeSelectorTerms: readonly unknown[]): boolean =>
  selectsNode(nodeSelectorOf({ nodeSelectorTerms }), NODE);

const label = (key: string, operator: string, ...values: readonly unknown[]) => ({
  matchExpressions: [{ key, operator, values }],
});

const field = (key: string, operator: string, ...values: readonly string[]) => ({
  matchFields: [{ key, operator, values }],
});

describe('a node selector', () => {
  test.each([
    ['In', label('zone', 'In', 'b', 'a'), true],
    ['In another', label('zone', 'In', 'b'), false],
    ['In of an absent label', label('rack', 'In', 'b'), false],
    ['NotIn', label('zone', 'NotIn', 'b'), true],
    ['NotIn of an absent label', label('rack', 'NotIn', 'b'), true],
    ['NotIn with the value', label('zone', 'NotIn', 'a'), false],
    ['Exists', label('zone', 'Exists'), true],
    ['Exists of an absent label', label('rack', 'Exists'), false],
    ['DoesNotExist', label('rack', 'DoesNotExist'), true],
    ['DoesNotExist of a label', label('zone', 'DoesNotExist'), false],
    ['Gt', label('cores', 'Gt', '8'), true],
    ['Gt of an equal number', label('cores', 'Gt', '16'), false],
    ['Lt', label('cores', 'Lt', '+17'), true],
    ['Lt of a lower number', label('cores', 'Lt', '-17'), false],
    ['Gt of an absent label', label('rack', 'Gt', '8'), false],
    ['Gt of a text', label('odd', 'Gt', '8'), false],
    ['the name', field('metadata.name', 'In', 'one'), true],
    ['another name', field('metadata.name', 'In', 'two'), false],
    ['not a name', field('metadata.name', 'NotIn', 'two'), true],
  ])('evaluates %s as the scheduler does', (_, term, expected) => {
    expect(selects(term)).toBe(expected);
  });

  test.each([
    ['In without values', label('zone', 'In')],
    ['Exists with values', label('zone', 'Exists', 'a')],
    ['Gt with two values', label('cores', 'Gt', '1', '2')],
    ['Gt with a text', label('cores', 'Gt', 'one')],
    ['Lt with more than 64 bits', label('cores', 'Lt', '9223372036854775808')],
    ['an unknown operator', label('zone', 'Like', 'a')],
    ['no key', label('', 'Exists')],
    ['two names', field('metadata.name', 'In', 'one', 'two')],
    ['another field', field('spec.unschedulable', 'NotIn', 'true')],
    ['an operator that fields do not have', field('metadata.name', 'Exists')],
  ])('selects nothing by a term with %s', (_, term) => {
    expect(selects(term)).toBe(false);
  });

  test('NM-12: without terms, or with an empty one, it selects nothing', () => {
    expect(selects()).toBe(false);
    expect(selects({})).toBe(false);
    expect(selectsNode(nodeSelectorOf(undefined), NODE)).toBe(false);
  });

  test('terms are alternatives; the conditions of one term all hold', () => {
    expect(selects(label('zone', 'In', 'b'), label('cores', 'Exists'))).toBe(true);
    expect(selects({ ...label('zone', 'In', 'a'), ...field('metadata.name', 'In', 'two') }))
      .toBe(false);
  });

  test('compares 64-bit integers exactly', () => {
    const node = { name: 'n', labels: { cores: '9007199254740993' } };
    const term = label('cores', 'Gt', '9007199254740992');
    expect(selectsNode(nodeSelectorOf({ nodeSelectorTerms: [term] }), node)).toBe(true);
  });

  test('never throws', () => {
    fc.assert(fc.property(fc.anything(), (raw) => {
      selectsNode(nodeSelectorOf(raw), NODE);
      selectsNode(nodeSelectorOf({ nodeSelectorTerms: [raw, { matchExpressions: [raw] }] }), NODE);
    }));
  });
});
