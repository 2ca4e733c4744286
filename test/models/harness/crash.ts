/**
 * The crash-anywhere invariant: in every reached configuration, an actor restarted from the
 * cluster's state has the same obligations as the crashed one.
 *
 * Promises: runs no actor; a violation lists the steps that lead to it; the cluster's state follows
 * from events and acts alone, so that a machine that forgets what it heard differs from it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { valueAt } from '../../../src/domain/json.ts';
import type { Configuration, Explored } from './explorer.ts';
import { eventLabel, snapshotAfter, type Step, type StepEvent } from './interpreter.ts';

/** What is visible of a step from outside the machine. */
export interface Received {
  /** The event; the first one, `xstate.init`, bears the input. */
  readonly event: StepEvent;
  /** Names of actions, and `invoke:<id>` for each act that starts. */
  readonly actions: readonly string[];
  /** The input of the act that the event answers; none for other events. */
  readonly answered: unknown;
}

const ANSWER = /^xstate\.(?:done|error)\.actor\.(.+)$/;

const inputOf = (act: unknown): unknown =>
  typeof act === 'object' && act !== null && 'options' in act
    ? valueAt(act.options, 'input')
    : undefined;

/** What is visible of a step: nothing of the machine's own context. */
export const receivedIn = ({ event, before, actions }: Step): Received => {
  const [, act = ''] = ANSWER.exec(event.type) ?? [];
  const child: unknown = before.children[act];
  return { event, actions: actions, answered: inputOf(child) };
};

/** The cluster's state, and how a restart reads it. */
export interface CrashInvariant<Input, World> {
  /** The initial state of the cluster. */
  readonly world: World;
  /** The cluster's state after what happened. */
  readonly record: (world: World, received: Received) => World;
  /** How a new process starts when the cluster is in the state `world`. */
  readonly restart: (world: World) => Restart<Input>;
  /** Pending writes, absolute deadlines, owners. Counters and backoff timers may differ. */
  readonly obligations: (snapshot: AnyMachineSnapshot) => unknown;
  /**
   * The obligations by the state of the cluster, for machines that hear all of it as events: one
   * that does not listen would not listen after a restart either.
   */
  readonly expected?: (world: World) => unknown;
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

/** What is owed in a state of the cluster, by an actor that starts then; computed once for each. */
export const restarts = <Input, World>(
  machine: AnyStateMachine,
  { restart, obligations, expected }: Pick<
    CrashInvariant<Input, World>,
    'restart' | 'obligations' | 'expected'
  >,
): (world: World, now: unknown) => unknown => {
  const restarted = new Map<string, unknown>();
  const afterRestart = (world: World): unknown => {
    const worldText = JSON.stringify(world);
    if (restarted.has(worldText)) return restarted.get(worldText);
    const { input, events } = restart(world);
    const again = obligations(snapshotAfter(machine, input, events));
    restarted.set(worldText, again);
    return again;
  };
  return (world, now) => {
    const again = afterRestart(world);
    if (expected === undefined || !isDeepStrictEqual(now, again)) return again;
    return expected(world);
  };
};

/** Configurations whose obligations a restart loses or adds, each with its steps. */
export const crashViolations = <Input, World>(
  machine: AnyStateMachine,
  crash: CrashInvariant<Input, World>,
  { configurations }: Explored<World>,
): readonly string[] => {
  const rememberedIn = restarts(machine, crash);
  return [...configurations.values()].flatMap((configuration) => {
    const now = crash.obligations(configuration.snapshot);
    return violationOf(configuration, now, rememberedIn(configuration.world, now)) ?? [];
  });
};
