/**
 * What the operator looks at and the roles that act on it: session, machines, free capacity,
 * roll-ups and drains.
 *
 * Promises: roles are quiet until they lead; caches are shared, each collection is watched once.
 */
import { projectAvailableCapacity } from '../domain/available-capacity.ts';
import { projectNode } from '../domain/cluster-node.ts';
import { capacityRequestProjector } from '../domain/demand/request.ts';
import { projectBudget } from '../domain/drain/budget.ts';
import { podProjection } from '../domain/drain/pod.ts';
import {
  projectVolumeAttachment,
  type VolumeAttachment,
} from '../domain/drain/volume-attachment.ts';
import type { ClusterId, ObjectKey } from '../domain/ids.ts';
import { asOwnedRequest } from '../domain/pod-demand/owned-request.ts';
import { podDemandProjector } from '../domain/pod-demand/pod-demand.ts';
import type { Intern } from '../domain/text-pool.ts';
import { projectUpcomingNode } from '../domain/upcoming-node.ts';
import {
  AVAILABLE_CAPACITIES_PATH,
  type AvailableCapacities,
} from '../effects/available-capacities.ts';
import type { CapacityRequests } from '../effects/capacity-requests.ts';
import type { Cordons } from '../effects/cordons.ts';
import type { CredentialFiles, Credentials } from '../effects/credentials.ts';
import type { Events } from '../effects/events.ts';
import type { Evictions } from '../effects/evictions.ts';
import type { KubeApi } from '../effects/kube-api.ts';
import type { PodRequests } from '../effects/pod-requests.ts';
import type { ShardCalls } from '../effects/shard-call.ts';
import type { UpcomingNodes } from '../effects/upcoming-nodes.ts';
import type { WriteGate } from '../effects/write-gate.ts';
import { startReflector } from './caches/reflector.ts';
import { startRollups } from './demand/rollups.ts';
import { type DrainPolicy, startDrainRole } from './drains/drain-role.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { Leadership, LeadershipOptions } from './leadership.ts';
import { startAvailableCapacities } from './machines/available-capacities.ts';
import { startUpcomingNodes } from './machines/upcoming-nodes.ts';
import type { PenaltyDefaultsInUse } from './pods/penalty-defaults.ts';
import {
  bothOf,
  ownedRequestProjector,
  type PodPolicy,
  type PodRoleCaches,
  startNamespaces,
  startPodRole,
} from './pods/pod-caches.ts';
import type { PodDemandRegistry } from './pods/pod-demands.ts';
import type { BootstrapTemplate } from './session/bootstrap-template.ts';
import { type FleetSession, startFleetSession } from './session/fleet-session.ts';
import type { World } from './world.ts';

/** Everything that the operator does to the world. */
export type OperatorServices =
  | KubeApi
  | WriteGate
  | CapacityRequests
  | UpcomingNodes
  | Cordons
  | AvailableCapacities
  | Events
  | Evictions
  | PodRequests
  | ShardCalls
  | Credentials;

/** What an operator is started with. */
export interface OperatorOptions {
  readonly clusterId: ClusterId;
  readonly shardAddress: string;
  readonly rollupIntervalMs: number;
  readonly ackConcurrency: number;
  readonly bootstrapTemplateFile: string | undefined;
  readonly credentialFiles: CredentialFiles | undefined;
  readonly lease: LeadershipOptions;
  readonly drains: DrainPolicy;
  /** `--with-pods`; undefined: somebody else makes CapacityRequests. */
  readonly pods?: PodPolicy | undefined;
  /** Keeps equal specs of machines once, in caches and answers alike. */
  readonly intern: Intern;
}

/** The world that the operator acts in. */
export type OperatorWorld = World<OperatorServices>;

const GROUP = '/apis/bigfleet.lucy.sh/v1alpha1';

/** Requests and pods, each watched once, also when pods become demand here. */
const startDemandCaches = (world: OperatorWorld, policy: PodPolicy | undefined) => {
  const requestsFrom = { id: 'capacityrequests', path: `${GROUP}/capacityrequests` };
  const podsFrom = { id: 'pods', path: '/api/v1/pods' };
  if (policy === undefined) {
    return {
      requests: startReflector(world, { ...requestsFrom, project: capacityRequestProjector() }),
      pods: startReflector(world, {
        ...podsFrom,
        query: { fieldSelector: 'spec.nodeName!=' },
        project: podProjection(),
      }),
      demand: undefined,
    };
  }
  const requests = startReflector(world, {
    ...requestsFrom,
    project: bothOf(capacityRequestProjector(), ownedRequestProjector()),
  });
  const pods = startReflector(world, {
    ...podsFrom,
    project: bothOf(podProjection(), podDemandProjector(policy.selectsPod)),
  });
  const owned: PodRoleCaches['requests'] = {
    facts: requests.facts,
    get: (key: ObjectKey) => {
      const request = requests.get(key);
      return request && asOwnedRequest(request);
    },
  };
  const namespaces = startNamespaces(world, policy);
  return { requests, pods, demand: { requests: owned, pods, namespaces } };
};

