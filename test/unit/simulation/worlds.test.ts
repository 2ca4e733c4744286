/** A few simulated worlds in every run; `npm run simulate -- --seeds 1000` runs many. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { recordingsPlayAgain } from '../../simulation/recording-invariant.ts';
import { worldPlan } from '../../simulation/world-plan.ts';
import { runWorld } from '../../simulation/world-run.ts';
import { freshSeeds } from '../../support/fresh-seeds.ts';
import { atScale } from '../../support/scale.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BIN = `${ROOT}node_modules/.bin/`;
/** It writes the requests of pods, and repeats writes whose answers were lost. */
const COMPARED = 3;
const SEEDS = [
  ...[COMPARED, 1, 2, 4].slice(0, atScale({ commit: 1, release: 4 })),
  ...freshSeeds(atScale({ commit: 2, release: 20 }), 'npm run simulate -- --seed'),
];
const FAULTS = new Set([
  'Deafen',
  'Freeze',
  'CutOffStandby',
  'ApiOutage',
  'ApiErrors',
  'SlowApi',
  'SlowList',
  'Replace',
  'DropWatches',
  'Compact',
  'FleetOutage',
  'CutSession',
  'RejectRollups',
  'SlowFrames',
  'Vanish',
  'CutOffLeader',
  'HoldFrames',
]);
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

const run = promisify(execFile);

/** The log of a seed, from a separate process. */
const logOn = async (runtime: 'node' | 'deno', seed: number): Promise<string> => {
  const main = ['test/simulation/main.ts', '--seed', String(seed), '--log', '--no-shrink'];
  const { stdout } = await run(
    `${BIN}${runtime}`,
    runtime === 'node' ? main : ['run', '-A', ...main],
    { cwd: ROOT, maxBuffer: OUTPUT_BYTES_MAX },
  );
  return stdout;
};

/** Moves of lifecycles that were played again from recordings alone. */
let replayed = 0;
const reports = new Map<number, ReturnType<typeof runWorld>>();
/** Each world runs once; recordings of one are played again, which leaves no line in its log. */
const reportOf = (seed: number): ReturnType<typeof runWorld> => {
  const report = reports.get(seed) ?? runWorld(
    worldPlan(seed),
    seed === COMPARED ? [(bench) => recordingsPlayAgain(bench, () => void (replayed += 1))] : [],
  );
  reports.set(seed, report);
  return report;
};

describe('simulated worlds', () => {
  test.each(SEEDS)(
    'world %i keeps every invariant from its start to its rest',
    async (seed) => {
      const report = await reportOf(seed);
      expect(report.breach).toBeUndefined();
      expect(report.nodes).toBeGreaterThanOrEqual(20);
      expect(report.pods).toBeGreaterThanOrEqual(100);
      expect(report.evictions).toBeGreaterThan(0);
    },
    300_000,
  );

  test('the lifecycles of a world replay from its recordings alone', async () => {
    expect((await reportOf(COMPARED)).breach).toBeUndefined();
    expect(replayed).toBeGreaterThan(10_000);
  }, 300_000);

  // Writes that were lost in the outage are still in flight when the same process leads again.
  test('a world in which a process reacquires its own lease keeps every invariant', async () => {
    const report = await runWorld({
      ...worldPlan(98),
      scenes: [
        { atMs: 160_676, act: { _tag: 'ApiOutage', forMs: 11_469 } },
        {
          atMs: 168_302,
          act: { _tag: 'ReclaimMany', count: 5, graceSeconds: 60, provider: true },
        },
      ],
    });
    expect(report.log.filter((line) => line.endsWith('Lost leadership'))).toHaveLength(
      1,
    );
    expect(report.breach).toBeUndefined();
  }, 300_000);

  test('the same seed gives the same log, byte for byte, on Node and on Deno', async () => {
    expect(worldPlan(COMPARED).withPods).toBe(true);
    const there = logOn(process.versions['deno'] === undefined ? 'deno' : 'node', COMPARED);
    const here = `${(await reportOf(COMPARED)).log.join('\n')}\n`;
    expect(here).toContain('gets no answer to PATCH');
    expect(here.split('\n').length).toBeGreaterThan(1000);
    expect(await there === here).toBe(true);
  }, 300_000);

  test('every plan has nodes, pods, budgets, faults and a crash', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const { nodes, apps, scenes } = worldPlan(seed);
      const tags = scenes.map(({ act }) => act._tag);
      expect(nodes).toBeGreaterThanOrEqual(20);
      expect(apps.reduce((sum, { replicas }) => sum + replicas, 0)).toBeGreaterThanOrEqual(100);
      expect(apps.filter(({ budget }) => budget !== undefined).length).toBeGreaterThanOrEqual(5);
      expect(tags.filter((tag) => FAULTS.has(tag)).length).toBeGreaterThanOrEqual(3);
      expect(tags).toContain('Crash');
    }
  });

  test('every plan has machines that come back, are named by their Nodes, and are malformed', () => {
    const all = Array.from({ length: 200 }, (_, seed) => worldPlan(seed + 1));
    for (const { scenes } of all) {
      const tags = scenes.map(({ act }) => act._tag);
      expect(tags).toEqual(expect.arrayContaining(['Return', 'ReclaimByNode', 'Malformed']));
    }
    const some = (holds: (plan: (typeof all)[number]) => boolean) => all.filter(holds).length;
    const withScene = (tag: string) =>
      some(({ scenes }) => scenes.some(({ act }) => act._tag === tag));
    expect(Math.min(withScene('SlowFrames'), withScene('JoinLate'))).toBeGreaterThan(40);
    expect(some(({ leftObjects }) => leftObjects.length > 0)).toBeGreaterThan(40);
  });
});
