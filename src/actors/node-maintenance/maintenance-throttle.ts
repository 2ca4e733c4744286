/**
 * How often the facts of its Nodes reach a maintenance, each of which may write its whole status.
 *
 * Promises: the first fact after a while at once, and further ones gathered for a time that grows
 * with the Nodes, because the object does; nothing that is held back is lost.
 */
import { EMPTY, mergeMap, type Observable, type SchedulerLike, Subject, tap, timer } from 'rxjs';
import type { Time } from '../../domain/time.ts';
import type { MaintenanceEntry } from './node-maintenance-actor.ts';

/** Up to a hundred Nodes this is less than the time that reviews take anyway. */
const NODE_MS = 5;

interface Held {
  readonly uid: string;
  readonly forMs: number;
}

/** The throttle of all maintenances of a process. */
export class MaintenanceThrottle {
  readonly #time: Pick<Time, 'monotonic'>;
  readonly #held = new Subject<Held>();
  readonly #waiting = new Set<string>();
  /** What was held back may be sent now. */
  readonly due: Observable<unknown>;

  constructor(time: Pick<Time, 'monotonic'>, scheduler: SchedulerLike) {
    this.#time = time;
    this.due = this.#held.pipe(mergeMap(({ uid, forMs }) => {
      if (this.#waiting.has(uid)) return EMPTY;
      this.#waiting.add(uid);
      return timer(forMs, scheduler).pipe(tap(() => void this.#waiting.delete(uid)));
    }));
  }

  /** True when facts of so many Nodes may be sent now; they are, then. */
  readonly isDue = (entry: MaintenanceEntry, nodes: number): boolean => {
    const nowMs = this.#time.monotonic();
    const forMs = entry.sentMs + nodes * NODE_MS - nowMs;
    if (forMs > 0) this.#held.next({ uid: entry.uid, forMs });
    else entry.sentMs = nowMs;
    return forMs <= 0;
  };
}
