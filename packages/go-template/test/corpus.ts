/**
 * The corpus of templates: what Go's own engine makes of each, kept in JSON files by topic, so that
 * ours can be compared without Go.
 *
 * Promises: a case that lacks an answer reads as one that no engine gives.
 */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { toBytes } from '../src/byte-strings.ts';
import { parseTemplate, renderValue } from '../src/template.ts';
import {
  fromPlain,
  type GoType,
  type PlainData,
  sliceValue,
  STRING,
  stringValue,
  type StructType,
  structValue,
  type Value,
} from '../src/values.ts';

/** What Go calls templates that have no other name. */
export const CORPUS_TEMPLATE_NAME = 'template';

/** An engine's answer: text, or an error message. */
export type CorpusAnswer = { readonly output: string } | { readonly error: string };

/** One template with its data. */
export interface CorpusQuestion {
  readonly template: string;
  readonly data: PlainData;
  /** The data is a struct: a cluster's id and its requirements. */
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
export const corpusFolder = fileURLToPath(new URL('corpus', import.meta.url));

/** A member of a JSON object; undefined for anything else. */
const memberOf = (data: PlainData | undefined, name: string): PlainData | undefined =>
  typeof data === 'object' && data !== null && !Array.isArray(data) && name in data
    ? Object.entries(data).find(([key]) => key === name)?.[1]
    : undefined;

const textOf = (data: PlainData | undefined, name: string): string | undefined => {
  const member = memberOf(data, name);
  return typeof member === 'string' ? member : undefined;
};

const listOf = (data: PlainData | undefined, name: string): readonly PlainData[] => {
  const member = memberOf(data, name);
  return Array.isArray(member) ? member : [];
};

const answerIn = (entry: PlainData): CorpusAnswer => {
  const output = textOf(entry, 'output');
  return output === undefined ? { error: textOf(entry, 'error') ?? 'not asked yet' } : { output };
};

const dataIn = (file: PlainData, entry: PlainData): PlainData => {
  const own = memberOf(entry, 'data');
  return own === undefined ? memberOf(file, 'data') ?? null : own;
};

const caseIn = (file: PlainData, entry: PlainData): CorpusCase => ({
  title: textOf(entry, 'title') ?? '',
  template: textOf(entry, 'template') ?? '',
  data: dataIn(file, entry),
  isBootstrap: textOf(file, 'context') === 'bootstrap',
  answer: answerIn(entry),
});

/** The corpus, a file at a time. */
export const readCorpus = async (): Promise<readonly CorpusTopic[]> => {
  const names = (await readdir(corpusFolder)).filter((name) => name.endsWith('.json')).sort();
  return await Promise.all(names.map(async (name) => {
    const file: PlainData = JSON.parse(await readFile(`${corpusFolder}/${name}`, 'utf8'));
    const cases = listOf(file, 'cases').map((entry) => caseIn(file, entry));
    return { topic: name.replace('.json', ''), cases };
  }));
};

const STRINGS: GoType = { kind: 'slice', element: STRING };

const REQUIREMENT: StructType = {
  kind: 'struct',
  name: 'operator.Requirement',
  fields: [['Key', STRING], ['Operator', STRING], ['Values', STRINGS]],
};

const INPUT: StructType = {
  kind: 'struct',
  name: 'operator.BootstrapRendererInput',
  fields: [['ClusterID', STRING], ['Requirements', { kind: 'slice', element: REQUIREMENT }]],
};

const goString = (text: string | undefined): Value => stringValue(toBytes(text ?? ''));

const structOf = (data: PlainData): Value =>
  structValue(INPUT, [
    goString(textOf(data, 'ClusterID')),
    sliceValue(
      REQUIREMENT,
      listOf(data, 'Requirements').map((requirement) =>
        structValue(REQUIREMENT, [
          goString(textOf(requirement, 'Key')),
          goString(textOf(requirement, 'Operator')),
          sliceValue(
            STRING,
            listOf(requirement, 'Values').map((value) => goString(String(value))),
          ),
        ])
      ),
    ),
  ]);

/** Our answer, and the place that goes with an error. */
export const ourAnswer = (
  { template, data, isBootstrap }: CorpusQuestion,
): CorpusAnswer & { readonly line?: number; readonly column?: number } => {
  const parsed = parseTemplate(CORPUS_TEMPLATE_NAME, template);
  const answer = parsed._tag === 'Parsed'
    ? renderValue(parsed.template, isBootstrap ? structOf(data) : fromPlain(data))
    : parsed;
  return answer._tag === 'Rendered'
    ? { output: answer.text }
    : { error: answer.message, line: answer.line, column: answer.column };
};

/** The line that Go's error message names. */
export const lineOf = (error: string): number => Number(/^template: [^:]*:(\d+)/.exec(error)?.[1]);
