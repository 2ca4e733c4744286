/** The content of a Kubernetes Event, before deduplication and rate limits. */
import type { ReasonName } from './reasons.ts';

/** The `reportingController` of every Tidegate Event. */
export const REPORTING_CONTROLLER = 'tidegate.dev/operator';

/** The object of an Event. Cluster-scoped objects have no namespace. */
export interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
}

/** An occurrence on an object. The note holds the details, in one sentence. */
export interface EventNote {
  readonly regarding: Regarding;
  readonly reason: ReasonName;
  readonly note: string;
  /** No limit drops it: the start or the end of a drain, one of each (DR-42). */
  readonly isUnlimited?: true;
}

/** Accepts a note without blocking; delivery is best effort. */
export type RecordEvent = (note: EventNote) => void;
