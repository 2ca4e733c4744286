/**
 * The sandbox of the playground: real statecharts, driven by the events that a reader fires.
 *
 * Promises: the same trace leads to the same states; nothing runs by itself, and time passes only
 * with events; an event that breaks a statechart changes nothing.
 */
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventObject,
  getNextTransitions,
  initialTransition,
  transition,
} from 'xstate';
import { kindInId } from '../../src/api/actor-board.ts';
import { stateText } from '../../src/domain/state-value.ts';
import { makeActorBoard } from '../../src/observability/actor-board.ts';
import {
  type HistoricalBoard,
  REPLAY_HISTORY,
  withHistory,
} from '../../src/observability/actor-history.ts';
import { ACTORS, CASES, STATECHARTS } from './actors.ts';
import { START_MS } from './drain-cases.ts';
import type { EventCase } from './event-case.ts';
import type { TraceStep } from './trace.ts';

/** The groups of choices, in the order of the panel. */
export const GROUPS = ['Answers', 'Events', 'Time', 'Faults'] as const;
export type ChoiceGroup = (typeof GROUPS)[number];

/** What can happen next to an actor. */
export interface Choice extends TraceStep {
  readonly group: ChoiceGroup;
  readonly label: string;
  /** The states that it leads to; empty when they stay as they are. */
  readonly leadsTo: readonly string[];
}

/** The actors, and what can happen to them. */
export interface Sandbox {
  readonly board: HistoricalBoard;
  readonly nowMs: () => number;
  /** What was fired so far. */
  readonly trace: () => readonly TraceStep[];
  readonly choices: (actorId: string) => readonly Choice[];
  /** Fires an event; false when it cannot happen. */
  readonly fire: (step: TraceStep) => boolean;
}

const STEP_MS = 1000;
const TIMER = 'xstate.after.';
const ANSWER = 'xstate.done.actor.';
const DEFECT = 'xstate.error.actor.';
const INJECTED = 'injected by the playground';

/** `xstate.after.retryBackoff.podEviction.heldUp` → `retryBackoff`. */
const delayName = (type: string): string => type.slice(TIMER.length).split('.')[0] ?? '';

/** How long a delay of the statechart takes now. */
const delayMs = (machine: AnyStateMachine, snapshot: AnyMachineSnapshot, type: string): number => {
  const delay: unknown = machine.implementations.delays[delayName(type)] ??
    Number(delayName(type));
  const value: unknown = typeof delay === 'function'
    ? delay({ context: snapshot.context, event: { type } }, undefined)
    : delay;
  return typeof value === 'number' && value >= 0 ? Math.round(value) : STEP_MS;
};

const groupOf = (type: string, isFault: boolean): ChoiceGroup => {
  if (isFault || type.startsWith(DEFECT)) return 'Faults';
  if (type.startsWith(TIMER)) return 'Time';
  return type.startsWith(ANSWER) ? 'Answers' : 'Events';
};

const spoken = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

const labelOf = (type: string, waitMs: number): string => {
  if (type.startsWith(TIMER)) {
    return `${spoken(delayName(type))}: ${(waitMs / STEP_MS).toFixed(1)} s`;
  }
  if (type.startsWith(DEFECT)) return `${spoken(type.slice(DEFECT.length))} breaks by a defect`;
  if (type.startsWith(ANSWER)) return `${spoken(type.slice(ANSWER.length))} is done`;
  return type;
};

const statesIn = ({ value }: AnyMachineSnapshot): readonly string[] => stateText(value).split(' ');

/** One actor: its machine and where it is. */
interface RunningActor {
  readonly id: string;
  readonly machine: AnyStateMachine;
  snapshot: AnyMachineSnapshot;
}

/** The state after an event, or undefined when the machine cannot take it. */
const after = (
  { machine, snapshot }: RunningActor,
  event: EventObject,
): AnyMachineSnapshot | undefined => {
  try {
    return transition(machine, snapshot, event)[0];
  } catch {
    return undefined;
  }
};

const started = (): readonly RunningActor[] =>
  ACTORS.flatMap(({ id, input }) => {
    const machine = STATECHARTS[kindInId(id)];
    if (machine === undefined) return [];
    return [{ id, machine, snapshot: initialTransition(machine, input)[0] }];
  });

/** A sandbox in which nothing has happened. */
export const makeSandbox = (): Sandbox => {
  const clock = { nowMs: START_MS };
  const time = { now: () => clock.nowMs };
  const kinds = new Set(Object.keys(STATECHARTS));
  const board = withHistory(makeActorBoard({ time, kinds }), time, REPLAY_HISTORY);
  const actors = new Map(started().map((one) => [one.id, one]));
  const trace: TraceStep[] = [];
  const eventOf = (type: string, eventCase: EventCase | undefined): EventObject => ({
    ...(type.startsWith(DEFECT) ? { error: new Error(INJECTED) } : {}),
    ...eventCase?.payload?.({ nowMs: clock.nowMs, turn: trace.length }),
    type,
  });
  const choice = (
    actor: RunningActor,
    type: string,
    eventCase: EventCase | undefined,
  ): Choice[] => {
    const next = after(actor, eventOf(type, eventCase));
    if (next === undefined) return [];
    const before = statesIn(actor.snapshot);
    return [{
      actorId: actor.id,
      type,
      eventCase,
      group: groupOf(type, eventCase?.isFault === true),
      label: eventCase?.label ?? labelOf(type, delayMs(actor.machine, actor.snapshot, type)),
      leadsTo: statesIn(next).filter((path) => !before.includes(path)),
    }];
  };
  for (const { id, snapshot } of actors.values()) {
    const { input } = ACTORS.find((one) => one.id === id) ?? { input: undefined };
    board.observe({ id, event: Object.assign({ type: 'xstate.init' }, { input }), snapshot });
  }
  return {
    board,
    nowMs: time.now,
    trace: () => trace,
    choices: (actorId) => {
      const actor = actors.get(actorId);
      if (actor === undefined || actor.snapshot.status !== 'active') return [];
      const types = new Set(getNextTransitions(actor.snapshot).map(({ eventType }) => eventType));
      const cases = CASES[kindInId(actorId)] ?? [];
      return [...types].filter((type) => type !== '').flatMap((type) => {
        const own = cases.filter((one) => one.type === type);
        return own.length === 0
          ? choice(actor, type, undefined)
          : own.flatMap((one) => choice(actor, type, one));
      });
    },
    fire: ({ actorId, type, eventCase }) => {
      const actor = actors.get(actorId);
      if (actor === undefined || actor.snapshot.status !== 'active') return false;
      const event = eventOf(type, eventCase);
      const next = after(actor, event);
      if (next === undefined) return false;
      clock.nowMs += type.startsWith(TIMER)
        ? delayMs(actor.machine, actor.snapshot, type)
        : STEP_MS;
      actor.snapshot = next;
      trace.push({ actorId, type, eventCase });
      board.observe({ id: actorId, event, snapshot: next });
      return true;
    },
  };
};
