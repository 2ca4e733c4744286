/**
 * Drives a path through a live actor on a simulated clock with fake effects, and compares state and
 * acts of each step, the first one included, with the pure statechart's.
 */
import {
  type AnyActorLogic,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
  fromPromise,
  type InspectionEvent,
} from 'xstate';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { actionName, eventLabel, firstStep, type Step, stillInterpreter } from './interpreter.ts';
import { visibleActions } from './step-invariants.ts';
import type { Path } from './paths.ts';

/** The effects of a live actor, answered by the driven path. */
export interface InvokedActors {
  /** Called by a fake effect: resolves when the path answers it. */
  readonly perform: <Output>(id: string, input: unknown) => Promise<Output>;
}

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const controlledActors = () => {
  const waiting = new Map<string, Waiting>();
  return {
    perform: <Output>(id: string) =>
      new Promise<Output>((resolve, reject) => {
        waiting.set(id, { resolve: (output) => resolve(output as Output), reject });
      }),
    answer: (id: string, how: (act: Waiting) => void): void => {
      const act = waiting.get(id);
      if (act === undefined) throw new Error(`Nobody performs "${id}"`);
      waiting.delete(id);
      how(act);
    },
  };
};

/** A clock whose timers fire by the name of the event that they send. */
export const namedTimers = () => {
  interface Scheduled {
    readonly event: EventObject;
    readonly id: string;
  }
  const timers = new Map<number, { readonly name: string; readonly run: () => void }>();
  let made = 0;
  let scheduled: () => Readonly<Record<string, Scheduled>> = () => ({});
  return {
    watch: (look: () => Readonly<Record<string, Scheduled>>): void => {
      scheduled = look;
    },
    clock: {
      setTimeout: (run: () => void): number => {
        made += 1;
        timers.set(made, { name: Object.values(scheduled()).at(-1)?.event.type ?? '', run });
        return made;
      },
      clearTimeout: (id: number): void => {
        timers.delete(id);
      },
    },
    fire: (name: string): void => {
      const due = [...timers].reverse().find(([, timer]) => timer.name === name);
      if (due === undefined) throw new Error(`No timer is armed for "${name}"`);
      timers.delete(due[0]);
      due[1].run();
    },
  };
};

/** The machine with a fake for each of its declared actors. */
const plainFakes = (machine: AnyStateMachine, invoked: InvokedActors): AnyStateMachine =>
  machine.provide({
    actors: Object.fromEntries(
      Object.keys(machine.implementations.actors).map((name): [string, AnyActorLogic] => [
        name,
        fromPromise(({ input }) => invoked.perform(name, input)),
      ]),
    ),
  });

/** Creates the live actor. */
export interface Rig {
  readonly machine: AnyStateMachine;
  readonly wire: ((invoked: InvokedActors) => AnyStateMachine) | undefined;
  readonly project: (context: never) => unknown;
  /** Checked on the live snapshot after the start and after every step. */
  readonly invariant:
    | ((snapshot: AnyMachineSnapshot, actions: readonly string[]) => void)
    | undefined;
  readonly stepInvariant?: ((step: Step) => void) | undefined;
}

/** The acts of a live actor since they were last read. */
const liveActions = () => {
  let live: string[] = [];
  return {
    inspect: (event: InspectionEvent): void => {
      // Actors that it starts have acts of their own.
      const isItsOwn = event.actorRef.sessionId === event.rootId;
      if (event.type === '@xstate.action' && isItsOwn) live.push(actionName(event.action));
    },
    read: (): readonly string[] => {
      const done = live;
      live = [];
      return done;
    },
  };
};

/** Drives one path; throws with the transcript so far when the live actor deviates. */
export const drive = async (rig: Rig, path: Path): Promise<void> => {
  const invoked = controlledActors();
  const timers = namedTimers();
  const machine = rig.wire?.(invoked) ?? plainFakes(rig.machine, invoked);
  const live = liveActions();
  const actor = createActor(machine, {
    input: path.input,
    clock: timers.clock,
    inspect: live.inspect,
  });
  timers.watch(() => actor.system.getSnapshot()._scheduledEvents);
  const defects: unknown[] = [];
  actor.subscribe({ error: (error) => defects.push(error) });
  const { settle } = simulatedTime();
  const transcript = ['xstate.init'];
  actor.start();
  await settle();
  check(firstStep(stillInterpreter(rig.machine, path.input).begin()), actor.getSnapshot());
  for (const step of path.steps) {
    const { event } = step;
    transcript.push(eventLabel(event));
    const before = actor.getSnapshot();
    perform(event);
    await settle();
    check(step, before);
  }
  actor.stop();

  function check(drawn: Step, before: AnyMachineSnapshot): void {
    const taken = { ...drawn, before, after: actor.getSnapshot(), actions: live.read() };
    compare(drawn, taken);
    rig.invariant?.(taken.after, taken.actions);
    rig.stepInvariant?.(taken);
  }

  function perform(event: EventObject & Readonly<Record<string, unknown>>): void {
    const done = /^xstate\.done\.actor\.(.+)$/.exec(event.type);
    const failed = /^xstate\.error\.actor\.(.+)$/.exec(event.type);
    if (done?.[1] !== undefined) {
      invoked.answer(done[1], (act) => act.resolve(event['output']));
    } else if (failed?.[1] !== undefined) {
      invoked.answer(
        failed[1],
        (act) => act.reject(event['error'] ?? new Error('planted failure')),
      );
    } else if (event.type.startsWith('xstate.after.')) timers.fire(event.type);
    else actor.send(event);
  }

  function compare(drawn: Step, live: Step): void {
    const expected = seenIn(rig, drawn);
    const seen = seenIn(rig, live);
    if (seen === expected) return;
    const because = defects.length === 0 ? '' : `\n  defect: ${String(defects[0])}`;
    throw new Error(
      `The live actor left the drawn path after:\n  ${
        transcript.join('\n  ')
      }\n  drawn: ${expected}\n  live:  ${seen}${because}`,
    );
  }
};

const seenIn = ({ project }: Rig, step: Step): string => {
  const { status, value, context } = step.after;
  return JSON.stringify([status, value, project(context as never), visibleActions(step)]);
};
