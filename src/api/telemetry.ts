/** What code may say about itself while it runs; `src/observability/` makes it real. */
import type { MetricLabels, MetricName } from './metrics.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Values that a log line may carry beside its constant message. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

type LabelsOf<Name extends MetricName> = [MetricLabels<Name>] extends [never]
  ? readonly [labels?: Readonly<Record<never, string>>]
  : readonly [labels: Readonly<Record<MetricLabels<Name>, string>>];

/** Logs and metrics. Messages are constant sentences; what varies goes into the fields. */
export interface Telemetry {
  readonly log: (level: LogLevel, message: string, fields?: LogFields) => void;
  /** Adds `by` to a counter. */
  readonly count: <Name extends MetricName>(
    name: Name,
    by: number,
    ...labels: LabelsOf<Name>
  ) => void;
  /** Sets a gauge. */
  readonly gauge: <Name extends MetricName>(
    name: Name,
    value: number,
    ...labels: LabelsOf<Name>
  ) => void;
  /** Puts a value (seconds, for durations) into a histogram. */
  readonly observe: <Name extends MetricName>(
    name: Name,
    value: number,
    ...labels: LabelsOf<Name>
  ) => void;
}

/** Says nothing; for tests and for commands that have no metrics. */
export const silentTelemetry: Telemetry = {
  log: () => {},
  count: () => {},
  gauge: () => {},
  observe: () => {},
};

/** A defect of ours as a log tells it: where it happened, when that is known. */
export const defectText = (cause: unknown): string =>
  (cause instanceof Error ? cause.stack : undefined) ?? String(cause);
