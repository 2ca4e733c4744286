/**
 * The role that drains nodes: reclaim instructions, drains and pod evictions.
 *
 * Promises: resumes the drains found on Nodes as soon as it leads (DR-13).
 */
import type { Subscription } from 'rxjs';
import { projectNode } from '../../domain/cluster-node.ts';
import { projectBudget } from '../../domain/drain/budget.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { DrainingLimit } from '../../domain/drain/draining-limit.ts';
import type { PlanTerms } from '../../domain/drain/plan.ts';
import { podProjection } from '../../domain/drain/pod.ts';
import {
  projectVolumeAttachment,
  type VolumeAttachment,
} from '../../domain/drain/volume-attachment.ts';
import type { Identity } from '../../domain/facts.ts';
import { machineId, objectKey } from '../../domain/ids.ts';
import type { Labels } from '../../domain/label-condition.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import { identityOf, labelsOf } from '../../domain/object-meta.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { EvictionMode } from '../../domain/eviction-requests/drain-requester.ts';
import type { EvictionsApiOption } from '../../domain/native-evictions/evictions-api.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { PodEvictionApi } from '../../effects/pod-eviction-api.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { FleetSession } from '../fleet-session/fleet-session.ts';
import type { InformerOptions } from '../informers/informer.ts';
import { isBehind, missingLists, whenCurrent } from '../informers/shared-informers.ts';
import { type PodEvictionRegistry, startPodEvictions } from '../pod-evictions/pod-evictions.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import { DefaultInterceptors } from '../eviction-requests/default-interceptors.ts';
import { drainRequests } from '../eviction-requests/drain-requests.ts';
import type { UpcomingNodeRegistry } from '../upcoming-nodes/upcoming-nodes.ts';
import { NodeConditions } from './drain-blockers.ts';
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
  /** `--via`; default: plain evictions. */
  readonly via?: EvictionMode;
  /** `--eviction-request-api`; default: auto. */
  readonly evictionsApi?: EvictionsApiOption;
  /** `--default-interceptors`; without it, none. */
  readonly defaultInterceptors?: readonly string[];
  /** `--reclaimable-node-selector`; without it, every Node. */
  readonly isReclaimable?: (labels: Labels) => boolean;
  /** `--max-draining`; without it, all at once. */
  readonly maxDraining?: DrainingLimit;
}

const NO_LIMIT: DrainingLimit = { _tag: 'Percent', percent: 100 };

/** A Node, and whether the shard may reclaim it. */
interface SelectedNode extends Identity {
  readonly reclaimable: boolean;
}

const selectedNodes = (
  { informers }: Pick<RoleContext, 'informers'>,
  isReclaimable: (labels: Labels) => boolean,
) =>
  informers.collection({
    id: 'nodes',
    path: '/api/v1/nodes',
    project: (raw): SelectedNode | undefined => {
      const identity = identityOf(raw);
      return identity && { ...identity, reclaimable: isReclaimable(labelsOf(raw)) };
    },
  });

/** The inputs of the role. */
export interface NodeDrainsRoleOptions {
  readonly policy: DrainPolicy;
  readonly session: Pick<FleetSession, 'shardEvents' | 'reply'>;
  readonly machines: Pick<
    UpcomingNodeRegistry,
    'nodeOf' | 'machineOf' | 'drain' | 'wasConfigured'
  >;
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

/** UpcomingNodes by the Node that they refer to; computed again after a change, when asked. */
class UpcomingNodesByNode {
  readonly #subscription: Subscription;
  #byNode: ReadonlyMap<string, UpcomingNodeProjection> | undefined;

  constructor(upcomingNodes: DrainInformers['upcomingNodes']) {
    this.#subscription = upcomingNodes.facts.subscribe(() => {
      this.#byNode = undefined;
    });
    this.get = ({ name }) => {
      this.#byNode ??= new Map(
        [...upcomingNodes.values()].toReversed()
          .filter(({ machineId: id, nodeName }) => id !== '' && nodeName !== '')
          .map((upcomingNode) => [upcomingNode.nodeName, upcomingNode]),
      );
      return this.#byNode.get(name);
    };
  }

  readonly get: (node: NamedNode) => UpcomingNodeProjection | undefined;
  readonly stop = (): Promise<void> => Promise.resolve(this.#subscription.unsubscribe());
}

/** The machine of a Node: by matching, by its UpcomingNode, by label or by name. */
const machineFinder = (
  { machines, upcomingNodes, nodes, byNode }: Pick<DrainInformers, 'upcomingNodes' | 'nodes'> & {
    readonly machines: Pick<UpcomingNodeRegistry, 'machineOf'>;
    readonly byNode: Pick<UpcomingNodesByNode, 'get'>;
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
    const known = byNode.get(node)?.machineId;
    if (known !== undefined) return known;
    // A label may name the machine of another Node.
    return candidates(node).find((id) => (objectOf(id)?.nodeName ?? '') === '');
  };
};

