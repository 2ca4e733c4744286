/** The live `Telemetry`: logs as JSON lines, metrics in a registry. */
import type { Telemetry } from '../api/telemetry.ts';
import type { Logs } from './logs.ts';
import type { Metrics } from './metrics.ts';

/** Combines logs and metrics for the rest of the program. */
export const liveTelemetry = (
  logs: Pick<Logs, 'log'>,
  metrics: Pick<Metrics, 'record' | 'forget'>,
): Telemetry => ({
  log: logs.log,
  count: (name, by, ...[labels]) => metrics.record(name, by, labels),
  gauge: (name, value, ...[labels]) => metrics.record(name, value, labels),
  forget: (name, ...[labels]) => metrics.forget(name, labels),
  observe: (name, value, ...[labels]) => metrics.record(name, value, labels),
});
