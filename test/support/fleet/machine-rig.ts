/**
 * A minimal machine set-up: an in-memory API server, a scripted session and the registry, all on
 * one simulated clock. Everything is stopped after each test.
 */
import { Layer, ManagedRuntime } from 'effect';
import { Subject } from 'rxjs';
import { afterEach } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startUpcomingNodes } from '../../../src/actors/upcoming-nodes/upcoming-nodes.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import type { MachineState, ShardEvent } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { textAt, valueAt } from '../../../src/domain/json.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import { textPool } from '../../../src/domain/text-pool.ts';
import { projectUpcomingNode } from '../../../src/domain/upcoming-node.ts';
import { cordonsLayer } from '../../../src/effects/cordons.ts';
import { UPCOMING_NODES_PATH, upcomingNodesLayer } from '../../../src/effects/upcoming-nodes.ts';
import { fakeApi, fakeObjects } from '../api/fake-objects.ts';
import { LEASE_TIMES } from '../api/lease-times.ts';

/** The annotation that names the machine. */
export const ID_KEY = 'bigfleet.lucy.sh/machine-id';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A cluster, a session and a registry of the leader, all on one simulated time. */
export const machineRig = ({ synced = true, nodesSynced = true, leads = true } = {}) => {
  const time = simulatedTime();
  const cluster = fakeObjects(UPCOMING_NODES_PATH, projectUpcomingNode);
  const nodes = fakeObjects('/api/v1/nodes', projectNode);
  const counted = new Map<string, number>();
  const notes: EventNote[] = [];
  const shardEvents = new Subject<ShardEvent>();
  const telemetry: Telemetry = {
    ...silentTelemetry,
    count: (name, by, ...[labels]) => {
      const key = [name, ...Object.values(labels ?? {})].join(' ');
      counted.set(key, (counted.get(key) ?? 0) + by);
    },
  };
  const layer = Layer.mergeAll(
    upcomingNodesLayer({ telemetry, intern: (text) => text }),
    cordonsLayer(telemetry),
  ).pipe(
    Layer.provideMerge(fakeApi([cluster, nodes])),
    Layer.provideMerge(clockLayer(time)),
  );
  const runtime = ManagedRuntime.make(layer);
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 });
  if (nodesSynced) nodes.list();
  if (synced) cluster.list();
  const start = () => {
    const started = startUpcomingNodes(environment, {
      shardEvents,
      upcomingNodes: cluster.reflector,
      nodes: nodes.reflector,
      record: (note) => notes.push(note),
      intern: textPool(100),
      leaseMs: LEASE_TIMES.leaseMs,
    });
    if (leads) started.onLeading();
    return started;
  };
  let registry = start();
  stops.push(async () => {
    const stopping = registry.stop();
    await time.advance(20_000);
    await stopping;
    await runtime.dispose();
  });
  const frame = (id: string, state: MachineState, more: object = {}) =>
    shardEvents.next({
      _tag: 'MachineObserved',
      machine: {
        machineId: machineId(id),
        state,
        nodeName: '',
        providerId: `host-${id}`,
        lastError: '',
        labels: { zone: 'a' },
        resources: { cpu: '2' },
        taints: [],
        ...more,
      },
    });
  return {
    time,
    cluster,
    nodes,
    counted,
    notes,
    shardEvents,
    frame,
    registry: () => registry,
    settle: time.settle,
    frames: (id: string, ...states: readonly MachineState[]) => {
      for (const state of states) frame(id, state);
      return time.settle();
    },
    /** A new process on the same cluster. */
    restart: async () => {
      await registry.stop();
      registry = start();
    },
    phase: (id: string) => textAt(cluster.get(`un-${id}`), 'status', 'phase'),
    status: (id: string) => valueAt(cluster.get(`un-${id}`), 'status'),
    node: (name: string, ready: boolean, more: object = {}) =>
      nodes.put(name, {
        spec: { providerID: `fleet:///zone/host-${name}` },
        status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
        ...more,
      }),
  };
};
