/**
 * Writes the results of Go's own engine into the corpus of templates
 * (`packages/go-template/test/corpus`). With `--check` it writes nothing and exits 1 when a file is
 * outdated. Needs Go. A new case needs a title and a template, and `data` when the file's own does
 * not fit.
 */
import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { asRecord, listOrEmptyAt, parseJson, textAt } from '../src/domain/json.ts';
import { corpusFolder, type CorpusTopic, readCorpus } from '../packages/go-template/test/corpus.ts';
import { goAnswers } from '../test/support/templates/go-answers.ts';
import { printOnStderr } from './testbed/go-builds.ts';

/** The file of a topic with Go's answers in it. */
const answered = async ({ topic, cases }: CorpusTopic, text: string): Promise<string> => {
  const file = parseJson(text);
  if (asRecord(file) === undefined) {
    throw new Error(`Cannot read ${topic}.json: it is no JSON object`);
  }
  const answers = await goAnswers(cases, printOnStderr);
  const entries = listOrEmptyAt(file, 'cases').map((entry, index) => {
    const data = asRecord(entry)?.['data'];
    return {
      title: textAt(entry, 'title'),
      template: textAt(entry, 'template'),
      ...(data === undefined ? {} : { data }),
      ...answers[index],
    };
  });
  return `${JSON.stringify({ ...asRecord(file), cases: entries }, null, 2)}\n`;
};

const changed: string[] = [];
for (const topic of await readCorpus()) {
  const path = `${corpusFolder}/${topic.topic}.json`;
  const before = await readFile(path, 'utf8');
  const after = await answered(topic, before);
  if (after === before) continue;
  changed.push(`${topic.topic}.json`);
  if (!process.argv.includes('--check')) await writeFile(path, after);
}
if (!process.argv.includes('--check')) {
  for (const name of changed) process.stdout.write(`wrote ${name}\n`);
} else if (changed.length > 0) {
  process.stderr.write(
    `Not what Go says: ${changed.join(', ')}. Run node tools/template-corpus.ts\n`,
  );
  process.exitCode = 1;
}
