/**
 * `npm run models`: explores every statechart, executes the generated paths on the live actor, and
 * prints the coverage.
 *
 * Promises: exit code 1 when a state or transition is not covered, a recorded transcript has
 * changed, or an invariant is violated; 2 for an unknown flag.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startVitest, type TestModule } from 'vitest/node';
import { modelsReporter } from '../test/models/harness/models-reporter.ts';
import { triedInputs, type Try } from './suites/tried-inputs.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MODELS = 'test/models';
const TRIED = join(ROOT, MODELS, 'mutants-tried.json');
/** Tests the tools of the models, and not a statechart. */
const NO_MODEL = 'harness.test.ts';

const HELP = `Usage: npm run models -- [FLAGS] [WORD ...]

Walks every statechart, or those whose test files have a WORD in their names, and executes the paths
that are generated from it on the live actor.

  --cluster[=WHICH]  execute the paths on clusters instead of over fakes: "embedded",
                     "kube-apiserver" (the test bed), or both
  --emit             record the transcripts anew; with --mutants, which results are current
  --junit FILE       also write the results for a CI server
  --mutants[=WHICH]  try the generated tests on machines that are wrong: on "all", or on those that
                     have "changed" since their results were recorded
  --help             print this
`;

/** Clusters on which paths are executed, by the name of the vitest project that does it. */
const CLUSTERS: Readonly<Record<string, readonly string[]>> = {
  both: ['models-embedded', 'models-kube-apiserver'],
  embedded: ['models-embedded'],
  'kube-apiserver': ['models-kube-apiserver'],
};

/** Which mutants are tried. */
type MutantChoice = 'all' | 'changed';

interface Asked {
  readonly emit: boolean;
  readonly mutants: MutantChoice | undefined;
  /** Vitest's projects. */
  readonly projects: readonly string[];
  readonly junit: string | undefined;
  /** Words in the names of the selected test files; none selects all. */
  readonly only: readonly string[];
}

/** Flags that may go without their value. */
const WITH_DEFAULTS: Readonly<Record<string, string>> = {
  '--cluster': '--cluster=both',
  '--mutants': '--mutants=all',
};

/** The parsed flags; a message when there is nothing to run. */
const asked = (
  given: readonly string[],
): Asked | { readonly text: string; readonly code: 0 | 2 } => {
  try {
    const { values, positionals } = parseArgs({
      args: given.map((word) => WITH_DEFAULTS[word] ?? word),
      allowPositionals: true,
      options: {
        emit: { type: 'boolean', default: false },
        mutants: { type: 'string' },
        cluster: { type: 'string' },
        junit: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    const { emit, mutants, cluster, junit, help } = values;
    if (help) return { text: HELP, code: 0 };
    if (mutants !== undefined && mutants !== 'all' && mutants !== 'changed') {
      return { text: `Cannot use --mutants=${mutants}: write one of all, changed\n`, code: 2 };
    }
    if (cluster === undefined) {
      const projects = [mutants === undefined ? 'models' : 'mutants'];
      return { emit, mutants, projects, junit, only: positionals };
    }
    const projects = CLUSTERS[cluster];
    if (projects === undefined) {
      const known = Object.keys(CLUSTERS).join(', ');
      return { text: `Cannot use --cluster=${cluster}: write one of ${known}\n`, code: 2 };
    }
    if (emit || mutants !== undefined) {
      return { text: 'Cannot use --cluster with --emit or --mutants: choose one\n', code: 2 };
    }
    return { emit, mutants, projects, junit, only: positionals };
  } catch (error) {
    return { text: `${error instanceof Error ? error.message : String(error)}\n`, code: 2 };
  }
};

/** The models of statecharts; a mutant's result does not depend on paths on clusters. */
const models = (): readonly Try[] => {
  const rows = readFileSync(join(ROOT, 'docs/lifecycle-tests.md'), 'utf8').split('\n');
  const rowOf = (name: string): string => {
    const machine = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    return rows.find((row) => row.startsWith(`| ${machine} `)) ?? '';
  };
  return readdirSync(join(ROOT, MODELS))
    .filter((file) => file.endsWith('.test.ts') && file !== NO_MODEL)
    .map((file) => ({
      name: basename(file, '.test.ts'),
      entries: [`${MODELS}/${file}`],
      without: [`${MODELS}/cluster/`],
      texts: [rowOf(basename(file, '.test.ts'))],
    }));
};

const modelOf = ({ relativeModuleId }: TestModule): string =>
  basename(relativeModuleId, '.test.ts');

/** Runs the tests of the models with these words in the names of their files. */
const tested = async (
  { projects, junit }: Asked,
  only: readonly string[],
): Promise<readonly TestModule[]> => {
  const vitest = await startVitest('test', [...only], {
    root: ROOT,
    watch: false,
    project: [...projects],
    reporters: [modelsReporter(), 'dot', ...(junit === undefined ? [] : ['junit'])],
    ...(junit === undefined ? {} : { outputFile: { junit } }),
  });
  await vitest.close();
  return vitest.state.getTestModules();
};

/** Tries mutants; results that were recorded on the same inputs are not found again. */
const tryMutants = async (request: Asked): Promise<void> => {
  const { only, mutants, emit } = request;
  const chosen = models().filter(({ name }) =>
    only.length === 0 || only.some((word) => name.includes(word))
  );
  const tried = triedInputs(TRIED);
  const tries = mutants === 'changed' ? tried.changed(chosen) : chosen;
  process.stdout.write(`${tries.length} of ${chosen.length} statecharts are tried; `);
  process.stdout.write('the results of the others are those of their last run\n');
  if (tries.length === 0) return;
  const modules = await tested(request, tries.map(({ name }) => `${MODELS}/${name}.test.ts`));
  if (!emit) return;
  tried.record(tries, new Set(modules.filter((module) => module.ok()).map(modelOf)));
};

const run = async (request: Asked): Promise<void> => {
  if (request.mutants !== undefined) return tryMutants(request);
  // What the tests of the models look for, as those of the golden texts do.
  if (request.emit) process.env['UPDATE_GOLDEN'] = '1';
  await tested(request, request.only);
};

const request = asked(process.argv.slice(2));
if ('text' in request) {
  (request.code === 0 ? process.stdout : process.stderr).write(request.text);
  process.exitCode = request.code;
} else await run(request);
