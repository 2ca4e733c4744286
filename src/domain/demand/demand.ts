/**
 * The cluster's demand, kept and not recomputed: an event on one CapacityRequest changes only the
 * need that it is part of.
 *
 * Promises: whatever the order of events, the needs are those of the requests that are there now.
 * Needs come in the order of their keys, and one whose requests did not change is the same object
 * as before. A request that was good and turns bad keeps its last good reading until it is deleted
 * (wire: rule 5); one that never was good is left out.
 */
import type { ObjectKey } from '../ids.ts';
import type { Problem } from './field.ts';
import type { Need } from './need.ts';
import type { CapacityRequestProjection } from './request.ts';

/** What became of a request that was observed. */
export type Observed =
  /** It is part of the demand. */
  | { readonly _tag: 'Counted' }
  /** It cannot be read and is not part of the demand. */
  | { readonly _tag: 'LeftOut'; readonly problems: readonly Problem[]; readonly isNews: boolean }
  /** It cannot be read now; what it asked for before still counts. */
  | {
    readonly _tag: 'KeptLastGood';
    readonly problems: readonly Problem[];
    /** False when exactly this was said of it before: an Event a change, not one an observation. */
    readonly isNews: boolean;
  };

/** The demand of a cluster. */
export interface Demand {
  /** Takes what is known of a request now; the same twice changes nothing. */
  readonly observe: (request: CapacityRequestProjection) => Observed;
  /** The request is gone. */
  readonly forget: (key: ObjectKey) => void;
  /** These are all requests that there are. Returns what became of those that cannot be read. */
  readonly observeAll: (
    requests: readonly CapacityRequestProjection[],
  ) => readonly { readonly request: CapacityRequestProjection; readonly observed: Observed }[];
  /** Every need, by key. The complete demand: what a roll-up sends. */
  readonly needs: () => readonly Need[];
  /** Requests that are in `needs()` with their present spec and whose phase is empty or Pending. */
  readonly unacknowledged: () => readonly CapacityRequestProjection[];
  /** Requests that cannot be read now, whether or not an older reading of theirs counts. */
  readonly unreadable: () => readonly CapacityRequestProjection[];
  /** Requests that count. */
  readonly size: number;
}
