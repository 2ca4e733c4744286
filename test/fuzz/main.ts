/**
 * `npm run fuzz`: made inputs for every reader of what peers, tenants and files may hold.
 *
 * Prints a line for each target, with the seed that repeats it.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { realTime } from '../../src/effects/real-time.ts';
import { addToCorpus, corpusOf } from './corpus.ts';
import { fuzz, problemsOf } from './fuzz-run.ts';
import { FUZZ_SHARES } from './targets.ts';

const HELP = `npm run fuzz [-- COUNT [SEED [TARGET]]] [--keep]

Made inputs for every reader of what peers, tenants and files may hold; exits with 1 when a reader
throws, takes more than 50 ms, or leaves memory behind.

  COUNT    How many inputs (1000000)
  SEED     A number that repeats a run; drawn and printed without it
  TARGET   Only this reader: ${FUZZ_SHARES.map(({ target }) => target.name).join(', ')}
  --keep   Add what failed, or reached something new, to test/fuzz/corpus
  --help   This text
`;
const COUNT = 1_000_000;
const MIB = 2 ** 20;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const { values: { keep: keeps, help }, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [countText = String(COUNT), seedText = String(Math.floor(realTime.now()) >>> 0), only] =
  positionals;
const [count, seed] = [Number(countText), Number(seedText)];
const chosen = FUZZ_SHARES.filter(({ target }) => only === undefined || only === target.name);
if (help) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (!Number.isInteger(count) || !Number.isInteger(seed) || chosen.length === 0) {
  process.stderr.write(`Cannot run "${positionals.join(' ')}"\n\n${HELP}`);
  process.exit(2);
}
print(`seed ${seed}, ${count} inputs`);

for (const { target, share } of chosen) {
  const corpus = corpusOf(target.name);
  const startMs = realTime.monotonic();
  const report = await fuzz({
    target,
    count: Math.ceil(count * (only === undefined ? share : 1)),
    seed,
    corpus: corpus.map(({ input }) => input),
  });
  const seconds = ((realTime.monotonic() - startMs) / 1000).toFixed(0);
  const { inputs, outcomes, slowestMs, growthBytes } = report;
  print(
    `${target.name}: ${inputs} inputs in ${seconds} s, ${outcomes.size} outcomes, ` +
      `slowest ${slowestMs.toFixed(1)} ms, ${(growthBytes / MIB).toFixed(2)} MiB more at the end`,
  );
  const problems = problemsOf(report);
  for (const problem of problems) print(`PROBLEM: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  if (!keeps) continue;
  const found = [
    ...report.failures.map(({ problem, input }) => ({ why: `failed: ${problem}`, input })),
    ...[...outcomes].map(([why, input]) => ({ why, input })),
  ];
  print(`${addToCorpus(target.name, found)} inputs kept`);
}
