/**
 * The drains of a process and what they evict by, for every role that drains nodes.
 *
 * Promises: one registry of drains, one of evictions and one of requesters for each process, so
 * that owners that meet on a node share its cordon, its budgets and its EvictionRequests.
 */
import { type NodeProjection, projectNode } from '../../domain/cluster-node.ts';
import { type Budget, projectBudget } from '../../domain/drain/budget.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { DrainingLimit } from '../../domain/drain/draining-limit.ts';
import type { LocalVolumes } from '../../domain/drain/kept-pods.ts';
import type { PlanTerms } from '../../domain/drain/plan.ts';
import { type DrainPod, podProjection } from '../../domain/drain/pod.ts';
import {
  projectVolumeAttachment,
  type VolumeAttachment,
} from '../../domain/drain/volume-attachment.ts';
import type { EvictionMode } from '../../domain/eviction-requests/drain-requester.ts';
import type { Labels } from '../../domain/label-condition.ts';
import { projectVolume, projectVolumeClaim } from '../../domain/node-availability/local-volumes.ts';
import type { EvictionsApiOption } from '../../domain/native-evictions/evictions-api.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { PodEvictionApi } from '../../effects/pod-eviction-api.ts';
import type { ServingGates } from '../../effects/serving-gates.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { DefaultInterceptors } from '../eviction-requests/default-interceptors.ts';
import { drainRequests } from '../eviction-requests/drain-requests.ts';
import type { DrainRequesters } from '../eviction-requests/drain-requesters.ts';
import type { Informer } from '../informers/informer.ts';
import { type AnyInformer, whenCurrent } from '../informers/shared-informers.ts';
import { type PodEvictionRegistry, startPodEvictions } from '../pod-evictions/pod-evictions.ts';
import { type RoleContext, type RoleStart, STARTED } from '../role.ts';
import { NodeConditions } from './drain-blockers.ts';
import { type DrainEvents, drainEvents } from './drain-events.ts';
import { DrainRegistry } from './drains.ts';
import { LocalData } from './local-data.ts';
import { MaintainedNodes } from './maintained-nodes.ts';
import type { DrainTargets } from './node-drain-actor.ts';

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
  /** `--local-volumes`; default: evict. */
  readonly localVolumes?: LocalVolumes;
  /** Drains of disabled Nodes are this process' own; default: another one makes them. */
  readonly drainsDisabled?: boolean;
}

/** The volumes attached to a node, as far as known. */
const volumesOn = (attachments: Iterable<VolumeAttachment>, node: string): readonly string[] =>
  [...attachments].filter((attachment) => attachment.node === node).map(({ volume }) => volume);

/** The machine of a Node; `undefined` while unknown. */
type MachineOf = (node: Pick<DrainedNode, 'name'>) => string | undefined;

/** The inputs of drains. */
export interface DrainEngineOptions extends Pick<DrainTargets, 'showOnMachine'> {
  readonly policy: DrainPolicy;
  /** How the machine of a Node is found. */
  readonly machineOf: (nodes: Informer<NodeProjection>) => MachineOf;
}

/** The drains of a process. */
export interface DrainEngine {
  readonly drains: DrainRegistry;
  readonly evictions: PodEvictionRegistry;
  readonly nodes: Informer<NodeProjection>;
  readonly pods: Informer<DrainPod>;
  readonly budgets: Informer<Budget>;
  readonly defaults: DefaultInterceptors;
  /** What maintenances drain. */
  readonly maintained: MaintainedNodes;
  /** Which pods drains keep; undefined when none of this process may keep any. */
  readonly localData: Pick<LocalData, 'of'> | undefined;
  /** Follow the leadership before the drains; undefined when no drain asks by request. */
  readonly requested: DrainRequesters | undefined;
  readonly events: DrainEvents;
  readonly machineOf: MachineOf;
  /** The lists to wait for; known after the discovery. */
  readonly informers: () => readonly AnyInformer[];
  readonly discover: () => Promise<RoleStart>;
  readonly stop: () => Promise<void>;
}

/** Only named in an Event (DR-24), so the role does not wait for it. */
const attachmentsIn = ({ informers }: Pick<RoleContext, 'informers'>) =>
  informers.collection({
    id: 'volumeattachments',
    path: '/apis/storage.k8s.io/v1/volumeattachments',
    project: projectVolumeAttachment,
  });

