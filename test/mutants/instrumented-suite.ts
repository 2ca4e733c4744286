/**
 * The unit and model tests on instrumented sources: transformed once, then run for one mutation
 * after the other, each time only the files that reach it.
 *
 * Promises: the tree and vitest's caches are not touched; a mutation is caught when a test fails,
 * or when it does not end.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import {
  createVitest,
  type Reporter,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node';
import { type ChangedFiles, ROOT } from './planted-bugs.ts';

/** A test of a mutation may wait for what never happens. */
const TEST_TIMEOUT_MS = 20_000;

/** The tests of `npm test` that know nothing of clusters and of whole simulations. */
const SUITES = ['test/unit/**/*.test.ts', 'test/models/*.test.ts', 'packages/*/test/**/*.test.ts'];
/** They start processes, take seconds each, or test the tools of tests. */
const LEFT_OUT = [
  'test/unit/{simulation,testbed,suites,architecture,demo}/**',
  'test/unit/cli/process.test.ts',
  'test/unit/drain/evictions-simulation.test.ts',
  'test/models/harness.test.ts',
];

/** Tests on instrumented sources. */
export interface InstrumentedSuite {
  /** The test files that reach each mutation, the fastest first; those that fail without one. */
  readonly reached: () => Promise<{
    readonly filesOf: ReadonlyMap<string, readonly string[]>;
    readonly failing: readonly string[];
  }>;
  /** The first test that fails with the mutation, run in these files; `undefined` if none does. */
  readonly caughtBy: (mutant: string, files: readonly string[]) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
}

const configOf = (include: readonly string[], reporter: Reporter) => ({
  root: ROOT,
  config: false as const,
  watch: false,
  bail: 1,
  reporters: [reporter],
  include: [...include],
  exclude: LEFT_OUT,
  setupFiles: [join(ROOT, 'test/mutants/mutant-setup.ts')],
  testTimeout: TEST_TIMEOUT_MS,
  hookTimeout: TEST_TIMEOUT_MS,
  pool: 'threads' as const,
  provide: { scale: 'commit' as const, activeMutant: '', reachedFolder: '' },
  fsModuleCache: false,
  onConsoleLog: () => false as const,
});

/** The failure of a module that has just ended. */
const failureOf = (module: TestModule): string | undefined => {
  const [failed] = module.children.allTests('failed');
  if (failed !== undefined) return `${module.relativeModuleId}: ${failed.fullName}`;
  return module.errors().length === 0 ? undefined : `${module.relativeModuleId}: does not load`;
};

/** The first failure of each run; modules keep their states from run to run. */
class FirstFailure implements Reporter {
  failure: string | undefined;

  onTestRunStart(): void {
    this.failure = undefined;
  }

  onTestModuleEnd(module: TestModule): void {
    this.failure ??= failureOf(module);
  }
}

/** The test files that reach each mutation, as the set-up of each file has written it. */
const filesReaching = (
  folder: string,
  testFiles: readonly string[],
): ReadonlyMap<string, readonly string[]> => {
  const filesOf = new Map<string, string[]>();
  for (const file of testFiles) {
    const reached = readFileSync(join(folder, encodeURIComponent(file)), 'utf8').split('\n');
    for (const id of reached) filesOf.set(id, [...filesOf.get(id) ?? [], file]);
  }
  return filesOf;
};

class RunningSuite implements InstrumentedSuite {
  readonly #vitest: Vitest;
  readonly #first: FirstFailure;
  readonly #specifications: ReadonlyMap<string, TestSpecification>;

  constructor(
    vitest: Vitest,
    first: FirstFailure,
    specifications: readonly TestSpecification[],
  ) {
    this.#vitest = vitest;
    this.#first = first;
    this.#specifications = new Map(
      specifications.map((specification) => [specification.moduleId, specification]),
    );
  }

  readonly reached: InstrumentedSuite['reached'] = async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tidegate-mutants-'));
    try {
      this.#vitest.provide('reachedFolder', folder);
      this.#vitest.config.bail = 0;
      const { testModules } = await this.#run([...this.#specifications.values()]);
      this.#vitest.config.bail = 1;
      this.#vitest.provide('reachedFolder', '');
      const passing = testModules.filter((module) => module.state() !== 'failed')
        .toSorted((left, right) => left.diagnostic().duration - right.diagnostic().duration);
      const failing = testModules.filter((module) => !passing.includes(module));
      return {
        filesOf: filesReaching(folder, passing.map(({ moduleId }) => moduleId)),
        failing: failing.map(({ relativeModuleId }) => relativeModuleId),
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  readonly caughtBy: InstrumentedSuite['caughtBy'] = async (mutant, files) => {
    this.#vitest.provide('activeMutant', mutant);
    const specifications = files.flatMap((file) => this.#specifications.get(file) ?? []);
    const { unhandledErrors } = await this.#run(specifications);
    const isDefect = unhandledErrors.length > 0;
    return this.#first.failure ?? (isDefect ? 'an error outside of any test' : undefined);
  };

  readonly close = async (): Promise<void> => {
    await this.#vitest.close();
    process.exitCode = 0;
  };

  #run(specifications: TestSpecification[]) {
    return this.#vitest.runTestSpecifications(specifications, false);
  }
}

/** Prepares the tests on `sources`, by path from the root; `only` selects test files by words. */
export const instrumentedSuite = async (
  sources: ChangedFiles,
  include: readonly string[] = SUITES,
): Promise<InstrumentedSuite> => {
  const first = new FirstFailure();
  const vitest = await createVitest('test', configOf(include, first), {
    plugins: [{
      name: 'instrumented-sources',
      enforce: 'pre',
      load: (id) => {
        const path = id.split('?')[0] ?? '';
        return path.startsWith(ROOT) ? sources.get(path.slice(ROOT.length)) : undefined;
      },
    }],
  });
  await vitest.standalone();
  return new RunningSuite(vitest, first, await vitest.globTestSpecifications());
};
