/**
 * Reads made inputs with one target, and checks that each is answered, soon, and leaves nothing
 * behind.
 *
 * Promises: the same seed and count make the same inputs, as long as the reader and the corpus are
 * the same: an input with a new outcome is one of those from which others are made. The work of a
 * read counts as processor time, the least of some, so that a busy machine fails nothing. Parsing
 * JSON does not count: the client does it, and an object of the largest size takes it 40 ms.
 */
import process from 'node:process';
import { parseJson } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { collectGarbage } from '../bench/measurement.ts';
import { type Draw, drawBelow, drawOne, drawsFrom } from '../support/draws.ts';
import { pause } from '../support/eventually.ts';
import type { FuzzInput, FuzzRead, FuzzTarget } from './fuzz-target.ts';

/** No synchronous work on the input of a peer may take longer. */
const STALL_MS = 50;
const READ_AGAIN = 4;
/** A reader gets fresh state after so many inputs. */
const OPEN_EVERY = 1000;
const EDITS_MAX = 4;
/** Inputs with a new outcome, from which others are made; the oldest make room. */
const KEPT_MAX = 500;
const KEPT_CHARACTERS_MAX = 16_384;
/** The input that is remembered as the example of an outcome. */
const EXAMPLE_MAX = 2000;
const FAILURES_MAX = 5;
const SMALLER_TRIES = 2000;
const SMALLER_MS_MAX = 10_000;
/** When memory is first measured, and what code and statistics may take from then on. */
const FIRST_SHARE = 0.1;
const COLLECTIONS = 3;
const TURN_MS = 20;
const GROWTH_BYTES_MAX = 4 * 1024 * 1024;

/** An input that shows a defect. */
export interface FuzzFailure {
  readonly problem: string;
  readonly input: string;
}

/** How a run went. */
export interface FuzzReport {
  readonly inputs: number;
  readonly outcomes: ReadonlyMap<string, string>;
  readonly failures: readonly FuzzFailure[];
  /** The longest read, in milliseconds. */
  readonly slowestMs: number;
  /** Bytes that live at the end and did not after a tenth of the inputs. */
  readonly growthBytes: number;
}

