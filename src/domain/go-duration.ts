/**
 * Durations in Go's format (`10s`, `1m30s`, `1.5h`), because the flags are shared with a Go
 * program.
 *
 * Promises: accepts what `time.ParseDuration` accepts, down to the millisecond; never throws.
 */

const MS_OF_UNIT: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  'µs': 1e-3,
  'μs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const WHOLE = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/u;
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gu;

/** The milliseconds of a Go duration; undefined when malformed. `0` needs no unit. */
export const goDurationMs = (text: string): number | undefined => {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!WHOLE.test(text)) return undefined;
  let ms = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(PART)) {
    ms += Number(amount) * (MS_OF_UNIT[unit] ?? 0);
  }
  const rounded = Math.round(ms);
  return text.startsWith('-') ? -rounded : rounded;
};

const part = (amount: number, unit: string): string => amount === 0 ? '' : `${amount}${unit}`;

/** Formats a duration as Go does: `1m30s`, `500ms`, `0s`. */
export const goDuration = (ms: number): string => {
  if (ms < 0) return `-${goDuration(-ms)}`;
  if (ms < 1000) return ms === 0 ? '0s' : `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1000;
  const minutesText = hours > 0 ? `${minutes}m` : part(minutes, 'm');
  return `${part(hours, 'h')}${minutesText}${
    hours + minutes > 0 ? `${seconds}s` : part(seconds, 's')
  }`;
};
