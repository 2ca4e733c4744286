/**
 * `npm run soak:churn [-- MINUTES [SEED]]`: requests and pods that come and go while sessions, the
 * API server, the fleet and both operators fail.
 *
 * Once a minute everything rests, and demand, requests and objects must equal what an independent
 * computation makes of them; no roll-up may be below what was wanted for a minute (WIRE-05), and
 * some were seen. Exits with 1 when something did not hold.
 */
import process from 'node:process';
import { realTime } from '../../../src/effects/real-time.ts';
import { startTestbed } from '../../../tools/testbed/testbed.ts';
import { drawsFrom } from '../../support/draws.ts';
import { pause } from '../../support/eventually.ts';
import { spawnTidegate } from '../../support/processes/tidegate-child.ts';
import { actionAt, populate } from './churn-actions.ts';
import { type ChurnSite, churnSite, untilLed } from './churn-site.ts';
import { restProblems } from './rest-checks.ts';
import { watchRollups } from './rollup-watch.ts';

const MINUTES = 60;
const MINUTE_MS = 60_000;
const CHURN_MS = MINUTE_MS;
const GAP_MS_MAX = 2000;
const REST_MS_MAX = 180_000;
const LOOK_MS = 1000;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Waits until everything is at rest; what does not hold when it takes too long. */
const untilAtRest = async (site: ChurnSite): Promise<readonly string[]> => {
  const startMs = realTime.monotonic();
  let problems: readonly string[] = [];
  do {
    await pause(LOOK_MS);
    problems = await restProblems(site).catch((error: unknown) => [String(error)]);
  } while (problems.length > 0 && realTime.monotonic() - startMs < REST_MS_MAX);
  return problems;
};

const [minutes = String(MINUTES), seedText = String(Math.floor(realTime.now()) >>> 0)] = process
  .argv.slice(2);
const seed = Number(seedText);
const draw = drawsFrom(seed);
print(`seed ${seed}, ${minutes} minutes`);

const bed = await startTestbed({
  controllers: ['garbage-collector-controller'],
  print: () => {},
});
try {
  const site = await churnSite(bed, spawnTidegate);
  await site.startOperators();
  await untilLed(site);
  await populate(site);
  const rollups = watchRollups(site);
  const endMs = realTime.monotonic() + Number(minutes) * MINUTE_MS;
  const actions = new Map<string, number>();
  const failures: string[] = [];
  for (let rest = 1; realTime.monotonic() < endMs; rest += 1) {
    const seenBefore = rollups.seen();
    const restMs = realTime.monotonic() + CHURN_MS;
    while (realTime.monotonic() < restMs) {
      const action = actionAt(draw());
      actions.set(action.name, (actions.get(action.name) ?? 0) + 1);
      await action.run(site, draw);
      await pause(draw() * GAP_MS_MAX);
    }
    const began = realTime.monotonic();
    const problems = [
      ...await untilAtRest(site),
      ...(rollups.seen() === seenBefore ? ['no roll-up was seen'] : []),
    ];
    failures.push(...problems);
    const seconds = Math.round((realTime.monotonic() - began) / 1000);
    print(
      `rest ${rest}: ${problems.length === 0 ? 'equal' : 'NOT EQUAL'} after ${seconds} s; ` +
        `${site.demand.current().length} wanted, ${rollups.seen()} roll-ups, ` +
        `${rollups.problems().length} too low`,
    );
    for (const problem of problems.slice(0, 10)) print(`  ${problem}`);
  }
  await rollups.stop();
  for (const [name, times] of actions) print(`${times} x ${name}`);
  for (const problem of rollups.problems()) print(problem);
  print(`${failures.length + rollups.problems().length} problems`);
  if (failures.length + rollups.problems().length > 0) process.exitCode = 1;
  await site.close();
} finally {
  await bed.stop();
}
