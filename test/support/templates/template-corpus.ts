/**
 * The corpus of templates: what Go's own engine makes of each, kept in JSON files by topic, so that
 * ours can be compared without Go.
 *
 * Promises: a file holds what `tools/template-corpus.ts` wrote; a case that lacks an answer reads
 * as one that no engine gives.
 */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bootstrapValue } from '../../../src/domain/bootstrap.ts';
import {
  asList,
  asRecord,
  listOrEmptyAt,
  parseJson,
  textAt,
  valueAt,
} from '../../../src/domain/json.ts';
import { parseTemplate, renderValue } from '../../../src/domain/template/template.ts';
import { fromPlain, type PlainData, type Value } from '../../../src/domain/template/values.ts';
import { runCommand } from '../../../tools/testbed/commands.ts';
import { oracle, type Print } from '../../../tools/testbed/go-builds.ts';

/** What Go calls templates that have no other name. */
export const CORPUS_TEMPLATE_NAME = 'template';

/** An engine's answer: text, or a complaint. */
export type CorpusAnswer = { readonly output: string } | { readonly error: string };

/** One template with its data. */
export interface CorpusQuestion {
  readonly template: string;
  readonly data: PlainData;
  /** The data is what a bootstrap template sees, and no map. */
  readonly isBootstrap: boolean;
}

/** A question, what it shows, and Go's answer. */
export interface CorpusCase extends CorpusQuestion {
  readonly title: string;
  readonly answer: CorpusAnswer;
}

/** The cases of one file. */
export interface CorpusTopic {
  readonly topic: string;
  readonly cases: readonly CorpusCase[];
}

/** Where the files are. */
export const corpusFolder = fileURLToPath(new URL('../../unit/template/corpus', import.meta.url));

const plain = (value: unknown): PlainData => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  const list = asList(value);
  if (list !== undefined) return list.map(plain);
  const record = asRecord(value);
  if (record === undefined) return null;
  return Object.fromEntries(Object.entries(record).map(([key, inner]) => [key, plain(inner)]));
};

const answerIn = (value: unknown): CorpusAnswer => {
  const output = textAt(value, 'output');
  return output === undefined ? { error: textAt(value, 'error') ?? 'not asked yet' } : { output };
};

const caseIn = (file: unknown, entry: unknown): CorpusCase => ({
  title: textAt(entry, 'title') ?? '',
  template: textAt(entry, 'template') ?? '',
  data: plain(valueAt(asRecord(entry)?.['data'] === undefined ? file : entry, 'data')),
  isBootstrap: textAt(file, 'context') === 'bootstrap',
  answer: answerIn(entry),
});

/** The corpus, a file at a time. */
export const readCorpus = async (): Promise<readonly CorpusTopic[]> => {
  const names = (await readdir(corpusFolder)).filter((name) => name.endsWith('.json')).sort();
  return await Promise.all(names.map(async (name) => {
    const file = parseJson(await readFile(`${corpusFolder}/${name}`, 'utf8'));
    const cases = listOrEmptyAt(file, 'cases').map((entry) => caseIn(file, entry));
    return { topic: name.replace('.json', ''), cases };
  }));
};

const valueOf = ({ data, isBootstrap }: CorpusQuestion): Value => {
  if (!isBootstrap) return fromPlain(data);
  return bootstrapValue({
    clusterId: textAt(data, 'ClusterID') ?? '',
    requirements: listOrEmptyAt(data, 'Requirements').map((requirement) => ({
      key: textAt(requirement, 'Key') ?? '',
      // The spelling of an operator is the template's business alone.
      operator: OPERATORS.find((one) => one === textAt(requirement, 'Operator')) ?? 'In',
      values: listOrEmptyAt(requirement, 'Values').map(String),
    })),
  });
};

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Same'] as const;

/** Our answer, and the place that goes with a complaint. */
export const ourAnswer = (
  question: CorpusQuestion,
): CorpusAnswer & { readonly line?: number; readonly column?: number } => {
  const parsed = parseTemplate(CORPUS_TEMPLATE_NAME, question.template);
  const answer = parsed._tag === 'Parsed'
    ? renderValue(parsed.template, valueOf(question))
    : parsed;
  return answer._tag === 'Rendered'
    ? { output: answer.text }
    : { error: answer.message, line: answer.line, column: answer.column };
};

/** The line that Go's complaint names. */
export const lineOf = (error: string): number => Number(/^template: [^:]*:(\d+)/.exec(error)?.[1]);

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
