/**
 * `npm run planted`: plants each bug in turn and runs the test that catches it.
 *
 * Promises: prints a table of bugs, files and tests; exit code 1 when a test passes with its bug,
 * or does not run.
 */
import process from 'node:process';
import { testedWith } from './mutant-run.ts';
import { type PlantedBug, plantedBugs } from './planted-bugs.ts';

const words = process.argv.slice(2);
const bugs = plantedBugs().filter(({ name }) =>
  words.length === 0 || words.some((word) => name.includes(word))
);

const rowOf = ({ name, changes, testFile, testTitle }: PlantedBug, verdict: string): string =>
  `${verdict}  ${name}\n        in ${[...changes.keys()].join(', ')}\n` +
  `        by ${testFile}: ${testTitle}\n`;

const results = await testedWith(
  bugs.map(({ name, changes, testFile, testTitle }) => ({
    name,
    changes,
    testFiles: [testFile],
    testTitles: [testTitle],
  })),
);
let missed = 0;
for (const bug of bugs) {
  const failed = results.get(bug.name) ?? [];
  const isCaught = failed.some((title) => title.endsWith(bug.testTitle));
  if (!isCaught) missed += 1;
  process.stdout.write(rowOf(bug, isCaught ? 'caught' : 'MISSED'));
}
process.stdout.write(`${bugs.length - missed} of ${bugs.length} planted bugs caught\n`);
if (missed > 0 || bugs.length === 0) process.exitCode = 1;
