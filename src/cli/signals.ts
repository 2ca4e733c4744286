/**
 * The end of a long-running command: the first SIGTERM or SIGINT asks it to stop, the second one
 * does not wait.
 */
import { EXIT } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** Signals that ask a process to end. */
const ENDING_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Calls `stop` at the first signal; leaves with exit code 1 at the second. */
export const stopOnSignal = (
  terminal: Pick<Terminal, 'say'>,
  stop: (signal: string) => Promise<void>,
): void => {
  let asked = false;
  const onSignal = (signal: string): void => {
    if (asked) process.exit(EXIT.failure);
    asked = true;
    stop(signal).catch((error: unknown) => {
      terminal.say(`Cannot stop cleanly: ${error instanceof Error ? error.message : error}`);
      process.exit(EXIT.failure);
    });
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, () => onSignal(signal));
};
