/**
 * Passes the transitions of statecharts from XState's inspection to inspectors: each event with the
 * snapshot after it.
 *
 * Promises: invoked promises, callbacks and observables are skipped before any of their fields is
 * read, because they emit nearly as many events as statecharts and no inspector needs them.
 */
import type { InspectionEvent } from 'xstate';

/** The function for `createActor(…, { inspect })`. */
export type Inspect = (event: InspectionEvent) => void;

type SnapshotSeen = Extract<InspectionEvent, { type: '@xstate.snapshot' }>;

/** One transition of an actor. */
export interface ActorTransition {
  readonly id: string;
  readonly event: { readonly type: string };
  /** The snapshot after it. */
  readonly snapshot: SnapshotSeen['snapshot'];
  /** Of an actor that is older than its recording; otherwise the transition is of now. */
  readonly since?: { readonly sinceMs: number; readonly bornMs: number };
}

/** Receives every transition: the live page, the recorder. */
export type Inspector = (transition: ActorTransition) => void;

/** The id that an actor was created with; empty for actors of other origin. */
export const actorId = ({ actorRef }: Pick<InspectionEvent, 'actorRef'>): string =>
  'id' in actorRef ? String(actorRef.id) : '';

/** True for the snapshot of an invoked actor, which alone keeps its input. */
export const isOfAct = (snapshot: ActorTransition['snapshot']): boolean => 'input' in snapshot;

/** One inspection function: events go to `tap`, transitions of statecharts to the inspectors. */
export const inspectWith = (tap: Inspect, inspectors: readonly Inspector[]): Inspect => {
  const [first, ...others] = inspectors;
  // Without inspectors no wrapper is added.
  if (first === undefined) return tap;
  const look = others.reduce<Inspector>((before, next) => (transition) => {
    before(transition);
    next(transition);
  }, first);
  return (inspection) => {
    if (inspection.type !== '@xstate.snapshot') {
      tap(inspection);
      return;
    }
    const { event, snapshot } = inspection;
    if (!isOfAct(snapshot)) look({ id: actorId(inspection), event, snapshot });
  };
};
