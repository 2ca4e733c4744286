/** Which snapshots are of no statechart. */
import type { InspectionEvent } from 'xstate';

type Seen = Extract<InspectionEvent, { type: '@xstate.snapshot' }>['snapshot'];

/**
 * True for the snapshot of an act (a promise, a callback, an observable), which alone keeps its
 * input. Asked first, because acts tell nearly as much as statecharts and nobody looks at them.
 */
export const isOfAct = (snapshot: Seen): boolean => 'input' in snapshot;
