/**
 * The checks that know what is right, without a recording of how a machine behaved: invariants, the
 * crash law, coverage and dead ends.
 *
 * Promises: what is not shown to be wrong counts as right, as in an exploration that is cut short.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { statesBelow, transitionsOf } from './coverage.ts';
import { type CrashInvariant, receivedIn, restarts } from './crash.ts';
import { deadEnds, type Settles } from './dead-ends.ts';
import type { Explored } from './explorer.ts';
import { firstStep, type Step, type StepEvent, stillInterpreter } from './interpreter.ts';

/** A check that can find a defect. */
export type Check = 'invariants' | 'crash law' | 'coverage' | 'dead ends' | 'breaks';

/** What holds on every step of a statechart. */
export interface Rules<Input, World> {
  /** Throws when broken. */
  readonly invariant:
    | ((snapshot: AnyMachineSnapshot, actions: readonly string[]) => void)
    | undefined;
  /** Throws when broken; sees the event and the state before it, too. */
  readonly stepInvariant: ((step: Step) => void) | undefined;
  readonly crash: CrashInvariant<Input, World> | undefined;
  readonly settles: Settles | undefined;
}

/** An input and the events after it. */
export interface Walk {
  readonly input: unknown;
  readonly steps: readonly { readonly event: StepEvent }[];
}

/** A defect: which check found it, and what it says. */
export interface Found {
  readonly check: Check;
  readonly problem: string;
}

const brokenInvariant = <Input, World>(
  { invariant, stepInvariant }: Pick<Rules<Input, World>, 'invariant' | 'stepInvariant'>,
  step: Step,
): Found | undefined => {
  try {
    invariant?.(step.after, step.actions);
    stepInvariant?.(step);
    return undefined;
  } catch (error) {
    return { check: 'invariants', problem: String(error) };
  }
};

/** Compares each step of a walk with what a restart would owe. */
const crashCheck = <Input, World>(
  machine: AnyStateMachine,
  crash: Rules<Input, World>['crash'],
) => {
  const afterRestart = crash === undefined ? undefined : restarts(machine, crash);
  return () => {
    let world = crash?.world;
    return (step: Step): Found | undefined => {
      if (crash === undefined || world === undefined || afterRestart === undefined) {
        return undefined;
      }
      world = crash.record(world, receivedIn(step));
      const now = crash.obligations(step.after);
      const again = afterRestart(world, now);
      return isDeepStrictEqual(now, again) ? undefined : {
        check: 'crash law',
        problem: `${JSON.stringify(now)} before a crash, ${JSON.stringify(again)} after it`,
      };
    };
  };
};

/** Walks, and what they showed of the machine. */
const walker = <Input, World>(machine: AnyStateMachine, rules: Rules<Input, World>) => {
  const checkCrashes = crashCheck(machine, rules.crash);
  const seen = { taken: new Set<unknown>(), visited: new Set<string>() };
  const problemOf = (walk: Walk): Found | undefined => {
    const violates = checkCrashes();
    const interpreter = stillInterpreter(machine, walk.input);
    let step = firstStep(interpreter.begin());
    const next = (event: StepEvent): Step => interpreter.step(step.after, event);
    const wrong = (): Found | undefined => brokenInvariant(rules, step) ?? violates(step);
    let found = wrong();
    for (const { event } of walk.steps) {
      if (found !== undefined || step.after.status !== 'active') break;
      step = next(event);
      found = wrong();
    }
    interpreter.taken.forEach((one) => seen.taken.add(one));
    interpreter.visited.forEach((one) => seen.visited.add(one));
    return found;
  };
  return { problemOf, seen };
};

const breaking = (look: () => Found | undefined): Found | undefined => {
  try {
    return look();
  } catch (error) {
    return { check: 'breaks', problem: String(error) };
  }
};

/** The first defect along these walks; `seen` has what they visited. */
export const checkedWalks = <Input, World>(
  machine: AnyStateMachine,
  rules: Rules<Input, World>,
  walks: readonly Walk[],
) => {
  const { problemOf, seen } = walker(machine, rules);
  const found = breaking(() => {
    for (const walk of walks) {
      const problem = problemOf(walk);
      if (problem !== undefined) return problem;
    }
    return undefined;
  });
  return { found, seen };
};

