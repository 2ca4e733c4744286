/**
 * The view of a process's actors: their states, reasons and paths.
 *
 * Promises: plain data except `subscribe`; a live process and a recording have the same interface.
 */
import type { ReasonName } from './reasons.ts';

/** The status of an actor: active, done, stopped or crashed. */
export type ActorStatus = 'active' | 'done' | 'stopped' | 'error';

/** One actor in one line. */
export interface ActorRow {
  /** `nodeDrain/node-1`; the only actor of a machine has its bare name. */
  readonly id: string;
  /** The name of its machine in the catalogue. */
  readonly kind: string;
  /** Its innermost states as paths, separated by spaces. */
  readonly state: string;
  /** Why it waits, from the meta of its state. */
  readonly reason: ReasonName | null;
  readonly status: ActorStatus;
  /** When it entered the state, and when it was created: milliseconds since 1970. */
  readonly sinceMs: number;
  readonly bornMs: number;
}

/** The machine of an actor's id: the text before the first slash, or all of it. */
export const kindInId = (id: string): string => {
  const end = id.indexOf('/');
  return end < 0 ? id : id.slice(0, end);
};

/** A state that an actor entered. */
export interface ActorStep {
  readonly atMs: number;
  readonly state: string;
  /** The event that led there. */
  readonly event: string;
}

/** An event that an actor received. */
export interface TimelineEntry {
  readonly atMs: number;
  readonly event: string;
  /** The state that it led to; null without a transition. */
  readonly state: string | null;
}

/** The history of one actor. */
export interface ActorDetail {
  readonly row: ActorRow;
  /** Its states, oldest first; bounded. */
  readonly path: readonly ActorStep[];
  /** Its events, oldest first; bounded. */
  readonly log: readonly TimelineEntry[];
  /** The data of its current snapshot. */
  readonly context: unknown;
}

/** The actors of a process or of a recording. */
export interface ActorBoard {
  readonly rows: () => readonly ActorRow[];
  readonly row: (id: string) => ActorRow | undefined;
  readonly detail: (id: string) => ActorDetail | undefined;
  /** The data of its current snapshot. */
  readonly context: (id: string) => unknown;
  /**
   * Calls back with the id of each actor that changed or was removed; returns an unsubscribe
   * function.
   */
  readonly subscribe: (changed: (id: string) => void) => () => void;
}
