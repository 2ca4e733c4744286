/**
 * `npm test`: every check and suite that CI runs, on Node and on Deno.
 *
 * Promises: the first step that fails ends it with its exit code; the slowest files and the time of
 * each step are printed in any case; a run beyond the budget fails.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseJson } from '../src/domain/json.ts';
import { type FileTime, fileTimes, slowest } from './suites/file-times.ts';
import { type SuiteChoice, type SuiteStep, suiteSteps } from './suites/suite-steps.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HELP = `Usage: npm test -- [options]

  --fast            types, lint, tidy, unit and models without clusters
  --changed[=REF]   what imports a change since REF (default HEAD), and one end-to-end test
  --full            at the scale of a release, and everything on Deno too
  --repeat=N        N times, until something fails
  --busy=N          beside N processes that never rest
  --help            this text
`;
const SLOWEST = 10;
/**
 * The forty minutes that CI may take, less the installation: on slow and busy cores, and with the
 * build of the test bed beside it.
 */
const BUDGET_MINUTES = 38;
const MS_PER_MINUTE = 60_000;
const MS_PER_SECOND = 1000;

/** How a process ended, and what it printed, unless that was printed at once. */
interface Ended {
  readonly code: number;
  readonly output: string;
}

const run = (
  command: string,
  args: readonly string[],
  { env, isPrinted }: { readonly env: NodeJS.ProcessEnv; readonly isPrinted: boolean },
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const stdio = isPrinted ? 'inherit' : 'pipe';
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', stdio, stdio], env });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
    }
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });

/** One step as it was. */
interface EndedStep {
  readonly title: string;
  readonly code: number;
  readonly ms: number;
  readonly files: readonly FileTime[];
}

/** Runs one step; one that runs beside others is printed when it has ended. */
const runStep = async (
  { runtime, args, reports, env, title, isBeside = false }: SuiteStep,
): Promise<EndedStep> => {
  const begin = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-suite-'));
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  if (!isBeside) process.stdout.write(`\n== ${title}\n`);
  try {
    const { code, output } = await run(
      join(ROOT, 'node_modules/.bin', runtime),
      [...args, ...(reports ? reporters : [])],
      { env: { ...process.env, ...env }, isPrinted: !isBeside },
    );
    if (isBeside) process.stdout.write(`\n== ${title}, beside the steps before\n${output}`);
    const files = reports && existsSync(report)
      ? fileTimes(parseJson(readFileSync(report, 'utf8')), ROOT)
      : [];
    return { title, code, ms: performance.now() - begin, files };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Runs steps until one fails, and waits for those that run beside others; in their order. */
const runSteps = async (steps: readonly SuiteStep[]): Promise<readonly EndedStep[]> => {
  const ended = new Map<string, EndedStep>();
  const beside = new Map<string, Promise<void>>();
  const hasFailed = (): boolean => [...ended.values()].some(({ code }) => code !== 0);
  const runUnlessFailed = async (step: SuiteStep): Promise<void> => {
    if (step.after !== undefined) await beside.get(step.after);
    if (!hasFailed()) ended.set(step.title, await runStep(step));
  };
  for (const step of steps) {
    if (step.isBeside === true) beside.set(step.title, runUnlessFailed(step));
    else await runUnlessFailed(step);
  }
  await Promise.all(beside.values());
  return steps.flatMap(({ title }) => ended.get(title) ?? []);
};

const seconds = (ms: number): string => `${(ms / MS_PER_SECOND).toFixed(0).padStart(5)} s`;

/** Runs all steps once; returns the exit code. */
const runSuites = async (choice: SuiteChoice): Promise<number> => {
  const begin = performance.now();
  const ended = await runSteps(suiteSteps(choice));
  const code = ended.find((step) => step.code !== 0)?.code ?? 0;
  const files = ended.flatMap((step) => step.files);
  const totalMs = performance.now() - begin;
  const lines = [
    '',
    'The slowest files:',
    ...slowest(files, SLOWEST).map(({ file, ms }) => `${seconds(ms)}  ${file}`),
    'Steps:',
    ...ended.map(({ title, ms }) => `${seconds(ms)}  ${title}`),
    `${seconds(totalMs)}  in all`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (code === 0 && !choice.full && totalMs > BUDGET_MINUTES * MS_PER_MINUTE) {
    process.stderr.write(
      `The suites took more than ${BUDGET_MINUTES} minutes: make the slowest files faster\n`,
    );
    return 1;
  }
  return code;
};

const { values } = parseArgs({
  // Adds the default value of a flag: `--changed` is `--changed=HEAD`.
  args: process.argv.slice(2).map((flag) => flag === '--changed' ? '--changed=HEAD' : flag),
  options: {
    fast: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    changed: { type: 'string' },
    repeat: { type: 'string', default: '1' },
    busy: { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
});
const { fast, full, changed, repeat, busy, help } = values;
if (help) {
  process.stdout.write(HELP);
} else {
  const load = Array.from(
    { length: Number(busy) },
    () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  try {
    for (let round = 1; round <= Number(repeat) && process.exitCode === undefined; round += 1) {
      if (Number(repeat) > 1) process.stdout.write(`\n=== round ${round} of ${repeat}\n`);
      const code = await runSuites({ fast, full, changed });
      if (code !== 0) process.exitCode = code;
    }
  } finally {
    for (const child of load) child.kill('SIGKILL');
  }
}
