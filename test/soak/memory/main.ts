/**
 * `npm run soak:memory [-- MINUTES [SEED]]`: an operator of which nothing may grow while its
 * cluster and its fleet churn.
 *
 * Prints its memory every 30 s, after a forced collection. Exits with 1 when the memory grows after
 * the first quarter (at most half an hour), or when descriptors or timers are left over once the
 * churn has ended and everything is gone.
 */
import process from 'node:process';
import { realTime } from '../../../src/effects/real-time.ts';
import { COLLECTIONS } from '../../support/api/cluster-connection.ts';
import { drawsFrom } from '../../support/draws.ts';
import { eventually, pause } from '../../support/eventually.ts';
import { memoryChurn } from './memory-churn.ts';
import { isGrowing, type MemorySample, memoryTrend, type Trend } from './memory-samples.ts';
import { type MemorySite, memorySite } from './memory-site.ts';

const MINUTES = 120;
const MINUTE_MS = 60_000;
const SAMPLE_MS = 30_000;
const WARM_MS_MAX = 30 * MINUTE_MS;
const WARM_SHARE = 0.25;
/** So many actions are under way at once. */
const LANES = 3;
const GAP_MS_MAX = 300;
/** An idle HTTP connection closes within seconds, a grace for a missing owner within minutes. */
const SETTLED_MS = 10_000;
const IDLE_SAMPLES = 4;
const EMPTY_MS_MAX = 5 * MINUTE_MS;
const LEVEL_MS_MAX = 15 * MINUTE_MS;
const MIB = 1024 * 1024;

/** What an operator has open. */
type Level = Pick<MemorySample, 'files' | 'timers'>;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const mebibytes = (bytes: number): string => (bytes / MIB).toFixed(2);

const sampleText = ({ liveBytes, codeBytes, rssBytes, files, timers }: MemorySample): string =>
  `${mebibytes(liveBytes)} MiB live, ${mebibytes(codeBytes)} MiB code, ` +
  `${mebibytes(rssBytes)} MiB resident, ` +
  `${files} descriptors, ${timers} timers`;

const trendText = ({ bytesPerHour, errorPerHour, samples }: Trend): string =>
  `${mebibytes(bytesPerHour)} ± ${mebibytes(errorPerHour)} MiB an hour over ${samples} samples`;

const clock = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(3)}:${String(seconds % 60).padStart(2, '0')}`;
};

/** Churns for so long; returns the samples, and how often each action was done. */
const churnFor = async (
  site: MemorySite,
  step: () => Promise<string>,
  { durationMs, draw }: { readonly durationMs: number; readonly draw: () => number },
) => {
  const samples: MemorySample[] = [];
  const actions = new Map<string, number>();
  const startMs = realTime.monotonic();
  const elapsed = (): number => realTime.monotonic() - startMs;
  const lane = async (): Promise<void> => {
    while (elapsed() < durationMs) {
      const name = await step();
      actions.set(name, (actions.get(name) ?? 0) + 1);
      await pause(draw() * GAP_MS_MAX);
    }
  };
  const sampler = async (): Promise<void> => {
    for (let nextMs = SAMPLE_MS; nextMs <= durationMs; nextMs += SAMPLE_MS) {
      await pause(Math.max(0, nextMs - elapsed()));
      await site.operator.metrics();
      const sample = await site.sample();
      samples.push(sample);
      print(`${clock(sample.atMs - startMs)} ${sampleText(sample)}`);
    }
  };
  await Promise.all([sampler(), ...Array.from({ length: LANES }, lane)]);
  return { samples, actions };
};

const untilEmpty = (site: MemorySite): Promise<boolean> =>
  eventually(async () => {
    const collections = [COLLECTIONS.upcomingNodes, COLLECTIONS.requests];
    const left = await Promise.all(collections.map((path) => site.cluster.list(path)));
    if (left.every((objects) => objects.length === 0)) return true;
    throw new Error(left.map((objects) => objects.length).join(' and ') + ' objects are left');
  }, { what: 'every UpcomingNode and request to go', everyMs: 1000, timeoutMs: EMPTY_MS_MAX });

/** The most that an idle operator has open at any of some moments. */
const idleLevel = async (site: MemorySite): Promise<Level> => {
  const levels: MemorySample[] = [];
  for (let count = 0; count < IDLE_SAMPLES; count += 1) {
    await pause(SETTLED_MS);
    const sample = await site.sample();
    print(`at rest: ${sampleText(sample)}`);
    levels.push(sample);
  }
  return {
    files: Math.max(...levels.map(({ files }) => files)),
    timers: Math.max(...levels.map(({ timers }) => timers)),
  };
};

/** Samples until descriptors and timers are no more than at first, or time is up. */
const untilLevel = async (site: MemorySite, first: Level): Promise<readonly string[]> => {
  const startMs = realTime.monotonic();
  for (;;) {
    await pause(SETTLED_MS);
    const sample = await site.sample();
    print(`after the churn: ${sampleText(sample)}`);
    const { files, timers } = sample;
    const left = [
      ...(files > first.files ? [`${files - first.files} descriptors are left over`] : []),
      ...(timers > first.timers ? [`${timers - first.timers} timers are left over`] : []),
    ];
    if (left.length === 0 || realTime.monotonic() - startMs > LEVEL_MS_MAX) return left;
  }
};

const measured = async (site: MemorySite, minutes: number, draw: () => number) => {
  const first = await idleLevel(site);
  const churn = memoryChurn(site, draw);
  await churn.populate();
  const durationMs = minutes * MINUTE_MS;
  const { samples, actions } = await churnFor(site, churn.step, { durationMs, draw });
  for (const [name, times] of actions) print(`${times} x ${name}`);
  await churn.clear();
  await untilEmpty(site);
  const left = await untilLevel(site, first);
  const warmMs = (samples[0]?.atMs ?? 0) - SAMPLE_MS +
    Math.min(WARM_MS_MAX, durationMs * WARM_SHARE);
  const trend = memoryTrend(samples.filter(({ atMs }) => atMs >= warmMs));
  if (trend === undefined) return [...left, 'the run was too short for a trend'];
  print(`trend: ${trendText(trend)}`);
  return [...left, ...(isGrowing(trend) ? [`memory grows by ${trendText(trend)}`] : [])];
};

const [minutes = String(MINUTES), seedText = String(Math.floor(realTime.now()) >>> 0)] = process
  .argv.slice(2);
print(`seed ${seedText}, ${minutes} minutes`);

const site = await memorySite();
try {
  const problems = await measured(site, Number(minutes), drawsFrom(Number(seedText)));
  for (const [text, times] of site.complaints()) print(`${times} x ${text}`);
  for (const problem of problems) print(`PROBLEM: ${problem}`);
  print(`${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  await site.close();
}
