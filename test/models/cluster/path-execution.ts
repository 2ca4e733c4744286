/**
 * Executes one path on a cluster: the live actor with its real effects on a simulated clock, and
 * all other events as in the path.
 *
 * Promises: a request is answered when the path answers it, by a real server or on the wire; after
 * each step the state, the context and the invariants equal the model's; waits only for conditions,
 * and names the condition on a timeout.
 */
import { type AnyMachineSnapshot, type AnyTransitionDefinition, createActor } from 'xstate';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { namedTimers, type Rig } from '../harness/driver.ts';
import { eventLabel, type Step } from '../harness/interpreter.ts';
import type { Path } from '../harness/paths.ts';
import type { ActGate } from './act-gate.ts';
import type { DrawnNames } from './drawn-names.ts';
import type { FaultLine } from './fault-line.ts';
import type { PathRun, PathStep, StepSource } from './cluster-harness.ts';

/** What one path showed. */
export interface PathResult {
  readonly steps: number;
  /** Who made the actor move, step by step, and which transitions it took. */
  readonly moves: readonly {
    readonly by: StepSource;
    readonly transitions: readonly AnyTransitionDefinition[];
  }[];
}

/** All that is needed to execute a path. */
export interface PathExecution<World> {
  readonly path: Path;
  /** The state before each step. */
  readonly worlds: readonly World[];
  /** Acts by the types of the events that answer them, besides those of invoked actors. */
  readonly answers: Readonly<Record<string, string>>;
  readonly project: Rig['project'];
  readonly invariant: Rig['invariant'];
  readonly run: PathRun<World>;
  readonly gate: ActGate;
  readonly line: FaultLine;
  readonly names: DrawnNames;
}

const PATIENCE_MS = 120_000;

const inTime = async <Result>(what: string, wanted: Promise<Result>): Promise<Result> => {
  let cancel = (): void => {};
  const tooLate = new Promise<never>((_, reject) => {
    cancel = realTime.schedule(
      PATIENCE_MS,
      () => reject(new Error(`Waited ${PATIENCE_MS} ms for ${what}`)),
    );
  });
  return await Promise.race([wanted, tooLate]).finally(cancel);
};

const ANSWER = /^xstate\.done\.actor\.(.+)$/;

/** What an answer says: all of an event that is no invoked actor's. */
const answerIn = (event: PathStep['event']): unknown =>
  ANSWER.test(event.type) ? event['output'] : event;

/** The live actor of a path, with a record of the events that it receives. */
const liveActor = <World>({ path, run }: PathExecution<World>) => {
  const timers = namedTimers();
  let listeners: ReadonlyMap<string, (event: unknown) => void> = new Map();
  const defects: unknown[] = [];
  const actor = createActor(run.machine, {
    input: run.input ?? path.input,
    clock: timers.clock,
    inspect: (inspection) => {
      if (inspection.type !== '@xstate.event' || inspection.actorRef !== actor) return;
      const listener = listeners.get(inspection.event.type);
      if (listener === undefined) return;
      listeners = new Map();
      listener(inspection.event);
    },
  });
  timers.watch(() => actor.system.getSnapshot()._scheduledEvents);
  actor.subscribe({ error: (error) => defects.push(error) });
  return {
    actor,
    timers,
    defects,
    /** The next event of these types that reaches the actor; the next act finds the gate closed. */
    subscribeTo: (types: readonly string[], gate: ActGate) =>
      new Promise<PathStep['event']>((resolve) => {
        const listener = (event: unknown): void => {
          gate.close();
          resolve(event as PathStep['event']);
        };
        listeners = new Map(types.map((type) => [type, listener]));
      }),
  };
};

/** Executes the path; rejects with the steps so far when the live actor deviates. */
export const executePath = async <World>(
  execution: PathExecution<World>,
): Promise<PathResult> => {
  const { path, worlds, answers, project, invariant, run, line, names } = execution;
  const { actor, timers, defects, subscribeTo } = liveActor(execution);
  const { settle } = simulatedTime();
  const steps: string[] = [];
  const moves: PathResult['moves'][number][] = [];

  const typesOf = (act: string, type: string): readonly string[] =>
    ANSWER.test(type) ? [type] : Object.keys(answers).filter((other) => answers[other] === act);
  const answer = async (act: string, pathStep: PathStep<World>): Promise<StepSource> => {
    const gate = run.gateOf?.(act) ?? execution.gate;
    const answered = subscribeTo(typesOf(act, pathStep.event.type), gate);
    const by = await inTime(`"${act}" to be arranged`, run.arrange(pathStep));
    if (by !== 'word') {
      if (run.underWay?.(pathStep) !== true) {
        await inTime(`"${act}" to ask the API server`, gate.arrival());
        gate.open();
      }
      await inTime(`"${act}" to be under way`, run.deferredSends?.(pathStep) ?? Promise.resolve());
    }
    const live = answerIn(await inTime(`the answer to "${act}"`, answered));
    const drawn = answerIn(pathStep.event);
    await line.reconnect();
    if (line.forget() > 0) throw new Error(`"${act}" left unused orders for the wire`);
    names.match(live, drawn);
    const difference = names.difference(live, drawn);
    if (difference !== undefined) {
      throw new Error(`"${act}" was answered otherwise: ${difference} (${JSON.stringify(live)})`);
    }
    return by;
  };
  const take = async (pathStep: PathStep<World>): Promise<StepSource> => {
    const { type } = pathStep.event;
    const act = ANSWER.exec(type)?.[1] ?? answers[type];
    if (act !== undefined) return await answer(act, pathStep);
    if (type.startsWith('xstate.after.')) {
      timers.fire(type);
      return 'clock';
    }
    const { event, by } = await inTime(`"${type}" in the cluster`, run.observe(pathStep));
    actor.send(event);
    return by;
  };
  const describe = (value: unknown, status: string, context: unknown): string =>
    JSON.stringify([status, value, context]);
  const compare = ({ after }: Step, now: AnyMachineSnapshot): void => {
    const seen = describe(now.value, now.status, project(names.translate(now.context) as never));
    const expected = describe(after.value, after.status, project(after.context as never));
    if (seen !== expected) throw new Error(`drawn: ${expected}\n  live:  ${seen}`);
  };

  actor.start();
  try {
    for (const [at, step] of path.steps.entries()) {
      steps.push(eventLabel(step.event));
      const { before, event } = step;
      const world = worlds[at];
      if (world === undefined) throw new Error('There are more steps than worlds');
      const by = await take({ before, event, world, rest: path.steps.slice(at + 1) });
      await settle();
      compare(step, actor.getSnapshot());
      invariant?.(actor.getSnapshot(), step.actions);
      moves.push({ by, transitions: step.transitions });
    }
  } catch (cause) {
    const because = [...defects, cause].map((one) => one instanceof Error ? one.message : one);
    throw new Error(
      `The live actor left the drawn path after:\n  ${steps.join('\n  ')}\n  ${
        because.join('\n  ')
      }`,
      { cause },
    );
  } finally {
    actor.stop();
    execution.gate.open();
  }
  return { steps: path.steps.length, moves };
};