/** What drains read. */
const drainInformers = ({ informers }: Pick<RoleContext, 'informers'>) => ({
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
});

/** The claims and volumes of pods, when a drain of this process may keep pods for them. */
const storageInformers = (
  { informers }: Pick<RoleContext, 'informers'>,
  { localVolumes, drainsDisabled }: DrainPolicy,
) =>
  drainsDisabled !== true && localVolumes !== 'keep' ? undefined : {
    claims: informers.collection({
      id: 'persistentvolumeclaims',
      path: '/api/v1/persistentvolumeclaims',
      project: projectVolumeClaim,
    }),
    volumes: informers.collection({
      id: 'persistentvolumes',
      path: '/api/v1/persistentvolumes',
      project: projectVolume,
    }),
  };

/** The evictions of the drains, and the requests by which they ask first. */
const drainEvictions = (
  environment: ActorEnvironment<EvictionRequests | PodEvictionApi | ServingGates>,
  context: RoleContext,
  { read, policy, maintained }: {
    readonly read: ReturnType<typeof drainInformers>;
    readonly policy: DrainPolicy;
    readonly maintained: MaintainedNodes;
  },
) => {
  const { via: mode = 'evictions', callsPerBudget = 1, defaultInterceptors: names = [] } = policy;
  const defaults = new DefaultInterceptors({ ...read, names });
  const requested = drainRequests(environment, context, {
    ...read,
    mode,
    api: policy.evictionsApi,
    defaultsFor: defaults.of,
    maintained,
  });
  const evictions = startPodEvictions(environment, {
    ...read,
    callsPerBudget,
    requested: requested?.requesters,
  });
  return { requested, evictions, defaults };
};

/** Creates the drains of a process, not leading. */
export const drainEngine = (
  environment: ActorEnvironment<Cordons | EvictionRequests | PodEvictionApi | ServingGates>,
  { policy, showOnMachine, machineOf: machineFinder }: DrainEngineOptions,
  context: RoleContext,
): DrainEngine => {
  const { own, tierWaitMs, paused, localVolumes = 'evict', drainsDisabled = false } = policy;
  const maintained = new MaintainedNodes();
  const read = drainInformers(context);
  const { nodes, pods } = read;
  const storage = storageInformers(context, policy);
  const localData = storage && new LocalData({ localVolumes, nodes, ...storage });
  const attachments = attachmentsIn(context);
  const machineOf = machineFinder(nodes);
  const events = drainEvents(environment.telemetry, context.record);
  const { requested, evictions, defaults } = drainEvictions(environment, context, {
    read,
    policy,
    maintained,
  });
  const conditions = new NodeConditions(environment);
  const drains = new DrainRegistry(environment, {
    nodes,
    pods,
    whenNodesCurrent: () => whenCurrent(nodes),
    whenPodsCurrent: () => whenCurrent(pods),
    evictions,
    maintained,
    localData,
    leavesTo: drainsDisabled ? [] : ['disabled'],
    showOnMachine,
    showOnNode: conditions.show,
    machineOf,
    events,
    own,
    paused,
    ...(tierWaitMs === undefined ? {} : { tierWaitMs }),
    volumesOn: (node) => volumesOn(attachments.values(), node),
  });
  const requesters = requested?.requesters;
  const optional = [requesters, localData].filter((part) => part !== undefined);
  const parts = [drains, evictions, defaults, conditions, ...optional];
  return {
    drains,
    evictions,
    nodes,
    pods,
    budgets: read.budgets,
    defaults,
    maintained,
    localData,
    requested: requesters,
    events,
    machineOf,
    informers: () => [
      ...Object.values(read),
      ...Object.values(storage ?? {}),
      ...requested?.informers() ?? [],
    ],
    discover: () => requested?.discover() ?? Promise.resolve(STARTED),
    stop: async () => {
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
};

/** The drains of a process without a fleet. */
export const ownDrains = (
  environment: ActorEnvironment<Cordons | EvictionRequests | PodEvictionApi | ServingGates>,
  policy: DrainPolicy,
  context: RoleContext,
): DrainEngine =>
  drainEngine(environment, {
    policy,
    showOnMachine: () => Promise.resolve(),
    machineOf: () => () => undefined,
  }, context);
