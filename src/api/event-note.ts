/** What a Kubernetes Event says, before anybody decides whether and how it is written. */
import type { ReasonName } from './reasons.ts';

/** The object that an Event is about. Objects of the cluster have no namespace. */
export interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
}

/** One thing that happened to an object. The note holds the particulars, in one sentence. */
export interface EventNote {
  readonly regarding: Regarding;
  readonly reason: ReasonName;
  readonly note: string;
}

/** Takes a note and never blocks; what becomes of it is its own business. */
export type RecordEvent = (note: EventNote) => void;
