/** The times of a Lease that tests run with. */
import type { LeaseTimes } from '../../../src/domain/lease.ts';

/** 15, 10 and 2 seconds: what the options are by default. */
export const LEASE_TIMES: LeaseTimes = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2000 };
