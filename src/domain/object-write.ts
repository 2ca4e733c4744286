/** The outcome of a write to one object, as statecharts distinguish it. */
import type { Identity } from './facts.ts';
import type { ResourceVersion } from './ids.ts';

export type WriteOutcome<Current> =
  /** Done; `current` is the object as stored. */
  | { readonly _tag: 'Written'; readonly current: Current }
  /** The object does not exist (any more). */
  | { readonly _tag: 'Absent' }
  /** The API server will never accept this object: a person must act. */
  | { readonly _tag: 'Refused'; readonly why: string }
  /** Transient: a retry may succeed. */
  | { readonly _tag: 'Fault'; readonly why: string };

/** A field that another field manager set to another value. */
export interface FieldConflict {
  /** The manager, as `managedFields` names it. */
  readonly manager: string;
  /** `.spec.replicas`. */
  readonly field: string;
}

/** The outcome of a server-side apply. */
export type ApplyOutcome<Current> =
  | WriteOutcome<Current>
  /** Nothing was written: other managers own these fields, and force was not set. */
  | { readonly _tag: 'Conflict'; readonly conflicts: readonly FieldConflict[] };

/** How the last write of a series ended; `Untried` before the first answer. */
export type WriteVerdict = 'Untried' | 'Landed' | 'Failed' | 'Refused';

/**
 * The verdict on an outcome. `base` is the resourceVersion before the write: when the answer still
 * has it, the API server dropped the whole change, and will again.
 */
export const verdictOf = <Current extends Pick<Identity, 'resourceVersion'>>(
  outcome: WriteOutcome<Current>,
  base: ResourceVersion | null,
): WriteVerdict => {
  switch (outcome._tag) {
    case 'Written':
      return outcome.current.resourceVersion === base ? 'Failed' : 'Landed';
    case 'Absent':
      return 'Landed';
    case 'Refused':
      return 'Refused';
    case 'Fault':
      return 'Failed';
  }
};

/** Why a write did not land. */
export const problemOf = <Current>(outcome: WriteOutcome<Current>): string =>
  'why' in outcome
    ? outcome.why
    : 'the API server dropped the change, or another client reverted it at once';
