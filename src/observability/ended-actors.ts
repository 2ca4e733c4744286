/**
 * The ended actors that are kept.
 *
 * Promises: the newest of each lifecycle, so that the evictions of a busy cluster do not displace
 * a drain that failed.
 */
import { kindInId } from '../api/actor-board.ts';

/** The number of ended actors that are kept of a lifecycle; the oldest is evicted first. */
export const ENDED_KEPT = 500;

/** The ids of ended actors, the oldest of each lifecycle first. */
export class EndedActors {
  readonly #byKind = new Map<string, Set<string>>();

  /** Adds an actor as the newest; returns the one that it displaces. */
  add(id: string): string | undefined {
    const kind = kindInId(id);
    const ended = this.#byKind.get(kind) ?? new Set<string>();
    this.#byKind.set(kind, ended);
    ended.delete(id);
    ended.add(id);
    if (ended.size <= ENDED_KEPT) return undefined;
    const [oldest] = ended;
    if (oldest !== undefined) ended.delete(oldest);
    return oldest;
  }

  /** The actor is active again. */
  delete(id: string): void {
    this.#byKind.get(kindInId(id))?.delete(id);
  }
}
