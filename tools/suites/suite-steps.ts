/**
 * The steps of `npm test` for the given flags, as data.
 *
 * Promises: cheap suites come first, so that simple mistakes are found before a cluster is started;
 * what needs few processes runs beside others, so that it gets its share of a busy machine; Deno
 * runs everything that can differ on it, and pure code once.
 */

/** What of the suites is wanted. */
export interface SuiteChoice {
  /** Types, lint, tidy, unit and models, without clusters and simulations. */
  readonly fast: boolean;
  /** At the scale of a release. */
  readonly full: boolean;
  /** Only what changes since this revision can reach. */
  readonly changed: string | undefined;
}

/** One process to run. */
export interface SuiteStep {
  readonly title: string;
  readonly runtime: 'node' | 'deno';
  readonly args: readonly string[];
  /** Whether it is vitest, which reports how long each file took. */
  readonly reports: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** Mostly waits, or uses one core: beside the steps after it, and printed when it has ended. */
  readonly isBeside?: boolean;
  /** The title of a step beside it that must have ended before it begins. */
  readonly after?: string;
}

const VITEST = 'node_modules/vitest/vitest.mjs';

const RELEASE = { TIDEGATE_TEST_SCALE: 'release' };

const isRelease = ({ TIDEGATE_TEST_SCALE: scale }: SuiteStep['env']): boolean =>
  scale === RELEASE.TIDEGATE_TEST_SCALE;

const CHECK: SuiteStep = {
  title: 'check',
  runtime: 'node',
  args: ['tools/check.ts'],
  reports: false,
  env: {},
  isBeside: true,
};

/** Without what is generated, and without dead code: half of the time of the whole check. */
const FAST_CHECK: SuiteStep = {
  ...CHECK,
  title: 'types, lint and format',
  args: ['tools/check.ts', '--fast'],
};

/**
 * Each planted bug must fail the test that it names; one process loads the files for all. Those
 * that were caught by the files as they are need not be caught again, but for a release.
 */
const plantedBugs = (env: SuiteStep['env']): SuiteStep => ({
  title: 'planted bugs',
  runtime: 'node',
  args: ['test/mutants/main.ts', ...(isRelease(env) ? [] : ['--changed'])],
  reports: false,
  env,
  isBeside: true,
});

/** Fails for a statechart whose checks catch less than four of five mutants, and prints all. */
const mutants = (env: SuiteStep['env']): SuiteStep => ({
  title: 'mutants',
  runtime: 'node',
  args: ['tools/models.ts', isRelease(env) ? '--mutants' : '--mutants=changed'],
  reports: false,
  env,
});

/**
 * Attacks on a running operator: fails for one that got through, and names it. The bounds that most
 * of them try have unit tests in every run.
 */
const ATTACKS: SuiteStep = {
  title: 'attacks',
  runtime: 'node',
  args: ['test/attacks/main.ts'],
  reports: false,
  env: RELEASE,
};

/**
 * Each planted bug of the simulations must break the invariant that it names, before any other. It
 * takes an hour of one core, and the names alone are compared in every run.
 */
const SIMULATED_BUGS: SuiteStep = {
  title: 'planted bugs in simulations',
  runtime: 'node',
  args: ['test/simulation/main.ts', '--planted'],
  reports: false,
  env: RELEASE,
};

/** On a machine that has no test bed, its build takes minutes; suites on clusters wait for it. */
const PROGRAMS: SuiteStep = {
  title: 'programs of the test bed',
  runtime: 'node',
  args: ['tools/testbed/build.ts'],
  reports: false,
  env: {},
  isBeside: true,
};

/** Advisories about what ships; says so when the registry gives none, and does not fail then. */
const AUDIT: SuiteStep = {
  title: 'audit',
  runtime: 'node',
  args: ['tools/audit.ts'],
  reports: false,
  env: {},
  isBeside: true,
};

