/**
 * Everything that can be wrong with the project without running it: format, lint, types, dead code,
 * and pages and code that are generated.
 *
 * `node tools/check.ts` checks; with `--write` it formats and generates instead. All checks run,
 * also when one fails, so that one run tells all there is to mend.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BIN = `${ROOT}node_modules/.bin`;
const writing = process.argv.includes('--write');

/** The tools that generate; each compares instead with `--check`. */
const GENERATORS = [
  'tools/proto.ts',
  'tools/crd.ts',
  'tools/cli-docs.ts',
  'tools/metrics-docs.ts',
  'tools/fleet-docs.ts',
  'tools/cluster-docs.ts',
  'tools/reasons-docs.ts',
  'tools/rules-docs.ts',
  'tools/lifecycles.ts',
  'tools/architecture.ts',
  'tools/page.ts',
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

/** What is dead, and what of `src/` only tests import; `knip.jsonc` says what is left out. */
const UNUSED: readonly Step[] = [
  knip('unused code and dependencies'),
  knip('code that only tests use', '--production', '--include', 'files,dependencies'),
];

const run = ({ title, command, args }: Step): boolean => {
  const ended = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', env: process.env });
  const passed = ended.status === 0;
  process.stdout.write(`${passed ? 'ok  ' : 'FAIL'} ${title}\n${ended.stdout}`);
  if (!passed) process.stdout.write(`${ended.stderr}${ended.error ?? ''}\n`);
  return passed;
};

const generators = GENERATORS.map(generate);
const steps = writing ? [...generators, FORMAT] : [FORMAT, LINT, TYPES, ...UNUSED, ...generators];
const failed = steps.filter((step) => !run(step));
if (failed.length > 0) {
  const titles = failed.map(({ title }) => title).join(', ');
  process.stderr.write(`Not in order: ${titles}. "npm run generate" regenerates generated files\n`);
  process.exitCode = 1;
}
