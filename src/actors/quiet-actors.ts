/**
 * Which actors rest and since when, so that those that have rested longest can be sent to sleep.
 * A settled actor holds nothing that a restart would not find again: sleeping is the crash-anywhere
 * law at work, and lets a hundred thousand machines cost what their facts cost.
 */

/** The resting actors of a registry. */
export interface QuietActors<Member> {
  /** The member's actor has come to rest. */
  readonly rest: (member: Member) => void;
  /** It has something to do again, or is gone. */
  readonly stir: (member: Member) => void;
  readonly size: () => number;
}

/**
 * At most `limit` rest; past that the longest resting one is given to `sleep`, which says whether
 * it could be put to sleep. One that could not is asked again later.
 */
export const quietActors = <Member>(
  limit: number,
  sleep: (member: Member) => boolean,
): QuietActors<Member> => {
  const resting = new Set<Member>();
  return {
    rest: (member) => {
      resting.delete(member);
      resting.add(member);
      if (resting.size <= limit) return;
      const [longest] = resting;
      if (longest === undefined) return;
      resting.delete(longest);
      if (!sleep(longest)) resting.add(longest);
    },
    stir: (member) => {
      resting.delete(member);
    },
    size: () => resting.size,
  };
};
