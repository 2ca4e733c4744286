/** What XState's inspection says of actors, where more than one who looks must read it. */
import type { InspectionEvent } from 'xstate';

/** The id that an actor was made with; empty for what is no actor of ours. */
export const actorId = ({ actorRef }: Pick<InspectionEvent, 'actorRef'>): string =>
  'id' in actorRef ? String(actorRef.id) : '';

type Seen = Extract<InspectionEvent, { type: '@xstate.snapshot' }>['snapshot'];

/**
 * True for the snapshot of an act (a promise, a callback, an observable), which alone keeps its
 * input. Asked first, because acts tell nearly as much as statecharts and nobody looks at them.
 */
export const isOfAct = (snapshot: Seen): boolean => 'input' in snapshot;
