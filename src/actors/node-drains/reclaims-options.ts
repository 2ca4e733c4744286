/** What the reclaims of a process follow, what they act on, and what their actors do. */
import type { Observable } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import type { DrainingLimit } from '../../domain/drain/draining-limit.ts';
import type { ReclaimEntry } from '../../domain/drain/reclaim-entry.ts';
import type { InstructionEntry } from '../../domain/drain/reclaim-index.ts';
import type { ShardEvent } from '../../domain/frames.ts';
import type { Reply } from '../../domain/session.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { ReclaimAck, ReclaimInstructionContext } from '../../machines/reclaim-instruction.ts';
import type { Informer } from '../informers/informer.ts';
import type { RecordOnLease } from '../role.ts';
import type { UpcomingNodeRegistry } from '../upcoming-nodes/upcoming-nodes.ts';
import type { DrainEvents } from './drain-events.ts';
import type { DrainRegistry } from './drains.ts';

/** The inputs of reclaims. */
export interface ReclaimsOptions {
  readonly shardEvents: Observable<ShardEvent>;
  /** False without room or a stream. */
  readonly reply: (reply: Reply) => boolean;
  readonly machines: Pick<UpcomingNodeRegistry, 'nodeOf' | 'drain' | 'wasConfigured'>;
  readonly nodes: Pick<Informer<NodeProjection>, 'facts' | 'get' | 'values' | 'size'>;
  /** The Nodes could not be read lately. */
  readonly areNodesBehind: () => boolean;
  readonly upcomingNodes: Pick<Informer<UpcomingNodeProjection>, 'get'>;
  /** The machine of a Node, also of one that is gone. */
  readonly machineOf: (node: Pick<NodeProjection, 'name'>) => string | undefined;
  readonly drains: Pick<
    DrainRegistry,
    'order' | 'release' | 'events' | 'has' | 'takes' | 'draining' | 'resumed'
  >;
  readonly record: RecordEvent;
  readonly recordOnLease: RecordOnLease;
  readonly events: Pick<DrainEvents, 'clamped' | 'notResumed'>;
  /** `--reclaimable-node-selector` selects the Node. */
  readonly isReclaimable: (node: string) => boolean;
  /** `--max-draining`. */
  readonly maxDraining: DrainingLimit;
}

/** The side effects of an instruction's statechart. */
export interface ReclaimActions {
  /** True when the outbox accepted it. */
  readonly queueAck: (ack: ReclaimAck) => Promise<boolean>;
  readonly releaseEvictions: (context: ReclaimInstructionContext) => void;
  readonly recordUnseen: (context: ReclaimInstructionContext) => void;
  readonly recordQueued: (context: ReclaimInstructionContext) => void;
  readonly recordNeverStarted: (context: ReclaimInstructionContext) => void;
}

/** The dependencies of instruction actors. */
export interface ReclaimActorOptions extends ReclaimActions {
  /** The machines of the instruction with the current state of their Nodes. */
  readonly machinesNow: (entry: InstructionEntry) => readonly ReclaimEntry[];
  /** The actor runs again after a crash. */
  readonly onRestart: (entry: InstructionEntry) => void;
  /** An instruction has ended; what it queued waits no longer. */
  readonly onSettled: () => void;
}
