/** The template engine beside Go's own: the corpus is current, and fuzzed templates agree. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { describeWithGo } from '../support/api/testbed.ts';
import { ourAnswer, readCorpus } from '../../packages/go-template/test/corpus.ts';
import { goAnswers } from '../support/templates/go-answers.ts';
import { fuzzedTemplate, GRAMMAR_DATA } from '../../packages/go-template/test/template-grammar.ts';

const BUILD_TIMEOUT_MS = 10 * 60 * 1000;
const FUZZED = 10_000;

/** Outcomes specific to us or to the oracle: limits, which Go has elsewhere or not at all. */
const isLimit = (answer: object): boolean =>
  'error' in answer && /^oracle: |exceeded maximum|max expression depth/.test(String(answer.error));

describeWithGo('templates', () => {
  it("of the corpus have Go's results", async () => {
    for (const { topic, cases } of await readCorpus()) {
      expect(await goAnswers(cases), topic).toEqual(cases.map(({ answer }) => answer));
    }
  }, BUILD_TIMEOUT_MS);

  it(`made by a grammar or broken give what Go gives, ${FUZZED} of them`, async () => {
    const seed = fc.sample(fc.nat(), 1)[0] ?? 0;
    const questions = fc.sample(fuzzedTemplate, { numRuns: FUZZED, seed })
      .map((template) => ({ template, data: GRAMMAR_DATA, isBootstrap: false }));
    const answers = await goAnswers(questions);
    for (const [index, question] of questions.entries()) {
      const go = answers[index] ?? { error: 'no answer' };
      const ours = ourAnswer(question);
      if (isLimit(ours) || isLimit(go)) continue;
      expect(ours, `seed ${seed}: ${question.template}`).toMatchObject(go);
    }
  }, BUILD_TIMEOUT_MS);
});
