/**
 * The role that drains nodes: reclaim instructions, drains and pod evictions.
 *
 * Promises: resumes the drains found on Nodes as soon as it leads (DR-13).
 */
import type { Subscription } from 'rxjs';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { DrainingLimit } from '../../domain/drain/draining-limit.ts';
import type { Identity } from '../../domain/facts.ts';
import { machineId, objectKey } from '../../domain/ids.ts';
import type { Labels } from '../../domain/label-condition.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import { identityOf, labelsOf } from '../../domain/object-meta.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { PodEvictionApi } from '../../effects/pod-eviction-api.ts';
import type { ServingGates } from '../../effects/serving-gates.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { FleetSession } from '../fleet-session/fleet-session.ts';
import type { Informer, InformerOptions } from '../informers/informer.ts';
import { isBehind, missingLists } from '../informers/shared-informers.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import type { UpcomingNodeRegistry } from '../upcoming-nodes/upcoming-nodes.ts';
import { type DrainEngine, drainEngine, type DrainPolicy } from './drain-engine.ts';
import { ReclaimRegistry } from './reclaims.ts';

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

type NamedNode = Pick<DrainedNode, 'name'>;

/** UpcomingNodes by the Node that they refer to; computed again after a change, when asked. */
class UpcomingNodesByNode {
  readonly #subscription: Subscription;
  #byNode: ReadonlyMap<string, UpcomingNodeProjection> | undefined;

  constructor(upcomingNodes: Informer<UpcomingNodeProjection>) {
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
  { machines, upcomingNodes, nodes, byNode }: {
    readonly upcomingNodes: Informer<UpcomingNodeProjection>;
    readonly nodes: Informer<NodeProjection>;
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

/** The role, and its drains and evictions for other roles of the process. */
export interface NodeDrainsRole extends Role {
  readonly shared: DrainEngine;
}

/** Creates the role, not leading. */
export const nodeDrainsRole = (
  environment: ActorEnvironment<Cordons | EvictionRequests | PodEvictionApi | ServingGates>,
  { policy, session, machines, upcomingNodeCollection }: NodeDrainsRoleOptions,
  context: RoleContext,
): NodeDrainsRole => {
  const { isReclaimable = () => true } = policy;
  const { informers, record, recordOnLease } = context;
  const upcomingNodes = informers.collection(upcomingNodeCollection);
  const selection = selectedNodes(context, isReclaimable);
  const byNode = new UpcomingNodesByNode(upcomingNodes);
  const engine = drainEngine(environment, {
    policy,
    showOnMachine: machines.drain,
    machineOf: (nodes) => machineFinder({ machines, upcomingNodes, nodes, byNode }),
  }, context);
  const { drains, nodes, events, machineOf } = engine;
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
  const awaited = () => [...engine.informers(), upcomingNodes];
  // What the drains release afterwards is left to the next leader.
  const onLeadershipLost = (): void => {
    engine.requested?.onLeadershipLost();
    reclaims.onLeadershipLost();
    drains.onLeadershipLost();
  };
  return {
    ...roleDefaults('node-drains', []),
    get informers() {
      return awaited();
    },
    ready: () => missingLists(awaited()),
    discover: engine.discover,
    shared: engine,
    onLeading: () => {
      engine.requested?.onLeading();
      // Recovered instructions continue before their drains report to them.
      reclaims.onLeading();
      drains.onLeading();
    },
    onLeadershipLost,
    close: () => Promise.resolve(onLeadershipLost()),
    stop: async () => {
      await Promise.all([engine.stop(), reclaims.stop(), byNode.stop()]);
    },
  };
};
