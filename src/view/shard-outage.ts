/**
 * Whether the leader has a session with the shard, as the Events on its Lease report it.
 *
 * Promises: only Events of the process that holds the Lease count, and only new ones, so that an
 * outage of a former leader is not reported; total.
 */
import { type ReasonName, REASONS } from '../api/reasons.ts';
import { runbookUrl } from '../domain/documentation.ts';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import { sentencesOf, type ShardOutage } from '../domain/shard-reach.ts';
import { type Explanation, isOurs, type TimelineEntry, timelineEntryOf } from './explanation.ts';

/** The Leases of operators, and the EventLists about them; undefined without permission. */
export interface LeaseFacts {
  readonly leases: unknown;
  readonly leaseEvents: readonly unknown[];
}

const OUTAGES: readonly ShardOutage['reason'][] = ['SessionRefused', 'ShardUnreachable'];
const REACHABLE: ReasonName = 'ShardReachable';

/** An outage that goes on repeats its Event every minute; the rest is for a slow API server. */
const CURRENT_MS = 10 * 60_000;

/** An Event has the identity of its process, or the beginning of a long one. */
const isOfHolder = (event: unknown, holders: readonly string[]): boolean => {
  const instance = textAt(event, 'reportingInstance') ?? '';
  return instance !== '' && holders.some((holder) => holder.startsWith(instance));
};

const outageReason = ({ reason }: TimelineEntry): ShardOutage['reason'] | undefined =>
  OUTAGES.find((name) => name === reason);

const reportOf = (event: unknown, holders: readonly string[]): TimelineEntry | undefined => {
  const entry = timelineEntryOf(event);
  const isReport = entry.reason === REACHABLE || outageReason(entry) !== undefined;
  return isReport && isOurs(entry) && isOfHolder(event, holders) ? entry : undefined;
};

/** The outage that goes on; undefined without one. */
export const shardOutage = (
  { leases, leaseEvents }: LeaseFacts,
  nowMs: number,
): ShardOutage | undefined => {
  const holders = listOrEmptyAt(leases, 'items')
    .map((lease) => textAt(lease, 'spec', 'holderIdentity') ?? '');
  const [newest] = leaseEvents.flatMap((list) => listOrEmptyAt(list, 'items'))
    .flatMap((event) => reportOf(event, holders) ?? [])
    .toSorted((left, right) => Date.parse(right.time) - Date.parse(left.time));
  const reason = newest && outageReason(newest);
  if (newest === undefined || reason === undefined) return undefined;
  return nowMs - Date.parse(newest.time) < CURRENT_MS ? { reason, note: newest.note } : undefined;
};

type Verdict = Pick<Explanation, 'why' | 'waitsFor' | 'canAct' | 'action' | 'runbook'>;

/** The verdict on what waits for the shard, during an outage. */
export const duringOutage = <Given extends Verdict>(
  verdict: Given,
  outage: ShardOutage | undefined,
): Given => {
  if (outage === undefined) return verdict;
  const { sentence, remedy } = sentencesOf(outage);
  const { canAct, runbook } = REASONS[outage.reason];
  return {
    ...verdict,
    why: `${verdict.why}. ${outage.reason}: ${sentence}`,
    canAct,
    action: remedy,
    runbook: runbookUrl(runbook),
  };
};
