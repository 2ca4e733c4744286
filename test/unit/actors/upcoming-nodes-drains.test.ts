/** Reports of drains about machines, and their precedence over frames. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { Subject } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startUpcomingNodes } from '../../../src/actors/upcoming-nodes/upcoming-nodes.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import type { MachineState, ShardEvent } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { textAt, valueAt } from '../../../src/domain/json.ts';
import type { DrainFact } from '../../../src/domain/object-phase.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { LEASE_TIMES } from '../../support/api/lease-times.ts';
import { textPool } from '../../../src/domain/text-pool.ts';
import { projectUpcomingNode } from '../../../src/domain/upcoming-node.ts';
import { cordonsLayer } from '../../../src/effects/cordons.ts';
import { UPCOMING_NODES_PATH, upcomingNodesLayer } from '../../../src/effects/upcoming-nodes.ts';
import { fakeApi, fakeObjects } from '../../support/api/fake-objects.ts';

const RECLAIM = 'cordon.tidegate.dev/reclaim';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const annotation = (ended: 'Drained' | 'Failed' | 'Cancelled' | null) =>
  printCordon({ ids: ['i1'], deadlineMs: 600_000, graceSeconds: 600, sinceMs: 0, ended });

const observed = (id: string, state: MachineState, lastError = ''): ShardEvent => ({
  _tag: 'MachineObserved',
  machine: {
    machineId: machineId(id),
    state,
    nodeName: '',
    providerId: id === 'm1' ? 'host-1' : `host-of-${id}`,
    lastError,
    labels: {},
    resources: { cpu: '2' },
    taints: [],
  },
});

/** Machine `m1` on Node `n1`, a session, and a registry, all on one simulated time. */
const rig = () => {
  const time = simulatedTime();
  const cluster = fakeObjects(UPCOMING_NODES_PATH, projectUpcomingNode);
  const nodes = fakeObjects('/api/v1/nodes', projectNode);
  const shardEvents = new Subject<ShardEvent>();
  const layer = Layer.mergeAll(
    upcomingNodesLayer({ telemetry: silentTelemetry, intern: (text) => text }),
    cordonsLayer(silentTelemetry),
  ).pipe(
    Layer.provideMerge(fakeApi([cluster, nodes])),
    Layer.provideMerge(clockLayer(time)),
  );
  const runtime = ManagedRuntime.make(layer);
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const start = () => {
    const started = startUpcomingNodes(environment, {
      shardEvents,
      upcomingNodes: cluster.reflector,
      nodes: nodes.reflector,
      record: () => {},
      intern: textPool(100),
      leaseMs: LEASE_TIMES.leaseMs,
    });
    started.onLeading();
    return started;
  };
  let registry = start();
  stops.push(async () => {
    const stopping = registry.stop();
    await time.advance(20_000);
    await stopping;
    await runtime.dispose();
  });
  nodes.list();
  cluster.list();
  /** The drain reports; says at any time whether that is written. */
  const reporting = (fact: DrainFact): () => boolean => {
    let isReported = false;
    void registry.drain('m1', fact).then(() => {
      isReported = true;
    });
    return () => isReported;
  };
  return {
    time,
    cluster,
    nodes,
    registry: () => registry,
    /** A new process on the same cluster. */
    restart: async () => {
      await registry.stop();
      registry = start();
    },
    frame: (state: MachineState, lastError = '') => {
      shardEvents.next(observed('m1', state, lastError));
      return time.settle();
    },
    /** This many other machines are CONFIGURED. */
    frames: (count: number) => {
      for (let at = 0; at < count; at += 1) shardEvents.next(observed(`other-${at}`, 'Configured'));
    },
    /** The current Node: its reclaim key, and whether it is schedulable. */
    node: (key: string | null, unschedulable = true) => {
      nodes.put('n1', {
        metadata: {
          name: 'n1',
          uid: 'nu1',
          annotations: key === null ? {} : { [RECLAIM]: key },
        },
        spec: { providerID: 'host-1', unschedulable },
      });
      return time.settle();
    },
    key: () => valueAt(nodes.get('n1'), 'metadata', 'annotations', RECLAIM),
    reporting,
    /** Reports of the drain; returns whether they are written once all actors have settled. */
    drain: async (fact: DrainFact) => {
      const isReported = reporting(fact);
      await time.settle();
      return isReported();
    },
    phase: () => textAt(cluster.get('un-m1'), 'status', 'phase'),
    lastError: () => textAt(cluster.get('un-m1'), 'status', 'lastError'),
    statusWrites: () => cluster.writes().filter((write) => write === 'PATCH un-m1/status').length,
  };
};

