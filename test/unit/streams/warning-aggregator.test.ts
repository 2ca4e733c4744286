/** Aggregation of equal warnings. */
import { expect, test } from 'vitest';
import { warningAggregator } from '../../../src/streams/warning-aggregator.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const rig = () => {
  const time = simulatedTime();
  const lines: unknown[] = [];
  const telemetry = {
    ...silentTelemetry,
    log: (level: string, message: string, fields?: object) =>
      void lines.push({ level, message, ...fields }),
  };
  return { time, lines, warn: warningAggregator(telemetry, time, 'Things could not be written') };
};

test('ten thousand objects with the same write problem are one log line', async () => {
  const { time, lines, warn } = rig();
  for (let at = 0; at < 10_000; at += 1) {
    warn({ name: `o-${at}`, reason: 'WriteFailing', problem: 'connection refused' });
  }
  await time.advance(2000);
  expect(lines).toEqual([{
    level: 'warn',
    message: 'Things could not be written',
    reason: 'WriteFailing',
    objects: 10_000,
    first: 'o-0',
    problem: 'connection refused',
  }]);
});

test('another reason, and the same one later, have lines of their own', async () => {
  const { time, lines, warn } = rig();
  warn({ name: 'a', reason: 'WriteFailing', problem: 'x' });
  warn({ name: 'b', reason: 'WriteRefused', problem: 'y' });
  await time.advance(2000);
  warn({ name: 'c', reason: 'WriteFailing', problem: 'x' });
  await time.advance(2000);
  expect(lines).toMatchObject([
    { reason: 'WriteFailing', objects: 1, first: 'a' },
    { reason: 'WriteRefused', objects: 1, first: 'b' },
    { reason: 'WriteFailing', objects: 1, first: 'c' },
  ]);
});
