/** One metric of a catalogue. */

/** One metric. Durations are in seconds, as Prometheus recommends. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** Keeps the literal names while checking the shape. */
export const catalogue = <const Entries extends Record<string, Metric>>(
  entries: Entries,
): Entries => entries;
