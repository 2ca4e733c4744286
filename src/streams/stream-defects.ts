/** What becomes of a defect in a subscriber of a stream. */
import { config } from 'rxjs';
import type { Telemetry } from '../api/telemetry.ts';

/**
 * Logs defects of subscribers and goes on: the stream is still good, and other subscribers must not
 * lose it. Without this RxJS throws them into the event loop, which ends the process.
 */
export const logStreamDefects = (telemetry: Telemetry): void => {
  config.onUnhandledError = (problem: unknown) => {
    telemetry.count('tidegate_stream_defects_total', 1);
    telemetry.log('error', 'A subscriber of a stream failed by a defect', {
      problem: problem instanceof Error ? problem.stack : String(problem),
    });
  };
};
