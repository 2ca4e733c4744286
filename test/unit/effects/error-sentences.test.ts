/** Errors in one line, for logs and for users. */
import { expect, test } from 'vitest';
import { contentFreeProblem } from '../../../src/effects/content-free-errors.ts';
import { sentenceOf } from '../../../src/effects/api-credentials.ts';

test.each([
  [new Error('refused'), 'refused'],
  ['refused', 'refused'],
  [undefined, 'undefined'],
  [new RangeError(''), 'RangeError'],
  // Node's error of a dial to several addresses has no message of its own.
  [new AggregateError([new Error('first'), new AggregateError(['second'])]), 'first; second'],
  [new AggregateError([new Error('first')], 'all'), 'all'],
  [new AggregateError([]), 'AggregateError'],
])('the sentence of %s is %j', (cause, sentence) => {
  expect(sentenceOf(cause)).toBe(sentence);
});

const withFields = (message: string, fields: object): Error =>
  Object.assign(new Error(message), fields);
const yaml = (fields: object): Error =>
  Object.assign(withFields('a secret', fields), { name: 'YAMLException' });

test.each([
  [
    withFields("ENOENT: no such file, open '/k'", { code: 'ENOENT' }),
    "ENOENT: no such file, open '/k'",
  ],
  [withFields('a secret', { code: 'ERR_OSSL_PEM_BAD' }), 'ERR_OSSL_PEM_BAD'],
  [withFields('a secret', { code: 7 }), 'unexpected content (Error)'],
  [withFields('a secret', { code: 'a secret' }), 'unexpected content (Error)'],
  [new SyntaxError('a secret'), 'unexpected content (SyntaxError)'],
  ['a secret', 'unknown error'],
  [
    yaml({ reason: 'bad indentation of "a secret"', mark: { line: 0, column: 4 } }),
    'not valid YAML: line 1, column 5: bad indentation of',
  ],
  [yaml({ reason: 'bad indentation', mark: { line: 0 } }), 'not valid YAML: bad indentation'],
  [yaml({ reason: 'bad indentation', mark: null }), 'not valid YAML: bad indentation'],
  [yaml({ reason: '"a secret"' }), 'not valid YAML: syntax error'],
  [yaml({}), 'unexpected content (YAMLException)'],
])('what is told of a file of secrets after %s is %j', (cause, problem) => {
  expect(contentFreeProblem(cause)).toBe(problem);
});
