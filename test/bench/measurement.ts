/** How benches measure and print. */
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import process from 'node:process';
import { realTime } from '../../src/effects/real-time.ts';

/** Prints a line of the report. */
export const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

/** Prints one figure. */
export const printFigure = (what: string, figure: string, note = ''): void => {
  print(`  ${what.padEnd(58)} ${figure.padStart(14)}${note === '' ? '' : `   ${note}`}`);
};

/** Milliseconds of one call. */
export const timed = async (run: () => unknown): Promise<number> => {
  const startMs = realTime.monotonic();
  await run();
  return realTime.monotonic() - startMs;
};

/** All figures together. */
export const sum = (figures: readonly number[]): number =>
  figures.reduce((all, figure) => all + figure, 0);

/** The middle of the figures. */
export const median = (figures: readonly number[]): number => {
  const sorted = figures.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** Milliseconds of each of `times` calls, after one that does not count. */
export const repeated = async (
  times: number,
  run: (turn: number) => unknown,
): Promise<readonly number[]> => {
  const figures: number[] = [];
  for (let turn = 0; turn <= times; turn += 1) {
    const ms = await timed(() => run(turn));
    if (turn > 0) figures.push(ms);
  }
  return figures;
};

/** `12.3 ms` or `1.23 s`. */
export const duration = (ms: number): string =>
  ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(ms < 10 ? 2 : 1)} ms`;

/** `1/23` or `2.3 x`: how `ms` compares with `beside`. */
export const ratio = (ms: number, beside: number): string =>
  ms <= beside ? `1/${(beside / ms).toFixed(1)}` : `${(ms / beside).toFixed(1)} x`;

/** `512 MiB`. */
export const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

/** Collects garbage, where the runtime exposes it. */
export const collectGarbage = (): void => {
  const gc: unknown = Reflect.get(globalThis, 'gc');
  if (typeof gc === 'function') gc();
};

/** The runtime, such as `Node 24.21.0`. */
const runtime = (): string => {
  const { deno, node } = process.versions;
  return deno === undefined ? `Node ${node}` : `Deno ${deno}`;
};

/** Prints what everything below was measured on. */
export const printMachine = (): void => {
  const [first] = cpus();
  const [load = 0] = loadavg();
  print(
    `Machine: ${first?.model.trim() ?? 'unknown CPU'}, ${availableParallelism()} cores, ` +
      `${mebibytes(totalmem())} memory; ${runtime()}, ${process.platform} ${process.arch}; ` +
      `load ${load.toFixed(1)} before the first bench`,
  );
};
