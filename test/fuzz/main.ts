/**
 * `npm run fuzz [-- COUNT [SEED [TARGET]]]`: made inputs for every reader of what peers, tenants
 * and files may hold.
 *
 * Prints a line for each target, with the seed that repeats it. Exits with 1 when a reader throws,
 * takes more than 50 ms, or leaves memory behind. With `--keep` as last argument, what failed and
 * what reached something new is added to `test/fuzz/corpus`.
 */
import process from 'node:process';
import { realTime } from '../../src/effects/real-time.ts';
import { addToCorpus, corpusOf } from './corpus.ts';
import { fuzz, problemsOf } from './fuzz-run.ts';
import { FUZZ_SHARES } from './targets.ts';

const COUNT = 1_000_000;
const MIB = 2 ** 20;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const given = process.argv.slice(2);
const keeps = given.at(-1) === '--keep';
const [count = String(COUNT), seedText = String(Math.floor(realTime.now()) >>> 0), only] = keeps
  ? given.slice(0, -1)
  : given;
print(`seed ${seedText}, ${count} inputs`);

for (const { target, share } of FUZZ_SHARES) {
  if (only !== undefined && only !== target.name) continue;
  const corpus = corpusOf(target.name);
  const startMs = realTime.monotonic();
  const report = await fuzz({
    target,
    count: Math.ceil(Number(count) * (only === undefined ? share : 1)),
    seed: Number(seedText),
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
