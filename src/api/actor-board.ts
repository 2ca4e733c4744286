/**
 * What is shown of the actors of a process while it runs: who there is, in which state and why,
 * and how each came there.
 *
 * Promises: plain data but for `subscribe`; a live process and a recording look the same to those
 * who read it.
 */
import type { ReasonName } from './reasons.ts';

/** How an actor stands: it lives, came to its end, was stopped, or crashed. */
export type ActorStatus = 'active' | 'done' | 'stopped' | 'error';

/** One actor in one line. */
export interface ActorRow {
  /** `nodeDrain/node-1`; a machine of which there is one has its bare name. */
  readonly id: string;
  /** The name of its machine in the catalogue. */
  readonly kind: string;
  /** The innermost states that it is in, as paths, separated by spaces. */
  readonly state: string;
  /** Why it waits, when its state says so. */
  readonly reason: ReasonName | null;
  readonly status: ActorStatus;
  /** When it came into the state, and when it was made: milliseconds since 1970. */
  readonly sinceMs: number;
  readonly bornMs: number;
}

/** The machine in an actor's id: what stands before the first slash, or all of it. */
export const kindInId = (id: string): string => {
  const end = id.indexOf('/');
  return end < 0 ? id : id.slice(0, end);
};

/** A state that an actor came into. */
export interface ActorStep {
  readonly atMs: number;
  readonly state: string;
  /** The event that led there. */
  readonly event: string;
}

/** An event that an actor took in. */
export interface TimelineEntry {
  readonly atMs: number;
  readonly event: string;
  /** The state that it led to; null when nothing moved. */
  readonly state: string | null;
}

/** Everything that is kept about one actor. */
export interface ActorDetail {
  readonly row: ActorRow;
  /** The way that it came, oldest first; only the last steps are kept. */
  readonly path: readonly ActorStep[];
  /** What it was told, oldest first; only the last events are kept. */
  readonly log: readonly TimelineEntry[];
  /** The data of its snapshot as it is now. */
  readonly context: unknown;
}

/** The actors of a process, or of a recording. */
export interface ActorBoard {
  readonly rows: () => readonly ActorRow[];
  readonly row: (id: string) => ActorRow | undefined;
  readonly detail: (id: string) => ActorDetail | undefined;
  /** The data of its snapshot as it is now. */
  readonly context: (id: string) => unknown;
  /** Says the id of each actor that changed or was forgotten; gives a function that ends it. */
  readonly subscribe: (changed: (id: string) => void) => () => void;
}
