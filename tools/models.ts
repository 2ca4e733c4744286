/**
 * `npm run models`: walks every statechart, drives the ways that were generated from it through the
 * live actor, and prints what was covered.
 *
 * Promises: exit code 1 when a state or transition is not taken, a recorded story has changed, or
 * an invariant is broken; 2 for a flag that is unknown. `--emit` records the stories anew,
 * `--junit FILE` also writes the results for a CI server, `--mutants` tries the generated tests
 * themselves on mutants of the machines.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import { modelsReporter } from '../test/models/harness/models-reporter.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Asked {
  readonly emit: boolean;
  readonly mutants: boolean;
  readonly junit: string | undefined;
  /** Words that test files have in their names; none for all of them. */
  readonly only: readonly string[];
}

const asked = (): Asked | string => {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        emit: { type: 'boolean', default: false },
        mutants: { type: 'boolean', default: false },
        cluster: { type: 'boolean', default: false },
        junit: { type: 'string' },
      },
    });
    if (values.cluster) {
      return 'Cannot use --cluster: models are driven over fakes at their edges, so far; leave it out';
    }
    const { emit, mutants, junit } = values;
    return { emit, mutants, junit, only: positionals };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const run = async ({ emit, mutants, junit, only }: Asked): Promise<void> => {
  // What the tests of the models look for, as those of the golden texts do.
  if (emit) process.env['UPDATE_GOLDEN'] = '1';
  const vitest = await startVitest('test', [...only], {
    root: ROOT,
    watch: false,
    project: [mutants ? 'mutants' : 'models'],
    reporters: [modelsReporter(), 'dot', ...(junit === undefined ? [] : ['junit'])],
    ...(junit === undefined ? {} : { outputFile: { junit } }),
  });
  await vitest.close();
};

const request = asked();
if (typeof request === 'string') {
  process.stderr.write(`${request}\n`);
  process.exitCode = 2;
} else await run(request);
