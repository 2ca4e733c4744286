/**
 * Everything that gives nodes back, put together: evictions, drains and reclaim instructions over
 * the caches and the session.
 *
 * Promises: does nothing until it leads; without the lease it stops all drains and sends nothing;
 * `stop` sends nothing new and waits for what was sent (DR-15).
 */
import type { Observable } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import type { Budget } from '../../domain/drain/budget.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { PlanTerms } from '../../domain/drain/plan.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { ShardEvent } from '../../domain/frames.ts';
import { machineId, objectKey } from '../../domain/ids.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import type { Reply } from '../../domain/session.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { Evictions } from '../../effects/evictions.ts';
import { drainEvents } from './drain-events.ts';
import { DrainRegistry } from './drains.ts';
import { type PodEvictionRegistry, startPodEvictions } from '../pod-evictions/pod-evictions.ts';
import { type ReclaimRegistry, startReclaims } from './reclaims.ts';
import type { Informer } from '../informers/informer.ts';
import type { UpcomingNodeRegistry } from '../upcoming-nodes/upcoming-nodes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** How drains behave, as settings say. */
export interface DrainPolicy {
  /** The operator's own pod leaves last. */
  readonly own: PlanTerms['own'];
  /** `--tier-wait`. */
  readonly tierWaitMs?: number | undefined;
  /** `--pause-drains`. */
  readonly paused: boolean;
  /** `--evictions-per-budget`. */
  readonly callsPerBudget?: number;
}

/** What the role follows and acts on. */
export interface DrainRoleOptions {
  readonly policy: DrainPolicy;
  readonly shardEvents: Observable<ShardEvent>;
  readonly reply: (reply: Reply) => boolean;
  readonly machines: Pick<UpcomingNodeRegistry, 'nodeOf' | 'machineOf' | 'drain'>;
  readonly nodes: Pick<Informer<NodeProjection>, 'facts' | 'get' | 'values'>;
  readonly pods: Pick<Informer<DrainPod>, 'facts' | 'get'>;
  readonly budgets: Pick<Informer<Budget>, 'facts' | 'progress'>;
  readonly upcomingNodes: Pick<Informer<UpcomingNodeProjection>, 'get' | 'values'>;
  readonly record: RecordEvent;
  /** Volumes that are attached to a node. */
  readonly volumesOn?: (node: string) => readonly string[];
}

/** The role. */
export interface DrainRole {
  readonly evictions: PodEvictionRegistry;
  readonly drains: DrainRegistry;
  readonly reclaims: ReclaimRegistry;
  /** Before the session is opened, and when the lease is lost. */
  readonly lead: (leading: boolean) => void;
  /** Resolves when everything that was sent has its answer. */
  readonly stop: () => Promise<void>;
}

/** The machine of a Node: as they are matched, by what its UpcomingNode shows, by label or name. */
const machineFinder = (
  { machines, upcomingNodes, nodes }: Pick<
    DrainRoleOptions,
    'machines' | 'upcomingNodes' | 'nodes'
  >,
) => {
  const isOf = (shown: UpcomingNodeProjection, node: DrainedNode): boolean =>
    shown.machineId !== '' && shown.nodeName === node.name;
  const candidates = (node: DrainedNode): readonly string[] =>
    [nodes.get(objectKey(node.name))?.machineLabel ?? '', node.name].filter((id) => id !== '');
  return (node: DrainedNode): string | undefined => {
    const matched = machines.machineOf(node.name);
    if (matched !== undefined) return matched;
    for (const id of candidates(node)) {
      const shown = upcomingNodes.get(objectKey(upcomingNodeName(machineId(id))));
      if (shown !== undefined && isOf(shown, node)) return shown.machineId;
    }
    for (const shown of upcomingNodes.values()) if (isOf(shown, node)) return shown.machineId;
    return candidates(node)[0];
  };
};

/** Starts the role, not leading. */
export const startDrainRole = (
  environment: ActorEnvironment<Cordons | Evictions>,
  options: DrainRoleOptions,
): DrainRole => {
  const { policy, nodes, pods, budgets, machines, shardEvents, record } = options;
  const { own, tierWaitMs, paused, callsPerBudget } = policy;
  const machineOf = machineFinder(options);
  const events = drainEvents(environment.telemetry, record);
  const evictions = startPodEvictions(environment, {
    pods,
    budgets,
    nodes,
    ...(callsPerBudget === undefined ? {} : { callsPerBudget }),
  });
  const drains = new DrainRegistry(environment, {
    nodes,
    pods,
    evictions,
    showOnMachine: machines.drain,
    machineOf,
    events,
    own,
    paused,
    ...(tierWaitMs === undefined ? {} : { tierWaitMs }),
    ...(options.volumesOn === undefined ? {} : { volumesOn: options.volumesOn }),
  });
  const reclaims = startReclaims(environment, {
    shardEvents,
    reply: options.reply,
    machines,
    nodes,
    upcomingNodes: options.upcomingNodes,
    machineOf,
    drains,
    record,
    events,
  });
  return {
    evictions,
    drains,
    reclaims,
    lead: (leading) => {
      if (leading) {
        // What Nodes show goes on before their drains report to it.
        reclaims.onLeading();
        drains.onLeading();
      } else {
        reclaims.onLeadershipLost();
        drains.onLeadershipLost();
      }
    },
    stop: async () => {
      await Promise.all([reclaims.stop(), drains.stop(), evictions.stop()]);
    },
  };
};
