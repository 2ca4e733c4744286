/** Handles defects in subscribers of a stream. */
import { config } from 'rxjs';
import type { Telemetry } from '../api/telemetry.ts';

/**
 * Logs defects of subscribers and continues, because the stream and its other subscribers are
 * unaffected. Without this RxJS throws them into the event loop, which ends the process.
 */
export const logStreamDefects = (telemetry: Telemetry): void => {
  config.onUnhandledError = (problem: unknown) => {
    telemetry.count('tidegate_stream_defects_total', 1);
    telemetry.log('error', 'Stream subscriber threw', {
      problem: problem instanceof Error ? problem.stack : String(problem),
    });
  };
};