const stopAll = async (parts: readonly { readonly stop: () => Promise<void> }[]): Promise<void> => {
  await Promise.all(parts.map(({ stop }) => stop()));
};

/** Only named in an Event (DR-24), so the role does not wait for it. */
const attachmentsIn = ({ informers }: Pick<RoleContext, 'informers'>) =>
  informers.collection({
    id: 'volumeattachments',
    path: '/apis/storage.k8s.io/v1/volumeattachments',
    project: projectVolumeAttachment,
  });

/** The role, and its evictions for other roles of the process. */
export interface NodeDrainsRole extends Role {
  readonly shared: {
    readonly evictions: PodEvictionRegistry;
    readonly pods: DrainInformers['pods'];
    readonly defaults: DefaultInterceptors;
  };
}

/** The evictions of the drains, and the requests by which they ask first. */
const drainEvictions = (
  environment: ActorEnvironment<EvictionRequests | PodEvictionApi>,
  context: RoleContext,
  { read, policy }: { readonly read: DrainInformers; readonly policy: DrainPolicy },
) => {
  const { via: mode = 'evictions', callsPerBudget = 1, defaultInterceptors: names = [] } = policy;
  const defaults = new DefaultInterceptors({ ...read, names });
  const requested = drainRequests(environment, context, {
    ...read,
    mode,
    api: policy.evictionsApi,
    defaultsFor: defaults.of,
  });
  const evictions = startPodEvictions(environment, {
    ...read,
    callsPerBudget,
    requested: requested?.requesters,
  });
  return { requested, evictions, defaults };
};

/** The role with the requesters of its drains; they follow its leadership before the drains. */
const withRequests = (
  role: NodeDrainsRole,
  requested: ReturnType<typeof drainRequests>,
): NodeDrainsRole => {
  if (requested === undefined) return role;
  const { requesters, informers, start } = requested;
  // What the drains release afterwards is left to the next leader.
  const onLeadershipLost = (): void => [requesters, role].forEach((one) => one.onLeadershipLost());
  return {
    ...role,
    get informers() {
      return [...role.informers, ...informers()];
    },
    ready: () => role.ready() ?? missingLists(informers()),
    start,
    onLeading: () => [requesters, role].forEach((one) => one.onLeading()),
    onLeadershipLost,
    close: () => Promise.resolve(onLeadershipLost()),
    stop: () => stopAll([requesters, role]),
  };
};

/** Creates the role, not leading. */
export const nodeDrainsRole = (
  environment: ActorEnvironment<Cordons | EvictionRequests | PodEvictionApi>,
  { policy, session, machines, upcomingNodeCollection }: NodeDrainsRoleOptions,
  context: RoleContext,
): NodeDrainsRole => {
  const { own, tierWaitMs, paused, isReclaimable = () => true } = policy;
  const { record, recordOnLease } = context;
  const read = drainInformers(context, upcomingNodeCollection);
  const { nodes, pods, upcomingNodes } = read;
  const selection = selectedNodes(context, isReclaimable);
  const attachments = attachmentsIn(context);
  const byNode = new UpcomingNodesByNode(upcomingNodes);
  const machineOf = machineFinder({ machines, upcomingNodes, nodes, byNode });
  const events = drainEvents(environment.telemetry, record);
  const { requested, ...shared } = drainEvictions(environment, context, { read, policy });
  const { evictions, defaults } = shared;
  const conditions = new NodeConditions(environment);
  const drains = new DrainRegistry(environment, {
    nodes,
    pods,
    whenNodesCurrent: () => whenCurrent(nodes),
    whenPodsCurrent: () => whenCurrent(pods),
    evictions,
    showOnMachine: machines.drain,
    showOnNode: conditions.show,
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
    record,
    recordOnLease,
    events,
    areNodesBehind: () => isBehind(nodes),
    isReclaimable: (node) => selection.get(objectKey(node))?.reclaimable === true,
    maxDraining: policy.maxDraining ?? NO_LIMIT,
  });
  const onLeadershipLost = (): void =>
    [reclaims, drains].forEach((registry) => registry.onLeadershipLost());
  return withRequests({
    ...roleDefaults('node-drains', Object.values(read)),
    shared: { ...shared, pods },
    onLeading: () => {
      // Recovered instructions continue before their drains report to them.
      reclaims.onLeading();
      drains.onLeading();
    },
    onLeadershipLost,
    close: () => Promise.resolve(onLeadershipLost()),
    stop: () => stopAll([reclaims, drains, evictions, defaults, byNode, conditions]),
  }, requested);
};
