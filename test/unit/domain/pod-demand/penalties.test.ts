/** The file of penalties by PriorityClass. */
import { expect, test } from 'vitest';
import { readPenaltyDefaults } from '../../../../src/effects/penalty-defaults-text.ts';

test('penalty defaults are read by PriorityClass, as texts or numbers, in one spelling', () => {
  const read = readPenaltyDefaults(
    'high: {interruptionPenalty: "16", reclamationPenalty: 0.5}\n' +
      'low:\n  interruptionPenalty: 1000m\nnone: {}\nempty:\n',
  );
  expect(read).toEqual({
    _tag: 'Good',
    value: new Map([
      ['high', { interruptionPenalty: '16', reclamationPenalty: '500m' }],
      ['low', { interruptionPenalty: '1' }],
      ['none', {}],
      ['empty', {}],
    ]),
  });
});

test.each(['', '# nothing yet\n', '{}'])('penalty defaults may be empty: %j', (text) => {
  expect(readPenaltyDefaults(text)).toEqual({ _tag: 'Good', value: new Map() });
});

test.each([
  ['[]', 'line 1, column 1: this is not a map of PriorityClasses'],
  ['high: 16', 'line 1, column 7: this is not a map of penalties'],
  ['high: {interruptionpenalty: 16}', 'line 1, column 29: this penalty is unknown: use interr'],
  ['high: {interruptionPenalty: a lot}', 'line 1, column 29: this is not an amount'],
  ['high: {reclamationPenalty: -1}', 'line 1, column 28: this is not an amount'],
  ['high: {reclamationPenalty: [1]}', 'line 1, column 28: this is not an amount'],
  ['high: {', 'is not valid YAML: line 1, column 8: '],
  ['a: 1\na: 2', 'is not valid YAML: line 2, column 1: DUPLICATE_KEY'],
  ['a: *secret', 'is not valid YAML: '],
])('penalty defaults are all refused for one invalid entry: %s', (text, problem) => {
  expect(readPenaltyDefaults(text)).toMatchObject({
    _tag: 'Bad',
    problem: expect.stringContaining(problem),
  });
});
