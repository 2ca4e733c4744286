/**
 * The role that drains nodes: reclaim instructions, drains and pod evictions.
 *
 * Promises: resumes the drains found on Nodes as soon as it leads (DR-13).
 */
import { projectNode } from '../../domain/cluster-node.ts';
import { projectBudget } from '../../domain/drain/budget.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { PlanTerms } from '../../domain/drain/plan.ts';
import { podProjection } from '../../domain/drain/pod.ts';
import {
  projectVolumeAttachment,
  type VolumeAttachment,
} from '../../domain/drain/volume-attachment.ts';
import { machineId, objectKey } from '../../domain/ids.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { PodEvictionApi } from '../../effects/pod-eviction-api.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { FleetSession } from '../fleet-session/fleet-session.ts';
import type { InformerOptions } from '../informers/informer.ts';
import { startPodEvictions } from '../pod-evictions/pod-evictions.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import type { UpcomingNodeRegistry } from '../upcoming-nodes/upcoming-nodes.ts';
import { drainEvents } from './drain-events.ts';
import { DrainRegistry } from './drains.ts';
import { ReclaimRegistry } from './reclaims.ts';

/** The settings of drains. */
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

/** The inputs of the role. */
export interface NodeDrainsRoleOptions {
  readonly policy: DrainPolicy;
  readonly session: Pick<FleetSession, 'shardEvents' | 'reply'>;
  readonly machines: Pick<UpcomingNodeRegistry, 'nodeOf' | 'machineOf' | 'drain'>;
  /** The same one that the role of UpcomingNodes reads. */
  readonly upcomingNodeCollection: InformerOptions<UpcomingNodeProjection>;
}

/** The volumes attached to a node, as far as known. */
const volumesOn = (attachments: Iterable<VolumeAttachment>, node: string): readonly string[] =>
  [...attachments].filter((attachment) => attachment.node === node).map(({ volume }) => volume);

/** What the role reads. */
const drainInformers = (
  { informers }: Pick<RoleContext, 'informers'>,
  upcomingNodes: InformerOptions<UpcomingNodeProjection>,
) => ({
  nodes: informers.collection({ id: 'nodes', path: '/api/v1/nodes', project: projectNode }),
  pods: informers.collection({
    id: 'pods',
    path: '/api/v1/pods',
    query: { fieldSelector: 'spec.nodeName!=' },
    project: podProjection(),
  }),
  budgets: informers.collection({
    id: 'poddisruptionbudgets',
    path: '/apis/policy/v1/poddisruptionbudgets',
    project: projectBudget,
  }),
  upcomingNodes: informers.collection(upcomingNodes),
});

type DrainInformers = ReturnType<typeof drainInformers>;

type NamedNode = Pick<DrainedNode, 'name'>;

/** The machine of a Node: by matching, by its UpcomingNode, by label or by name. */
const machineFinder = (
  { machines, upcomingNodes, nodes }: Pick<DrainInformers, 'upcomingNodes' | 'nodes'> & {
    readonly machines: Pick<UpcomingNodeRegistry, 'machineOf'>;
  },
) => {
  const isOf = (upcomingNode: UpcomingNodeProjection, node: NamedNode): boolean =>
    upcomingNode.machineId !== '' && upcomingNode.nodeName === node.name;
  const candidates = (node: NamedNode): readonly string[] =>
    [nodes.get(objectKey(node.name))?.machineLabel ?? '', node.name].filter((id) => id !== '');
  const objectOf = (id: string) => upcomingNodes.get(objectKey(upcomingNodeName(machineId(id))));
  return (node: NamedNode): string | undefined => {
    const matched = machines.machineOf(node.name);
    if (matched !== undefined) return matched;
    for (const id of candidates(node)) {
      const upcomingNode = objectOf(id);
      if (upcomingNode !== undefined && isOf(upcomingNode, node)) return upcomingNode.machineId;
    }
    for (const upcomingNode of upcomingNodes.values()) {
      if (isOf(upcomingNode, node)) return upcomingNode.machineId;
    }
    // A label may name the machine of another Node.
    return candidates(node).find((id) => (objectOf(id)?.nodeName ?? '') === '');
  };
};

/** Creates the role, not leading. */
export const nodeDrainsRole = (
  environment: ActorEnvironment<Cordons | PodEvictionApi>,
  { policy, session, machines, upcomingNodeCollection }: NodeDrainsRoleOptions,
  context: RoleContext,
): Role => {
  const { own, tierWaitMs, paused, callsPerBudget } = policy;
  const { record } = context;
  const read = drainInformers(context, upcomingNodeCollection);
  const { nodes, pods, budgets, upcomingNodes } = read;
  // Only named in an Event (DR-24), so the role does not wait for it.
  const attachments = context.informers.collection({
    id: 'volumeattachments',
    path: '/apis/storage.k8s.io/v1/volumeattachments',
    project: projectVolumeAttachment,
  });
  const machineOf = machineFinder({ machines, upcomingNodes, nodes });
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
    volumesOn: (node) => volumesOn(attachments.values(), node),
  });
  const reclaims = new ReclaimRegistry(environment, {
    shardEvents: session.shardEvents,
    reply: session.reply,
    machines,
    nodes,
    upcomingNodes,
    machineOf,
    drains,
    events,
  });
  const onLeadershipLost = (): void => {
    reclaims.onLeadershipLost();
    drains.onLeadershipLost();
  };
  return {
    ...roleDefaults('node-drains', Object.values(read)),
    onLeading: () => {
      // Recovered instructions continue before their drains report to them.
      reclaims.onLeading();
      drains.onLeading();
    },
    onLeadershipLost,
    close: () => {
      onLeadershipLost();
      return Promise.resolve();
    },
    stop: async () => {
      await Promise.all([reclaims.stop(), drains.stop(), evictions.stop()]);
    },
  };
};
