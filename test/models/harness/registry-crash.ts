/**
 * Crashes a statechart inside its registry in every reachable configuration, and checks what the
 * registry restarts.
 *
 * Promises: a skipped configuration has the state, obligations and cluster of a tested one; the
 * live actor crashes and the registry itself restarts it; exhaustive and synchronous.
 */
import { Layer, ManagedRuntime } from 'effect';
import { isDeepStrictEqual } from 'node:util';
import {
  type Actor,
  type ActorLogic,
  type AnyActorRef,
  type AnyStateMachine,
  createMachine,
  type EventObject,
  type InputFrom,
  type Snapshot,
} from 'xstate';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { actorRegistry } from '../../../src/actors/actor-registry.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { Time } from '../../../src/domain/time.ts';
import { type CrashInvariant, type Restart, stepsText, violationOf } from './crash.ts';
import type { Configuration, Explored } from './explorer.ts';

const PLANTED = 'crash.planted';

/** An operation that is in flight until it is stopped: the path answers in its stead. */
const inFlight: ActorLogic<Snapshot<unknown>, EventObject> = {
  transition: (snapshot, { type }) =>
    type === 'xstate.stop' ? { status: 'stopped', output: undefined, error: undefined } : snapshot,
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  getPersistedSnapshot: (snapshot) => snapshot,
};

/** The machine with a defect that can be set off in each of its states. */
const withPlantedCrash = (machine: AnyStateMachine): AnyStateMachine => {
  const crash = (): void => {
    throw new Error('planted crash');
  };
  const { config, implementations } = machine;
  const on: AnyStateMachine['config']['on'] = { ...config.on, [PLANTED]: { actions: crash } };
  const operations = Object.keys(implementations.actors);
  const crashing: AnyStateMachine = createMachine({ ...config, on }, implementations);
  return crashing
    .provide({ actors: Object.fromEntries(operations.map((name) => [name, inFlight])) });
};

/** Time whose newest timer can be fired by hand. */
const steppedTime = () => {
  let timers: (() => void)[] = [];
  const time: Time = {
    now: () => 0,
    monotonic: () => 0,
    schedule: (_delayMs, run) => {
      timers.push(run);
      return () => {
        timers = timers.filter((timer) => timer !== run);
      };
    },
  };
  return {
    time,
    fireNewest: () => timers.pop()?.(),
    clear: () => {
      timers = [];
    },
  };
};

/** One actor of the registry: how it starts, before its crash or after it. */
interface Entry<Input> {
  readonly key: string;
  start: Restart<Input>;
}

/** A registry of one statechart. */
const crashingRegistry = <Machine extends AnyStateMachine>(machine: Machine) => {
  const { time, fireNewest, clear } = steppedTime();
  let defects = 0;
  const environment = makeActorEnvironment({
    time,
    runtime: ManagedRuntime.make(Layer.empty),
    telemetry: { ...silentTelemetry, count: () => void (defects += 1) },
    firstSeed: 1,
  });
  const registry = actorRegistry(environment, {
    name: machine.id,
    logic: withPlantedCrash(machine),
    keyOf: ({ key }: Entry<InputFrom<Machine>>) => key,
    // Without an input the registry starts nothing; these have none.
    input: ({ start }) => start.input ?? {},
    onStart: ({ start }, actor) => start.events.forEach((event) => actor.send(event)),
  });
  return { registry, restart: fireNewest, clear, defects: () => defects };
};

/** The violation at one configuration; `undefined` if there is none. */
const problemAt = <Input, World>(
  { registry, restart, clear }: ReturnType<typeof crashingRegistry>,
  invariant: CrashInvariant<Input, World>,
  configuration: Configuration<World>,
): string | undefined => {
  const { key, input, path, snapshot, world } = configuration;
  const { obligations } = invariant;
  const entry: Entry<unknown> = { key, start: { input, events: path.map(({ event }) => event) } };
  const after = (problem: string): string => `After\n  ${stepsText(configuration)}\n${problem}`;
  const crashing = (actor: Actor<AnyStateMachine>): string | undefined => {
    const live = actor.getSnapshot();
    const before = obligations(live);
    if (!isDeepStrictEqual([live.value, before], [snapshot.value, obligations(snapshot)])) {
      return after(`the live actor is in ${JSON.stringify(live.value)}`);
    }
    const operations: readonly (AnyActorRef | undefined)[] = Object.values(live.children);
    entry.start = invariant.restart(world);
    actor.send({ type: PLANTED });
    if (registry.stateOf(key) !== 'crashed') return after('the actor did not crash');
    if (operations.some((one) => one?.getSnapshot().status === 'active')) {
      return after('an operation of the crashed actor continues');
    }
    restart();
    const again = registry.get(key);
    if (again === undefined) return after('the registry did not restart the actor');
    return violationOf(configuration, before, obligations(again.getSnapshot()));
  };
  const actor = registry.activate(entry);
  const problem = actor === undefined ? after('no actor was started') : crashing(actor);
  registry.remove(key);
  clear();
  return problem;
};

/** What crashes in the registry showed. */
export interface RegistryCrashes {
  /** How many actors crashed, and how many crashes the registry counted. */
  readonly crashes: number;
  readonly counted: number;
  readonly violations: readonly string[];
}

/** Crashes the machine wherever it can be. */
export const crashInRegistry = <Input, World>(
  machine: AnyStateMachine,
  invariant: CrashInvariant<Input, World>,
  { configurations }: Explored<World>,
): RegistryCrashes => {
  const different = new Map<string, Configuration<World>>();
  for (const configuration of configurations.values()) {
    const { snapshot, world } = configuration;
    if (snapshot.status !== 'active') continue;
    const kind = JSON.stringify([snapshot.value, world, invariant.obligations(snapshot)]);
    if (!different.has(kind)) different.set(kind, configuration);
  }
  const crashing = crashingRegistry(machine);
  const problems = [...different.values()]
    .map((configuration) => problemAt(crashing, invariant, configuration));
  return {
    crashes: different.size,
    counted: crashing.defects(),
    violations: problems.filter((problem) => problem !== undefined),
  };
};
