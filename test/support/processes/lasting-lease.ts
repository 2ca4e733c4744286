/** Flags of processes that are to lead for the whole of a test. */

/** A busy machine does not lose it; its successor takes over when it was not given back. */
export const LASTING_LEASE = {
  'lease-duration': '40s',
  'lease-renew-deadline': '30s',
  'lease-retry-period': '2s',
};
