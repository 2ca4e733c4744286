/**
 * Reads the template of a Job from a file.
 *
 * Promises: what no Job can be made of is refused with one sentence that names the file and the
 * remedy. The API server would refuse the Job of each pod, and each pod would be evicted without.
 */
import { type JsonRecord, listAt, recordAt } from '../json.ts';
import type { JobTemplate } from './job.ts';

/** The template; or why there is none. */
export type TemplateReading =
  | { readonly _tag: 'Template'; readonly template: JobTemplate }
  | { readonly _tag: 'Refused'; readonly problem: string };

/** Messages of parsers quote the text with its line ends. */
const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : `${cause}`).replaceAll(/\s+/g, ' ');

const unreadable = (file: string, cause: unknown): TemplateReading => ({
  _tag: 'Refused',
  problem: `Cannot read the template "${file}": ${reasonOf(cause)}; name a file with a Job as JSON`,
});

const unusable = (file: string, why: string): TemplateReading => ({
  _tag: 'Refused',
  problem: `Cannot use the template "${file}": ${why}`,
});

const isTextEntry = (entry: [string, unknown]): entry is [string, string] =>
  typeof entry[1] === 'string';

/** The texts of a record; undefined when a value is anything else. */
const textsOf = (record: JsonRecord): Readonly<Record<string, string>> | undefined => {
  const entries = Object.entries(record);
  return entries.every(isTextEntry) ? Object.fromEntries(entries) : undefined;
};

const templateIn = (file: string, job: unknown): TemplateReading => {
  const spec = recordAt(job, 'spec');
  if (listAt(spec, 'template', 'spec', 'containers').length === 0) {
    return unusable(
      file,
      'spec.template.spec.containers has no container; write a Job with at least one there',
    );
  }
  const labels = textsOf(recordAt(job, 'metadata', 'labels'));
  const annotations = textsOf(recordAt(job, 'metadata', 'annotations'));
  return labels === undefined || annotations === undefined
    ? unusable(file, 'a label or annotation is not text; put its value in quotes')
    : { _tag: 'Template', template: { metadata: { labels, annotations }, spec } };
};

/** The template in a file that `readText` reads. */
export const readTemplate = (
  file: string,
  readText: (file: string) => string,
): TemplateReading => {
  let text: string;
  try {
    text = readText(file);
  } catch (cause) {
    return unreadable(file, cause);
  }
  try {
    return templateIn(file, JSON.parse(text));
  } catch (cause) {
    return unusable(
      file,
      `it is not JSON: ${reasonOf(cause)}; ` +
        `convert YAML with "kubectl create --dry-run=client -o json -f ${file}"`,
    );
  }
};
