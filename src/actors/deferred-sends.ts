/**
 * Events from one actor to another: an action may not send to another actor during its own actor's
 * transition, so the send is deferred to the end of the current microtask.
 *
 * Promises: deferred sends keep their order and precede any other task; a handler that throws is
 * counted and logged, and later sends still run.
 */
import { defectText, type Telemetry } from '../api/telemetry.ts';

/** Runs `run` when the current transitions are complete. */
export type Defer = (run: () => void) => void;

/** Creates a queue. */
export const deferredSends = (telemetry: Telemetry): Defer => {
  let waiting: (() => void)[] = [];
  const drain = (): void => {
    // The loop also visits sends that are added while it runs.
    for (const run of waiting) {
      try {
        run();
      } catch (cause) {
        telemetry.count('tidegate_stream_defects_total', 1);
        telemetry.log('error', 'Deferred send dropped: handler threw', {
          problem: defectText(cause),
        });
      }
    }
    waiting = [];
  };
  return (run) => {
    waiting.push(run);
    if (waiting.length === 1) queueMicrotask(drain);
  };
};
