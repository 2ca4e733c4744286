/**
 * What statecharts say to one another: an action may not move another statechart while its own is
 * moving, so it is done deferredSends.
 *
 * Promises: in the order in which it was said, before anything else that waits; what throws harms
 * nothing that comes after it.
 */
import { defectText, type Telemetry } from '../api/telemetry.ts';

/** Does something when the statecharts that are moving have come to rest. */
export type Defer = (run: () => void) => void;

/** An order of its own. */
export const deferredSends = (telemetry: Telemetry): Defer => {
  let waiting: (() => void)[] = [];
  const drain = (): void => {
    // Also visits what is added while it runs.
    for (const run of waiting) {
      try {
        run();
      } catch (cause) {
        telemetry.count('tidegate_stream_defects_total', 1);
        telemetry.log('error', 'A word between statecharts was lost by a defect', {
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
