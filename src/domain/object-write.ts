/** What became of a write to one object, in the four names that statecharts act on. */
import type { Identity } from './facts.ts';
import type { ResourceVersion } from './ids.ts';

export type WriteOutcome<Current> =
  /** Done; this is what the cluster shows now. */
  | { readonly _tag: 'Written'; readonly current: Current }
  /** There is no such object (any more). */
  | { readonly _tag: 'Absent' }
  /** The API server will never take it like this: a person must act. */
  | { readonly _tag: 'Refused'; readonly why: string }
  /** It may work later. */
  | { readonly _tag: 'Fault'; readonly why: string };

/** A field that another field manager set to another value. */
export interface FieldConflict {
  /** The manager, as `managedFields` names it. */
  readonly manager: string;
  /** `.spec.replicas`. */
  readonly field: string;
}

/** What became of a server-side apply. */
export type ApplyOutcome<Current> =
  | WriteOutcome<Current>
  /** Nothing was written: other managers own these fields, and it was not forced. */
  | { readonly _tag: 'Conflict'; readonly conflicts: readonly FieldConflict[] };

/** How the last write of a series ended; `Untried` before the first answer. */
export type WriteVerdict = 'Untried' | 'Landed' | 'Failed' | 'Refused';

/**
 * The verdict that an outcome leads to. `base` is the revision that the write set out from: when
 * the answer still has it, the API server kept nothing of the write, and will not next time.
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
  'why' in outcome ? outcome.why : 'the API server did not keep what was written';