/** Starts to list and watch everything that the operator looks at. */
export const startCaches = (
  world: OperatorWorld,
  { intern, pods: policy }: Pick<OperatorOptions, 'intern' | 'pods'>,
) => {
  const { requests, pods, demand } = startDemandCaches(world, policy);
  const upcomingNodes = startReflector(world, {
    id: 'upcomingnodes',
    path: `${GROUP}/upcomingnodes`,
    project: (raw) => projectUpcomingNode(raw, intern),
  });
  const availableCapacities = startReflector(world, {
    id: 'availablecapacities',
    path: AVAILABLE_CAPACITIES_PATH,
    project: projectAvailableCapacity,
  });
  const nodes = startReflector(world, {
    id: 'nodes',
    path: '/api/v1/nodes',
    project: projectNode,
  });
  const budgets = startReflector(world, {
    id: 'poddisruptionbudgets',
    path: '/apis/policy/v1/poddisruptionbudgets',
    project: projectBudget,
  });
  const namespaces = demand?.namespaces;
  const all = {
    requests,
    upcomingNodes,
    availableCapacities,
    nodes,
    pods,
    budgets,
    ...(namespaces === undefined ? {} : { namespaces }),
  };
  // Named in an Event and decides nothing (drain rules: DR-24), so nobody waits for it.
  const attachments = startReflector(world, {
    id: 'volumeattachments',
    path: '/apis/storage.k8s.io/v1/volumeattachments',
    project: projectVolumeAttachment,
  });
  return {
    ...all,
    demand,
    attachments,
    all: Object.entries(all),
    stop: () => [...Object.values(all), attachments].forEach((reflector) => reflector.stop()),
  };
};

/** What the operator looks at. */
export type Caches = ReturnType<typeof startCaches>;

/** The volumes that are attached to a node, as far as is known. */
const volumesOn = (attachments: Iterable<VolumeAttachment>, node: string): readonly string[] =>
  [...attachments].filter((attachment) => attachment.node === node).map(({ volume }) => volume);

/** Pods that were replaced while nobody looked are asked for before the shard hears anything. */
const onceAsked = (session: FleetSession, pods: PodDemandRegistry | undefined): FleetSession =>
  pods === undefined
    ? session
    : { ...session, demandListed: () => void pods.made.then(session.demandListed) };

/** What acts on the world; made before the caches are complete, quiet until they are. */
export const startRoles = (
  world: OperatorWorld,
  options: OperatorOptions,
  { caches, template, penalties, recorder, leaseSeen }: {
    readonly caches: Caches;
    readonly penalties: PenaltyDefaultsInUse | undefined;
    readonly template: BootstrapTemplate;
    readonly recorder: EventRecorder;
    readonly leaseSeen: () => Leadership['leaseSeen'] | undefined;
  },
) => {
  const session = startFleetSession(world, {
    clusterId: options.clusterId,
    address: options.shardAddress,
    rollupIntervalMs: options.rollupIntervalMs,
    ...(options.credentialFiles === undefined ? {} : { credentialFiles: options.credentialFiles }),
    render: template.render,
    record: (reason, note) => {
      void leaseSeen()?.then((regarding) => recorder.record({ regarding, reason, note }));
    },
  });
  const { record } = recorder;
  const { news } = session;
  const machines = startUpcomingNodes(world, {
    news,
    record,
    upcomingNodes: caches.upcomingNodes,
    nodes: caches.nodes,
    intern: options.intern,
  });
  const capacities = startAvailableCapacities(world, {
    news,
    record,
    availableCapacities: caches.availableCapacities,
  });
  const pods = caches.demand && penalties &&
    startPodRole(world, caches.demand, { penalties, record });
  const rollups = startRollups(world, {
    session: onceAsked(session, pods),
    record,
    requests: caches.requests,
    intervalMs: options.rollupIntervalMs,
    ackConcurrency: options.ackConcurrency,
  });
  const drains = startDrainRole(world, {
    policy: options.drains,
    news,
    record,
    reply: session.reply,
    machines,
    nodes: caches.nodes,
    pods: caches.pods,
    budgets: caches.budgets,
    upcomingNodes: caches.upcomingNodes,
    volumesOn: (node) => volumesOn(caches.attachments.values(), node),
  });
  return { session, machines, capacities, rollups, drains, pods };
};
