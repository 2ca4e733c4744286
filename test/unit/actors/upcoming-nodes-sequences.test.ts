/**
 * Any sequence of frames, faults, foreign hands, late watches and restarts ends with what the fleet
 * says. The sequences are drawn by fast-check; a failing one is printed shrunk, with its seed.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import fc from 'fast-check';
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startUpcomingNodes } from '../../../src/actors/upcoming-nodes/upcoming-nodes.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import type { MachineState, ShardEvent } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { textAt } from '../../../src/domain/json.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { LEASE_TIMES } from '../../support/api/lease-times.ts';
import { textPool } from '../../../src/domain/text-pool.ts';
import { projectUpcomingNode } from '../../../src/domain/upcoming-node.ts';
import { cordonsLayer } from '../../../src/effects/cordons.ts';
import { NotSent } from '../../../src/effects/kube-api.ts';
import { UPCOMING_NODES_PATH, upcomingNodesLayer } from '../../../src/effects/upcoming-nodes.ts';
import { fakeApi, fakeObjects } from '../../support/api/fake-objects.ts';

const PHASES: Readonly<Partial<Record<MachineState, string>>> = {
  Configuring: 'Registered',
  Configured: 'Ready',
  Draining: 'Draining',
  Failed: 'Failed',
};
/** Machines in these states are bound to the cluster, so a replay includes them. */
const BOUND = Object.keys(PHASES);

const machine = fc.integer({ min: 0, max: 4 }).map((n) => `m${n}`);
const state = fc.constantFrom<MachineState>(
  'Configuring',
  'Configured',
  'Draining',
  'Failed',
  'Idle',
  'Deleting',
);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.constant('frame' as const), machine, state) },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constant('wait' as const), fc.integer({ max: 4000, min: 0 })),
  },
  fc.tuple(
    fc.constant('changed by another' as const),
    machine,
    fc.constantFrom('Failed', 'Drained', 'Ready'),
  ),
  fc.tuple(fc.constant('deleted by another' as const), machine),
  fc.tuple(fc.constantFrom('away' as const, 'back' as const, 'answers lost' as const)),
  fc.tuple(fc.constantFrom('lag' as const, 'catch up' as const, 'relist' as const)),
  fc.tuple(fc.constantFrom('crash' as const, 'reconnect' as const)),
  fc.tuple(fc.constantFrom('missed' as const, 'missed and crashed' as const), machine, state),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const makeHarness = () => {
  const time = simulatedTime();
  const cluster = fakeObjects(UPCOMING_NODES_PATH, projectUpcomingNode);
  const nodes = fakeObjects('/api/v1/nodes', projectNode);
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
  /** The fleet's replay. */
  const fleet = new Map<string, MachineState>();
  let shardEvents = new Subject<ShardEvent>();
  let stream = 0;
  const start = () => {
    shardEvents = new Subject();
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
  const report = (id: string, state: MachineState): void =>
    shardEvents.next({
      _tag: 'MachineObserved',
      machine: {
        machineId: machineId(id),
        state,
        nodeName: '',
        providerId: `host-${id}`,
        lastError: '',
        labels: {},
        resources: { cpu: '1' },
        taints: [],
      },
    });
  const open = (): void => {
    stream += 1;
    shardEvents.next({ _tag: 'StreamOpened', stream });
    for (const [id, state] of fleet) if (BOUND.includes(state)) report(id, state);
    shardEvents.next({ _tag: 'Resynced', stream });
  };
  nodes.list();
  cluster.list();
  let registry = start();
  open();

  const lose = ({ method }: { readonly method: string }) =>
    method === 'GET'
      ? Effect.succeed(undefined)
      : Effect.fail(new NotSent({ why: 'the answer was lost' }));
  const play = async (scene: Step): Promise<void> => {
    switch (scene[0]) {
      case 'frame':
        fleet.set(scene[1], scene[2]);
        return report(scene[1], scene[2]);
      case 'wait':
        return await time.advance(scene[1]);
      case 'changed by another':
        if (cluster.get(`un-${scene[1]}`)) {
          cluster.put(`un-${scene[1]}`, { status: { phase: scene[2] } });
        }
        return;
      case 'deleted by another':
        return cluster.remove(`un-${scene[1]}`);
      case 'away':
        return cluster.intercept(() => Effect.fail(new NotSent({ why: 'connection refused' })));
      case 'back':
        return cluster.intercept(() => Effect.succeed(undefined));
      case 'answers lost':
        return cluster.loseAnswers(lose);
      case 'lag':
        return cluster.lag();
      case 'catch up':
        return cluster.catchUp();
      case 'relist':
        cluster.catchUp();
        return cluster.list();
      case 'crash':
        void registry.stop();
        cluster.catchUp();
        registry = start();
        return open();
      case 'missed':
      case 'missed and crashed':
        shardEvents.next({ _tag: 'StreamEnded', stream });
        fleet.set(scene[1], scene[2]);
        return await play([scene[0] === 'missed' ? 'reconnect' : 'crash']);
      case 'reconnect':
        shardEvents.next({ _tag: 'StreamEnded', stream });
        return open();
    }
  };
  return {
    play,
    /** All faults end, and time passes. */
    heal: async (): Promise<void> => {
      cluster.intercept(() => Effect.succeed(undefined));
      cluster.catchUp();
      await time.advance(120_000);
    },
    finish: async (): Promise<void> => {
      void registry.stop();
      await time.advance(1000);
      await runtime.dispose();
    },
    current: () =>
      Object.fromEntries(
        cluster.names().sort().map((name) => [name, textAt(cluster.get(name), 'status', 'phase')]),
      ),
    wanted: () =>
      Object.fromEntries(
        [...fleet].filter(([, state]) => BOUND.includes(state)).sort()
          .map(([id, state]) => [`un-${id}`, PHASES[state]]),
      ),
  };
};

test('upcomingNodes: every sequence ends with the objects of exactly the bound machines', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (sequence) => {
      const harness = makeHarness();
      for (const scene of sequence) await harness.play(scene);
      await harness.heal();
      expect(harness.current()).toEqual(harness.wanted());
      await harness.finish();
    }),
    { numRuns: 400 },
  );
});