/** What walks show of a machine, in terms that a copy of it shares. */
export interface Trace {
  /** The numbers of transitions, as `transitionsOf` lists them. */
  readonly taken: ReadonlySet<number>;
  /** The ids of states. */
  readonly visited: ReadonlySet<string>;
}

/** What one walk shows of a machine, and its steps. */
const traceOf = (machine: AnyStateMachine, { input, steps }: Walk) => {
  const interpreter = stillInterpreter(machine, input);
  let step = firstStep(interpreter.begin());
  const made = [step];
  for (const { event } of steps) made.push(step = interpreter.step(step.after, event));
  const transitions = statesBelow(machine.root).flatMap(transitionsOf);
  const taken = transitions.flatMap((one, at) => interpreter.taken.has(one) ? [at] : []);
  const walked: Trace = { taken: new Set(taken), visited: interpreter.visited };
  return { walked, made };
};

/** A walk of the original: what it shows, and what its restarts show, which the crash law makes. */
export interface TracedWalk {
  readonly walked: Trace;
  readonly restarted: readonly Trace[];
}

/** Traces walks of the original. */
export const tracing = <Input, World>(
  machine: AnyStateMachine,
  crash: Rules<Input, World>['crash'],
) => {
  const known = new Map<string, Trace>();
  const afterRestart = (world: World, { restart }: CrashInvariant<Input, World>): Trace => {
    const text = JSON.stringify(world);
    const { input, events } = restart(world);
    const trace = known.get(text) ??
      traceOf(machine, { input, steps: events.map((event) => ({ event })) }).walked;
    known.set(text, trace);
    return trace;
  };
  return (walk: Walk): TracedWalk => {
    const { walked, made } = traceOf(machine, walk);
    if (crash === undefined) return { walked, restarted: [] };
    let world = crash.world;
    const restarted = new Set<Trace>();
    for (const step of made) {
      world = crash.record(world, receivedIn(step));
      restarted.add(afterRestart(world, crash));
    }
    return { walked, restarted: [...restarted] };
  };
};

const unseen = (
  machine: AnyStateMachine,
  elsewhere: readonly Trace[],
  visits: readonly {
    readonly taken: ReadonlySet<unknown>;
    readonly visited: ReadonlySet<string>;
  }[],
): readonly unknown[] => {
  const states = statesBelow(machine.root);
  return [
    ...states.filter(({ id }) => ![...visits, ...elsewhere].some(({ visited }) => visited.has(id))),
    ...states.flatMap(transitionsOf).filter((transition, at) =>
      !visits.some(({ taken }) => taken.has(transition)) &&
      !elsewhere.some(({ taken }) => taken.has(at))
    ),
  ];
};

/**
 * The first defect that any check finds: on the walks first, because they are few, and then in an
 * exploration, which may be cut short.
 */
export const defectOf = <Input, World>(
  machine: AnyStateMachine,
  rules: Rules<Input, World>,
  { walks, elsewhere, explored }: {
    readonly walks: readonly Walk[];
    /** What other walks are known to show. */
    readonly elsewhere: readonly Trace[];
    readonly explored: (machine: AnyStateMachine) => Explored<unknown>;
  },
): Found | undefined => {
  const { found, seen } = checkedWalks(machine, rules, walks);
  if (found !== undefined) return found;
  return breaking(() => {
    const walked = explored(machine);
    for (const { step } of walked.edges) {
      const broken = brokenInvariant(rules, step);
      if (broken !== undefined) return broken;
    }
    if (walked.truncated) return undefined;
    const [dead] = deadEnds(walked, rules.settles);
    if (dead !== undefined) return { check: 'dead ends', problem: dead };
    const visits = [seen, { taken: walked.takenTransitions, visited: walked.visitedStates }];
    return unseen(machine, elsewhere, visits).length === 0
      ? undefined
      : { check: 'coverage', problem: 'a state or transition is never reached' };
  });
};
