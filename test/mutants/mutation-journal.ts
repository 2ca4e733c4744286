/**
 * What a mutation run has found, kept in a file of lines: a later run with the same file goes on
 * where this one stopped.
 *
 * Promises: a verdict is forgotten when the mutated source changes, and the reach of a test file
 * when that file changes; of a source that changed since, a test file that reached anything is
 * taken to reach all. Without a file nothing is kept.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Reach } from './instrumented-suite.ts';
import { ROOT } from './planted-bugs.ts';
import { ALL_OF_IT, WHILE_LOADING } from './reach-marks.ts';

/** Whether and where a mutation was caught. */
export interface Verdict {
  readonly id: string;
  /** The first test that failed; `null` when none did. */
  readonly caughtBy: string | null;
  /** How many test files were run. */
  readonly reachedBy: number;
}

/** A line of the file. */
type Line =
  | { readonly kind: 'verdict'; readonly source: string; readonly found: Verdict }
  | {
    readonly kind: 'reach';
    readonly sources: Readonly<Record<string, string>>;
    readonly test: string;
    readonly found: Reach;
  };

const hashOf = (text: string): string => createHash('sha1').update(text).digest('hex').slice(0, 12);

const textOf = (path: string): string => {
  const file = join(ROOT, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};

/** The source file of a mutation's id. */
const sourceOf = (id: string): string => (id.split('#')[0] ?? '').replace(WHILE_LOADING, '');

const readLines = (file: string | undefined): readonly Line[] =>
  file === undefined || !existsSync(file)
    ? []
    : readFileSync(file, 'utf8').split('\n').filter((line) => line !== '')
      .map((line): Line => JSON.parse(line));

/** The journal in `file`. */
export class MutationJournal {
  readonly #file: string | undefined;
  readonly #hashes = new Map<string, string>();
  readonly #verdicts = new Map<string, Verdict>();
  readonly #reach = new Map<string, Reach>();

  constructor(file: string | undefined) {
    this.#file = file;
    for (const line of readLines(file)) this.#read(line);
  }

  verdictOf(id: string): Verdict | undefined {
    return this.#verdicts.get(id);
  }

  reachOf(testFile: string): Reach | undefined {
    return this.#reach.get(testFile);
  }

  addVerdict(found: Verdict): void {
    this.#verdicts.set(found.id, found);
    this.#write({ kind: 'verdict', source: this.#hashOf(sourceOf(found.id)), found });
  }

  addReach(found: Reach): void {
    this.#reach.set(found.testFile, found);
    const sources = Object.fromEntries(
      found.ids.map(sourceOf).map((source) => [source, this.#hashOf(source)]),
    );
    this.#write({ kind: 'reach', sources, test: this.#hashOf(found.testFile), found });
  }

  #hashOf(path: string): string {
    const known = this.#hashes.get(path) ?? hashOf(textOf(path));
    this.#hashes.set(path, known);
    return known;
  }

  #read(line: Line): void {
    if (line.kind === 'verdict') {
      const isCurrent = line.source === this.#hashOf(sourceOf(line.found.id));
      if (isCurrent) this.#verdicts.set(line.found.id, line.found);
      return;
    }
    if (line.test !== this.#hashOf(line.found.testFile)) return;
    const ids = line.found.ids.map((id) => {
      const source = sourceOf(id);
      return line.sources[source] === this.#hashOf(source) ? id : `${source}#${ALL_OF_IT}`;
    });
    this.#reach.set(line.found.testFile, { ...line.found, ids: [...new Set(ids)] });
  }

  #write(line: Line): void {
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}
