/** One metric of a catalogue. */

/** One metric. Durations are in seconds, as Prometheus recommends. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /**
   * All values of its only label. Their series exist from the start, at 0: `increase` does not see
   * the first increment of a series that begins with it, so that an alert would miss the first
   * failure, and a quantile the first observation. Series whose values are not known here
   * (`resource`) are begun by what they name.
   */
  readonly fromStart?: readonly string[];
  /** A histogram of what takes minutes to days. */
  readonly isLong?: true;
}

/** Keeps the literal names while checking the shape. */
export const catalogue = <const Entries extends Record<string, Metric>>(
  entries: Entries,
): Entries => entries;
