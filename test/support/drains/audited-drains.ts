/** A drain in the API server's audit log. */
import { booleanAt, parseJson, textAt } from '../../../src/domain/json.ts';
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import type { TestbedUser } from '../../../tools/testbed/credentials.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { isUser } from '../rights/role-account.ts';

/** One eviction call that was answered. */
export interface AuditedEviction {
  readonly pod: string;
  /** The UID that it named; empty when it named none. */
  readonly uid: string;
  readonly code: number;
  readonly receivedMs: number;
  readonly answeredMs: number;
}

/** Not counted as the cost of a drain (DR-50): watches, leases, Events. */
const isCounted = ({ verb, resource }: AuditEntry): boolean =>
  verb !== 'watch' && resource !== 'leases' && resource !== 'events';

/** Every request of `user` from `sinceMs` on, oldest first. */
export const requestsBy = async (
  bed: Testbed,
  user: TestbedUser,
  sinceMs = 0,
): Promise<readonly AuditEntry[]> =>
  (await bed.audit()).filter((entry) => isUser(entry.user, user) && entry.receivedMs >= sinceMs)
    .toSorted((one, other) => one.receivedMs - other.receivedMs);

const kindOf = ({ verb, resource, subresource }: AuditEntry): string =>
  `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;

/** Counts of requests by kind, such as `patch nodes`, except free ones. */
export const auditCounts = (
  entries: readonly AuditEntry[],
): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const entry of entries.filter(isCounted)) {
    const kind = kindOf(entry);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
};

/** The sum of some counts. */
export const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** The eviction calls among the requests. */
export const evictionsIn = (entries: readonly AuditEntry[]): readonly AuditedEviction[] =>
  entries.filter(({ verb, subresource }) => verb === 'create' && subresource === 'eviction')
    .map(({ name, code, receivedMs, answeredMs, requestObject }) => ({
      pod: name,
      uid: textAt(requestObject, 'deleteOptions', 'preconditions', 'uid') ?? '',
      code,
      receivedMs,
      answeredMs,
    }));

/** When each Node's first cordon was answered, by its name. */
export const cordonTimes = (entries: readonly AuditEntry[]): ReadonlyMap<string, number> => {
  const times = new Map<string, number>();
  for (const { verb, resource, name, code, answeredMs, requestObject } of entries) {
    const cordons = verb === 'patch' && resource === 'nodes' && code < 300 &&
      booleanAt(requestObject, 'spec', 'unschedulable') === true;
    if (cordons && !times.has(name)) times.set(name, answeredMs);
  }
  return times;
};

/** What a request writes about a reclaim of this Node; `undefined` when nothing. */
const annotationWritten = (
  { resource, name, code, requestObject }: AuditEntry,
  node: string,
): unknown => {
  const annotation = resource === 'nodes' && name === node && code < 300
    ? textAt(requestObject, 'metadata', 'annotations', 'cordon.tidegate.dev/reclaim')
    : undefined;
  return annotation === undefined ? undefined : parseJson(annotation);
};

/** When the end of each drain was recorded, by Node name. */
export const endTimes = (entries: readonly AuditEntry[]): ReadonlyMap<string, number> =>
  new Map(
    entries.filter((entry) => textAt(annotationWritten(entry, entry.name), 'ended') !== undefined)
      .map(({ name, answeredMs }) => [name, answeredMs]),
  );

/** Reclaim deadlines written to a Node, in order. */
export const deadlinesWritten = (
  entries: readonly AuditEntry[],
  node: string,
): readonly string[] =>
  entries.flatMap((entry) => {
    const deadline = textAt(annotationWritten(entry, node), 'deadline');
    return deadline === undefined ? [] : [deadline];
  });

const SECOND_MS = 1000;

/**
 * By how many the writes exceeded a budget of `perSecond` with `burst`, at the worst moment; not
 * above 0 when they kept to it.
 */
export const budgetExcess = (
  times: readonly number[],
  { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
): number => {
  let tokens = burst;
  let lastMs = times[0] ?? 0;
  let worst = -burst;
  for (const atMs of times) {
    tokens = Math.min(burst, tokens + (atMs - lastMs) / SECOND_MS * perSecond) - 1;
    lastMs = atMs;
    worst = Math.max(worst, -tokens);
  }
  return worst;
};
