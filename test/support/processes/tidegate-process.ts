/**
 * `src/main.ts` as a child process of one test: see `tidegate-child.ts`.
 *
 * Promises: it ends with its test; the end of its log is shown when the test fails.
 */
import { onTestFailed, onTestFinished } from 'vitest';
import { spawnTidegate, type StartTidegate } from './tidegate-child.ts';

export type { LogLine, Runtime, TidegateProcess } from './tidegate-child.ts';
export { thisRuntime } from './tidegate-child.ts';

const LINES_MAX = 60;
const STOP_GRACE_MS = 15_000;

/** Starts it. Must be called inside a test. */
export const startTidegate: StartTidegate = (options) => {
  const child = spawnTidegate(options);
  onTestFailed(() => {
    const lines = child.logs().slice(-LINES_MAX).map((line) => JSON.stringify(line)).join('\n');
    process.stderr.write(`--- the end of what "${options.name}" said ---\n${lines}\n---\n`);
  });
  onTestFinished(async () => {
    await child.stop(STOP_GRACE_MS);
  });
  return child;
};
