/**
 * What XState's inspection says of actors, for those who look on: each event that a statechart took
 * in, with what became of it.
 *
 * Promises: acts (promises, callbacks, observables) are looked past before anything is asked of
 * them, because they tell nearly as much as statecharts and nobody looks at them.
 */
import type { InspectionEvent } from 'xstate';

/** The function that `createActor(…, { inspect })` takes. */
export type Inspect = (event: InspectionEvent) => void;

type SnapshotSeen = Extract<InspectionEvent, { type: '@xstate.snapshot' }>;

/** What became of an actor by an event. */
export interface ActorSight {
  readonly id: string;
  readonly event: { readonly type: string };
  /** The snapshot after it. */
  readonly snapshot: SnapshotSeen['snapshot'];
}

/** Who looks on, such as the live page. */
export type Onlooker = (sight: ActorSight) => void;

/** The id that an actor was made with; empty for what is no actor of ours. */
export const actorId = ({ actorRef }: Pick<InspectionEvent, 'actorRef'>): string =>
  'id' in actorRef ? String(actorRef.id) : '';

/** True for the snapshot of an act, which alone keeps its input. */
export const isOfAct = (snapshot: ActorSight['snapshot']): boolean => 'input' in snapshot;

/** One tap for all: what moved for `tap`, and what became of it for those who look on. */
export const seenBy = (tap: Inspect, onlookers: readonly Onlooker[]): Inspect => {
  const [first, ...others] = onlookers;
  // Nothing is between where nobody looks on.
  if (first === undefined) return tap;
  const look = others.reduce<Onlooker>((before, next) => (sight) => {
    before(sight);
    next(sight);
  }, first);
  return (inspected) => {
    if (inspected.type !== '@xstate.snapshot') {
      tap(inspected);
      return;
    }
    const { event, snapshot } = inspected;
    if (!isOfAct(snapshot)) look({ id: actorId(inspected), event, snapshot });
  };
};
