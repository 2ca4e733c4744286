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
  ['[]', 'is not a map of PriorityClasses'],
  ['high: 16', 'high is not a map of penalties'],
  ['high: {interruptionpenalty: 16}', 'high.interruptionpenalty is unknown: use interruption'],
  ['high: {interruptionPenalty: a lot}', 'high.interruptionPenalty is "a lot", which'],
  ['high: {reclamationPenalty: -1}', 'high.reclamationPenalty is "-1", which is negative'],
  ['high: {reclamationPenalty: [1]}', 'high.reclamationPenalty is "", which is empty'],
  ['high: {', 'is not valid YAML: '],
  ['a: 1\na: 2', 'is not valid YAML: '],
])('penalty defaults are all refused for one invalid entry: %s', (text, problem) => {
  expect(readPenaltyDefaults(text)).toMatchObject({
    _tag: 'Bad',
    problem: expect.stringContaining(problem),
  });
});
