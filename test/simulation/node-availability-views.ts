/** What processes have observed of Nodes that fail: renewals of Leases, and the condition Ready. */
import { listOrEmptyAt } from '../../src/domain/json.ts';
import { type Bench, type Invariant, nameOf, type View, viewsOf } from './invariant.ts';
import {
  LEASE_NAMESPACE,
  NODE_LEASES,
  readyStatus,
  renewedMs,
} from './node-availability-object.ts';

const NODES = '/api/v1/nodes';

/** `--offline-after` in worlds. */
export const OFFLINE_MS = 60_000;

interface Readiness {
  readonly status: string;
  readonly sinceMs: number;
}

/** What a process knows of one Node. */
export interface ObservedNode {
  readonly node: View;
  readonly ready: Readiness;
  /** When its kubelet renewed the Lease last, as far as the process was shown; on its clock. */
  readonly renewedMs: number;
  /** When the process was shown that, on the monotonic clock. */
  readonly renewalSeenMs: number;
}

/** The observations of all processes. */
export const observedNodes = (time: Bench['time']) => {
  const nodes = viewsOf(time, NODES);
  const leases = viewsOf(time, NODE_LEASES);
  /** By process and Node. */
  const readiness = new Map<string, Readiness>();
  const review = (process: string, names: readonly string[]): void => {
    for (const name of names) {
      const view = nodes.get(process, name);
      if (view === undefined) continue;
      const key = `${process} ${name}`;
      const status = readyStatus(view.object);
      if (readiness.get(key)?.status === status) continue;
      readiness.set(key, { status, sinceMs: time.monotonic() });
    }
  };
  const invariant: Pick<Invariant, 'arrives' | 'answered'> = {
    arrives: (process, path, lines) => {
      leases.invariant.arrives?.(process, path, lines);
      nodes.invariant.arrives?.(process, path, lines);
      if (path === NODES) review(process, lines.map(({ object }) => nameOf(object)));
    },
    answered: (sent, answer) => {
      leases.invariant.answered?.(sent, answer);
      nodes.invariant.answered?.(sent, answer);
      if (answer === undefined || !sent.call.path.startsWith(NODES)) return;
      const items = listOrEmptyAt(answer.body, 'items');
      review(sent.process, items.length > 0 ? items.map(nameOf) : [nameOf(answer.body)]);
    },
  };
  return {
    invariant,
    /** `undefined` while the process has not been shown the Node and its Lease. */
    get: (process: string, name: string): ObservedNode | undefined => {
      const node = nodes.get(process, name);
      const lease = leases.get(process, `${LEASE_NAMESPACE}/${name}`);
      const ready = readiness.get(`${process} ${name}`);
      if (node === undefined || lease === undefined || ready === undefined) return undefined;
      return {
        node,
        ready,
        renewedMs: renewedMs(lease.object),
        renewalSeenMs: lease.sinceMs,
      };
    },
  };
};

/** When a process could know that the Node is offline, on the monotonic clock; else undefined. */
export const offlineSinceMs = (seen: ObservedNode): number | undefined =>
  seen.ready.status === 'Unknown'
    ? Math.max(seen.ready.sinceMs, seen.renewalSeenMs + OFFLINE_MS)
    : undefined;
