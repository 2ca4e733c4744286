/** Go's own template engine, through the test bed's oracle. */
import {
  CORPUS_TEMPLATE_NAME,
  type CorpusAnswer,
  type CorpusQuestion,
} from '../../../packages/go-template/test/corpus.ts';
import { parseJson, textAt } from '../../../src/domain/json.ts';
import { runCommand } from '../../../tools/testbed/commands.ts';
import { oracle, type Print } from '../../../tools/testbed/go-builds.ts';

/** Go's answers, in order. Rejects with `TestbedUnavailable` without Go. */
export const goAnswers = async (
  questions: readonly CorpusQuestion[],
  print: Print = () => {},
): Promise<readonly CorpusAnswer[]> => {
  const lines = questions.map(({ template, data, isBootstrap }) => {
    const context = isBootstrap ? { context: 'bootstrap' } : {};
    return `${JSON.stringify({ name: CORPUS_TEMPLATE_NAME, template, data, ...context })}\n`;
  });
  const { code, stdout, stderr } = await runCommand(await oracle('template', print), [], {
    input: lines.join(''),
  });
  const answers = stdout.trimEnd().split('\n').map(parseJson);
  if (code !== 0 || answers.length !== questions.length) {
    throw new Error(`Go answered ${answers.length} of ${questions.length} templates: ${stderr}`);
  }
  return answers.map((answer) => {
    const error = textAt(answer, 'error');
    return error === undefined ? { output: textAt(answer, 'output') ?? '' } : { error };
  });
};
