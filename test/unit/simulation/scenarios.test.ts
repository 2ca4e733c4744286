/**
 * Scenarios of whole drains and sessions on simulated time, the counterparts of those that
 * `test/e2e` runs on a real control plane. Each scenario in `test/simulation/scenarios/` contains
 * its expectations.
 */
import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { SCENARIOS } from '../../simulation/scenarios/catalogue.ts';
import {
  runScenario,
  type Scenario,
  type ScenarioReport,
  wentWell,
  withTiming,
} from '../../simulation/scenarios/scenario.ts';
import { freshSeeds } from '../../support/fresh-seeds.ts';
import { atScale, isReleaseScale } from '../../support/scale.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BIN = `${ROOT}node_modules/.bin/`;
const PATIENT_MS = 600_000;
const run = promisify(execFile);

const reports = new Map<string, Promise<ScenarioReport>>();

/** Runs each once in this process. */
const reportOf = (scenario: Scenario): Promise<ScenarioReport> => {
  const known = reports.get(scenario.name) ?? runScenario(scenario);
  reports.set(scenario.name, known);
  return known;
};

const IS_NODE = process.versions['deno'] === undefined;
/**
 * Scenarios with thousands of pods take a minute each, and run on both runtimes when this suite
 * runs on Node: not twice when the same suite runs on Deno.
 */
const WITH_CROWDS = IS_NODE && isReleaseScale();
const EXECUTED = SCENARIOS.filter(({ crowd }) => WITH_CROWDS || crowd !== true);

/** Scenarios whose result may not depend on their timing, in a few drawn ones. */
const TIMED = ['drain-outage', 'drain-faults', 'drain-compacted'];
const TIMINGS = SCENARIOS.filter(({ name }) => TIMED.includes(name)).flatMap((scenario) =>
  freshSeeds(
    atScale({ commit: 1, release: 10 }),
    `npm run simulate -- --scenario ${scenario.name} --timing`,
  ).map((seed) => ({ name: scenario.name, scenario, seed }))
);

/**
 * What runs on the other runtime as well: one of each kind of trouble. All of them took as much
 * processor time again as all scenarios, and never differed where these did not, nor a world.
 */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'drain-outage',
  'two-operators-killed',
  'fleet-killed',
  'clocks-skewed',
]);
const COMPARED = EXECUTED.filter(({ name }) => isReleaseScale() || ELSEWHERE.has(name));

/** Name and digest of the compared scenarios, by the other runtime. */
const digestsElsewhere = async (): Promise<string> => {
  const main = ['test/simulation/main.ts', '--digests'];
  for (const { name } of COMPARED) main.push('--scenario', name);
  const { stdout } = IS_NODE
    ? await run(`${BIN}deno`, ['run', '-A', ...main], { cwd: ROOT })
    : await run(`${BIN}node`, main, { cwd: ROOT });
  return stdout;
};

/** A small one, to test the report of failing scenarios. */
const wrong = (play: Scenario['play']): Scenario => ({
  name: 'wrong',
  shows: 'what is said',
  siteOptions: { seed: 1, providerDrainMs: 1000, machines: 0 },
  play,
});

describe('scenarios', () => {
  let elsewhere: Promise<string> = Promise.resolve('');
  // It runs while this process does.
  beforeAll(() => {
    elsewhere = digestsElsewhere();
  });

  test.each(EXECUTED)('$name: $shows', async (scenario) => {
    const report = await reportOf(scenario);
    expect(report.breach).toBeUndefined();
    expect(report.findings.filter(({ holds }) => !holds)).toEqual([]);
    expect(report.findings.length).toBeGreaterThan(0);
  }, PATIENT_MS);

  test.each(TIMINGS)('$name goes well with timing $seed', async ({ scenario, seed }) => {
    const report = await runScenario(withTiming(scenario, seed));
    expect(report.breach).toBeUndefined();
    expect(report.findings.filter(({ holds }) => !holds)).toEqual([]);
  }, PATIENT_MS);

  test('a scenario gives the same log, byte for byte, on Node and on Deno', async () => {
    expect(COMPARED.length).toBeGreaterThanOrEqual(ELSEWHERE.size);
    const here: string[] = [];
    for (const scenario of COMPARED) {
      here.push(`${scenario.name} ${(await reportOf(scenario)).digest}\n`);
    }
    expect(await elsewhere).toBe(here.join(''));
  }, PATIENT_MS);

  test('a scenario with a false expectation fails, with the actual value', async () => {
    const report = await runScenario(wrong((harness) => {
      harness.is('one and one', 1 + 1, 3);
      return Promise.resolve();
    }));
    expect(wentWell(report)).toBe(false);
    expect(report.findings).toEqual([{
      what: 'one and one',
      holds: false,
      instead: '2 instead of 3',
    }]);
  });

  test('a scenario that times out ends there, and fails', async () => {
    const report = await runScenario(wrong(async (harness) => {
      await harness.until('pigs fly', () => undefined, { mostMs: 1000 });
      harness.is('never said', 1, 1);
    }));
    expect(wentWell(report)).toBe(false);
    expect(report.findings.map(({ what, instead }) => [what, instead]))
      .toEqual([['pigs fly', 'timed out after 1000 ms']]);
  });

  test('a scenario that breaks an invariant fails, also when all its expectations hold', async () => {
    const report = await runScenario(wrong((harness) => {
      harness.create('/api/v1/nodes', [{ metadata: { name: 'n' }, spec: { unschedulable: true } }]);
      harness.is('one', 1, 1);
      return Promise.resolve();
    }));
    expect(wentWell(report)).toBe(false);
    expect(report.breach?.invariant).toBe('cordons have owners');
  });
});
