/** Evictions over a cluster in memory, on simulated time, and drains that only want pods to go. */
import { Layer, ManagedRuntime } from 'effect';
import { type Observable, of, switchMap } from 'rxjs';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import type { MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import { startPodEvictions } from '../../../src/actors/pod-evictions/pod-evictions.ts';
import { DrainRequesters } from '../../../src/actors/eviction-requests/drain-requesters.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import type { EvictionMode } from '../../../src/domain/eviction-requests/drain-requester.ts';
import { fakeGates } from './fake-gates.ts';
import { fakeRequests } from './fake-requests.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import type { DrainOwner } from '../../../src/domain/drain/cordon.ts';
import type { DrainPod } from '../../../src/domain/drain/pod.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import { podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import { type EvictionTiming, fakeEvictions } from './fake-evictions.ts';

/** What differs between rigs. */
export interface RigOptions {
  readonly timing?: Partial<EvictionTiming>;
  readonly callsPerBudget?: number;
  readonly graceMs?: number;
  readonly seed?: number;
  /** `--via`; default: plain evictions. */
  readonly mode?: EvictionMode;
  readonly defaultsFor?: (pod: DrainPod) => readonly string[];
  /** The names of maintenances; without it, those of their owners. */
  readonly maintained?: MaintainedNodes;
  /** When Nodes and pods are those of the cluster; default: at once. */
  readonly whenCurrent?: () => Promise<void>;
  /** When the list of budgets is complete; default: at once. */
  readonly budgetsListed?: Observable<unknown>;
  /** Is called with each warning that is logged; may throw. */
  readonly onWarning?: () => void;
}

/** A cluster, the registry, and a hand that drains nodes. */
export const evictionRig = (
  options: RigOptions = {},
) => {
  const { timing = {}, callsPerBudget = 1, graceMs = 600_000, seed = 1, mode = 'evictions' } =
    options;
  const time = simulatedTime();
  const cluster = fakeEvictions(time, timing);
  const gates = fakeGates(time, cluster.setGate);
  const requests = fakeRequests(time);
  const notes: EventNote[] = [];
  const defects: unknown[] = [];
  const warnings: string[] = [];
  const unasked: unknown[] = [];
  const evicted: unknown[] = [];
  const forgotten: unknown[] = [];
  const gauges: unknown[] = [];
  const telemetry: Telemetry = {
    ...silentTelemetry,
    log: (level, message, fields) => {
      if (level === 'error') defects.push(fields);
      if (level !== 'warn') return;
      warnings.push(message);
      options.onWarning?.();
    },
    count: (name, by, ...labels) => {
      if (name === 'tidegate_drain_pods_unasked_total') unasked.push({ by, ...labels[0] });
      if (name === 'tidegate_node_evictions_total') evicted.push({ by, ...labels[0] });
    },
    forget: (name, ...labels) => forgotten.push({ name, ...labels[0] }),
    gauge: (name, value, ...labels) => void gauges.push({ name, value, ...labels[0] }),
  };
  const runtime = ManagedRuntime.make(
    podEvictionApiLayer(telemetry).pipe(
      Layer.provideMerge(cluster.layer),
      Layer.provideMerge(requests.layer),
      Layer.provideMerge(gates.layer),
      Layer.provideMerge(clockLayer(time)),
    ),
  );
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: seed });
  const requesters = new DrainRequesters(environment, {
    mode,
    requests: requests.cache,
    registrations: requests.registrations,
    pods: cluster.caches.pods,
    nodes: cluster.caches.nodes,
    defaultsFor: options.defaultsFor ?? (() => []),
    maintained: options.maintained,
    whenCurrent: options.whenCurrent ?? (() => Promise.resolve()),
    record: (note) => notes.push(note),
  });
  requesters.onLeading();
  const { budgetsListed = of(undefined) } = options;
  const registry = startPodEvictions(environment, {
    ...cluster.caches,
    budgets: {
      ...cluster.caches.budgets,
      facts: budgetsListed.pipe(switchMap(() => cluster.caches.budgets.facts)),
    },
    callsPerBudget,
    requested: requesters,
  });
  const emptiedAt = new Map<string, number>();
  cluster.emptied.subscribe((node) => emptiedAt.set(node, time.monotonic()));
  const startedMs = new Map<string, number>();
  const drainBy = (owner: DrainOwner) => (node: string): void => {
    const sinceMs = startedMs.get(node) ?? time.monotonic();
    startedMs.set(node, sinceMs);
    for (const pod of cluster.onNode(node)) {
      registry.want(pod, {
        owner,
        node,
        deadlineMonotonicMs: sinceMs + graceMs,
        drainSinceMs: sinceMs,
        podsLeft: () => cluster.left(node),
      });
    }
  };
  return {
    time,
    cluster,
    gates,
    requests,
    requesters,
    notes,
    /** How pods that were evicted without being asked for were counted. */
    unasked,
    /** How accepted evictions were counted. */
    evicted,
    /** Series that were removed. */
    forgotten,
    /** The gauges that were set. */
    gauges,
    registry,
    defects,
    warnings,
    drain: drainBy('reclaim'),
    drainBy,
    emptiedAt,
    /** Waits until the set-up is observed and processed. */
    ready: () => time.advance(200),
    uidOf: (name: string): DrainPod['uid'] | undefined => cluster.known(name)?.uid,
    status: (name: string) => {
      const pod = cluster.known(name);
      return pod === undefined ? undefined : registry.statusOf(pod.uid);
    },
    /** Until the nodes are empty, which takes at most `limitMs`. */
    untilEmpty: async (nodes: readonly string[], limitMs: number): Promise<number> => {
      const start = time.monotonic();
      for (;;) {
        const left = nodes.filter((node) => cluster.left(node) > 0);
        if (left.length === 0) break;
        const isOver = time.monotonic() - start > limitMs;
        if (isOver || !(await time.advanceToNext())) {
          throw new Error(`Nodes with pods after ${limitMs} ms: ${left.join(', ')}`);
        }
      }
      const tookMs = time.monotonic() - start;
      await time.advance(1000);
      return tookMs;
    },
    stop: async () => {
      const stopping = Promise.all([requesters.stop(), registry.stop()]);
      await time.advance(60_000);
      await stopping;
      await runtime.dispose();
    },
  };
};
