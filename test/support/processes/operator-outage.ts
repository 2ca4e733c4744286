/** What an operator notices while its API server is away. */
import { eventually } from '../eventually.ts';
import type { RoleProcess } from './role-child.ts';

/** Of a lease of 15 s that cannot be renewed, on a busy machine. */
const LEASE_LOST_MS = 60_000;
/** Attempts are up to 30 s apart. */
const WATCHES_FAIL_MS = 120_000;

/** Resolves when the operator may not lead any more. */
export const untilLeaseLost = async (operator: RoleProcess): Promise<void> => {
  await eventually(async () => await operator.metric('leader_election_master_status') === 0, {
    what: 'the operator to lose its lease',
    timeoutMs: LEASE_LOST_MS,
  });
};

/** Resolves when `count` more lists or watches have failed. */
export const untilWatchesFail = async (operator: RoleProcess, count: number): Promise<void> => {
  const failed = (): Promise<number> =>
    operator.metric('tidegate_watch_endings_total', { outcome: 'Fault' });
  const before = await failed();
  await eventually(async () => await failed() >= before + count, {
    what: `${count} watches to fail`,
    timeoutMs: WATCHES_FAIL_MS,
  });
};
