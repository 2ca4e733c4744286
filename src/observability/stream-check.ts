/**
 * The liveness check of streams: a defect in one may have left work undone for good, so the process
 * restarts from what the cluster shows.
 */
import type { Telemetry } from '../api/telemetry.ts';
import type { Check } from './health.ts';

/** Counted by stream subscribers and deferred sends that threw. */
const DEFECTS = 'tidegate_stream_defects_total';

/** Telemetry whose defects of streams fail the check, from the first one on. */
export interface CheckedStreams {
  readonly telemetry: Telemetry;
  readonly check: Check;
}

/** Observes the defects that pass through `telemetry`. */
export const checkedStreams = (telemetry: Telemetry): CheckedStreams => {
  let defects = 0;
  return {
    telemetry: {
      ...telemetry,
      count: (name, by, ...labels) => {
        if (name === DEFECTS) defects += by;
        telemetry.count(name, by, ...labels);
      },
    },
    check: {
      name: 'streams',
      failing: () => defects === 0 ? undefined : `${defects} defects, each logged with its stack`,
    },
  };
};
