/**
 * The role that gives nodes back: reclaim instructions, drains and pod evictions.
 *
 * Promises: goes on with what Nodes show as soon as it leads (DR-13).
 */
import { projectNode } from '../../domain/cluster-node.ts';
import { projectBudget } from '../../domain/drain/budget.ts';
import { podProjection } from '../../domain/drain/pod.ts';
import {
  projectVolumeAttachment,
  type VolumeAttachment,
} from '../../domain/drain/volume-attachment.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { Evictions } from '../../effects/evictions.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { FleetSession } from '../fleet-session/fleet-session.ts';
import type { InformerOptions } from '../informers/informer.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import type { UpcomingNodeRegistry } from '../upcoming-nodes/upcoming-nodes.ts';
import { type DrainPolicy, startDrainRole } from './drain-role.ts';

/** What the role is made with. */
export interface NodeDrainsRoleOptions {
  readonly policy: DrainPolicy;
  readonly session: Pick<FleetSession, 'news' | 'reply'>;
  readonly machines: Pick<UpcomingNodeRegistry, 'nodeOf' | 'machineOf' | 'drain'>;
  readonly upcomingNodes: InformerOptions<UpcomingNodeProjection>;
}

/** The volumes that are attached to a node, as far as is known. */
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

/** The role, not leading. */
export const nodeDrainsRole = (
  environment: ActorEnvironment<Cordons | Evictions>,
  { policy, session, machines, upcomingNodes }: NodeDrainsRoleOptions,
  context: RoleContext,
): Role => {
  const read = drainInformers(context, upcomingNodes);
  // Named in an Event and decides nothing (DR-24), so the role does not wait for it.
  const attachments = context.informers.collection({
    id: 'volumeattachments',
    path: '/apis/storage.k8s.io/v1/volumeattachments',
    project: projectVolumeAttachment,
  });
  const drains = startDrainRole(environment, {
    ...read,
    policy,
    machines,
    news: session.news,
    reply: session.reply,
    record: context.record,
    volumesOn: (node) => volumesOn(attachments.values(), node),
  });
  return {
    ...roleDefaults('node-drains', Object.values(read)),
    onLeading: () => drains.lead(true),
    onLeadershipLost: () => drains.lead(false),
    close: () => {
      drains.lead(false);
      return Promise.resolve();
    },
    stop: drains.stop,
  };
};
