/** A user's writes in the API server's audit log. */
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import type { TestbedUser } from '../../../tools/testbed/credentials.ts';
import { isUser } from '../rights/role-account.ts';
import type { Testbed } from './testbed.ts';

const WRITING: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
]);

/**
 * Every write of `user` so far, oldest first. Leases are not among them: they decide who writes.
 */
export const writesBy = async (bed: Testbed, user: TestbedUser): Promise<readonly AuditEntry[]> =>
  (await bed.audit())
    .filter((entry) =>
      isUser(entry.user, user) && WRITING.has(entry.verb) && entry.resource !== 'leases'
    )
    .toSorted((one, other) => one.receivedMs - other.receivedMs);

/** The object that a write is about. */
export const targetOf = ({ resource, namespace, name }: AuditEntry): string =>
  `${resource}/${namespace}/${name}`;

/**
 * Pairs of overlapping writes to the same object: the second was sent before the first was
 * answered.
 */
export const overlapping = (
  writes: readonly AuditEntry[],
): readonly (readonly [AuditEntry, AuditEntry])[] => {
  const newest = new Map<string, AuditEntry>();
  const pairs: (readonly [AuditEntry, AuditEntry])[] = [];
  for (const write of writes) {
    const target = targetOf(write);
    const before = newest.get(target);
    if (before !== undefined && write.receivedMs < before.answeredMs) pairs.push([before, write]);
    if (before === undefined || before.answeredMs < write.answeredMs) newest.set(target, write);
  }
  return pairs;
};
