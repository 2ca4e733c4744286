/** Errors without content: what a program may log of a template that holds secrets. */
import { describe, expect, it } from 'vitest';
import { GENERAL_REASON, reasonOf } from '../src/reasons.ts';
import { parseTemplate, renderTemplate } from '../src/template.ts';
import { readCorpus } from './corpus.ts';

const SECRET = 'AKIA-join-token-0123456789';

const answer = (text: string) => {
  const parsed = parseTemplate('t', text);
  return parsed._tag === 'Parsed' ? renderTemplate(parsed.template, { s: SECRET }) : parsed;
};

/** Go's words without `template: NAME:LINE:COLUMN: executing "NAME" at <NODE>: `. */
const detailIn = (error: string): string =>
  error.replace(/^template: [^:]*(:\d+)*: /, '')
    .replace(/^executing "(?:[^"\\]|\\.)*" at <[^]*?>: (?=[^:]*[a-z])/, '');

describe('the reason of a template error', () => {
  it.each([
    [`{{index "${SECRET}" 1000}}`, 'index out of range: …'],
    ['{{.s.nothing}}', "can't evaluate field … in type …"],
    [`{{eq .s "${SECRET}" 1}}{{lt .s 1}}`, 'incompatible types for comparison: …'],
    ['{{template "x" .s}}', 'template … not defined'],
    ['{{range .s}}{{end}}', "range can't iterate over …"],
    [`{{"${SECRET}" | upper}}`, 'function … not defined'],
    [`{{print 1 | "${SECRET}"}}`, 'non executable command in pipeline stage …'],
    [`{{"${SECRET}`, 'unterminated quoted string'],
    [`{{ ${SECRET} }}`, 'bad character'],
    [`{{$x := .s}} {{ $x "${SECRET}" }}`, "can't give argument to non-function …"],
    [`{{call .s "${SECRET}"}}`, 'non-function …'],
    [`{{index .s "${SECRET}"}}`, 'cannot index slice/array with type …'],
  ])('of %s has no content', (text, reason) => {
    const failed = answer(text);
    if (failed._tag === 'Rendered') return expect.fail('rendered');
    expect(failed.reason).toBe(reason);
  });

  it('is known for each error of the corpus', async () => {
    const unknown = (await readCorpus()).flatMap(({ cases }) => cases).flatMap(({ answer }) =>
      'error' in answer && reasonOf(detailIn(answer.error)) === GENERAL_REASON ? [answer.error] : []
    );
    expect(unknown).toEqual([]);
  });
});
