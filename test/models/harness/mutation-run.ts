/** Tries the generated tests of a statechart on its mutants: who is caught, and who lives on. */
import type { AnyStateMachine } from 'xstate';
import { type Mutant, mutantsOf } from './mutants.ts';
import type { Path } from './paths.ts';
import { storyOf, type Ways } from './transcript.ts';

/** How the mutants of one machine fared. */
export interface MutationResult {
  readonly machine: string;
  /** Mutants by kind: how many there were, and how many were caught. */
  readonly kinds: Readonly<Record<Mutant['kind'], Tally>>;
  /** Caught by a story that people read; the others by a further way. */
  readonly byStories: number;
  readonly survivors: readonly string[];
}

/** A count of mutants. */
export interface Tally {
  readonly made: number;
  readonly caught: number;
}

const NONE: Tally = { made: 0, caught: 0 };

/** Runs the mutation of one machine. */
export const mutationResult = (machine: AnyStateMachine, ways: Ways): MutationResult => {
  const recorded = new Map<Path, string>();
  const asRecorded = (mutant: AnyStateMachine) => (path: Path): boolean => {
    const story = recorded.get(path) ?? storyOf(machine, path);
    recorded.set(path, story);
    return storyOf(mutant, path) === story;
  };
  const kinds = { 'guard negated': NONE, 'target changed': NONE, 'action dropped': NONE };
  const survivors: string[] = [];
  let byStories = 0;
  for (const { name, kind, machine: mutant } of mutantsOf(machine)) {
    const goesAsBefore = asRecorded(mutant);
    const isTold = !ways.told.every(goesAsBefore);
    const isCaught = isTold || !ways.further.every(goesAsBefore);
    if (isTold) byStories += 1;
    if (!isCaught) survivors.push(name);
    const { made, caught } = kinds[kind];
    kinds[kind] = { made: made + 1, caught: caught + (isCaught ? 1 : 0) };
  }
  return { machine: machine.id, kinds, byStories, survivors };
};
