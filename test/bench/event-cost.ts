/**
 * The cost of an actor's event with different observers, measured in alternating slices of a few
 * milliseconds, so that other load affects all alike.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { KINDS } from '../../src/cli/operator/machine-levels.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { startActorRecorder } from '../../src/observability/actor-recorder.ts';
import { actorCrowd } from '../support/page/actor-crowd.ts';
import { endChild } from './bench-process.ts';
import { sum } from './measurement.ts';

const fail = (problem: string): void => {
  throw new Error(problem);
};

const ACTORS = 2_000;
const EVENTS = 500;
const SLICES = 300;
const WARMING_SLICES = 60;

/** Microseconds of processor time, of all threads, for each event. */
export interface EventCosts {
  /** Metrics and logs alone, as in every process. */
  readonly alone: number;
  readonly recorded: number;
  /** With a page open. */
  readonly served: number;
}

const READER = "process.argv.slice(1).forEach((url) => require('node:http').get(url, (page) => " +
  "page.once('data', () => console.log('open')).resume()))";

/** Holds a page's streams open as a browser does, in its own process. */
const openPage = async (url: string): Promise<ChildProcess> => {
  const streams = [`${url}live`, `${url}live?actor=podEviction/default/db-7`];
  const reader = spawn(process.execPath, ['-e', READER, ...streams], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(reader.stdout, 'data');
  return reader;
};

const processorUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Measures them. */
export const eventCosts = async (): Promise<EventCosts> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-bench-'));
  const file = join(folder, 'recording.jsonl');
  const recorder = await startActorRecorder({
    file,
    onFailure: fail,
    title: 'bench',
    time: realTime,
    kinds: KINDS,
  });
  const crowds = {
    alone: await actorCrowd(ACTORS, false),
    recorded: await actorCrowd(ACTORS, false, [recorder.observe]),
    served: await actorCrowd(ACTORS),
  };
  const page = await openPage(crowds.served.url);
  const costs: Record<keyof EventCosts, number[]> = { alone: [], recorded: [], served: [] };
  for (let slice = 0; slice < SLICES; slice += 1) {
    for (const way of ['alone', 'recorded', 'served'] as const) {
      const before = processorUs();
      crowds[way].move(EVENTS);
      // What was begun for the disk and for pages belongs to the slice, too.
      await new Promise<void>((resolve) => void realTime.schedule(0, resolve));
      if (slice >= WARMING_SLICES) costs[way].push((processorUs() - before) / EVENTS);
    }
  }
  endChild(page);
  await Promise.all(Object.values(crowds).map(({ close }) => close()));
  await recorder.close();
  await rm(folder, { recursive: true, force: true });
  const mean = (figures: readonly number[]): number => {
    // Means include garbage collection; the slowest tenth is other load.
    const kept = figures.toSorted((left, right) => left - right).slice(0, -figures.length / 10);
    return sum(kept) / kept.length;
  };
  return { alone: mean(costs.alone), recorded: mean(costs.recorded), served: mean(costs.served) };
};
