/**
 * Runs the generated tests of a statechart on its mutants: which are caught by checks that know
 * what is right, which only by a transcript that differs, and which survive.
 */
import type { AnyStateMachine } from 'xstate';
import {
  type Check,
  defectOf,
  type Rules,
  type Trace,
  type TracedWalk,
  tracing,
} from './independent-checks.ts';
import type { Explored } from './explorer.ts';
import { type Mutant, mutantsOf, type Place } from './mutants.ts';
import type { Path } from './paths.ts';
import { type PathSet, transcriptOf } from './transcript.ts';

/** How the mutants of one machine fared. */
export interface MutationResult {
  readonly machine: string;
  /** Mutants by kind: how many there were, and how many independent checks caught. */
  readonly kinds: Readonly<Record<Mutant['kind'], MutantCounts>>;
  /** Caught by independent checks, by the first that did. */
  readonly checks: Readonly<Record<Check, number>>;
  /** Caught by nothing but a transcript or digest that differs. */
  readonly byTranscriptsOnly: readonly string[];
  readonly survivors: readonly string[];
}

/** A count of mutants. */
export interface MutantCounts {
  readonly made: number;
  readonly caught: number;
}

/** What mutants are checked with. */
export interface MutationGround<Input, World> {
  readonly machine: AnyStateMachine;
  readonly rules: Rules<Input, World>;
  readonly paths: PathSet;
  readonly explored: (mutant: AnyStateMachine) => Explored<unknown>;
}

const NONE: MutantCounts = { made: 0, caught: 0 };

/** Whether a walk comes to a place: a mutant is as its original where none does. */
const comesTo = (place: Place) => ({ taken, visited }: Trace): boolean =>
  'state' in place ? visited.has(place.state) : taken.has(place.transition);

/** Runs the mutation of one machine. */
export const mutationResult = <Input, World>(
  { machine, rules, paths, explored }: MutationGround<Input, World>,
): MutationResult => {
  const walks = [...paths.recorded, ...paths.further];
  const wrong = defectOf(machine, rules, { walks, elsewhere: [], explored });
  if (wrong !== undefined) throw new Error(`${machine.id} itself: ${wrong.problem}`);
  const trace = tracing(machine, rules.crash);
  const traced = walks.map((walk) => ({ walk, ...trace(walk) }));
  const recorded = new Map<Path, string>();
  const asRecorded = (mutant: AnyStateMachine) => (path: Path): boolean => {
    const transcript = recorded.get(path) ?? transcriptOf(machine, path);
    recorded.set(path, transcript);
    return transcriptOf(mutant, path) === transcript;
  };
  const kinds = { 'guard negated': NONE, 'target changed': NONE, 'action dropped': NONE };
  const checks = { invariants: 0, 'crash law': 0, coverage: 0, 'dead ends': 0, breaks: 0 };
  const byTranscriptsOnly: string[] = [];
  const survivors: string[] = [];
  for (const { name, kind, place, machine: mutant } of mutantsOf(machine)) {
    const isThere = comesTo(place);
    const isSame = ({ walked, restarted }: TracedWalk) => ![walked, ...restarted].some(isThere);
    const there = traced.filter((one) => !isSame(one)).map(({ walk }) => walk);
    const elsewhere = traced.filter(isSame).map(({ walked }) => walked);
    const found = defectOf(mutant, rules, { walks: there, elsewhere, explored });
    const { made, caught } = kinds[kind];
    kinds[kind] = { made: made + 1, caught: caught + (found === undefined ? 0 : 1) };
    if (found !== undefined) checks[found.check] += 1;
    else if (there.every(asRecorded(mutant))) survivors.push(name);
    else byTranscriptsOnly.push(name);
  }
  return { machine: machine.id, kinds, checks, byTranscriptsOnly, survivors };
};

/** All mutants of a machine. */
export const mutantsIn = ({ kinds }: Pick<MutationResult, 'kinds'>): MutantCounts =>
  Object.values(kinds).reduce((sum, { made, caught }) => ({
    made: sum.made + made,
    caught: sum.caught + caught,
  }));

/** A share, rounded down. */
export const percent = (part: number, whole: number): string =>
  whole === 0 ? '100 %' : `${(Math.floor(1000 * part / whole) / 10).toFixed(1)} %`;

/** The row of a machine in the table of `docs/lifecycle-tests.md`. */
export const documentedRow = (result: MutationResult): readonly string[] => {
  const { made, caught } = mutantsIn(result);
  const { machine, byTranscriptsOnly, survivors } = result;
  const score = `${caught}, ${percent(caught, made)}`;
  return [machine, `${made}`, score, `${byTranscriptsOnly.length}`, `${survivors.length}`];
};

/** The rows of Markdown tables that begin with this cell. */
export const rowsOf = (page: string, first: string): readonly (readonly string[])[] =>
  page.split('\n').filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()))
    .filter(([cell]) => cell === first);
