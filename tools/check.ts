/**
 * Static checks of the project: format, lint, types, dead code, and generated pages and code.
 *
 * `node tools/check.ts` checks; with `--write` it formats and generates instead; with `--fast` it
 * checks types, lint and format only. All checks run, also when one fails, so that one run reports
 * every problem.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BIN = `${ROOT}node_modules/.bin`;
const writing = process.argv.includes('--write');
const isFast = process.argv.includes('--fast');

/** The tools that generate; each compares instead with `--check`. */
const GENERATORS = [
  'tools/proto.ts',
  'tools/crd.ts',
  'tools/rbac.ts',
  'tools/chart.ts',
  'tools/cli-docs.ts',
  'tools/metrics-docs.ts',
  'tools/limits-docs.ts',
  'tools/native-docs.ts',
  'tools/attacks-docs.ts',
  'tools/fleet-docs.ts',
  'tools/cluster-docs.ts',
  'tools/reasons-docs.ts',
  'tools/licences.ts',
  'tools/verdict-docs.ts',
  'tools/rules-docs.ts',
  'tools/lifecycles.ts',
  'tools/architecture.ts',
  'tools/page.ts',
  'tools/playground.ts',
];

const FOLDERS = ['src', 'packages', 'test', 'tools'];

interface Step {
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
}

const deno = (...args: readonly string[]): Pick<Step, 'command' | 'args'> => ({
  command: `${BIN}/deno`,
  args,
});

const generate = (tool: string): Step => ({
  title: tool,
  command: `${BIN}/node`,
  args: [tool, ...(writing ? [] : ['--check'])],
});

const FORMAT: Step = { title: 'format', ...deno('fmt', ...(writing ? [] : ['--check'])) };
const LINT: Step = { title: 'lint', ...deno('lint', '--quiet') };
const TYPES: Step = { title: 'types', ...deno('check', '--quiet', ...FOLDERS) };

const knip = (title: string, ...args: readonly string[]): Step => ({
  title,
  command: `${BIN}/node`,
  args: [`${ROOT}node_modules/knip/bin/knip.js`, '--no-config-hints', ...args],
});

/** Dead code, and parts of `src/` that only tests import; `knip.jsonc` lists the exceptions. */
const UNUSED: readonly Step[] = [
  knip('unused code and dependencies'),
  knip('code that only tests use', '--production', '--include', 'files,dependencies'),
];

/** Runs one step; prints the outcome and returns whether it passed. */
const run = ({ title, command, args }: Step): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, env: process.env });
    const output: Buffer[] = [];
    const problems: Buffer[] = [];
    child.stdout.on('data', (bytes: Buffer) => output.push(bytes));
    child.stderr.on('data', (bytes: Buffer) => problems.push(bytes));
    child.on('error', (cause) => problems.push(Buffer.from(`${cause}\n`)));
    child.on('close', (code) => {
      const passed = code === 0;
      process.stdout.write(`${passed ? 'ok  ' : 'FAIL'} ${title}\n${Buffer.concat(output)}`);
      if (!passed) process.stdout.write(`${Buffer.concat(problems)}\n`);
      resolve(passed);
    });
  });

/** Runs steps with limited concurrency; returns the failed ones in order. */
const runAll = async (steps: readonly Step[], atOnce: number): Promise<readonly Step[]> => {
  const passed = new Set<Step>();
  const left = [...steps];
  const runNext = async (): Promise<void> => {
    for (let step = left.shift(); step !== undefined; step = left.shift()) {
      if (await run(step)) passed.add(step);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
  return steps.filter((step) => !passed.has(step));
};

const generators = GENERATORS.map(generate);
// What generates writes files that the next one reads; what checks only reads.
const failed = writing ? await runAll([...generators, FORMAT], 1) : await runAll(
  isFast ? [TYPES, LINT, FORMAT] : [TYPES, ...generators.toReversed(), ...UNUSED, LINT, FORMAT],
  availableParallelism(),
);
if (failed.length > 0) {
  const titles = failed.map(({ title }) => title).join(', ');
  process.stderr.write(`Not in order: ${titles}. "npm run generate" regenerates generated files\n`);
  process.exitCode = 1;
}
