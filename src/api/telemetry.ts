/** The interface for logs and metrics; `src/observability/` implements it. */
import type { MetricLabels, MetricName, MetricValue } from './metrics.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Values that a log line may carry beside its constant message. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

type LabelsOf<Name extends MetricName> = [MetricLabels<Name>] extends [never]
  ? readonly [labels?: Readonly<Record<never, string>>]
  : readonly [labels: Readonly<Record<MetricLabels<Name>, MetricValue<Name>>>];

/** Logs and metrics. Messages are constant; variable values are fields. */
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
  /** Removes a series: its object is gone. */
  readonly forget: <Name extends MetricName>(name: Name, ...labels: LabelsOf<Name>) => void;
  /** Observes a value (seconds, for durations) in a histogram. */
  readonly observe: <Name extends MetricName>(
    name: Name,
    value: number,
    ...labels: LabelsOf<Name>
  ) => void;
}

/** Discards everything; for tests and for commands without metrics. */
export const silentTelemetry: Telemetry = {
  log: () => {},
  count: () => {},
  gauge: () => {},
  forget: () => {},
  observe: () => {},
};

/** A defect as log fields: its location, when known. */
export const defectText = (cause: unknown): string =>
  (cause instanceof Error ? cause.stack : undefined) ?? String(cause);
