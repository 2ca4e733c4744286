/**
 * The crash-anywhere invariant: an actor that is started from what the cluster shows owes the same
 * as the one that crashed, in every configuration that was reached.
 *
 * Promises: nothing is run; a violation names the steps that lead to it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Configuration, Explored } from './explorer.ts';
import { eventLabel, snapshotAfter, type Step, type StepEvent } from './interpreter.ts';

/** What the cluster shows, and what a restart makes of it. */
export interface CrashInvariant<Input, World> {
  /** What the cluster shows before anything was done. */
  readonly world: World;
  /** What the cluster shows after a step. */
  readonly record: (world: World, step: Step) => World;
  /** How a new process begins when the cluster shows `world`. */
  readonly restart: (world: World) => Restart<Input>;
  /** Pending writes, absolute deadlines, owners. Counters and backoff timers may differ. */
  readonly obligations: (snapshot: AnyMachineSnapshot) => unknown;
}

/** What a restarted actor is given: its input, and what it is sent first. */
export interface Restart<Input> {
  readonly input: Input;
  readonly events: readonly StepEvent[];
}

/** The steps that lead to a configuration, for people. */
export const stepsText = <World>({ path }: Configuration<World>): string =>
  ['start', ...path.map(({ event }) => eventLabel(event))].join('\n  ');

/** One violation, for people; `undefined` when both owe the same. */
export const violationOf = <World>(
  configuration: Configuration<World>,
  before: unknown,
  afterRestart: unknown,
): string | undefined =>
  isDeepStrictEqual(before, afterRestart)
    ? undefined
    : `After\n  ${stepsText(configuration)}\nbefore the crash: ${
      JSON.stringify(before)
    }; after the restart: ${JSON.stringify(afterRestart)}`;

/** Configurations whose obligations a restart forgets or invents, each with its steps. */
export const crashViolations = <Input, World>(
  machine: AnyStateMachine,
  { restart, obligations }: CrashInvariant<Input, World>,
  { configurations }: Explored<World>,
): readonly string[] => {
  // Many configurations show the same: one restart from it is enough.
  const restarted = new Map<string, unknown>();
  const rememberedIn = (world: World): unknown => {
    const shown = JSON.stringify(world);
    if (restarted.has(shown)) return restarted.get(shown);
    const { input, events } = restart(world);
    const afterRestart = obligations(snapshotAfter(machine, input, events));
    restarted.set(shown, afterRestart);
    return afterRestart;
  };
  return [...configurations.values()].flatMap((configuration) =>
    violationOf(
      configuration,
      obligations(configuration.snapshot),
      rememberedIn(configuration.world),
    ) ?? []
  );
};
