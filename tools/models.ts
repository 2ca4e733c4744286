/**
 * `npm run models`: explores every statechart, executes the generated paths on the live actor, and
 * prints the coverage.
 *
 * Promises: exit code 1 when a state or transition is not covered, a recorded transcript has
 * changed, or an invariant is violated; 2 for an unknown flag.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import { modelsReporter } from '../test/models/harness/models-reporter.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const HELP = `Usage: npm run models -- [FLAGS] [WORD ...]

Walks every statechart, or those whose test files have a WORD in their names, and executes the paths
that are generated from it on the live actor.

  --cluster[=WHICH]  execute the paths on clusters instead of over fakes: "embedded",
                     "kube-apiserver" (the test bed), or both
  --emit             record the transcripts anew
  --junit FILE       also write the results for a CI server
  --mutants          try the generated tests on machines that are wrong
  --help             print this
`;

/** Clusters on which paths are executed, by the name of the vitest project that does it. */
const CLUSTERS: Readonly<Record<string, readonly string[]>> = {
  both: ['models-embedded', 'models-kube-apiserver'],
  embedded: ['models-embedded'],
  'kube-apiserver': ['models-kube-apiserver'],
};

interface Asked {
  readonly emit: boolean;
  /** Vitest's projects. */
  readonly projects: readonly string[];
  readonly junit: string | undefined;
  /** Words in the names of the selected test files; none selects all. */
  readonly only: readonly string[];
}

/** The parsed flags; a message when there is nothing to run. */
const asked = (
  given: readonly string[],
): Asked | { readonly text: string; readonly code: 0 | 2 } => {
  try {
    const { values, positionals } = parseArgs({
      args: given.map((word) => word === '--cluster' ? '--cluster=both' : word),
      allowPositionals: true,
      options: {
        emit: { type: 'boolean', default: false },
        mutants: { type: 'boolean', default: false },
        cluster: { type: 'string' },
        junit: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    const { emit, mutants, cluster, junit, help } = values;
    if (help) return { text: HELP, code: 0 };
    if (cluster === undefined) {
      return { emit, projects: [mutants ? 'mutants' : 'models'], junit, only: positionals };
    }
    const projects = CLUSTERS[cluster];
    if (projects === undefined) {
      const known = Object.keys(CLUSTERS).join(', ');
      return { text: `Cannot use --cluster=${cluster}: write one of ${known}\n`, code: 2 };
    }
    if (emit || mutants) {
      return { text: 'Cannot use --cluster with --emit or --mutants: choose one\n', code: 2 };
    }
    return { emit, projects, junit, only: positionals };
  } catch (error) {
    return { text: `${error instanceof Error ? error.message : String(error)}\n`, code: 2 };
  }
};

const run = async ({ emit, projects, junit, only }: Asked): Promise<void> => {
  // What the tests of the models look for, as those of the golden texts do.
  if (emit) process.env['UPDATE_GOLDEN'] = '1';
  const vitest = await startVitest('test', [...only], {
    root: ROOT,
    watch: false,
    project: [...projects],
    reporters: [modelsReporter(), 'dot', ...(junit === undefined ? [] : ['junit'])],
    ...(junit === undefined ? {} : { outputFile: { junit } }),
  });
  await vitest.close();
};

const request = asked(process.argv.slice(2));
if ('text' in request) {
  (request.code === 0 ? process.stdout : process.stderr).write(request.text);
  process.exitCode = request.code;
} else await run(request);
