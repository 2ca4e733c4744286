/**
 * The order of resourceVersions. Kubernetes serves them as increasing decimal numbers and allows
 * clients to compare them (KEP-5504); other formats support equality only.
 */
import type { ResourceVersion } from './ids.ts';

const DECIMAL = /^[1-9][0-9]*$/;

/** True when `left` is certainly older than `right`; false when equal, newer or not comparable. */
export const isOlder = (left: ResourceVersion, right: ResourceVersion): boolean => {
  if (!DECIMAL.test(left) || !DECIMAL.test(right)) return false;
  return left.length === right.length ? left < right : left.length < right.length;
};
