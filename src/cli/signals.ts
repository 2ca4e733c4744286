/**
 * Stops a long-running command: the first SIGTERM or SIGINT requests a stop, the second one exits
 * at once.
 *
 * Promises: a signal during the start of the command is not lost.
 */
import { EXIT } from './exit-codes.ts';

/** Signals that request a stop. */
const ENDING_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Resolves with the first stop signal; the second one exits with code 1 at once. */
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
