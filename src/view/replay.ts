/**
 * Replays a recording: the real machines with the same inputs and events reach the same states.
 *
 * Promises: no side effects and no clock; states come from the current machines, and every
 * disagreement with the recording is reported.
 */
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventObject,
  initialTransition,
  transition,
} from 'xstate';
import type { RecordLine } from '../api/actor-record.ts';
import { kindInId } from '../api/actor-board.ts';
import { RESTORED } from '../api/actor-history.ts';
import { stateText } from '../domain/state-value.ts';

/** A replayed actor. */
export interface ReplayedActor {
  readonly id: string;
  readonly kind: string;
  readonly snapshot: AnyMachineSnapshot;
}

/** The result of one recorded line. */
export type Replayed =
  | { readonly _tag: 'Moved'; readonly actor: ReplayedActor; readonly isBorn: boolean }
  /** The recorded state differs from the current machine's. */
  | { readonly _tag: 'Disagreed'; readonly actor: ReplayedActor; readonly recorded: string }
  | { readonly _tag: 'Unplayable'; readonly id: string; readonly why: string };

/** Replays line after line. */
export interface Replay {
  readonly play: (line: RecordLine) => Replayed;
}

const INIT = 'xstate.init';
const STATUSES = ['active', 'done', 'error', 'stopped'] as const;

/** The innermost states of a snapshot, in the format of a recording. */
export const stateOf = ({ value }: AnyMachineSnapshot): string => stateText(value);

const inputOf = (event: EventObject): unknown => 'input' in event ? event['input'] : undefined;

/** An actor whose start is older than the recording. */
const restored = (machine: AnyStateMachine, { event, status }: RecordLine): AnyMachineSnapshot =>
  machine.resolveState({
    value: Reflect.get(event, 'value'),
    context: Reflect.get(event, 'context'),
    status: STATUSES.find((one) => one === status) ?? 'active',
  });

/** An empty replay. */
export const makeReplay = (machines: Readonly<Record<string, AnyStateMachine>>): Replay => {
  const actors = new Map<string, ReplayedActor>();

  const next = (line: RecordLine): ReplayedActor | string => {
    const { id, event } = line;
    const kind = kindInId(id);
    const machine = Object.hasOwn(machines, kind) ? machines[kind] : undefined;
    if (machine === undefined) return `there is no machine "${kind}"`;
    try {
      if (event.type === INIT) {
        return { id, kind, snapshot: initialTransition(machine, inputOf(event))[0] };
      }
      if (event.type === RESTORED) return { id, kind, snapshot: restored(machine, line) };
      const actor = actors.get(id);
      if (actor === undefined) return 'its start is not in the recording';
      return { id, kind, snapshot: transition(machine, actor.snapshot, event)[0] };
    } catch (error) {
      return `its machine fails on "${event.type}": ${String(error)}`;
    }
  };

  return {
    play: (line) => {
      const actor = next(line);
      if (typeof actor === 'string') return { _tag: 'Unplayable', id: line.id, why: actor };
      actors.set(actor.id, actor);
      return stateOf(actor.snapshot) === line.state
        ? { _tag: 'Moved', actor, isBorn: line.event.type === INIT }
        : { _tag: 'Disagreed', actor, recorded: line.state };
    },
  };
};
