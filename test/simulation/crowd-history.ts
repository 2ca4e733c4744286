/**
 * What became of EvictionRequests: when each was handed over, beside its deadline, and how often
 * its status was written.
 *
 * Promises: a deadline follows from the stored times: the last heartbeat, else the start of the
 * active interceptor.
 */
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import type { Time } from '../../src/domain/time.ts';
import type { KubeAnswer, KubeCall } from '../../src/effects/kube-api.ts';

/** An interceptor was passed over, or has finished. */
export interface HandOver {
  readonly uid: string;
  readonly from: string;
  /** Null when nobody is left. */
  readonly to: string | null;
  /** Null when it was not the deadline that ended its turn. */
  readonly deadlineMs: number | null;
  readonly atMs: number;
}

/** A status of a request. */
interface RequestStatus {
  readonly active: string | null;
  readonly deadlineMs: number | null;
  readonly completed: boolean;
  readonly final: boolean;
}

const SECOND_MS = 1000;

const statusIn = (request: unknown, deadlineMs: number): RequestStatus => {
  const [first] = listOrEmptyAt(request, 'status', 'activeInterceptors');
  const active = typeof first === 'string' ? first : null;
  const entry = listOrEmptyAt(request, 'status', 'interceptors')
    .find((one) => textAt(one, 'name') === active);
  const sinceText = textAt(entry, 'heartbeatTime') ?? textAt(entry, 'startTime');
  return {
    active,
    deadlineMs: sinceText === undefined ? null : Date.parse(sinceText) + deadlineMs,
    completed: textAt(entry, 'completionTime') !== undefined,
    final: listOrEmptyAt(request, 'status', 'conditions').some((one) =>
      textAt(one, 'status') === 'True' &&
      ['Canceled', 'Evicted'].includes(textAt(one, 'type') ?? '')
    ),
  };
};

const isStatusWrite = ({ method, path }: KubeCall): boolean =>
  method === 'PATCH' && path.includes('/evictionrequests/') && path.endsWith('/status');

/** Keeps it. */
export const crowdHistory = (
  time: Time,
  { deadlineMs, onActive }: {
    readonly deadlineMs: number;
    /** An interceptor became active. */
    readonly onActive: (uid: string, name: string) => void;
  },
) => {
  const statuses = new Map<string, RequestStatus>();
  const handOvers: HandOver[] = [];
  const writes = new Map<string, number[]>();

  const stored = (request: unknown): void => {
    const uid = textAt(request, 'metadata', 'name') ?? '';
    const [before, after] = [statuses.get(uid), statusIn(request, deadlineMs)];
    statuses.set(uid, after);
    if (before?.active === after.active) return;
    if (before !== undefined && before.active !== null) {
      const isDeadline = !before.completed && !after.final;
      handOvers.push({
        uid,
        from: before.active,
        to: after.active,
        deadlineMs: isDeadline ? before.deadlineMs : null,
        atMs: time.now(),
      });
    }
    if (after.active !== null) onActive(uid, after.active);
  };
  return {
    handOvers,
    /** A request as it was stored, by whomever. */
    stored,
    /** A call of the operator, and its answer. */
    written: (call: KubeCall, { status, body }: KubeAnswer): void => {
      if (!isStatusWrite(call) || status !== 200) return;
      const uid = textAt(body, 'metadata', 'name') ?? '';
      writes.set(uid, [...writes.get(uid) ?? [], time.now()]);
      stored(body);
    },
    activeOf: (uid: string): string | null => statuses.get(uid)?.active ?? null,
    get statuses(): Iterable<RequestStatus> {
      return statuses.values();
    },
    /** All status writes of operators. */
    writes: (): number => [...writes.values()].reduce((sum, { length }) => sum + length, 0),
    /** The most status writes of one request within a second. */
    mostInASecond: (): number =>
      Math.max(
        0,
        ...[...writes.values()].flatMap((times) =>
          times.map((from) => times.filter((at) => at >= from && at < from + SECOND_MS).length)
        ),
      ),
  };
};
