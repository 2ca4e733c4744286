/**
 * The registry of metrics, created from the catalogue in `src/api/metrics.ts`.
 *
 * Promises: every metric of the catalogue exists from the start, so that a dashboard shows zero
 * instead of no data, and so do the series on whose first increment an alert fires; a metric never
 * exceeds its limit of series: further ones share one overflow series; an invalid value (NaN, a
 * decreasing counter) is ignored and never throws into the caller.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Metric, type MetricName, METRICS } from '../api/metrics.ts';

type Labels = Readonly<Record<string, string>>;

/** Metrics that can be changed and read. */
export interface Metrics {
  /** Adds to a counter, sets a gauge, or observes in a histogram, by the metric's type. */
  readonly record: (name: MetricName, value: number, labels?: Labels) => void;
  /** Removes a series, and makes room for another. */
  readonly forget: (name: MetricName, labels?: Labels) => void;
  /** All metrics in the Prometheus text format. */
  readonly text: () => Promise<string>;
  readonly contentType: string;
}

/** The operations on one series. */
type Series = (value: number) => unknown;

/** The limit of series per metric; the largest catalogue of label values is far below. */
export const SERIES_MAX = 2000;

/** The label value of the overflow series. */
export const OVERFLOW = 'overflow';

const SECONDS = [
  0.001,
  0.0025,
  0.005,
  0.01,
  0.025,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  2.5,
  5,
  10,
  30,
  60,
  120,
  300,
];
/** Up to the week that a drain may take. */
const LONG_SECONDS = [
  ...[1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600],
  ...[7200, 14_400, 28_800, 86_400, 259_200, 604_800],
];
const COUNTS = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
const BYTES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 268_435_456];

const bucketsOf = (name: string, { isLong }: Metric): number[] => {
  if (isLong === true) return LONG_SECONDS;
  if (name.endsWith('_seconds')) return SECONDS;
  return name.endsWith('_bytes') ? BYTES : COUNTS;
};

/** The series of one metric in the registry. */
interface OpenMetric {
  readonly make: (labels: Labels) => Series;
  /** Begins a series at 0. */
  readonly begin: (labels: Labels) => void;
  readonly remove: (labels: Labels) => void;
}

const open = (name: string, metric: Metric, registry: Registry): OpenMetric => {
  const common = { name, help: metric.help, labelNames: [...metric.labels], registers: [registry] };
  switch (metric.type) {
    case 'counter': {
      const counter = new Counter(common);
      return {
        make: (labels) => {
          const child = counter.labels(labels);
          return (value) => value >= 0 && child.inc(value);
        },
        begin: (labels) => counter.inc(labels, 0),
        remove: (labels) => counter.remove(labels),
      };
    }
    case 'gauge': {
      const gauge = new Gauge(common);
      return {
        make: (labels) => {
          const child = gauge.labels(labels);
          return (value) => child.set(value);
        },
        begin: (labels) => gauge.set(labels, 0),
        remove: (labels) => gauge.remove(labels),
      };
    }
    case 'histogram': {
      const histogram = new Histogram({ ...common, buckets: bucketsOf(name, metric) });
      return {
        make: (labels) => {
          const child = histogram.labels(labels);
          return (value) => child.observe(value);
        },
        begin: (labels) => histogram.zero(labels),
        remove: (labels) => histogram.remove(labels),
      };
    }
  }
};

/**
 * Looks up the series of a metric by its label values and caches it: the lookup is the costly part.
 */
const limitedSeries = (name: string, metric: Metric, registry: Registry) => {
  const { make, begin, remove } = open(name, metric, registry);
  const known = new Map<string, Series>();
  // Constant label objects are cached by identity, as the inspector uses them.
  const frozen = new WeakMap<Labels, Series>();
  const overflow = Object.fromEntries(metric.labels.map((label) => [label, OVERFLOW]));
  const keyOf = (labels: Labels): string =>
    metric.labels.map((label) => labels[label] ?? '').join('\u0000');
  const oursOf = (labels: Labels): Labels =>
    Object.fromEntries(metric.labels.map((label) => [label, labels[label] ?? '']));
  const find = (labels: Labels): Series => {
    const key = keyOf(labels);
    const found = known.get(key);
    if (found !== undefined) return found;
    const ours = oursOf(labels);
    const made = make(known.size < SERIES_MAX ? ours : overflow);
    if (known.size < SERIES_MAX) known.set(key, made);
    return made;
  };
  const start = (labels: Labels): void => {
    find(labels);
    begin(labels);
  };
  if (metric.labels.length === 0) start({});
  for (const value of metric.fromStart ?? []) {
    start(Object.fromEntries(metric.labels.map((label) => [label, value])));
  }
  return {
    series: (labels: Labels): Series => {
      const series = frozen.get(labels);
      if (series !== undefined) return series;
      const found = find(labels);
      if (Object.isFrozen(labels)) frozen.set(labels, found);
      return found;
    },
    forget: (labels: Labels): void => {
      frozen.delete(labels);
      if (known.delete(keyOf(labels))) remove(oursOf(labels));
    },
  };
};

const NO_LABELS: Labels = Object.freeze({});

/**
 * Makes the text of a scrape, which takes milliseconds, once for all scrapes that arrived together:
 * many of them must not keep the process from everything else.
 */
const sharedText = (make: () => Promise<string>): () => Promise<string> => {
  let next: Promise<string> | undefined;
  const made = async (): Promise<string> => {
    await new Promise((resolve) => setImmediate(resolve));
    next = undefined;
    return await make();
  };
  return () => next ??= made();
};

/** The monitor wakes the process as often; with the usual 10 ms it is half of the work at rest. */
const EVENT_LOOP_PRECISION_MS = 50;

/** Creates the registry: the catalogue, and the runtime's process metrics. */
export const makeMetrics = (): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS,
  });
  const catalogue: Readonly<Record<string, Metric>> = METRICS;
  const find = new Map(
    Object.entries(catalogue).map(([name, metric]) => [
      name,
      limitedSeries(name, metric, registry),
    ]),
  );
  return {
    record: (name, value, labels = NO_LABELS) => {
      if (Number.isFinite(value)) find.get(name)?.series(labels)(value);
    },
    forget: (name, labels = NO_LABELS) => find.get(name)?.forget(labels),
    text: sharedText(() => registry.metrics()),
    contentType: registry.contentType,
  };
};
