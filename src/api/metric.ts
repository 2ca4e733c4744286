/** One metric of a catalogue. */

/** One metric. Durations are in seconds, as Prometheus recommends. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /**
   * Values of its only label whose series exist from the start, at 0: `increase` does not see the
   * first increment of a series that begins with it, so that an alert would miss the first failure.
   */
  readonly fromStart?: readonly string[];
}

/** Keeps the literal names while checking the shape. */
export const catalogue = <const Entries extends Record<string, Metric>>(
  entries: Entries,
): Entries => entries;
