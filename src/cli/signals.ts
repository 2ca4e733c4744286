/**
 * Stops a long-running command: the first SIGTERM or SIGINT requests a stop, the second one exits
 * at once.
 *
 * Promises: a signal during the start of the command is not lost.
 */
import { EXIT } from './exit-codes.ts';

/** Signals that request a stop. */
const ENDING_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

type EndingSignal = (typeof ENDING_SIGNALS)[number] | 'SIGHUP';

/**
 * Resolves with the first of the signals; the second one exits with code 1 at once. SIGHUP, which a
 * closed terminal sends, is for commands of a terminal only: `nohup` protects the others.
 */
export const endingSignal = (
  signals: readonly EndingSignal[] = ENDING_SIGNALS,
): Promise<string> =>
  new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: string): void => {
      if (asked) process.exit(EXIT.failure);
      asked = true;
      resolve(signal);
    };
    for (const signal of signals) process.on(signal, () => onSignal(signal));
  });
