/** How many actors are in which state, kept as they move. */

/** Counts by state. */
export interface StateCounts {
  /** An actor is now in `to`; `undefined` when it is counted no more, or was not counted before. */
  readonly move: (from: string | undefined, to: string | undefined) => void;
  readonly all: () => Readonly<Record<string, number>>;
}

/** Tells `show` each count that changes. */
export const stateCounts = (show: (state: string, count: number) => void): StateCounts => {
  const counts = new Map<string, number>();
  const add = (state: string | undefined, by: number): void => {
    if (state === undefined) return;
    const count = (counts.get(state) ?? 0) + by;
    counts.set(state, count);
    show(state, count);
  };
  return {
    move: (from, to) => {
      if (from === to) return;
      add(from, -1);
      add(to, 1);
    },
    all: () => Object.fromEntries(counts),
  };
};

/** The innermost state of a snapshot's value, such as `patchingStatus`. */
export const innermostState = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const [inner] = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return inner === undefined ? 'unknown' : innermostState(inner);
};
