/** The inputs that are kept in the repository, a file for each target. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { asList, asText, parseJson, textAt } from '../../src/domain/json.ts';

/** An input that failed once, or that reached something rare. */
export interface CorpusEntry {
  /** What it showed. */
  readonly why: string;
  readonly input: string;
}

const fileOf = (target: string): string =>
  fileURLToPath(new URL(`corpus/${target}.json`, import.meta.url));

/** The kept inputs of a target. */
export const corpusOf = (target: string): readonly CorpusEntry[] => {
  if (!existsSync(fileOf(target))) return [];
  const entries = asList(parseJson(readFileSync(fileOf(target), 'utf8'))) ?? [];
  return entries.map((entry) => ({
    why: textAt(entry, 'why') ?? '',
    input: asText(textAt(entry, 'input')) ?? '',
  }));
};

const INPUT_MAX = 2000;
const ADDED_MAX = 60;

/** Adds inputs, the small ones, whose reasons no other has. Returns how many. */
export const addToCorpus = (target: string, found: Iterable<CorpusEntry>): number => {
  const known = corpusOf(target);
  const reasons = new Set(known.map(({ why }) => why));
  const added: CorpusEntry[] = [];
  for (const { why, input } of found) {
    if (reasons.has(why) || input === '' || input.length > INPUT_MAX) continue;
    if (added.length >= ADDED_MAX) break;
    reasons.add(why);
    added.push({ why, input });
  }
  if (added.length > 0) {
    writeFileSync(fileOf(target), `${JSON.stringify([...known, ...added], undefined, 2)}\n`);
  }
  return added.length;
};
