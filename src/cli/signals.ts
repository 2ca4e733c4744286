/**
 * The end of a long-running command: the first SIGTERM or SIGINT asks it to stop, the second one
 * does not wait.
 *
 * Promises: a signal that comes while the command still starts is not lost.
 */
import { EXIT } from './exit-codes.ts';

/** Signals that ask a process to end. */
const ENDING_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Resolves with the first ending signal; the second one leaves with exit code 1 at once. */
export const endingSignal = (): Promise<string> =>
  new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: string): void => {
      if (asked) process.exit(EXIT.failure);
      asked = true;
      resolve(signal);
    };
    for (const signal of ENDING_SIGNALS) process.on(signal, () => onSignal(signal));
  });
