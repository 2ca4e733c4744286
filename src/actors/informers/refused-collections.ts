/**
 * Records on the Lease which collections the API server refuses.
 *
 * Promises: one Event for each incident, by a process that leads; an incident that began before is
 * recorded when this process begins to lead, if it lasts.
 */
import type { RecordOnLease } from '../role.ts';
import { failureNote, type RefusalSink } from './list-failures.ts';

/** The incidents of a process; not leading at first. */
export interface RefusedCollections extends RefusalSink {
  readonly setLeading: (leading: boolean) => void;
}

/** Starts without an incident. */
export const refusedCollections = (record: RecordOnLease): RefusedCollections => {
  const unrecorded = new Map<string, string>();
  let leading = false;
  const recordAll = (): void => {
    if (!leading) return;
    for (const [resource, problem] of unrecorded) {
      record('CollectionRefused', failureNote(resource, problem));
    }
    unrecorded.clear();
  };
  return {
    onRefused: (resource, problem) => {
      unrecorded.set(resource, problem);
      recordAll();
    },
    onAccepted: (resource) => {
      unrecorded.delete(resource);
    },
    setLeading: (now) => {
      leading = now;
      recordAll();
    },
  };
};
