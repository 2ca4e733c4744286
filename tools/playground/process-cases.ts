/** What can happen to the lease, the session with the fleet, and a watch. */
import type {
  AcquireOutcome,
  LeaseRecord,
  ReleaseOutcome,
  RenewOutcome,
} from '../../src/domain/lease.ts';
import type { ListOutcome, WatchEnding } from '../../src/domain/list-watch.ts';
import type { SessionEnding } from '../../src/domain/session.ts';
import { answers, carries, type EventCase, fault, happens, type Moment } from './event-case.ts';

const WHY = 'planted by the playground';
const US = 'this-process';

/** The inputs of the actors that a process has one of. */
export const PROCESS_INPUTS = {
  leadership: { identity: US, leaseMs: 15_000, renewMs: 10_000, retryMs: 2000, seed: 1 },
  fleetSession: {
    rollupIntervalMs: 10_000,
    renewalDelayMs: 30_000,
    secured: true,
    stream: 0,
    seed: 1,
  },
  listWatch: { resource: 'nodes', seed: 1 },
} as const;

const leaseOf = (holder: string, turn: number): LeaseRecord => ({
  resourceVersion: String(100 + turn),
  holder,
  durationSeconds: 15,
  transitions: 1,
  acquireTime: '2026-01-01T12:00:00.000000Z',
});

const withLease = (
  actor: string,
  label: string,
  output: (lease: (holder: string) => LeaseRecord, nowMs: number) =>
    | AcquireOutcome
    | RenewOutcome
    | ReleaseOutcome,
): EventCase => ({
  type: `xstate.done.actor.${actor}`,
  label,
  payload: ({ nowMs, turn }: Moment) => ({
    output: output((holder) => leaseOf(holder, turn), nowMs),
  }),
});

const leaseSeen = (label: string, holder: string | null): EventCase => ({
  type: 'lease.observed',
  label,
  payload: ({ turn }) => ({ lease: holder === null ? null : leaseOf(holder, turn) }),
});

const held = (nowMs: number) => ({ sentAtMs: nowMs - 100, answeredAtMs: nowMs });
const FAULT = { _tag: 'Fault', why: WHY, retryAfterMs: 0 } as const;

/** Events of `leadership`. */
export const LEADERSHIP_CASES: readonly EventCase[] = [
  withLease('acquireLease', 'Acquired', (lease, nowMs) => ({
    _tag: 'Acquired',
    lease: lease(US),
    ...held(nowMs),
  })),
  fault(withLease('acquireLease', 'Held by another process', (lease) => ({
    _tag: 'HeldByOther',
    lease: lease('another-process'),
  }))),
  fault(withLease('acquireLease', 'Another process was faster', () => ({ _tag: 'Overtaken' }))),
  fault(withLease('acquireLease', 'The request fails', () => FAULT)),
  withLease('renewLease', 'Renewed', (lease, nowMs) => ({
    _tag: 'Renewed',
    lease: lease(US),
    ...held(nowMs),
  })),
  fault(withLease('renewLease', 'Taken by another process', (lease) => ({
    _tag: 'Taken',
    lease: lease('another-process'),
  }))),
  fault(withLease('renewLease', 'This machine was suspended', () => ({ _tag: 'Interrupted' }))),
  fault(withLease('renewLease', 'The request fails', () => FAULT)),
  withLease('releaseLease', 'Released', () => ({ _tag: 'Released' })),
  fault(withLease('releaseLease', 'The request fails', () => FAULT)),
  leaseSeen('The watch shows our lease', US),
  leaseSeen('The watch shows a released lease', ''),
  leaseSeen('The watch shows the lease of another process', 'another-process'),
  fault(leaseSeen('The Lease was deleted', null)),
  happens('release.requested', 'This process is asked to stop'),
];

const ended = (label: string, ending: SessionEnding): EventCase =>
  fault(answers('holdStream', label, ending));

/** Events of `fleetSession`. */
export const FLEET_SESSION_CASES: readonly EventCase[] = [
  happens('leadership.won', 'This process leads'),
  happens('demand.listed', 'The list of demand is complete'),
  happens('credentials.accepted', 'A key pair is read'),
  happens('stream.connected', 'The stream is connected'),
  happens('hello.acknowledged', 'The shard answers the hello'),
  happens('frames.received', 'Frames arrive'),
  happens('rollup.sent', 'The roll-up is sent'),
  happens('rollup.acknowledged', 'The shard acknowledges the roll-up'),
  happens('stop.requested', 'This process is asked to stop'),
  fault(happens('leadership.lost', 'Another process leads')),
  fault(carries('credentials.refused', 'The key pair is refused', { problem: WHY })),
  fault(happens('frame.malformed', 'A frame cannot be read')),
  ended('The shard cannot be reached', { why: 'Unreachable', detail: 'connect ECONNREFUSED' }),
  ended('The shard ends the stream', { why: 'EndedByShard', detail: 'UNAVAILABLE' }),
  ended('The shard refuses this cluster', { why: 'RefusedByShard', detail: 'PERMISSION_DENIED' }),
];

const listed = (label: string, outcome: ListOutcome): EventCase =>
  answers('listPages', label, outcome);
const watched = (label: string, ending: WatchEnding): EventCase =>
  answers('followChanges', label, ending);

/** Events of `listWatch`. */
export const LIST_WATCH_CASES: readonly EventCase[] = [
  listed('Listed', { _tag: 'Listed', resourceVersion: '100' }),
  fault(listed('410: the list expired', { _tag: 'Expired', why: WHY })),
  fault(listed('403: no permission', { _tag: 'Refused', why: WHY })),
  fault(listed('503: the API server is away', FAULT)),
  {
    type: 'watch.progressed',
    label: 'The watch delivers events',
    payload: ({ turn }) => ({ resourceVersion: String(100 + turn) }),
  },
  watched('The server closes the watch', { _tag: 'Ended' }),
  fault(watched('410: the watch is too old', { _tag: 'Expired', why: WHY })),
  fault(watched('403: no permission', { _tag: 'Refused', why: WHY })),
  fault(watched('The connection breaks', FAULT)),
  happens('list.requested', 'A reader needs a new list'),
  happens('server.answered', 'The API server answers another client'),
];
