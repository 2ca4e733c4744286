/** The operator's latencies in a drain, from the API server's audit log: a single clock. */
import type { AuditEntry } from '../../tools/testbed/audit.ts';
import { isUser } from '../support/rights/role-account.ts';

const OPERATOR = 'tidegate';
const REFUSED = 300;

const isEviction = ({ user, verb, subresource }: AuditEntry): boolean =>
  isUser(user, OPERATOR) && verb === 'create' && subresource === 'eviction';

/** When the last of these pods was gone, and the time until the next status of the UpcomingNode. */
export const emptyToWrittenMs = (
  entries: readonly AuditEntry[],
  machine: string,
  pods: ReadonlySet<string>,
): number => {
  const goneMs = entries
    .filter(({ verb, resource, subresource, name, code }) =>
      verb === 'delete' && resource === 'pods' && subresource === '' && pods.has(name) &&
      code < REFUSED
    )
    .reduce((latest, { answeredMs }) => Math.max(latest, answeredMs), 0);
  const written = entries.find(({ user, resource, subresource, name, receivedMs }) =>
    isUser(user, OPERATOR) && resource === 'upcomingnodes' && subresource === 'status' &&
    name === `un-${machine}` && receivedMs > goneMs
  );
  return written === undefined ? Number.NaN : written.answeredMs - goneMs;
};

/**
 * From the status by which the disruption controller opened a budget to the eviction that took the
 * slot. Of several statuses between two evictions the last one opened it.
 */
export const openToEvictionMs = (entries: readonly AuditEntry[], budget: string): number[] => {
  const found: number[] = [];
  let openedMs: number | undefined;
  for (const entry of entries.toSorted((one, other) => one.receivedMs - other.receivedMs)) {
    const { resource, subresource, name, verb, receivedMs, answeredMs } = entry;
    if (isEviction(entry)) {
      if (openedMs !== undefined) found.push(Math.max(0, receivedMs - openedMs));
      openedMs = undefined;
    } else if (
      resource === 'poddisruptionbudgets' && subresource === 'status' && name === budget &&
      verb === 'update'
    ) openedMs = answeredMs;
  }
  return found;
};

/** The first eviction after a moment. */
export const firstEvictionMs = (entries: readonly AuditEntry[], afterMs: number): number =>
  entries.filter((entry) => isEviction(entry) && entry.receivedMs >= afterMs)
    .reduce((first, { receivedMs }) => Math.min(first, receivedMs), Number.POSITIVE_INFINITY);

/** How many evictions there were. */
export const evictionCount = (entries: readonly AuditEntry[]): number =>
  entries.filter(isEviction).length;

/** The figure that this share of all is at or below. */
export const percentile = (figures: readonly number[], share: number): number => {
  const sorted = figures.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
};
