/** Logs: JSON lines with a constant message, the time, and the cluster on each. */
import { expect, test } from 'vitest';
import { makeLogs } from '../../../src/observability/logs.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const logger = (level: 'debug' | 'info' | 'warn' | 'error') => {
  const lines: string[] = [];
  const logs = makeLogs({
    level,
    time: simulatedTime(Date.UTC(2026, 0, 2, 3, 4, 5, 6)),
    target: { write: (line) => lines.push(line) },
    base: { cluster: 'prod-1' },
  });
  return { logs, lines };
};

test('logs are one JSON object a line with level, time, cluster, fields and message', () => {
  const { logs, lines } = logger('info');
  logs.log('warn', 'Roll-up not acknowledged', { intervals: 3, stream: undefined });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.endsWith('\n')).toBe(true);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'warn',
    time: '2026-01-02T03:04:05.006Z',
    cluster: 'prod-1',
    intervals: 3,
    message: 'Roll-up not acknowledged',
  });
});

test('logs omit messages below their level, and report it when asked', () => {
  const { logs, lines } = logger('warn');
  logs.log('info', 'Session opened');
  logs.log('debug', 'Frame read');
  logs.log('error', 'Actor crashed');
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['error']);
  expect([logs.enabled('info'), logs.enabled('warn')]).toEqual([false, true]);
});

test('logs keep a line break of a value inside its line', () => {
  const { logs, lines } = logger('info');
  logs.log('info', 'Frame unreadable', { problem: 'first\nsecond' });
  expect(lines[0]?.trimEnd()).not.toContain('\n');
});
