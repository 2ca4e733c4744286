/** Durations of flags: exactly what Go's `time.ParseDuration` accepts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { goDuration, goDurationMs } from '../../../src/domain/go-duration.ts';

test.each([
  ['10s', 10_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['500ms', 500],
  ['.5s', 500],
  ['1h0m0.5s', 3_600_500],
  ['250us', 0],
  ['2000µs', 2],
  ['0', 0],
  ['-2s', -2000],
])('goDurationMs reads %s as %d ms', (text, ms) => {
  expect(goDurationMs(text)).toBe(ms);
});

test.each(['', '10', 's', '1 s', '10S', '1d', 'ten seconds', '1m30', '--2s', '.s'])(
  'goDurationMs refuses %j',
  (text) => {
    expect(goDurationMs(text)).toBeUndefined();
  },
);

test('goDurationMs reads back what goDuration prints', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e10, max: 1e10 }), (ms) => {
      expect(goDurationMs(goDuration(ms)) === ms).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test.each([[90_000, '1m30s'], [0, '0s'], [500, '500ms'], [3_600_000, '1h0m0s'], [1500, '1.5s']])(
  'goDuration prints %d ms as Go does: %s',
  (ms, text) => {
    expect(goDuration(ms)).toBe(text);
  },
);
