/**
 * Builds what suites on clusters use in every run, beside the suites before them: on a machine that
 * has none of it, that takes minutes. Where it cannot be built, these suites say so themselves.
 */
import { readdirSync } from 'node:fs';
import { binaries } from './binaries.ts';
import { moduleFolder, oracle, TestbedUnavailable } from './go-builds.ts';
import { prometheus, promtool } from './observability.ts';

const oracles = readdirSync(`${moduleFolder}/oracle`).map((name) => () => oracle(name));

try {
  // The Go compiler takes all cores for each.
  for (const build of [binaries, promtool, prometheus, ...oracles]) await build();
} catch (problem) {
  if (!(problem instanceof TestbedUnavailable)) throw problem;
  process.stderr.write(`Not built: ${problem.message}\n`);
}
