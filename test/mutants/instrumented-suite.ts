/**
 * The unit and model tests on instrumented sources: transformed once, then run for one mutation
 * after the other, each time only the files that reach it.
 *
 * Promises: the tree and vitest's caches are not touched; a mutation is caught when a test fails,
 * or when it does not end; the files of a run share one worker, which no other run sees.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import {
  BaseSequencer,
  createVitest,
  type Reporter,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node';
import { type ChangedFiles, ROOT } from './planted-bugs.ts';

/** A test of a mutation may wait for what never happens; a simulation takes its time. */
const TEST_TIMEOUT_MS = 60_000;
const CHOSEN_TEST_TIMEOUT_MS = 300_000;
/** A test bed starts. */
const HOOK_TIMEOUT_MS = 300_000;

/** The tests of `npm test` that know nothing of clusters and of whole simulations. */
const SUITES = ['test/unit/**/*.test.ts', 'test/models/*.test.ts', 'packages/*/test/**/*.test.ts'];
/** They start processes, take seconds each, or test the tools of tests. */
const LEFT_OUT = [
  'test/unit/{simulation,testbed,suites,architecture,demo}/**',
  'test/unit/cli/process.test.ts',
  'test/unit/drain/evictions-simulation.test.ts',
  'test/models/harness.test.ts',
];

/** Which mutations a test file reaches. */
export interface Reach {
  /** By path from the root. */
  readonly testFile: string;
  /** Those reached while modules load have a mark before them. */
  readonly ids: readonly string[];
  /** It fails without any mutation, and says nothing about one. */
  readonly fails: boolean;
  readonly ms: number;
}

/** Tests on instrumented sources. */
export interface InstrumentedSuite {
  /** What each of these test files reaches. */
  readonly reached: (testFiles: readonly string[]) => Promise<readonly Reach[]>;
  /** The first test that fails with the mutation, run in these files; `undefined` if none does. */
  readonly caughtBy: (
    mutant: string,
    testFiles: readonly string[],
  ) => Promise<string | undefined>;
  /** All test files, by path from the root. */
  readonly testFiles: readonly string[];
  readonly close: () => Promise<void>;
}

/** The order in which a run names its files. */
class AsNamed extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files);
  }
}

const configOf = (chosen: readonly string[] | undefined, reporter: Reporter) => ({
  root: ROOT,
  config: false as const,
  watch: false,
  bail: 1,
  reporters: [reporter],
  include: [...chosen ?? SUITES],
  exclude: chosen === undefined ? LEFT_OUT : [],
  setupFiles: [join(ROOT, 'test/mutants/mutant-setup.ts')],
  testTimeout: chosen === undefined ? TEST_TIMEOUT_MS : CHOSEN_TEST_TIMEOUT_MS,
  hookTimeout: HOOK_TIMEOUT_MS,
  pool: 'threads' as const,
  isolate: false,
  maxWorkers: 1,
  sequence: { sequencer: AsNamed },
  provide: { scale: 'commit' as const, activeMutant: '', reachedFolder: '' },
  fsModuleCache: false,
  onConsoleLog: () => false as const,
});

/** The failure of a module that has just ended. */
const failureOf = (module: TestModule): string | undefined => {
  const [failed] = module.children.allTests('failed');
  if (failed !== undefined) {
    const [error] = failed.result().errors ?? [];
    const isLate = error?.message.startsWith('Test timed out') ?? false;
    return `${module.relativeModuleId}: ${failed.fullName}${isLate ? ' (timed out)' : ''}`;
  }
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

/** The ids that the set-up of a test file has written. */
const idsIn = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter((id) => id !== '') : [];

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
      specifications.map((each) => [each.moduleId.slice(ROOT.length), each]),
    );
  }

  get testFiles(): readonly string[] {
    return [...this.#specifications.keys()];
  }

  readonly reached: InstrumentedSuite['reached'] = async (testFiles) => {
    const folder = mkdtempSync(join(tmpdir(), 'tidegate-mutants-'));
    try {
      this.#vitest.provide('reachedFolder', folder);
      this.#vitest.config.bail = 0;
      const { testModules } = await this.#run(testFiles);
      // Modules of earlier runs are kept, too.
      const ofThisRun = testModules.filter((module) => testFiles.includes(module.relativeModuleId));
      return ofThisRun.map((module) => ({
        testFile: module.relativeModuleId,
        ids: idsIn(join(folder, encodeURIComponent(module.moduleId))),
        fails: module.state() === 'failed',
        ms: Math.round(module.diagnostic().duration),
      }));
    } finally {
      rmSync(folder, { recursive: true, force: true });
      this.#vitest.provide('reachedFolder', '');
      this.#vitest.config.bail = 1;
    }
  };

  readonly caughtBy: InstrumentedSuite['caughtBy'] = async (mutant, testFiles) => {
    this.#vitest.provide('activeMutant', mutant);
    const { unhandledErrors } = await this.#run(testFiles);
    const isDefect = unhandledErrors.length > 0;
    return this.#first.failure ?? (isDefect ? 'an error outside of any test' : undefined);
  };

  readonly close = async (): Promise<void> => {
    await this.#vitest.close();
    process.exitCode = 0;
  };

  #run(testFiles: readonly string[]) {
    const specifications = testFiles.flatMap((file) => this.#specifications.get(file) ?? []);
    return this.#vitest.runTestSpecifications(specifications, false);
  }
}

/**
 * Prepares the tests on `sources`, which are named by their paths from the root: the fast ones, or
 * those that are chosen, simulations and clusters too.
 */
export const instrumentedSuite = async (
  sources: ChangedFiles,
  chosen?: readonly string[],
): Promise<InstrumentedSuite> => {
  const first = new FirstFailure();
  const vitest = await createVitest('test', configOf(chosen, first), {
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
