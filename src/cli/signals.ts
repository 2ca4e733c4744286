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

/** A signal that is waited for. */
interface AwaitedSignal {
  /** Resolves with the first of the signals; the second one exits with code 1 at once. */
  readonly signal: Promise<string>;
  /** Signals end the process again, as they do without a listener. */
  readonly release: () => void;
}

/** Waits for a signal until it is released. */
export const awaitedSignal = (
  signals: readonly EndingSignal[] = ENDING_SIGNALS,
): AwaitedSignal => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let asked = false;
  const onSignal = (signal: string): void => {
    if (asked) process.exit(EXIT.failure);
    asked = true;
    resolve(signal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: promise,
    release: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
};

/**
 * The first of the signals, for a command that runs until then. SIGHUP, which a closed terminal
 * sends, is for commands of a terminal only: `nohup` protects the others.
 */
export const endingSignal = (
  signals: readonly EndingSignal[] = ENDING_SIGNALS,
): Promise<string> => awaitedSignal(signals).signal;
