/** The types of the `upcomingNode` statechart: input, context and events. */
import type { ResourceVersion } from '../domain/ids.ts';
import type { NodeLink } from '../domain/node-link.ts';
import type { Seed } from '../domain/random.ts';
import type { HoldingFact } from '../domain/object-phase.ts';
import type {
  MachineReport,
  PendingWrite,
  UpcomingNodeFacts,
  UpcomingNodeProjection,
} from '../domain/upcoming-node.ts';
import type { CurrentObject, ObjectWriterContext } from './object-writer.ts';

/** The id and name of the object, and its wanted content. */
export interface UpcomingNodeAct {
  readonly machineId: string;
  readonly name: string;
  readonly facts: UpcomingNodeFacts;
}

export interface UpcomingNodeInput extends UpcomingNodeAct {
  /** The UID of the Node whose readiness was recorded before; empty without one. */
  readonly readyRecorded: string;
  readonly seed: Seed;
}

export interface UpcomingNodeContext
  extends
    UpcomingNodeInput,
    CurrentObject<UpcomingNodeFacts>,
    ObjectWriterContext<{ readonly write: PendingWrite }> {
  /** The resourceVersion before the write in flight; none for a creation. */
  readonly base: ResourceVersion | null;
}

export type UpcomingNodeEvent =
  /** A frame about the machine, or a replay of all bound machines that ended without it. */
  | { readonly type: 'machine.observed'; readonly reported: MachineReport }
  | { readonly type: 'object.observed'; readonly current: UpcomingNodeProjection }
  /** `last` is the last known version of the deleted object. */
  | {
    readonly type: 'object.vanished';
    readonly last: Pick<UpcomingNodeProjection, 'uid' | 'resourceVersion'>;
  }
  | { readonly type: 'node.observed'; readonly node: NodeLink | null }
  /** Null when no drain holds the phase any more. */
  | { readonly type: 'drain.observed'; readonly drain: HoldingFact | null }
  | { readonly type: 'slot.acquired' };
