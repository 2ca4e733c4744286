/**
 * The registry of metrics, made from the catalogue in `src/api/metrics.ts`.
 *
 * Promises: a metric of the catalogue exists from the start, so that a dashboard shows zero and not
 * nothing; a metric never grows beyond its limit of series, whatever its labels are given: what is
 * over goes into one series whose labels say so; a value that makes no sense (no number, a counter
 * that would fall) is left out and never throws into the code that counted.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Metric, type MetricName, METRICS } from '../api/metrics.ts';

type Labels = Readonly<Record<string, string>>;

/** Metrics that can be moved and read. */
export interface Metrics {
  /** Adds to a counter, sets a gauge, or puts into a histogram: what the metric's type says. */
  readonly record: (name: MetricName, value: number, labels?: Labels) => void;
  /** All of them in the text format of Prometheus. */
  readonly text: () => Promise<string>;
  readonly contentType: string;
}

/** What is done with one series. */
type Series = (value: number) => unknown;

/** Series that one metric may have; the largest catalogue of label values is far below. */
export const SERIES_MAX = 2000;

/** Label value of what came after the limit. */
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
const COUNTS = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
const BYTES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 268_435_456];

const bucketsOf = (name: string): number[] => {
  if (name.endsWith('_seconds')) return SECONDS;
  return name.endsWith('_bytes') ? BYTES : COUNTS;
};

const open = (name: string, metric: Metric, registry: Registry): (labels: Labels) => Series => {
  const common = { name, help: metric.help, labelNames: [...metric.labels], registers: [registry] };
  switch (metric.type) {
    case 'counter': {
      const counter = new Counter(common);
      return (labels) => {
        const child = counter.labels(labels);
        return (value) => value >= 0 && child.inc(value);
      };
    }
    case 'gauge': {
      const gauge = new Gauge(common);
      return (labels) => {
        const child = gauge.labels(labels);
        return (value) => child.set(value);
      };
    }
    case 'histogram': {
      const histogram = new Histogram({ ...common, buckets: bucketsOf(name) });
      if (metric.labels.length === 0) histogram.zero({});
      return (labels) => {
        const child = histogram.labels(labels);
        return (value) => child.observe(value);
      };
    }
  }
};

/** Finds the series of a metric by its label values, and keeps it: finding is the costly part. */
const limitedSeries = (name: string, metric: Metric, registry: Registry) => {
  const make = open(name, metric, registry);
  const known = new Map<string, Series>();
  // Labels that cannot change are known by themselves: the inspection tap counts in this way.
  const frozen = new WeakMap<Labels, Series>();
  const overflow = Object.fromEntries(metric.labels.map((label) => [label, OVERFLOW]));
  const find = (labels: Labels): Series => {
    const key = metric.labels.map((label) => labels[label] ?? '').join('\u0000');
    const found = known.get(key);
    if (found !== undefined) return found;
    const ours = Object.fromEntries(metric.labels.map((label) => [label, labels[label] ?? '']));
    const made = make(known.size < SERIES_MAX ? ours : overflow);
    if (known.size < SERIES_MAX) known.set(key, made);
    return made;
  };
  if (metric.labels.length === 0) find({});
  return (labels: Labels): Series => {
    const series = frozen.get(labels);
    if (series !== undefined) return series;
    const found = find(labels);
    if (Object.isFrozen(labels)) frozen.set(labels, found);
    return found;
  };
};

const NO_LABELS: Labels = Object.freeze({});

/** Makes the registry: the catalogue, and what the runtime says about its own process. */
export const makeMetrics = (): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const catalogue: Readonly<Record<string, Metric>> = METRICS;
  const find = new Map(
    Object.entries(catalogue).map(([name, metric]) => [
      name,
      limitedSeries(name, metric, registry),
    ]),
  );
  return {
    record: (name, value, labels = NO_LABELS) => {
      if (Number.isFinite(value)) find.get(name)?.(labels)(value);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
};
