/** The figures of a process under measurement, and the trend of its memory. */
import { asNumber, numberAt, valueAt } from '../../../src/domain/json.ts';

/** What a process held at one moment, after a forced collection. */
export interface MemorySample {
  readonly atMs: number;
  /** Bytes of live objects: the heap without its code, and what it holds outside of it. */
  readonly liveBytes: number;
  /** Bytes of compiled code: bounded by the program, and not by what it works on. */
  readonly codeBytes: number;
  readonly rssBytes: number;
  /** Open file descriptors. */
  readonly files: number;
  /** Active timers. */
  readonly timers: number;
}

/** A straight line through memory over time. */
export interface Trend {
  readonly bytesPerHour: number;
  /** Standard error of the slope, widened for samples that resemble their predecessors. */
  readonly errorPerHour: number;
  readonly samples: number;
}

const MS_PER_HOUR = 3_600_000;
const PARAMETERS = 2;

/** A line of `memory-probe.ts`; undefined for any other line. */
export const sampleIn = (line: unknown, atMs: number): MemorySample | undefined => {
  const memory = valueAt(line, 'memory');
  const heapUsed = numberAt(memory, 'heapUsed');
  if (heapUsed === undefined) return undefined;
  const codeBytes = numberAt(memory, 'codeUsed') ?? 0;
  return {
    atMs,
    liveBytes: heapUsed - codeBytes + (numberAt(memory, 'external') ?? 0),
    codeBytes,
    rssBytes: numberAt(memory, 'rss') ?? 0,
    files: numberAt(memory, 'files') ?? 0,
    timers: asNumber(valueAt(memory, 'resources', 'Timeout')) ?? 0,
  };
};

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const product = (left: readonly number[], right: readonly number[]): number =>
  sum(left.map((one, index) => one * (right[index] ?? 0)));

/**
 * By how much the variance of the slope grows when residuals are correlated: (1 + r) / (1 - r) for
 * the lag-1 correlation r. Objects live longer than the time between two samples.
 */
const inflation = (residuals: readonly number[]): number => {
  const r = product(residuals.slice(1), residuals) / product(residuals, residuals);
  const bounded = Math.min(0.9, Math.max(0, Number.isNaN(r) ? 0 : r));
  return (1 + bounded) / (1 - bounded);
};

/** The least-squares trend of at least three samples; undefined for fewer. */
export const memoryTrend = (samples: readonly MemorySample[]): Trend | undefined => {
  if (samples.length <= PARAMETERS) return undefined;
  const hours = samples.map(({ atMs }) => atMs / MS_PER_HOUR);
  const bytes = samples.map(({ liveBytes }) => liveBytes);
  const [meanHours, meanBytes] = [mean(hours), mean(bytes)];
  const apart = hours.map((one) => one - meanHours);
  const spread = product(apart, apart);
  const bytesPerHour = product(apart, bytes) / spread;
  const residuals = bytes.map((one, index) => one - meanBytes - bytesPerHour * (apart[index] ?? 0));
  const variance = product(residuals, residuals) / (samples.length - PARAMETERS);
  return {
    bytesPerHour,
    errorPerHour: Math.sqrt((variance / spread) * inflation(residuals)),
    samples: samples.length,
  };
};

/** Growth by which a process of 256 MiB lasts for a month: less is never a reason to act. */
const NEGLIGIBLE_PER_HOUR = 0.2 * 1024 * 1024;
/** A slope within so many standard errors of zero is noise. */
const ERRORS = 2;

/** Whether memory certainly grows, and by more than is negligible. */
export const isGrowing = ({ bytesPerHour, errorPerHour }: Trend): boolean =>
  bytesPerHour > Math.max(NEGLIGIBLE_PER_HOUR, ERRORS * errorPerHour);
