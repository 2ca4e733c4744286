/**
 * `npm run simulate`: worlds from seeds, and scenarios by name, each run to its rest.
 *
 * Promises: a seed that breaks an invariant prints the command that repeats it and the smallest
 * plan that still breaks the same invariant; the exit code is 1 when an invariant was broken, when
 * a scenario failed, or when `--planted` finds a bug that no world finds.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { plantedBugs, seekPlanted } from './planted-bugs.ts';
import { recordingsPlayAgain } from './recording-invariant.ts';
import { shrunk } from './shrinking.ts';
import { sceneText } from './plan-runner.ts';
import { worldPlan } from './world-plan.ts';
import { runWorld, type WorldReport } from './world-run.ts';
import type { Breach } from './world-state.ts';

const PLANTED_SEEDS = '20';

const HELP = `npm run simulate -- [options]: runs worlds and scenarios on simulated time

  --seeds N           runs N worlds (1)
  --seed S            the seed of the first (1)
  --no-shrink         does not shrink failing plans
  --until-broken      stops at the first world that breaks an invariant
  --until-breach NAME stops at the first world that breaks this invariant before any other
  --recordings        replays the recordings of processes, too
  --scenario NAME     runs a named scenario, or several; an unknown name lists them
  --timing S          with latencies and a lease that are drawn from this seed
  --scenarios         runs all of them, and prints a table
  --small             skips those with thousands of pods
  --log               prints the whole log instead of a summary
  --digests           prints the digest of each scenario's log, and nothing else
  --planted           runs planted bugs, each in up to N worlds (20)
  --only NAME         runs only this one
  --help              prints this`;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    log: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
    only: { type: 'string' },
    'no-shrink': { type: 'boolean', default: false },
    'until-broken': { type: 'boolean', default: false },
    'until-breach': { type: 'string' },
    recordings: { type: 'boolean', default: false },
    scenario: { type: 'string', multiple: true, default: [] },
    timing: { type: 'string' },
    scenarios: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
    digests: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const printBreach = ({ plan, breach }: WorldReport): void => {
  if (breach === undefined) return;
  const at = Math.round(breach.atMs / 1000);
  const { invariant, what } = breach;
  print(`seed ${plan.seed}: the invariant "${invariant}" is broken after ${at} s: ${what}`);
  print(`  npm run simulate -- --seed ${plan.seed}`);
};

const printPlan = ({ plan, breach }: Pick<WorldReport, 'plan' | 'breach'>): void => {
  print(`  the smallest plan that breaks it (${breach?.what ?? ''}):`);
  const apps = plan.apps.map(({ name, replicas }) => `${name}×${replicas}`).join(' ');
  print(`  ${plan.nodes} nodes, ${plan.standby ? 'a standby, ' : ''}apps ${apps}`);
  for (const { atMs, act } of plan.scenes) print(`  ${atMs} ms: ${sceneText(act)}`);
};

const isLast = ({ invariant }: Breach): boolean =>
  values['until-broken'] || values['until-breach'] === invariant;

const simulate = async (first: number, count: number): Promise<number> => {
  const beganMs = performance.now();
  let [worlds, simulatedMs, evictions, breaches] = [0, 0, 0, 0];
  for (let seed = first; seed < first + count; seed += 1) {
    const report = await runWorld(worldPlan(seed), values.recordings ? [recordingsPlayAgain] : []);
    worlds += 1;
    simulatedMs += report.simulatedMs;
    evictions += report.evictions;
    if (values.log) print(report.log.join('\n'));
    if (report.breach === undefined) continue;
    breaches += 1;
    printBreach(report);
    if (isLast(report.breach)) break;
    if (!values['no-shrink']) printPlan(await shrunk(report));
  }
  const tookMs = performance.now() - beganMs;
  const times = Math.round(simulatedMs / tookMs);
  if (!values.log) {
    print(
      `${worlds} worlds of ${Math.round(simulatedMs / worlds / 1000)} s each, in ${
        (tookMs / 1000).toFixed(1)
      } s (${times}× real time), ${evictions} evictions, ${breaches} broken invariants`,
    );
  }
  return breaches;
};

const seekAll = (seeds: number): number => {
  const names = plantedBugs().filter((name) => values.only === undefined || name === values.only);
  const reports = names.map((name) => {
    const report = seekPlanted(name, seeds);
    print(`${report.found ? 'found' : 'NOT FOUND'}  ${name}: ${report.why}`);
    print(`  ${report.output.split('\n').filter((line) => !line.startsWith('  ')).join('\n  ')}`);
    return report;
  });
  return reports.filter(({ found }) => !found).length;
};

/** Loaded when asked for: a copy of the tree with a planted bug is without what they stand on. */
const runNamed = async (): Promise<number> => {
  const { printScenarios } = await import('./scenarios/printer.ts');
  const { scenario, log, small, digests } = values;
  const timing = values.timing === undefined ? undefined : Number(values.timing);
  return await printScenarios(scenario, { log, small, digests, timing, print });
};

const perform = async (): Promise<number> => {
  if (values.planted) return seekAll(Number(values.seeds ?? PLANTED_SEEDS));
  if (values.scenarios || values.scenario.length > 0) return await runNamed();
  return await simulate(Number(values.seed), Number(values.seeds ?? '1'));
};

if (values.help) print(HELP);
else {
  const failures = await perform();
  // Not by `exit`: what was said may still be on its way through a pipe.
  process.exitCode = failures === 0 ? 0 : 1;
}