/** What to run. */
export interface FuzzPlan {
  readonly target: FuzzTarget;
  readonly count: number;
  readonly seed: number;
  /** Inputs that once failed or reached something rare; they are read first. */
  readonly corpus: readonly string[];
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const inputOf = (text: string): FuzzInput => ({ text, value: parseJson(text) });

/** Work of which the time on a calm core is known. */
const REFERENCE = JSON.stringify(
  Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key${index}`, 'value'])),
);
const REFERENCE_MS = 32;

/** By how much this machine is slower now: a neighbour takes caches and clock rate, too. */
const slowness = (): number => {
  const startMs = cpuMs();
  JSON.stringify(JSON.parse(REFERENCE));
  return Math.max(1, (cpuMs() - startMs) / REFERENCE_MS);
};

/** The least processor time of some reads, each with fresh state. */
const leastMs = async (target: FuzzTarget, input: string): Promise<number> => {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < READ_AGAIN; time += 1) {
    const read = target.open();
    const given = inputOf(input);
    const slow = slowness();
    const startMs = cpuMs();
    await read(given);
    least = Math.min(least, (cpuMs() - startMs) / slow);
  }
  return least;
};

const problemOf = (cause: unknown): string =>
  cause instanceof Error ? `${cause.name}: ${cause.message.slice(0, 500)}` : String(cause);

/** What a single read comes to, and how long it took. */
const readOnce = async (
  read: FuzzRead,
  input: string,
): Promise<{ readonly outcome?: string; readonly problem?: string; readonly ms: number }> => {
  const given = inputOf(input);
  const startMs = realTime.monotonic();
  try {
    const reading = read(given);
    const outcome = typeof reading === 'string' ? reading : await reading;
    return { outcome, ms: realTime.monotonic() - startMs };
  } catch (cause) {
    return { problem: problemOf(cause), ms: realTime.monotonic() - startMs };
  }
};

/** Why an input fails with fresh state; undefined when it does not. */
const problemWith = async (target: FuzzTarget, input: string): Promise<string | undefined> => {
  const { problem, ms } = await readOnce(target.open(), input);
  if (problem !== undefined) return problem;
  if (ms <= STALL_MS) return undefined;
  const least = await leastMs(target, input);
  return least > STALL_MS ? `takes ${least.toFixed(0)} ms` : undefined;
};

/** A smaller input that fails as well. */
const shrunk = async (target: FuzzTarget, input: string): Promise<string> => {
  let smallest = input;
  let tries = 0;
  const startMs = realTime.monotonic();
  const isOver = (): boolean =>
    tries > SMALLER_TRIES || realTime.monotonic() - startMs > SMALLER_MS_MAX;
  for (let found = true; found;) {
    found = false;
    for (const smaller of target.smaller(smallest)) {
      tries += 1;
      if (isOver()) return smallest;
      if (await problemWith(target, smaller) === undefined) continue;
      smallest = smaller;
      found = true;
      break;
    }
  }
  return smallest;
};

/** With turns of the event loop, in which finalizers release what nothing uses. */
const liveBytes = async (): Promise<number> => {
  for (let round = 0; round < COLLECTIONS; round += 1) {
    collectGarbage();
    await pause(TURN_MS);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** A part of a text keeps the whole of it alive, and that the text of which it is a part. */
const copied = (text: string): string => structuredClone(text);

/** The inputs from which others are made. */
class Pool {
  readonly #lasting: readonly string[];
  readonly #kept: string[] = [];

  constructor(lasting: readonly string[]) {
    this.#lasting = lasting;
  }

  keep(input: string): void {
    if (input.length > KEPT_CHARACTERS_MAX) return;
    this.#kept.push(copied(input));
    if (this.#kept.length > KEPT_MAX) this.#kept.shift();
  }

  draw(draw: Draw): string {
    const from = draw() < 0.5 ? this.#lasting : this.#kept;
    return drawOne(draw, from.length > 0 ? from : this.#lasting) ?? '';
  }
}

const made = ({ mutate, words }: FuzzTarget, pool: Pool, draw: Draw): string => {
  let input = pool.draw(draw);
  for (let edits = 1 + drawBelow(draw, EDITS_MAX); edits > 0; edits -= 1) {
    input = mutate(input, { draw, words, other: pool.draw(draw) });
  }
  return input;
};

/** Runs a plan. */
export const fuzz = async ({ target, count, seed, corpus }: FuzzPlan): Promise<FuzzReport> => {
  const draw = drawsFrom(seed);
  const given = [...target.seeds, ...corpus];
  const pool = new Pool(given);
  const outcomes = new Map<string, string>();
  const failures: FuzzFailure[] = [];
  let read = target.open();
  let slowestMs = 0;
  let firstBytes = 0;
  const firstAt = Math.floor(count * FIRST_SHARE);
  for (let number = 0; number < count && failures.length < FAILURES_MAX; number += 1) {
    if (number % OPEN_EVERY === 0) {
      read = target.open();
      await pause(0);
    }
    if (number === firstAt) firstBytes = await liveBytes();
    const input = given[number] ?? made(target, pool, draw);
    const { outcome, problem, ms } = await readOnce(read, input);
    const suspect = problem ?? (ms > STALL_MS ? await problemWith(target, input) : undefined);
    if (suspect !== undefined) {
      failures.push({ problem: suspect, input: await shrunk(target, input) });
      continue;
    }
    slowestMs = Math.max(slowestMs, Math.min(ms, STALL_MS));
    if (outcome === undefined || outcomes.has(outcome)) continue;
    const isExample = outcomes.size < KEPT_MAX && input.length <= EXAMPLE_MAX;
    outcomes.set(copied(outcome), isExample ? copied(input) : '');
    pool.keep(input);
  }
  read = target.open();
  return {
    inputs: count,
    outcomes,
    failures,
    slowestMs,
    growthBytes: await liveBytes() - firstBytes,
  };
};

/** What did not hold in a run. */
export const problemsOf = ({ failures, growthBytes }: FuzzReport): readonly string[] => [
  ...failures.map(({ problem, input }) => `${problem}: ${JSON.stringify(input.slice(0, 2000))}`),
  ...(growthBytes > GROWTH_BYTES_MAX
    ? [`${(growthBytes / 2 ** 20).toFixed(1)} MiB live on after the run`]
    : []),
];
