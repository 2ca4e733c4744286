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
import { startInformer } from './informers/informer.ts';
import { startRollups } from './demand/rollups.ts';
import { type DrainPolicy, startDrainRole } from './node-drains/drain-role.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { Leadership, LeadershipOptions } from './leadership.ts';
import { startAvailableCapacities } from './upcoming-nodes/available-capacities.ts';
import { startUpcomingNodes } from './upcoming-nodes/upcoming-nodes.ts';
import type { PenaltyDefaultsInUse } from './capacity-requests/penalty-defaults.ts';
import {
  bothOf,
  ownedRequestProjector,
  type PodPolicy,
  type PodRoleCaches,
  startNamespaces,
  startPodRole,
} from './capacity-requests/pod-caches.ts';
import type { PodDemandRegistry } from './capacity-requests/pod-demands.ts';
import type { BootstrapTemplate } from './fleet-session/bootstrap-template.ts';
import { type FleetSession, startFleetSession } from './fleet-session/fleet-session.ts';
import type { ActorEnvironment } from './actor-environment.ts';

/** Everything that the operator does to the environment. */
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

/** The environment that the operator acts in. */
export type OperatorEnvironment = ActorEnvironment<OperatorServices>;

const GROUP = '/apis/bigfleet.lucy.sh/v1alpha1';

/** Requests and pods, each watched once, also when pods become demand here. */
const startDemandCaches = (environment: OperatorEnvironment, policy: PodPolicy | undefined) => {
  const requestsFrom = { id: 'capacityrequests', path: `${GROUP}/capacityrequests` };
  const podsFrom = { id: 'pods', path: '/api/v1/pods' };
  if (policy === undefined) {
    return {
      requests: startInformer(environment, {
        ...requestsFrom,
        project: capacityRequestProjector(),
      }),
      pods: startInformer(environment, {
        ...podsFrom,
        query: { fieldSelector: 'spec.nodeName!=' },
        project: podProjection(),
      }),
      demand: undefined,
    };
  }
  const requests = startInformer(environment, {
    ...requestsFrom,
    project: bothOf(capacityRequestProjector(), ownedRequestProjector()),
  });
  const pods = startInformer(environment, {
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
  const namespaces = startNamespaces(environment, policy);
  return { requests, pods, demand: { requests: owned, pods, namespaces } };
};

/** Starts to list and watch everything that the operator looks at. */
export const startCaches = (
  environment: OperatorEnvironment,
  { intern, pods: policy }: Pick<OperatorOptions, 'intern' | 'pods'>,
) => {
  const { requests, pods, demand } = startDemandCaches(environment, policy);
  const upcomingNodes = startInformer(environment, {
    id: 'upcomingnodes',
    path: `${GROUP}/upcomingnodes`,
    project: (raw) => projectUpcomingNode(raw, intern),
  });
  const availableCapacities = startInformer(environment, {
    id: 'availablecapacities',
    path: AVAILABLE_CAPACITIES_PATH,
    project: projectAvailableCapacity,
  });
  const nodes = startInformer(environment, {
    id: 'nodes',
    path: '/api/v1/nodes',
    project: projectNode,
  });
  const budgets = startInformer(environment, {
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
  const attachments = startInformer(environment, {
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

/** What acts on the environment; made before the caches are complete, quiet until they are. */
export const startRoles = (
  environment: OperatorEnvironment,
  options: OperatorOptions,
  { caches, template, penalties, recorder, leaseSeen }: {
    readonly caches: Caches;
    readonly penalties: PenaltyDefaultsInUse | undefined;
    readonly template: BootstrapTemplate;
    readonly recorder: EventRecorder;
    readonly leaseSeen: () => Leadership['leaseSeen'] | undefined;
  },
) => {
  const session = startFleetSession(environment, {
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
  const machines = startUpcomingNodes(environment, {
    news,
    record,
    upcomingNodes: caches.upcomingNodes,
    nodes: caches.nodes,
    intern: options.intern,
  });
  const capacities = startAvailableCapacities(environment, {
    news,
    record,
    availableCapacities: caches.availableCapacities,
  });
  const pods = caches.demand && penalties &&
    startPodRole(environment, caches.demand, { penalties, record });
  const rollups = startRollups(environment, {
    session: onceAsked(session, pods),
    record,
    requests: caches.requests,
    intervalMs: options.rollupIntervalMs,
    ackConcurrency: options.ackConcurrency,
  });
  const drains = startDrainRole(environment, {
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
