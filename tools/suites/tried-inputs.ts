/**
 * Results that need not be found again: what a slow try depends on, as a digest that is committed
 * with its result.
 *
 * Promises: the digest has the text of every file of the project that the entries import, also
 * through others, or name by a URL, and the locked versions of all libraries; a try whose digest
 * differs, or that has none, is made again. Only a try that succeeded is recorded.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseJson, recordAt } from '../../src/domain/json.ts';
import { PROJECT, sourceFile } from '../../test/tidy/source-file.ts';

/** A try, and what its result depends on. */
export interface Try {
  readonly name: string;
  /** By path from the root. */
  readonly entries: readonly string[];
  /** Beginnings of paths that the result does not depend on. */
  readonly without?: readonly string[];
  /** What else it depends on. */
  readonly texts?: readonly string[];
}

const NAMED_FILE = /new URL\(\s*'(?<from>\.[^']+)',\s*import\.meta\.url\)/g;
const LOCK = 'package-lock.json';

const isFile = (path: string): boolean =>
  existsSync(join(PROJECT, path)) && statSync(join(PROJECT, path)).isFile();

/** The path from the root that an import leads to; none for a library. */
const targetOf = (path: string, from: string): string | undefined => {
  if (from.startsWith('.')) return join(dirname(path), from);
  if (!from.startsWith('@tidegate/')) return undefined;
  return relative(PROJECT, fileURLToPath(import.meta.resolve(from)));
};

const textOf = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

const readByFile = new Map<string, readonly string[]>();

const foundIn = (path: string): readonly string[] => {
  const text = textOf(path);
  const imported = sourceFile(path, text).imports.map(({ from }) => from);
  const named = [...text.matchAll(NAMED_FILE)].flatMap(({ groups }) => groups?.['from'] ?? '');
  return [...imported, ...named].flatMap((from) => targetOf(path, from) ?? []).filter(isFile);
};

/** The files that a file reads; generated ones read no others. */
const readsOf = (path: string): readonly string[] => {
  if (!/\.tsx?$/.test(path) || path.includes('/gen/')) return [];
  const known = readByFile.get(path) ?? foundIn(path);
  readByFile.set(path, known);
  return known;
};

const reached = ({ entries, without = [] }: Try): readonly string[] => {
  const found = new Set<string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const read = path;
    if (found.has(read) || without.some((beginning) => read.startsWith(beginning))) continue;
    found.add(read);
    open.push(...readsOf(read));
  }
  return [...found].sort();
};

/** What the result of a try depends on, in 16 hexadecimal digits. */
export const inputDigest = (one: Try): string => {
  const hash = createHash('sha256').update(process.versions.node.split('.', 1).join(''));
  for (const path of [...reached(one), LOCK]) hash.update(`\0${path}\0${textOf(path)}`);
  for (const text of one.texts ?? []) hash.update(`\0${text}`);
  return hash.digest('hex').slice(0, 16);
};

/** Tries whose results are recorded in a file of digests by name. */
export const triedInputs = (file: string) => {
  const recorded = existsSync(file)
    ? recordAt({ all: parseJson(readFileSync(file, 'utf8')) }, 'all')
    : {};
  return {
    /** Those to make again. */
    changed: (tries: readonly Try[]): readonly Try[] =>
      tries.filter((one) => recorded?.[one.name] !== inputDigest(one)),
    /** `succeeded` are recorded, and those of `tries` that did not succeed are no more. */
    record: (tries: readonly Try[], succeeded: ReadonlySet<string>): void => {
      const names = tries.map(({ name }) => name);
      const kept = Object.entries(recorded ?? {}).filter(([name]) => !names.includes(name));
      const fresh = tries.filter(({ name }) => succeeded.has(name))
        .map((one) => [one.name, inputDigest(one)] as const);
      const all = [...kept, ...fresh].sort(([one], [other]) => one < other ? -1 : 1);
      writeFileSync(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    },
  };
};
