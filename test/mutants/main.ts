/**
 * `npm run planted [-- --changed] [--record] [WORD ...]`: plants each bug in turn and runs the test
 * that catches it; with `--changed` those alone whose files, or whose test's, have changed since
 * `--record` recorded that it was caught.
 *
 * Promises: prints a table of bugs, files and tests; exit code 1 when a test passes with its bug,
 * or does not run.
 */
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { triedInputs, type Try } from '../../tools/suites/tried-inputs.ts';
import { testedWith } from './mutant-run.ts';
import { type PlantedBug, plantedBugs, ROOT } from './planted-bugs.ts';

const { values: { changed, record }, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
});

const tryOf = ({ name, changes, testFile, testTitle }: PlantedBug): Try => ({
  name,
  entries: [testFile, ...changes.keys()],
  texts: [...changes.values(), testTitle],
});

const chosen = plantedBugs().filter(({ name }) =>
  words.length === 0 || words.some((word) => name.includes(word))
);
const tried = triedInputs(join(ROOT, 'test/mutants/planted-tried.json'));
const tries = changed ? tried.changed(chosen.map(tryOf)) : chosen.map(tryOf);
const toTry = new Set(tries.map(({ name }) => name));
const bugs = chosen.filter(({ name }) => toTry.has(name));
if (changed) {
  process.stdout.write(
    `${chosen.length - bugs.length} of ${chosen.length} planted bugs were caught by these files\n`,
  );
}

const rowOf = ({ name, changes, testFile, testTitle }: PlantedBug, verdict: string): string =>
  `${verdict}  ${name}\n        in ${[...changes.keys()].join(', ')}\n` +
  `        by ${testFile}: ${testTitle}\n`;

const none: ReadonlyMap<string, readonly string[]> = new Map();
const results = bugs.length === 0 ? none : await testedWith(
  bugs.map(({ name, changes, testFile, testTitle }) => ({
    name,
    changes,
    testFiles: [testFile],
    testTitles: [testTitle],
  })),
);
const caught = new Set<string>();
for (const bug of bugs) {
  const failed = results.get(bug.name) ?? [];
  const isCaught = failed.some((title) => title.endsWith(bug.testTitle));
  if (isCaught) caught.add(bug.name);
  process.stdout.write(rowOf(bug, isCaught ? 'caught' : 'MISSED'));
}
process.stdout.write(`${caught.size} of ${bugs.length} planted bugs caught\n`);
if (record) tried.record(tries, caught);
if (caught.size < bugs.length || chosen.length === 0) process.exitCode = 1;
