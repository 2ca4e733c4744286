/** The template engine beside Go's own, whose answers are kept in `corpus/*.json`. */
import { describe, expect, it } from 'vitest';
import { lineOf, ourAnswer, readCorpus } from './corpus.ts';

const CASES_MIN = 150;

const corpus = await readCorpus();

describe.each(corpus)('template, $topic, gives what Go gives:', ({ cases }) => {
  it.each(cases)('$title', (asked) => {
    const ours = ourAnswer(asked);
    if ('output' in asked.answer) return expect(ours).toEqual(asked.answer);
    expect(ours).toMatchObject({ error: asked.answer.error, line: lineOf(asked.answer.error) });
  });
});

describe('the corpus of templates', () => {
  it(`has at least ${CASES_MIN} cases, each with a title of its own`, () => {
    expect(corpus.flatMap(({ cases }) => cases).length).toBeGreaterThanOrEqual(CASES_MIN);
    for (const { topic, cases } of corpus) {
      const titles = cases.map(({ title }) => title);
      expect(new Set(titles).size, topic).toBe(titles.length);
    }
  });

  it("has Go's result for each", () => {
    const unanswered = corpus.flatMap(({ cases }) => cases).filter(({ answer }) => {
      return 'error' in answer && !answer.error.startsWith('template: ');
    });
    expect(unanswered).toEqual([]);
  });
});
