/** Which API has the requests. */
import { expect, test } from 'vitest';
import { evictionsApiOf } from '../../../../src/domain/native-evictions/evictions-api.ts';

test.each(
  [
    [{ tidegate: true, native: false }, 'tidegate'],
    [{ tidegate: false, native: true }, 'native'],
    // An upgrade of the cluster must not take the requests away from their interceptors.
    [{ tidegate: true, native: true }, 'tidegate'],
    [{ tidegate: false, native: false }, 'tidegate'],
  ] as const,
)('NE-09: auto takes, of %o, %s', (served, api) => {
  expect(evictionsApiOf('auto', served)).toBe(api);
});

test('NE-09: a chosen API stays, whatever is served', () => {
  const served = { tidegate: true, native: true };
  expect(evictionsApiOf('tidegate', { ...served, tidegate: false })).toBe('tidegate');
  expect(evictionsApiOf('native', { ...served, native: false })).toBe('native');
});