/** Without a process or a cluster beside it. */
const FAST = ['tidy', 'packages', 'unit', 'models'];
/** Processes and simulations as well; in the same workers, which load the program once. */
const PURE = ['tidy', 'pure'];
/**
 * Before a release the models run on both clusters, and crowds fill the machine, one after another.
 */
const ON_CLUSTERS_FOR_RELEASE = ['models-kube-apiserver-shortest', 'clusters', 'e2e-crowds'];

/** Suites that depend on the runtime: sockets, TLS, files, processes, signals. */
const DIFFERENT_ON_DENO = [
  'test/unit/cli/process.test.ts',
  'test/unit/effects',
  'test/unit/observability',
  'test/unit/session',
  'test/unit/testbed',
  'test/unit/web',
];
/** HTTP as a server and as a client, gRPC, and a whole operator; the others before a release. */
const CLUSTERS_ON_DENO = [
  'test/integration/embedded-operator.test.ts',
  'test/integration/reflector.test.ts',
  'test/integration/session.test.ts',
];
/** Imports do not cover child processes: one scenario represents them. */
const SMOKE = 'test/e2e/smoke.test.ts';

interface VitestRun {
  readonly title: string;
  readonly runtime: 'node' | 'deno';
  readonly projects: readonly string[];
  readonly more?: readonly string[];
}

const vitest = (
  { title, runtime, projects, more = [] }: VitestRun,
  env: SuiteStep['env'] = {},
): SuiteStep => ({
  title,
  runtime,
  args: [
    ...(runtime === 'deno' ? ['run', '-A'] : []),
    VITEST,
    'run',
    ...projects.map((project) => `--project=${project}`),
    ...more,
  ],
  reports: true,
  env,
});

const changedSteps = (since: string): readonly SuiteStep[] => [
  CHECK,
  vitest({
    title: 'what imports a change',
    runtime: 'node',
    projects: [...PURE, 'integration'],
    more: [`--changed=${since}`, '--passWithNoTests'],
  }),
  vitest({ title: 'processes', runtime: 'node', projects: ['e2e'], more: [SMOKE] }),
];

const everyStep = (env: SuiteStep['env']): readonly SuiteStep[] => [
  CHECK,
  { ...PROGRAMS, env },
  {
    ...vitest({
      title: 'on Deno',
      runtime: 'deno',
      projects: ['unit', 'processes'],
      more: DIFFERENT_ON_DENO,
    }, env),
    isBeside: true,
    after: CHECK.title,
  },
  vitest({ title: 'pure', runtime: 'node', projects: PURE }, env),
  { ...AUDIT, env },
  plantedBugs(env),
  {
    ...vitest({
      title: 'on clusters, on Deno',
      runtime: 'deno',
      projects: ['clusters'],
      more: [...CLUSTERS_ON_DENO, SMOKE],
    }, env),
    isBeside: true,
    after: PROGRAMS.title,
  },
  mutants(env),
  {
    ...vitest({
      title: 'on clusters',
      runtime: 'node',
      projects: isRelease(env) ? ON_CLUSTERS_FOR_RELEASE : ['clusters'],
    }, env),
    after: PROGRAMS.title,
  },
];

/** The steps of a run, in their order. */
export const suiteSteps = ({ fast, full, changed }: SuiteChoice): readonly SuiteStep[] => {
  if (changed !== undefined) return changedSteps(changed);
  if (fast) return [FAST_CHECK, vitest({ title: 'pure', runtime: 'node', projects: FAST })];
  if (!full) return everyStep({});
  const env = RELEASE;
  return [
    ...everyStep(env),
    ATTACKS,
    // The shortest paths take every transition: the others found what those or the fakes found.
    vitest({
      title: 'every path on the embedded cluster',
      runtime: 'node',
      projects: ['models-embedded'],
    }, env),
    vitest({
      title: 'everything on Deno',
      runtime: 'deno',
      projects: ['packages', 'unit', 'processes', 'models', 'simulation', 'integration'],
    }, env),
    SIMULATED_BUGS,
  ];
};
