/**
 * Recorded actors: where each stayed and when, where all of them are, and whether an observer saw
 * the same.
 */
import { readFile } from 'node:fs/promises';
import { kindInId } from '../../../src/api/actor-board.ts';
import { recordEntry, type RecordLine } from '../../../src/api/actor-record.ts';
import { textAt } from '../../../src/domain/json.ts';

/** A stay of an actor in a state, until its next transition. */
export interface Stay {
  /** The innermost states, as the board of actors has them. */
  readonly state: string;
  /** The event that led there. */
  readonly event: string;
  readonly fromMs: number;
  /** Infinite for the last. */
  readonly untilMs: number;
}

/** The states that an observer saw an actor in, and when first. */
export interface LitMoment {
  /** Sorted. */
  readonly state: string;
  readonly atMs: number;
}

/** States as one text, in canonical order. */
export const sortedStates = (states: readonly string[]): string => states.toSorted().join(' ');

/** The lines of a recording, as far as they are written: the last may be cut in the middle. */
export const recordedLines = async (file: string): Promise<readonly RecordLine[]> => {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').slice(0, -1).map(recordEntry)
    .flatMap((entry) => entry._tag === 'Line' ? [entry.line] : []);
};

/** Where an actor stayed, one after another. */
export const staysOf = (lines: readonly RecordLine[], id: string): readonly Stay[] => {
  const stays: Stay[] = [];
  for (const line of lines) {
    const { state } = line;
    const last = stays.at(-1);
    if (line.id !== id || last?.state === state) continue;
    if (last !== undefined) stays[stays.length - 1] = { ...last, untilMs: line.atMs };
    const { event: { type: event }, atMs: fromMs } = line;
    stays.push({ state, event, fromMs, untilMs: Number.POSITIVE_INFINITY });
  }
  return stays;
};

/** The last line of each actor. */
export const lastLines = (lines: readonly RecordLine[]): readonly RecordLine[] => [
  ...new Map(lines.map((line) => [line.id, line])).values(),
];

/** The names of an actor: its id, and the pod of a demand, whose id has only the pod's UID. */
const namesIn = ({ id, event }: RecordLine): readonly string[] => [
  id,
  textAt(event, 'input', 'pod', 'name') ?? '',
];

/** The actors with the text in one of their names. */
export const actorsNamed = (lines: readonly RecordLine[], text: string): readonly string[] => {
  const found = lines.filter((line) =>
    namesIn(line).some((name) => name.toLowerCase().includes(text))
  );
  return [...new Set(found.map(({ id }) => id))];
};

/** `a.b.c` → `a`, `a.b`, `a.b.c`. */
const withOuter = (path: string): readonly string[] =>
  path.split('.').map((_, at, names) => names.slice(0, at + 1).join('.'));

/** How many living actors of a kind are in each state, the states around it included. */
export const countsByState = (
  lines: readonly RecordLine[],
  kind: string,
): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const line of lastLines(lines)) {
    if (kindInId(line.id) !== kind || line.status !== 'active') continue;
    for (const path of new Set(line.state.split(' ').flatMap(withOuter))) {
      counts[path] = (counts[path] ?? 0) + 1;
    }
  }
  return counts;
};

const statesLine = (states: readonly { readonly state: string }[]): string =>
  states.map(({ state }) => state).join(' → ');

/**
 * Why the observation differs from the recording; undefined when it agrees. Observed stays must be
 * in order and include the last one; a stay may be missing only if it ended within `shortMs` of
 * becoming visible.
 */
export const litProblem = (
  seen: readonly LitMoment[],
  stays: readonly Stay[],
  shortMs: number,
): string | undefined => {
  const sinceMs = seen[0]?.atMs ?? 0;
  // How many sightings may be explained by the stays so far: more than one way, if states recur.
  let explained: ReadonlySet<number> = new Set([0]);
  for (const { state, fromMs, untilMs } of stays) {
    const mustBeSeen = untilMs - Math.max(fromMs, sinceMs) > shortMs;
    const next = new Set(mustBeSeen ? [] : explained);
    const sorted = sortedStates(state.split(' '));
    for (const count of explained) {
      if (seen[count]?.state === sorted) next.add(count + 1);
      // Back in the state that was still highlighted: the stay between was too short to be visible.
      if (seen[count - 1]?.state === sorted) next.add(count);
    }
    explained = next;
    if (explained.size === 0) {
      return `"${state}" lasted and was not seen in its place: saw ${statesLine(seen)}; ` +
        `it was ${statesLine(stays)}`;
    }
  }
  if (explained.has(seen.length)) return undefined;
  return `saw ${statesLine(seen)}; it was ${statesLine(stays)}`;
};
