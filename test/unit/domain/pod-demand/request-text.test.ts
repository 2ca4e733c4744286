/** One canonical text for every notation of a spec. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../../../src/domain/json.ts';
import { requestText } from '../../../../src/domain/pod-demand/request-text.ts';

const SPEC = {
  requirements: [
    { key: 'arch', operator: 'In', values: ['amd64', 'arm64'] },
    { key: 'gpu', operator: 'Exists' },
  ],
  resources: { cpu: '1', memory: '2Gi' },
  priority: 5,
  topologySpread: [
    { maxSkew: 3, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' },
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
  ],
  coLocation: {
    topologyKey: 'zone',
    labelSelector: {
      matchLabels: { app: 'web', tier: 'front' },
      matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['a', 'b'] }],
    },
  },
  interruptionPenalty: '16',
};

test.each([
  ['the order of requirements', { requirements: SPEC.requirements.toReversed() }],
  ['the order of values', {
    requirements: [
      { key: 'arch', operator: 'In', values: ['arm64', 'amd64', 'arm64'] },
      { key: 'gpu', operator: 'Exists', values: [] },
    ],
  }],
  ['the order of resources', { resources: { memory: '2Gi', cpu: '1' } }],
  ['the spelling of quantities', { resources: { cpu: '1000m', memory: '2048Mi' } }],
  ['a quantity that is a number', {
    resources: { cpu: 1, memory: '2Gi' },
    interruptionPenalty: 16,
  }],
  ['the order of spreads', { topologySpread: SPEC.topologySpread.toReversed() }],
  ['the order of labels', {
    coLocation: {
      labelSelector: {
        matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['b', 'a'] }],
        matchLabels: { tier: 'front', app: 'web' },
      },
      topologyKey: 'zone',
    },
  }],
])('the text of a spec is the same whatever %s', (_what, change) => {
  expect(requestText({ ...SPEC, ...change })).toBe(requestText(SPEC));
});

test('the text of a spec is the same for an empty list and none', () => {
  const bare = { resources: {}, priority: 0 };
  expect(requestText({ ...bare, requirements: [], topologySpread: [] })).toBe(requestText(bare));
});

test.each([
  ['a requirement more', {
    requirements: [...SPEC.requirements, { key: 'x', operator: 'Exists' }],
  }],
  ['another amount', { resources: { cpu: '2', memory: '2Gi' } }],
  ['another priority', { priority: 6 }],
  ['no penalty', { interruptionPenalty: undefined }],
  ['an operator that nobody knows', {
    requirements: [{ key: 'a', operator: 'Gt', values: ['1'] }],
  }],
])('the text of a spec differs with %s', (_what, change) => {
  expect(requestText({ ...SPEC, ...change })).not.toBe(requestText(SPEC));
});

test('the text of a spec round-trips', () => {
  expect(requestText(parseJson(requestText(SPEC)))).toBe(requestText(SPEC));
});

test('any JSON has a text, and the text is stable', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const text = requestText(value);
    expect(requestText(parseJson(text))).toBe(text);
  }));
});
