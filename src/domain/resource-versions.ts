/**
 * The order of resourceVersions. Kubernetes serves them as growing decimal numbers and allows
 * clients to compare them as such (KEP-5504); anything else is only equal or different.
 */
import type { ResourceVersion } from './ids.ts';

const DECIMAL = /^[1-9][0-9]*$/;

/** True when `left` is certainly older than `right`; false when equal, newer or not comparable. */
export const isOlder = (left: ResourceVersion, right: ResourceVersion): boolean => {
  if (!DECIMAL.test(left) || !DECIMAL.test(right)) return false;
  return left.length === right.length ? left < right : left.length < right.length;
};
