/**
 * Bugs that are planted on purpose, each a patch in `planted/` that names the test that catches it.
 *
 * Promises: a patch is applied to copies of the files that it changes, never to the tree; a patch
 * that does not apply to the current files, or that names no test, is an error with its name.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the project, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATCHES = join(ROOT, 'test/mutants/planted');
const OF_SIMULATION = join(ROOT, 'test/simulation/planted');

/** Files with their changed texts, by path from the root. */
export type ChangedFiles = ReadonlyMap<string, string>;

/** One bug, and the test that must fail with it. */
export interface PlantedBug {
  readonly name: string;
  /** One sentence: the wrong behaviour. */
  readonly why: string;
  readonly changes: ChangedFiles;
  readonly testFile: string;
  /** The title of the test, without those of its suites. */
  readonly testTitle: string;
}

const HEADER = /^(?<why>.+)\nTest: (?<testFile>.+)\nTitle: (?<testTitle>.+)\n/;

/** The files that a patch changes, with its changes. */
export const patched = (patch: string): ChangedFiles => {
  const files = [...readFileSync(patch, 'utf8').matchAll(/^--- a\/(.+)$/gm)]
    .flatMap(([, file]) => file ?? []);
  const copy = mkdtempSync(join(tmpdir(), 'tidegate-planted-'));
  try {
    for (const file of files) cpSync(join(ROOT, file), join(copy, file), { recursive: true });
    execFileSync('patch', ['--strip=1', '--silent', '--input', patch], {
      cwd: copy,
      stdio: 'pipe',
    });
    return new Map(files.map((file) => [file, readFileSync(join(copy, file), 'utf8')]));
  } catch (cause) {
    throw new Error(`Cannot plant "${basename(patch)}": write it again for the current files`, {
      cause,
    });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};

const patchesIn = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => name.endsWith('.patch')).toSorted()
    .map((name) => join(folder, name));

const readBug = (patch: string): PlantedBug => {
  const header = HEADER.exec(readFileSync(patch, 'utf8'))?.groups;
  const { why, testFile, testTitle } = header ?? {};
  if (why === undefined || testFile === undefined || testTitle === undefined) {
    throw new Error(`Cannot read "${basename(patch)}": begin it with a sentence, Test: and Title:`);
  }
  return { name: basename(patch, '.patch'), why, changes: patched(patch), testFile, testTitle };
};

/** The planted bugs that one test each catches, by name. */
export const plantedBugs = (): readonly PlantedBug[] => patchesIn(PATCHES).map(readBug);

/** The patches whose bugs random simulations find. */
export const simulatedPatches = (): readonly string[] => patchesIn(OF_SIMULATION);
