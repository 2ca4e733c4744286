/**
 * Preloaded into the attacked operator: measures the delays of its event loop.
 *
 * Promises: each SIGUSR2 prints one line with the longest delay since the one before, and starts
 * anew; `cpuMs` is the longest processor time of the main thread between two turns of the loop, so
 * that a delay that another process caused can be told from one of the operator.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';

const RESOLUTION_MS = 5;
const NANOSECONDS = 1e6;
const MICROSECONDS = 1e3;

const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / MICROSECONDS;
};

let last = cpuMs();
let longest = 0;
const look = (): void => {
  const now = cpuMs();
  longest = Math.max(longest, now - last);
  last = now;
};
setInterval(look, RESOLUTION_MS).unref();

const print = (): void => {
  look();
  const line = { message: 'Event loop delay', delayMs: delays.max / NANOSECONDS, cpuMs: longest };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  delays.reset();
  longest = 0;
};

// Timers of a turn run after its signals: the second immediate is behind them.
process.on('SIGUSR2', () => setImmediate(() => setImmediate(print)));
