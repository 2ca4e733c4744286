/**
 * What a demo shows of its cluster at one moment, computed from API objects.
 *
 * Promises: pure and total; drain states come from the code of `drain status`.
 */
import { isConditionTrue, rawConditionOf } from '../domain/condition.ts';
import { numberAt, textAt } from '../domain/json.ts';
import { projectBudget } from '../domain/drain/budget.ts';
import { projectDrainedNode } from '../domain/drain/drained-node.ts';
import { podProjection } from '../domain/drain/pod.ts';
import { projectEvictionRequest } from '../domain/eviction-requests/observed-request.ts';
import { AVAILABILITY_CONDITION } from '../domain/node-availability/available-node.ts';
import { projectUpcomingNode } from '../domain/upcoming-node.ts';
import { nodeFactsOf, projectNodeEvent } from './drain-facts.ts';
import { hasDrain } from './drain-owner.ts';
import { type DrainStatus, drainStatus } from './drain-status.ts';
import { type EvictionStatus, evictionStatus } from './eviction-status.ts';
import { timelineEntryOf } from './explanation.ts';

/** The collections that a demo reads, as the API lists them. */
export interface DemoObjects {
  readonly nodes: readonly unknown[];
  readonly pods: readonly unknown[];
  readonly requests: readonly unknown[];
  readonly machines: readonly unknown[];
  readonly budgets: readonly unknown[];
  readonly events: readonly unknown[];
  readonly evictionRequests: readonly unknown[];
}

/** A machine and the Node that it became, or a Node that no fleet made. */
export interface DemoMachine {
  readonly name: string;
  readonly phase: string;
  readonly node: string;
  readonly pods: number;
  readonly drain: DrainStatus | undefined;
}

/** An entry of the demo's log. */
export interface DemoTimelineEntry {
  readonly id: string;
  readonly about: string;
  readonly reason: string;
  readonly note: string;
}

/** One moment. */
export interface DemoScene {
  readonly machines: readonly DemoMachine[];
  readonly pods: { readonly running: number; readonly all: number };
  readonly requests: { readonly acknowledged: number; readonly all: number };
  /** Healthy pods of each budget, and how many it requires. */
  readonly budgets: readonly {
    readonly name: string;
    readonly healthy: number;
    readonly wanted: number;
    readonly all: number;
  }[];
  readonly evictions: readonly EvictionStatus[];
  readonly timeline: readonly DemoTimelineEntry[];
}

const isReady = (object: unknown): boolean => isConditionTrue(object, 'Ready');

/** What the role availability shows on a Node. */
const availabilityOf = (node: unknown): string => {
  const condition = rawConditionOf(node, AVAILABILITY_CONDITION);
  const reason = textAt(condition, 'reason') ?? 'Active';
  return reason === 'Active' ? 'Ready' : reason;
};

const isLeaving = (object: unknown): boolean =>
  textAt(object, 'metadata', 'deletionTimestamp') !== undefined;

const projectPod = podProjection();

const drainsOf = (objects: DemoObjects, nowMs: number): readonly DrainStatus[] =>
  nodeFactsOf({
    nodes: objects.nodes.flatMap((raw) => projectDrainedNode(raw) ?? []).filter(hasDrain),
    pods: objects.pods.flatMap((raw) => projectPod(raw) ?? []),
    budgets: objects.budgets.flatMap((raw) => projectBudget(raw) ?? []),
    events: objects.events.flatMap((raw) => projectNodeEvent(raw) ?? []),
    machines: objects.machines.flatMap((raw) => projectUpcomingNode(raw) ?? []),
    evictionRequests: objects.evictionRequests.flatMap((raw) => projectEvictionRequest(raw) ?? []),
    terminatingNamespaces: [],
    own: null,
    nowMs,
  }).map(drainStatus);

/** The object of an Event; of an EvictionRequest, whose name is a UID, its pod. */
const subjectIn = (raw: unknown, evictions: readonly EvictionStatus[]): string => {
  const kind = textAt(raw, 'regarding', 'kind') ?? '';
  const name = textAt(raw, 'regarding', 'name') ?? '';
  const eviction = evictions.find((one) => kind === 'EvictionRequest' && one.name === name);
  return eviction === undefined ? `${kind} ${name}` : `Eviction of ${eviction.pod}`;
};

const timelineEntry = (
  raw: unknown,
  evictions: readonly EvictionStatus[],
): DemoTimelineEntry => ({
  id: textAt(raw, 'metadata', 'uid') ?? '',
  about: subjectIn(raw, evictions),
  reason: timelineEntryOf(raw).reason,
  note: timelineEntryOf(raw).note,
});

/** Computes the scene from the objects. */
export const demoScene = (objects: DemoObjects, nowMs: number): DemoScene => {
  const drains = new Map(drainsOf(objects, nowMs).map((drain) => [drain.node, drain]));
  const evictions = objects.evictionRequests
    .flatMap((raw) => projectEvictionRequest(raw) ?? [])
    .map((request) => evictionStatus(request, nowMs));
  const podsOn = (node: string): number =>
    objects.pods.filter((pod) => textAt(pod, 'spec', 'nodeName') === node).length;
  const ownNodes = objects.nodes
    .filter((raw) => textAt(raw, 'spec', 'providerID') === undefined)
    .map((raw) => {
      const name = textAt(raw, 'metadata', 'name') ?? '';
      const drain = drains.get(name);
      const phase = drain?.state ?? availabilityOf(raw);
      return { name, phase, node: name, pods: podsOn(name), drain };
    });
  return {
    machines: [
      ...objects.machines.map((raw) => {
        const node = textAt(raw, 'status', 'nodeRef', 'name') ?? '';
        return {
          name: (textAt(raw, 'metadata', 'name') ?? '').replace(/^un-/, ''),
          phase: textAt(raw, 'status', 'phase') ?? '',
          node,
          pods: node === '' ? 0 : podsOn(node),
          drain: drains.get(node),
        };
      }),
      ...ownNodes,
    ],
    pods: {
      running: objects.pods.filter((pod) => isReady(pod) && !isLeaving(pod)).length,
      all: objects.pods.length,
    },
    requests: {
      acknowledged:
        objects.requests.filter((one) => textAt(one, 'status', 'phase') === 'Acknowledged').length,
      all: objects.requests.length,
    },
    budgets: objects.budgets.map((raw) => ({
      name: textAt(raw, 'metadata', 'name') ?? '',
      healthy: numberAt(raw, 'status', 'currentHealthy') ?? 0,
      wanted: numberAt(raw, 'status', 'desiredHealthy') ?? 0,
      all: numberAt(raw, 'status', 'expectedPods') ?? 0,
    })),
    evictions,
    timeline: objects.events.map((raw) => timelineEntry(raw, evictions)),
  };
};
