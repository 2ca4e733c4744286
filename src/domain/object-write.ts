/** What became of a write to one object, in the four names that statecharts act on. */

export type WriteOutcome<Shown> =
  /** Done; this is what the cluster shows now. */
  | { readonly _tag: 'Written'; readonly shown: Shown }
  /** There is no such object (any more). */
  | { readonly _tag: 'Absent' }
  /** The API server will never take it like this: a person must act. */
  | { readonly _tag: 'Refused'; readonly why: string }
  /** It may work later. */
  | { readonly _tag: 'Fault'; readonly why: string };

/** How the last write of a series ended; `Untried` before the first answer. */
export type WriteVerdict = 'Untried' | 'Landed' | 'Failed' | 'Refused';

/** The verdict that an outcome leads to. */
export const verdictOf = <Shown>(outcome: WriteOutcome<Shown>): WriteVerdict => {
  switch (outcome._tag) {
    case 'Written':
    case 'Absent':
      return 'Landed';
    case 'Refused':
      return 'Refused';
    case 'Fault':
      return 'Failed';
  }
};