describe('drains and frames', () => {
  test('DR-40: two writes show a drain, each at once, and frames between them cost none', async () => {
    const { frame, node, drain, phase, statusWrites } = rig();
    await node(null, false);
    await frame('Configured');
    const before = statusWrites();
    await node(annotation(null));
    expect(await drain({ _tag: 'Draining' })).toBe(true);
    expect(phase()).toBe('Draining');
    await frame('Draining');
    await frame('Configured');
    expect(await drain({ _tag: 'Drained' })).toBe(true);
    expect(phase()).toBe('Drained');
    await frame('Draining');
    expect(statusWrites() - before).toBe(2);
  });

  test('DR-40: Draining is written although the cache does not have the cordon yet', async () => {
    const { frame, node, drain, phase } = rig();
    await node(null, false);
    await frame('Configured');
    await drain({ _tag: 'Draining' });
    await frame('Configured');
    expect(phase()).toBe('Draining');
  });

  test('DR-40: a drain reports before the session does, after a restart', async () => {
    const { frame, node, drain, phase, restart, time } = rig();
    await node(annotation(null));
    await frame('Configured');
    await drain({ _tag: 'Draining' });
    await restart();
    await time.settle();
    expect(await drain({ _tag: 'Drained' })).toBe(true);
    expect(phase()).toBe('Drained');
    await node(annotation('Drained'));
    await restart();
    await frame('Draining');
    await frame('Configured');
    expect(phase()).toBe('Drained');
  });

  test('DR-41: a failed drain reports its error, also after a restart; a joining order resumes it', async () => {
    const { frame, node, drain, phase, lastError, restart } = rig();
    await node(annotation(null));
    await frame('Draining');
    await drain({ _tag: 'Draining' });
    await drain({ _tag: 'Failed', lastError: '1 pod remains: ns/a (two budgets)' });
    expect(phase()).toBe('Failed');
    await node(annotation('Failed'));
    await restart();
    await frame('Draining');
    expect(phase()).toBe('Failed');
    expect(lastError()).toBe('1 pod remains: ns/a (two budgets)');
    await node(annotation(null));
    await drain({ _tag: 'Draining' });
    expect(phase()).toBe('Draining');
    expect(lastError()).toBeUndefined();
  });

  // The end of the drain waited for the object of a machine whose writes cannot succeed.
  test('DR-04: a refused write does not hold up the end of a drain', async () => {
    const { cluster, frame, node, drain } = rig();
    cluster.intercept(() => Effect.succeed({ status: 422, body: { message: 'denied' } }));
    await node(annotation(null));
    await frame('Draining');
    expect(await drain({ _tag: 'Draining' })).toBe(true);
    expect(await drain({ _tag: 'Drained' })).toBe(true);
  });

  test('DR-05: a cancelled drain no longer holds the phase', async () => {
    const { frame, node, drain, phase, restart } = rig();
    await node(annotation(null));
    await frame('Configured');
    await drain({ _tag: 'Draining' });
    await node(annotation(null), false);
    expect(await drain({ _tag: 'Cancelled' })).toBe(true);
    expect(phase()).toBe('Ready');
    await node(annotation('Cancelled'), false);
    await restart();
    await frame('Draining');
    expect(phase()).toBe('Draining');
    await frame('Configuring');
    expect(phase()).toBe('Registered');
  });

  test('DR-06: a Node deleted during its drain leaves Drained, and frames keep it', async () => {
    const { frame, node, drain, phase, nodes, time } = rig();
    await node(annotation(null));
    await frame('Configured');
    await drain({ _tag: 'Draining' });
    nodes.remove('n1');
    await time.settle();
    expect(await drain({ _tag: 'Drained' })).toBe(true);
    await frame('Draining');
    expect(phase()).toBe('Drained');
  });

  test('DR-40: a drain without an object is not waited for', async () => {
    const { drain, cluster } = rig();
    expect(await drain({ _tag: 'Draining' })).toBe(true);
    expect(await drain({ _tag: 'Drained' })).toBe(true);
    expect(cluster.names()).toEqual([]);
  });

  test('DR-40: an object that is created late shows the active drain', async () => {
    const { drain, frame, phase, node } = rig();
    await node(annotation(null));
    await drain({ _tag: 'Draining' });
    await frame('Configured');
    expect(phase()).toBe('Draining');
  });

  // A process that lost the lease while it created the object resumed its drain, which ended first.
  test('DR-40: an object that is created late shows the end of the drain', async () => {
    const { drain, frame, phase, node } = rig();
    await node(annotation(null));
    expect(await drain({ _tag: 'Drained' })).toBe(true);
    await frame('Configured');
    await node(annotation('Drained'));
    await frame('Draining');
    expect(phase()).toBe('Drained');
  });

  test('DR-40: an object that is created after a restart shows the end on its Node', async () => {
    const drained = rig();
    await drained.node(annotation('Drained'));
    await drained.frame('Configured');
    expect(drained.phase()).toBe('Drained');
    const failed = rig();
    await failed.node(annotation('Failed'));
    await failed.frame('Configured');
    expect(failed.phase()).toBe('Failed');
    expect(failed.lastError()).toBe('the drain of Node "n1" failed; its Events say why');
  });

  test('DR-40: the object of a new lifecycle does not show the end on its Node', async () => {
    const { frame, phase, node } = rig();
    await node(annotation('Drained'));
    for (const state of ['Configuring', 'Configured'] as const) await frame(state);
    expect(phase()).toBe('Ready');
  });

  test('DR-40: a failed write is waited for until it lands', async () => {
    const { frame, node, cluster, time, phase, reporting } = rig();
    await node(annotation(null));
    await frame('Configured');
    cluster.intercept(() => Effect.succeed({ status: 500, body: { message: 'planted' } }));
    const isReported = reporting({ _tag: 'Draining' });
    await time.advance(10_000);
    expect(isReported()).toBe(false);
    cluster.intercept(() => Effect.succeed(undefined));
    await time.advance(60_000);
    expect(isReported()).toBe(true);
    expect(phase()).toBe('Draining');
  });

  test('DR-36: the report of a drain does not wait behind many frames', async () => {
    const { frame, frames, node, drain, cluster, time, phase, reporting } = rig();
    await node(annotation(null));
    await frame('Draining');
    await drain({ _tag: 'Draining' });
    cluster.intercept(() => Effect.as(Effect.sleep(1000), undefined));
    frames(1000);
    await time.settle();
    const isReported = reporting({ _tag: 'Drained' });
    await time.advance(1500);
    expect(isReported()).toBe(true);
    expect(phase()).toBe('Drained');
    expect(cluster.names().length).toBeLessThan(100);
  });

  test('DR-36: a machine that waits for a slot because of a frame is drained before the others', async () => {
    const { frame, frames, node, cluster, registry, time, phase, reporting } = rig();
    await node(annotation(null));
    cluster.intercept(() => Effect.as(Effect.sleep(1000), undefined));
    frames(1000);
    await frame('Configured');
    const isReported = reporting({ _tag: 'Draining' });
    await time.advance(3000);
    expect(isReported()).toBe(true);
    expect(phase()).toBe('Draining');
    cluster.intercept(() => Effect.succeed(undefined));
    await time.advance(120_000);
    await registry().idle();
    expect(cluster.names().length).toBe(1001);
  });

  test('DR-36: a drain whose write was set aside is shown before the frames that wait', async () => {
    const { frame, frames, node, cluster, registry, time, phase, reporting } = rig();
    await node(annotation(null));
    await frame('Configured');
    cluster.intercept(() => Effect.succeed({ status: 500, body: { message: 'planted' } }));
    const isReported = reporting({ _tag: 'Draining' });
    while (registry().counts()['setAside'] !== 1) await time.advance(100);
    cluster.intercept(() => Effect.as(Effect.sleep(1000), undefined));
    frames(2000);
    await time.advance(30_000);
    expect([isReported(), phase()]).toEqual([true, 'Draining']);
    expect(cluster.names().length).toBeLessThan(1000);
    cluster.intercept(() => Effect.succeed(undefined));
    await time.advance(1000);
  });

  test('wire phases: IDLE ends a machine whose drain is active', async () => {
    const { frame, node, drain, cluster } = rig();
    await node(annotation(null));
    await frame('Draining');
    await drain({ _tag: 'Draining' });
    await frame('Idle');
    expect(cluster.names()).toEqual([]);
    expect(await drain({ _tag: 'Drained' })).toBe(true);
    expect(cluster.names()).toEqual([]);
  });

  test('DR-40: the end of a drain does not affect the next lifecycle of its machine', async () => {
    const { frame, node, drain, phase, nodes, time } = rig();
    await node(annotation(null));
    await frame('Draining');
    await drain({ _tag: 'Draining' });
    await frame('Idle');
    await frame('Configuring');
    nodes.remove('n1');
    await time.settle();
    expect(await drain({ _tag: 'Drained' })).toBe(true);
    expect(phase()).toBe('Registered');
  });

  test('DR-15: reports of a drain are not written after the lease is lost', async () => {
    const { frame, node, registry, cluster, time, phase } = rig();
    await node(annotation(null));
    await frame('Configured');
    cluster.intercept(() => Effect.succeed({ status: 500, body: { message: 'planted' } }));
    void registry().drain('m1', { _tag: 'Drained' });
    await time.advance(1000);
    registry().onLeadershipLost();
    cluster.intercept(() => Effect.succeed(undefined));
    await time.advance(120_000);
    expect(phase()).toBe('Ready');
  });
});

