import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tools/suites/longest-first.ts';
import { RELEASE_ONLY } from './tools/suites/release-only.ts';

/** Suites against a test bed mostly wait: four for each core. */
const BEDS_AT_ONCE = Math.max(2, 4 * availableParallelism());

/** Pure suites take all cores; without it, one is left for the process that prints. */
const CORES = availableParallelism();

/** At the scale of a release these fill the machine: each has it for itself, after all others. */
const ALONE = 1;
const CROWDS = [
  'test/e2e/burst.test.ts',
  'test/e2e/drain-many-nodes.test.ts',
  'test/e2e/drain-killed.test.ts',
  'test/e2e/many-eviction-requests.test.ts',
  'test/e2e/pods-burst.test.ts',
];

/**
 * What suites with real processes share: a bundle of the program that they start hundreds of times,
 * and their own processes, with the test beds and libraries in them.
 */
const LIVE = {
  globalSetup: ['test/support/processes/bundle-program.ts'],
  isolate: false,
};

/** How large tests are told: `npm run test:full` is `release`. */
const SCALE = process.env['TIDEGATE_TEST_SCALE'] === 'release' ? 'release' : 'commit';

/**
 * Files of pure suites share their processes: nothing of theirs outlives a test, and loading the
 * libraries anew for each file took as long as the tests.
 */
const SHARED = { isolate: false, maxWorkers: CORES };

/** Whole operators on simulated clusters: a minute of processor time, which `test:fast` saves. */
const SIMULATED = [
  'test/unit/drain/evictions-simulation.test.ts',
  'test/unit/eviction-requests/crowd.test.ts',
  'test/unit/simulation/demand-invariants.test.ts',
  'test/unit/simulation/demand-outage.test.ts',
  'test/unit/simulation/machine-invariants.test.ts',
  'test/unit/simulation/maintenance.test.ts',
  'test/unit/simulation/maintenance-crowd.test.ts',
  'test/unit/simulation/scenarios.test.ts',
  'test/unit/simulation/worlds.test.ts',
];

/** Unit tests that start processes, and mostly wait for them: `test:fast` starts none. */
const PROCESSES = [
  'test/unit/cli/process.test.ts',
  'test/unit/testbed/locks.test.ts',
  'test/unit/testbed/processes.test.ts',
  'test/unit/testbed/tidegate-process.test.ts',
];

/** Fails what never happens; the default of a second also failed what a busy machine does late. */
const POLLS = { poll: { timeout: 120_000 } };

/** One project per floor of the test pyramid; `--project unit` runs one of them. */
const floor = (name: string, testTimeout: number, more: object = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout,
    hookTimeout: 600_000,
    expect: POLLS,
    pool: 'forks' as const,
    provide: { scale: SCALE },
    ...more,
  },
});

/** When a floor is run, after the groups of lower order, and how many of its files at once. */
const turn = (groupOrder: number, maxWorkers: number) => ({ maxWorkers, sequence: { groupOrder } });

/** The same models, executed on one cluster for all of them: all paths, or the shortest. */
const onCluster = (site: 'embedded' | 'kube-apiserver', paths: 'all' | 'shortest' = 'all') => ({
  test: {
    name: paths === 'all' ? `models-${site}` : `models-${site}-${paths}`,
    include: ['test/models/*.test.ts'],
    exclude: ['test/models/harness.test.ts'],
    globalSetup: [`test/models/cluster/on-${site}.ts`],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    pool: 'forks' as const,
    provide: { purpose: 'cluster' as const, paths },
    ...turn(1, BEDS_AT_ONCE),
  },
});

/** End-to-end tests of another scale, or with the machine for themselves. */
const NOT_AMONG_E2E = SCALE === 'release' ? CROWDS : RELEASE_ONLY;

/**
 * XState's build for development says this of its own lazy getters, thousands of times, whenever a
 * statechart is used for the first time in an action of another.
 */
const SAID_OF_ITSELF = 'Custom actions should not call';

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    onConsoleLog: (text) => !text.startsWith(SAID_OF_ITSELF),
    projects: [
      {
        test: {
          name: 'tidy',
          include: ['test/*.test.ts'],
          testTimeout: 60_000,
          maxWorkers: CORES,
        },
      },
      floor('unit', 180_000, { exclude: [...SIMULATED, ...PROCESSES], ...SHARED }),
      floor('processes', 180_000, { include: PROCESSES, ...SHARED }),
      floor('simulation', 180_000, { include: SIMULATED, ...SHARED }),
      floor('packages', 180_000, { include: ['packages/*/test/**/*.test.ts'], ...SHARED }),
      floor('models', 180_000, SHARED),
      // All of these in the same processes, which load the program once.
      floor('pure', 180_000, {
        include: [
          'test/unit/**/*.test.ts',
          'test/models/*.test.ts',
          'packages/*/test/**/*.test.ts',
        ],
        ...SHARED,
      }),
      {
        // The same models, to try their own tests on mutants of the machines.
        test: {
          name: 'mutants',
          include: ['test/models/*.test.ts'],
          exclude: ['test/models/harness.test.ts'],
          testTimeout: 600_000,
          pool: 'forks' as const,
          ...SHARED,
          provide: { purpose: 'mutants' as const },
        },
      },
      onCluster('embedded'),
      onCluster('kube-apiserver'),
      onCluster('kube-apiserver', 'shortest'),
      floor('integration', 120_000, { ...turn(1, BEDS_AT_ONCE), ...LIVE }),
      floor('e2e', 1_200_000, {
        ...turn(1, BEDS_AT_ONCE),
        ...LIVE,
        exclude: NOT_AMONG_E2E,
      }),
      // Both floors in the same processes, so that they take over one another's test beds.
      floor('clusters', 1_200_000, {
        ...turn(1, BEDS_AT_ONCE),
        ...LIVE,
        include: ['test/integration/**/*.test.ts', 'test/e2e/**/*.test.ts'],
        exclude: NOT_AMONG_E2E,
      }),
      ...(SCALE === 'release'
        ? [floor('e2e', 1_200_000, {
          ...turn(2, ALONE),
          ...LIVE,
          name: 'e2e-crowds',
          include: CROWDS,
        })]
        : []),
    ],
  },
});
