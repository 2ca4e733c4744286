/**
 * The informers of `tidegate drain status --watch`.
 *
 * Promises: nothing is printed before Nodes, pods and budgets are complete; many changes at once
 * are one; Events, UpcomingNodes and others, which only add detail, may be missing.
 */
import { projectBudget } from '../../domain/drain/budget.ts';
import { type DrainedNode, projectDrainedNode } from '../../domain/drain/drained-node.ts';
import { podProjection } from '../../domain/drain/pod.ts';
import type { Identity } from '../../domain/facts.ts';
import { textAt } from '../../domain/json.ts';
import { objectKey } from '../../domain/ids.ts';
import { projectVolume, projectVolumeClaim } from '../../domain/node-availability/local-volumes.ts';
import { identityOf, labelsOf } from '../../domain/object-meta.ts';
import { readSelector } from '../../domain/pod-demand/label-selector-text.ts';
import { projectEvictionRequest } from '../../domain/eviction-requests/observed-request.ts';
import { projectMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { projectUpcomingNode } from '../../domain/upcoming-node.ts';
import { DRAIN_SELECTIONS, type DrainReading } from '../../effects/drain-reads.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import { settledChanges } from '../../streams/settled-changes.ts';
import { startInformer } from '../../actors/informers/informer.ts';
import type { ActorEnvironment } from '../../actors/actor-environment.ts';

/** The caches as one set of facts. */
export interface DrainWatch {
  /** Resolves when there is something to show; never rejects. */
  readonly whenReady: Promise<void>;
  /** The current facts about the selected Nodes. `missing` is always empty. */
  readonly reading: () => DrainReading;
  /** A Node, selected or not; undefined when it does not exist. */
  readonly node: (name: string) => DrainedNode | undefined;
  /** Calls `show` after changes; returns an unsubscribe function. */
  readonly onChange: (show: () => void) => () => void;
  readonly stop: () => void;
}

/** An object kept as a whole. */
interface RawObject extends Identity {
  readonly raw: unknown;
}

interface WatchedNode extends DrainedNode {
  readonly isSelected: boolean;
}

/** A watch with the selector could not tell a Node that lost its label from a deleted one. */
const nodeProjection = (selector: string | undefined) => {
  const reading = selector === undefined ? undefined : readSelector(selector);
  const selects = reading?._tag === 'Selector' ? reading.selects : () => true;
  return (raw: unknown): WatchedNode | undefined => {
    const node = projectDrainedNode(raw);
    return node === undefined ? undefined : { ...node, isSelected: selects(labelsOf(raw)) };
  };
};

const keepAll = (raw: unknown): RawObject | undefined => {
  const identity = identityOf(raw);
  return identity === undefined ? undefined : { ...identity, raw };
};

/** Starts to follow; `own` is from the Lease, `selector` is about the labels of Nodes. */
export const startDrainWatch = (
  environment: ActorEnvironment<KubeApi>,
  { own, selector }: {
    readonly own: DrainReading['own'];
    readonly selector: string | undefined;
  },
): DrainWatch => {
  const follow = <T extends Identity>(
    id: keyof typeof DRAIN_SELECTIONS,
    project: (raw: unknown) => T | undefined,
  ) => startInformer(environment, { id, ...DRAIN_SELECTIONS[id], project });
  const nodes = follow('nodes', nodeProjection(selector));
  const pods = follow('boundPods', podProjection());
  const budgets = follow('budgets', projectBudget);
  const events = follow('nodeEvents', keepAll);
  const machines = follow('machines', projectUpcomingNode);
  const requests = follow('evictionRequests', projectEvictionRequest);
  const maintenances = follow('maintenances', projectMaintenance);
  const namespaces = follow('terminatingNamespaces', keepAll);
  const claims = follow('claims', projectVolumeClaim);
  const volumes = follow('volumes', projectVolume);
  const needed = [nodes, pods, budgets];
  const helpful = [events, machines, requests, maintenances, namespaces, claims, volumes];
  const all = [...needed, ...helpful];
  const changes = settledChanges(all.map(({ facts }) => facts), environment.scheduler);
  return {
    whenReady: Promise.all(needed.map(({ whenSynced }) => whenSynced)).then(() => {}),
    reading: () => ({
      nodes: [...nodes.values()].filter(({ isSelected }) => isSelected),
      missing: [],
      pods: [...pods.values()],
      budgets: [...budgets.values()],
      events: [...events.values()].map(({ raw }) => raw),
      machines: [...machines.values()],
      evictionRequests: [...requests.values()],
      maintenances: [...maintenances.values()],
      terminatingNamespaces: [...namespaces.values()].flatMap(({ raw }) =>
        textAt(raw, 'metadata', 'name') ?? []
      ),
      lookup: {
        claim: (namespace, name) => claims.get(objectKey(name, namespace)),
        volume: (name) => volumes.get(objectKey(name)),
      },
      own,
    }),
    node: (name) => nodes.get(objectKey(name)),
    onChange: (show) => {
      const subscription = changes.subscribe(() => {
        if (needed.every(({ synced }) => synced)) show();
      });
      return () => subscription.unsubscribe();
    },
    stop: () => {
      for (const reflector of all) reflector.stop();
    },
  };
};
