/** The order of resourceVersions. */
import { expect, test } from 'vitest';
import { resourceVersion } from '../../../src/domain/ids.ts';
import { isOlder } from '../../../src/domain/resource-versions.ts';

test.each([
  ['9', '10', true],
  ['10', '9', false],
  ['10', '10', false],
  ['99', '100', true],
  ['18446744073709551615', '18446744073709551616', true],
  ['', '1', false],
  ['abc', '1', false],
  ['1', 'abc', false],
  ['007', '8', false],
])('revision "%s" is older than "%s": %s', (left, right, older) => {
  expect(isOlder(resourceVersion(left), resourceVersion(right))).toBe(older);
});
