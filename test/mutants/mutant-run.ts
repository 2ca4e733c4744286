/**
 * Runs tests on changed sources: one vitest project for each mutant, which loads its changed files
 * in place of those of the tree.
 *
 * Promises: the tree and vitest's caches are not touched; the mutants do not see one another.
 */
import process from 'node:process';
import { type Plugin, type TestProjectInlineConfiguration } from 'vitest/config';
import { startVitest, type TestModule } from 'vitest/node';
import { type ChangedFiles, ROOT } from './planted-bugs.ts';

/** Changed sources, and the tests to run on them. */
export interface Mutant {
  readonly name: string;
  readonly changes: ChangedFiles;
  readonly testFiles: readonly string[];
  /** Only these tests; those of all mutants together are run in each. */
  readonly testTitles: readonly string[];
}

/** A test on a mutant may loop for longer than any correct one takes. */
const TEST_TIMEOUT_MS = 60_000;

const planting = ({ name, changes }: Mutant): Plugin => ({
  name: `planted-${name}`,
  enforce: 'pre',
  load: (id) => {
    const path = id.split('?')[0] ?? '';
    return path.startsWith(ROOT) ? changes.get(path.slice(ROOT.length)) : undefined;
  },
});

const projectOf = (mutant: Mutant): TestProjectInlineConfiguration => ({
  plugins: [planting(mutant)],
  test: {
    name: mutant.name,
    include: [...mutant.testFiles],
    testTimeout: TEST_TIMEOUT_MS,
    pool: 'threads',
    provide: { scale: 'commit' },
    // It knows files by their text in the tree.
    fsModuleCache: false,
  },
});

const failedIn = (module: TestModule): readonly string[] => [
  ...[...module.children.allTests('failed')].map(({ fullName }) => fullName),
  ...module.errors().map(({ message }) => `${module.relativeModuleId}: ${message}`),
];

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The full names of the tests that failed, by mutant. */
export const testedWith = async (
  mutants: readonly Mutant[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const titles = mutants.flatMap(({ testTitles }) => testTitles.map(quoted));
  const vitest = await startVitest('test', [], {
    root: ROOT,
    config: false,
    watch: false,
    fsModuleCache: false,
    reporters: [{}],
    ...(titles.length === 0 ? {} : { testNamePattern: `(?:${titles.join('|')})$` }),
    projects: mutants.map(projectOf),
  });
  try {
    const failed = new Map(mutants.map(({ name }): [string, string[]] => [name, []]));
    for (const module of vitest.state.getTestModules()) {
      failed.get(module.project.name)?.push(...failedIn(module));
    }
    return failed;
  } finally {
    await vitest.close();
    process.exitCode = 0;
  }
};
