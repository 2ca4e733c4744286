/**
 * An EvictionRequest as the commands print it: its pod, its requesters, and the verdict on it.
 *
 * Plain data, printed as a table, as text or as JSON.
 */
import { LIFECYCLE_GROUP } from '../domain/api-group.ts';
import { runbookUrl } from '../domain/documentation.ts';
import type { Severity } from '../domain/drain/verdict.ts';
import { DEFAULT_TIMING } from '../domain/eviction-requests/interceptor-deadline.ts';
import type { ObservedRequest } from '../domain/eviction-requests/observed-request.ts';
import {
  type RequestSituation,
  requestVerdict,
} from '../domain/eviction-requests/request-verdict.ts';
import { nativeSubjectOf } from '../domain/native-evictions/joined-request.ts';
import { NATIVE_GROUP } from '../domain/native-evictions/objects.ts';
import type { CanAct } from '../domain/reason.ts';
import { rfc3339Seconds } from '../domain/time.ts';
import { duration } from './duration.ts';
import type { Column } from './table.ts';

/** One request. Times are RFC 3339. */
export interface EvictionStatus {
  /** Of the object: an EvictionRequest; in the group of Kubernetes its Eviction, if it has one. */
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly pod: string;
  readonly podUid: string;
  readonly requesters: readonly string[];
  readonly phase: RequestSituation | 'Gone';
  /** The interceptor that is asked; null when nobody is. */
  readonly active: string | null;
  readonly next: string | null;
  readonly processed: readonly string[];
  /** Since when the active one is asked; of a request without one, its creation or its end. */
  readonly since: string;
  readonly heartbeat: string | null;
  readonly silentSince: string | null;
  /** When the next one takes over, unless the active one reports. */
  readonly handOver: string | null;
  /** What the active one says, or why the request ended. */
  readonly message: string;
  readonly reason: string;
  readonly sentence: string;
  readonly waitsFor: string;
  readonly canAct: CanAct;
  readonly change: string;
  /** The address of the page about it; empty without one. */
  readonly runbook: string;
  readonly severity: Severity;
}

const timeOf = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : rfc3339Seconds(ms);

/** When the request ended; undefined while it is open. */
const endMsOf = ({ status }: ObservedRequest): number | undefined =>
  status.conditions.find(({ type, status: holds }) =>
    type !== 'InterceptorSilent' && holds === 'True'
  )?.sinceMs;

/** The status of one request. */
export const evictionStatus = (request: ObservedRequest, nowMs: number): EvictionStatus => {
  const verdict = requestVerdict(request, { nowMs, timing: DEFAULT_TIMING });
  const { turn, next, reason, sentence, waitsFor, canAct, change, runbook, severity } = verdict;
  const native = nativeSubjectOf(request);
  const sinceMs = turn?.sinceMs ?? endMsOf(request) ?? request.createdMs;
  return {
    group: native === undefined ? LIFECYCLE_GROUP : NATIVE_GROUP,
    kind: native?.kind ?? 'EvictionRequest',
    namespace: request.namespace,
    name: native?.name ?? request.name,
    pod: request.pod.name,
    podUid: request.pod.uid,
    requesters: request.requesters,
    phase: verdict.situation,
    active: turn?.name ?? null,
    next,
    processed: request.status.processed,
    since: rfc3339Seconds(sinceMs),
    heartbeat: timeOf(turn?.heartbeatMs),
    silentSince: timeOf(turn?.silentSinceMs),
    handOver: timeOf(turn?.handOverMs),
    message: turn === null ? sentence : turn.message,
    reason,
    sentence,
    waitsFor,
    canAct,
    change,
    runbook: runbookUrl(runbook),
    severity,
  };
};

/** As `kubectl -o name` prints the object. */
export const resourceName = (
  { kind, group, name }: Pick<EvictionStatus, 'kind' | 'group' | 'name'>,
): string => `${kind.toLowerCase()}.${group}/${name}`;

/** In the order of namespaces and pods. */
export const byPod = (left: EvictionStatus, right: EvictionStatus): number =>
  `${left.namespace}/${left.pod}` < `${right.namespace}/${right.pod}` ? -1 : 1;

const ago = (time: string | null, nowMs: number): string =>
  time === null ? '' : duration(nowMs - Date.parse(time));

const until = (time: string | null, nowMs: number): string =>
  time === null ? '' : duration(Date.parse(time) - nowMs);

/** `first`, and the number of others. */
const andMore = (names: readonly string[]): string =>
  names.length < 2 ? names[0] ?? '' : `${names[0]}+${names.length - 1}`;

/** The columns at `nowMs`; `wide` adds the less common ones. */
export const evictionColumns = (
  nowMs: number,
  { wide, namespaced }: { readonly wide: boolean; readonly namespaced: boolean },
): readonly Column<EvictionStatus>[] => [
  ...(namespaced
    ? [{ heading: 'NAMESPACE', cell: ({ namespace }: EvictionStatus) => namespace }]
    : []),
  { heading: 'POD', cell: ({ pod }) => pod },
  {
    heading: 'REQUESTERS',
    cell: ({ requesters }) => (wide ? requesters.join(',') : andMore(requesters)),
  },
  { heading: 'ACTIVE', cell: ({ active }) => active ?? '' },
  { heading: 'SINCE', cell: ({ since }) => ago(since, nowMs) },
  { heading: 'HEARTBEAT', cell: ({ heartbeat }) => ago(heartbeat, nowMs) },
  { heading: 'PHASE', cell: ({ phase }) => phase },
  ...(wide
    ? [
      { heading: 'NEXT', cell: ({ next }: EvictionStatus) => next ?? '' },
      { heading: 'HANDOVER', cell: ({ handOver }: EvictionStatus) => until(handOver, nowMs) },
      { heading: 'PROCESSED', cell: ({ processed }: EvictionStatus) => processed.join(',') },
      { heading: 'REQUEST', cell: ({ name }: EvictionStatus) => name },
    ]
    : []),
  { heading: 'MESSAGE', cell: ({ message }) => message },
];
