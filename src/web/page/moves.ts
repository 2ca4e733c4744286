/** The transitions of an actor: the one that it took last, and those that it may take next. */
import type { PossibleMove } from '../../view/catalogue.ts';
import { withOuter } from './words.ts';

/** What may happen next to an actor in these states. */
export const possibleMoves = (
  moves: readonly PossibleMove[],
  states: readonly string[],
): readonly PossibleMove[] => {
  const inside = new Set(['', ...states.flatMap(withOuter)]);
  return moves.filter(([from, cause]) => cause !== '' && inside.has(from));
};

const EVENTS = [
  [/^xstate\.done\.actor\.(.+)$/, '$1 done'],
  [/^xstate\.error\.actor\.(.+)$/, '$1 failed'],
  [/^xstate\.after\.([^.]+)\..*$/, 'after $1'],
] as const;

/** An event as charts name it. */
const causeOf = (event: string): string =>
  EVENTS.reduce((text, [pattern, name]) => text.replace(pattern, name), event);

/** An actor that entered states, and the event that led there. */
export interface Entered {
  readonly before: readonly string[];
  readonly now: readonly string[];
  readonly event: string;
}

/** More states than an event passes without stopping. */
const HOPS_MAX = 4;

const endOf = (path: readonly PossibleMove[]): string => path.at(-1)?.[2] ?? '';

/** Of the ways to each state, the shortest: a longer one needs a guard that seldom holds. */
const shortest = (
  paths: readonly (readonly PossibleMove[])[],
): readonly (readonly PossibleMove[])[] =>
  paths.filter((path) =>
    paths.every((other) => endOf(other) !== endOf(path) || other.length >= path.length)
  );

/**
 * The transitions that led from the states before to those of now; an event may pass states that
 * only decide.
 */
export const takenMoves = (
  moves: readonly PossibleMove[],
  { before, now, event }: Entered,
): readonly PossibleMove[] => {
  const left = new Set(['', ...before.flatMap(withOuter)]);
  const inside = new Set(now.flatMap(withOuter));
  const isEntered = (to: string): boolean =>
    (now.includes(to) && !before.includes(to)) || (inside.has(to) && !left.has(to));
  const paths = (
    states: ReadonlySet<string>,
    causes: readonly string[],
    hops: number,
  ): readonly (readonly PossibleMove[])[] =>
    moves.filter(([start, cause]) => states.has(start) && causes.includes(cause))
      .flatMap((move): readonly (readonly PossibleMove[])[] => {
        const [, , to] = move;
        if (isEntered(to)) return [[move]];
        if (hops >= HOPS_MAX || left.has(to)) return [];
        return paths(new Set([to]), [''], hops + 1).map((rest) => [move, ...rest]);
      });
  return [...new Set(shortest(paths(left, [causeOf(event), ''], 1)).flat())];
};
