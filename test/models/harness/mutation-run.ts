/** Runs the generated tests of a statechart on its mutants: which are killed, and which survive. */
import type { AnyStateMachine } from 'xstate';
import { type Mutant, mutantsOf } from './mutants.ts';
import type { Path } from './paths.ts';
import { type PathSet, transcriptOf } from './transcript.ts';

/** How the mutants of one machine fared. */
export interface MutationResult {
  readonly machine: string;
  /** Mutants by kind: how many there were, and how many were caught. */
  readonly kinds: Readonly<Record<Mutant['kind'], MutantCounts>>;
  /** Caught by a recorded transcript; the others by a further path. */
  readonly byTranscripts: number;
  readonly survivors: readonly string[];
}

/** A count of mutants. */
export interface MutantCounts {
  readonly made: number;
  readonly caught: number;
}

const NONE: MutantCounts = { made: 0, caught: 0 };

/** Runs the mutation of one machine. */
export const mutationResult = (machine: AnyStateMachine, paths: PathSet): MutationResult => {
  const recorded = new Map<Path, string>();
  const asRecorded = (mutant: AnyStateMachine) => (path: Path): boolean => {
    const transcript = recorded.get(path) ?? transcriptOf(machine, path);
    recorded.set(path, transcript);
    return transcriptOf(mutant, path) === transcript;
  };
  const kinds = { 'guard negated': NONE, 'target changed': NONE, 'action dropped': NONE };
  const survivors: string[] = [];
  let byTranscripts = 0;
  for (const { name, kind, machine: mutant } of mutantsOf(machine)) {
    const goesAsBefore = asRecorded(mutant);
    const isCaughtByTranscripts = !paths.recorded.every(goesAsBefore);
    const isCaught = isCaughtByTranscripts || !paths.further.every(goesAsBefore);
    if (isCaughtByTranscripts) byTranscripts += 1;
    if (!isCaught) survivors.push(name);
    const { made, caught } = kinds[kind];
    kinds[kind] = { made: made + 1, caught: caught + (isCaught ? 1 : 0) };
  }
  return { machine: machine.id, kinds, byTranscripts, survivors };
};
