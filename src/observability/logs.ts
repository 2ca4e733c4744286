/**
 * Logs as JSON lines.
 *
 * Promises: one line per message, written before the call returns, so that nothing is lost when the
 * process dies; messages are constant and variable values are fields; every line names the cluster.
 */
import pino from 'pino';
import type { LogFields, LogLevel } from '../api/telemetry.ts';
import { rfc3339, type Time } from '../domain/time.ts';

/** A log sink: a file descriptor, or a function that takes lines (for tests). */
export type LogTarget = 1 | 2 | { readonly write: (line: string) => void };

/** A logger. */
export interface Logs {
  readonly log: (level: LogLevel, message: string, fields?: LogFields) => void;
  /** True when messages of this level are written: check before building costly fields. */
  readonly enabled: (level: LogLevel) => boolean;
}

/** Log options. */
export interface LogOptions {
  readonly level: LogLevel;
  readonly time: Pick<Time, 'now'>;
  readonly target: LogTarget;
  /** Fields of every line. */
  readonly base: LogFields;
}

/** Creates a logger. */
export const makeLogs = (options: LogOptions): Logs => {
  const destination = typeof options.target === 'number'
    ? pino.destination({ dest: options.target, sync: true })
    : options.target;
  const logger = pino({
    level: options.level,
    base: options.base,
    timestamp: () => `,"time":"${rfc3339(options.time.now())}"`,
    formatters: { level: (label) => ({ level: label }) },
    messageKey: 'message',
  }, destination);
  return {
    log: (level, message, fields) =>
      fields === undefined ? logger[level](message) : logger[level](fields, message),
    enabled: (level) => logger.isLevelEnabled(level),
  };
};
