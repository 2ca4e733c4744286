/** What drains say of machines, and what frames may not undo of it. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { Subject } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startUpcomingNodes } from '../../../src/actors/upcoming-nodes/upcoming-nodes.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import type { MachineState, SessionNews } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { textAt, valueAt } from '../../../src/domain/json.ts';
import type { DrainFact } from '../../../src/domain/shown-phase.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
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

const observed = (id: string, state: MachineState, lastError = ''): SessionNews => ({
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
  const news = new Subject<SessionNews>();
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
  const start = () =>
    startUpcomingNodes(environment, {
      news,
      upcomingNodes: cluster.reflector,
      nodes: nodes.reflector,
      record: () => {},
      intern: textPool(100),
    });
  let registry = start();
  stops.push(async () => {
    const stopping = registry.stop();
    await time.advance(20_000);
    await stopping;
    await runtime.dispose();
  });
  nodes.list();
  cluster.list();
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
      news.next(observed('m1', state, lastError));
      return time.settle();
    },
    /** As many other machines are CONFIGURED. */
    frames: (count: number) => {
      for (let at = 0; at < count; at += 1) news.next(observed(`other-${at}`, 'Configured'));
    },
    /** The Node as it is now: its reclaim key, and whether pods may come. */
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
    /** What the drain says; gives whether that was shown by the time that all is quiet. */
    drain: async (fact: DrainFact) => {
      let isShown = false;
      void registry.drain('m1', fact).then(() => {
        isShown = true;
      });
      await time.settle();
      return isShown;
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

  test('DR-40: Draining is shown although the cache does not show the cordon yet', async () => {
    const { frame, node, drain, phase } = rig();
    await node(null, false);
    await frame('Configured');
    await drain({ _tag: 'Draining' });
    await frame('Configured');
    expect(phase()).toBe('Draining');
  });

  test('DR-40: a drain speaks before the session does, after a restart', async () => {
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

  test('DR-41: a failed drain says why, also after a restart, and a joining order moves it on', async () => {
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

  test('DR-05: a cancelled drain holds the phase no longer', async () => {
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

  test('DR-06: the Node deleted in the middle leaves Drained, and frames leave it there', async () => {
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

  test('DR-40: a drain that nothing can show is not waited for', async () => {
    const { drain, cluster } = rig();
    expect(await drain({ _tag: 'Draining' })).toBe(true);
    expect(await drain({ _tag: 'Drained' })).toBe(true);
    expect(cluster.names()).toEqual([]);
  });

  test('DR-40: an object that comes late shows the drain that is under way', async () => {
    const { drain, frame, phase, node } = rig();
    await node(annotation(null));
    await drain({ _tag: 'Draining' });
    await frame('Configured');
    expect(phase()).toBe('Draining');
  });

  test('DR-40: a write that fails is waited for until it lands', async () => {
    const { frame, node, cluster, registry, time, phase } = rig();
    await node(annotation(null));
    await frame('Configured');
    cluster.intercept(() => Effect.succeed({ status: 500, body: { message: 'planted' } }));
    let isShown = false;
    void registry().drain('m1', { _tag: 'Draining' }).then(() => {
      isShown = true;
    });
    await time.advance(10_000);
    expect(isShown).toBe(false);
    cluster.intercept(() => Effect.succeed(undefined));
    await time.advance(60_000);
    expect(isShown).toBe(true);
    expect(phase()).toBe('Draining');
  });

  test('DR-36: what a drain shows does not wait behind a crowd of frames', async () => {
    const { frame, frames, node, drain, cluster, registry, time, phase } = rig();
    await node(annotation(null));
    await frame('Draining');
    await drain({ _tag: 'Draining' });
    cluster.intercept(() => Effect.as(Effect.sleep(1000), undefined));
    frames(1000);
    await time.settle();
    let isShown = false;
    void registry().drain('m1', { _tag: 'Drained' }).then(() => {
      isShown = true;
    });
    await time.advance(1500);
    expect(isShown).toBe(true);
    expect(phase()).toBe('Drained');
    expect(cluster.names().length).toBeLessThan(100);
  });

  test('DR-36: a machine that waits its turn for a frame is drained before the others', async () => {
    const { frame, frames, node, cluster, registry, time, phase } = rig();
    await node(annotation(null));
    cluster.intercept(() => Effect.as(Effect.sleep(1000), undefined));
    frames(1000);
    await frame('Configured');
    let isShown = false;
    void registry().drain('m1', { _tag: 'Draining' }).then(() => {
      isShown = true;
    });
    await time.advance(3000);
    expect(isShown).toBe(true);
    expect(phase()).toBe('Draining');
    cluster.intercept(() => Effect.succeed(undefined));
    await time.advance(120_000);
    await registry().idle();
    expect(cluster.names().length).toBe(1001);
  });

  test('wire phases: IDLE ends a machine whose drain goes on', async () => {
    const { frame, node, drain, cluster } = rig();
    await node(annotation(null));
    await frame('Draining');
    await drain({ _tag: 'Draining' });
    await frame('Idle');
    expect(cluster.names()).toEqual([]);
    expect(await drain({ _tag: 'Drained' })).toBe(true);
    expect(cluster.names()).toEqual([]);
  });

  test('DR-40: the end of a drain is not told of the next life of its machine', async () => {
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

  test('DR-15: nothing of a drain is shown any more once the lease is lost', async () => {
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

describe('the key of a reclaim that is over', () => {
  test('DR-04: goes when a frame says CONFIGURED and the node is schedulable', async () => {
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

  test('DR-04: stays when the CONFIGURED was said before another drain', async () => {
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

  test('DR-04: a conflict is decided again on what the Node shows', async () => {
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

  test('DR-01: a key of a version that is not ours is left alone and holds', async () => {
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
