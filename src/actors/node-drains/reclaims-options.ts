/** What the reclaims of a process follow, and what they act on. */
import type { Observable } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import type { DrainingLimit } from '../../domain/drain/draining-limit.ts';
import type { ShardEvent } from '../../domain/frames.ts';
import type { Reply } from '../../domain/session.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
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
  readonly whenNodesCurrent: () => Promise<void>;
  readonly upcomingNodes: Pick<Informer<UpcomingNodeProjection>, 'get'>;
  /** The machine of a Node, also of one that is gone. */
  readonly machineOf: (node: Pick<NodeProjection, 'name'>) => string | undefined;
  readonly drains: Pick<
    DrainRegistry,
    'order' | 'release' | 'events' | 'has' | 'takes' | 'draining'
  >;
  readonly record: RecordEvent;
  readonly recordOnLease: RecordOnLease;
  readonly events: Pick<DrainEvents, 'clamped' | 'notResumed'>;
  /** `--reclaimable-node-selector` selects the Node. */
  readonly isReclaimable: (node: string) => boolean;
  /** `--max-draining`. */
  readonly maxDraining: DrainingLimit;
}
