/** Text for a terminal: wrapped at words, never wider than asked. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  commandLines,
  definitionLines,
  sentenceLines,
  wrappedLines,
} from '../../../src/view/wrapped-text.ts';

const words = fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { maxLength: 30 });

test('wrapped text keeps its words in order, and its lines within the width', () => {
  fc.assert(fc.property(words, fc.integer({ min: 10, max: 40 }), (text, columns) => {
    const lines = wrappedLines(text.join(' '), columns);
    expect(lines.join(' ')).toBe(text.join(' '));
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
  }));
});

test('a word that is longer than the width has a line of its own', () => {
  expect(wrappedLines('see https://example.com/very/long now', 10)).toEqual([
    'see',
    'https://example.com/very/long',
    'now',
  ]);
});

test('definitions have their texts in one column, below a term that is too long', () => {
  expect(definitionLines([
    { term: '-o', text: 'format of the answer' },
    { term: '--a-flag-with-a-name-of-some-length', text: 'its text' },
  ], 24)).toEqual([
    '  -o  format of the',
    '      answer',
    '  --a-flag-with-a-name-of-some-length',
    '      its text',
  ]);
});

test('a command at the end of sentences is never broken', () => {
  const text = 'Set maxUnavailable to 1 or more: kubectl -n ns patch pdb db --type merge';
  expect(sentenceLines(text, 30)).toEqual([
    'Set maxUnavailable to 1 or',
    'more:',
    'kubectl -n ns patch pdb db --type merge',
  ]);
  expect(sentenceLines(text, 100)).toEqual([text]);
  expect(sentenceLines('plain words', 5)).toEqual(['plain', 'words']);
});

test('a command that is broken into lines can be pasted', () => {
  const lines = commandLines('tidegate --a=1 --b=2 --c=3', 18);
  expect(lines).toEqual(['tidegate --a=1 \\', '  --b=2 --c=3']);
});