describe('the key of a completed reclaim', () => {
  test('DR-04: is removed when a frame reports CONFIGURED and the node is schedulable', async () => {
    const { frame, node, phase, key, drain } = rig();
    await node(annotation(null));
    await frame('Draining');
    await drain({ _tag: 'Draining' });
    await drain({ _tag: 'Drained' });
    await node(annotation('Drained'));
    await frame('Configured');
    expect(key(), 'cordoned').toBeDefined();
    expect(phase()).toBe('Drained');
    await node(annotation('Drained'), false);
    expect(key()).toBeUndefined();
    expect(phase()).toBe('Ready');
  });

  test('DR-04: stays while the last CONFIGURED is older than the end of the drain', async () => {
    const { frame, node, key } = rig();
    await node(annotation(null));
    await frame('Configured');
    await node(annotation('Cancelled'), false);
    expect(key()).toBeDefined();
    await frame('Configured');
    expect(key()).toBeUndefined();
  });

  test('DR-04: stays when CONFIGURED was reported before another drain', async () => {
    const { frame, node, key, drain } = rig();
    await node(annotation('Drained'));
    await frame('Configured');
    await node(annotation(null));
    await drain({ _tag: 'Draining' });
    await drain({ _tag: 'Drained' });
    await node(annotation('Drained'));
    await node(annotation('Drained'), false);
    expect(key()).toBeDefined();
    await frame('Configured');
    expect(key()).toBeUndefined();
  });

  test('DR-04: a conflict is decided again on the current Node', async () => {
    const { frame, node, key, nodes, time } = rig();
    await node(annotation('Drained'), false);
    let refused = 0;
    nodes.intercept(({ method }) =>
      Effect.sync(() => {
        if (method !== 'PATCH' || refused > 0) return undefined;
        refused += 1;
        return { status: 409, body: { message: 'planted' } };
      })
    );
    await frame('Configured');
    expect(key()).toBeDefined();
    await time.advance(5000);
    expect(key()).toBeUndefined();
    expect(nodes.writes()).toEqual(['PATCH n1', 'PATCH n1']);
  });

  test('DR-01: a key of another version is unchanged and holds the phase', async () => {
    const { frame, node, key, drain, phase } = rig();
    await node('{"v":2}');
    await frame('Configured');
    await drain({ _tag: 'Draining' });
    await drain({ _tag: 'Cancelled' });
    expect(phase()).toBe('Draining');
    await node('{"v":2}', false);
    await frame('Configured');
    expect(key()).toBe('{"v":2}');
  });
});
