/**
 * The crash-anywhere invariant: in every reached configuration, an actor restarted from the
 * cluster's state has the same obligations as the crashed one.
 *
 * Promises: runs no actor; a violation lists the steps that lead to it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Configuration, Explored } from './explorer.ts';
import { eventLabel, snapshotAfter, type Step, type StepEvent } from './interpreter.ts';

/** The cluster's state, and how a restart reads it. */
export interface CrashInvariant<Input, World> {
  /** The initial state of the cluster. */
  readonly world: World;
  /** The cluster's state after a step. */
  readonly record: (world: World, step: Step) => World;
  /** How a new process starts when the cluster is in the state `world`. */
  readonly restart: (world: World) => Restart<Input>;
  /** Pending writes, absolute deadlines, owners. Counters and backoff timers may differ. */
  readonly obligations: (snapshot: AnyMachineSnapshot) => unknown;
}

/** The input and first events of a restarted actor. */
export interface Restart<Input> {
  readonly input: Input;
  readonly events: readonly StepEvent[];
}

/** The steps that lead to a configuration, for people. */
export const stepsText = <World>({ path }: Configuration<World>): string =>
  ['start', ...path.map(({ event }) => eventLabel(event))].join('\n  ');

/** One violation, human-readable; `undefined` when both have the same obligations. */
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

/** Configurations whose obligations a restart loses or adds, each with its steps. */
export const crashViolations = <Input, World>(
  machine: AnyStateMachine,
  { restart, obligations }: CrashInvariant<Input, World>,
  { configurations }: Explored<World>,
): readonly string[] => {
  // Many configurations share a cluster state: one restart each suffices.
  const restarted = new Map<string, unknown>();
  const rememberedIn = (world: World): unknown => {
    const worldText = JSON.stringify(world);
    if (restarted.has(worldText)) return restarted.get(worldText);
    const { input, events } = restart(world);
    const afterRestart = obligations(snapshotAfter(machine, input, events));
    restarted.set(worldText, afterRestart);
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
