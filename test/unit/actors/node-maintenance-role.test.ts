/**
 * The role maintenance before an API server that answers every write with what it has: whose drains
 * it leads and stops.
 */
import { Deferred, Effect, Layer, ManagedRuntime } from 'effect';
import { expect, test } from 'vitest';
import { nodeMaintenanceRole } from '../../../src/actors/node-maintenance/node-maintenance-role.ts';
import type { DrainEngine } from '../../../src/actors/node-drains/drain-engine.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { cordonsLayer } from '../../../src/effects/cordons.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import type { KubeAnswer } from '../../../src/effects/kube-api.ts';
import { nodeMaintenancesLayer } from '../../../src/effects/node-maintenance.ts';
import { podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import { servingGatesLayer } from '../../../src/effects/serving-gates.ts';
import { informedEnvironment } from '../../support/actors/informed-environment.ts';
import { answeringApi } from '../../support/api/fake-api.ts';
import { maintenanceRaw, nodeRaw } from '../../support/node-maintenance/maintenance-fixture.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const GROUP = '/apis/lifecycle.tidegate.dev/v1alpha1';
const NODE = {
  metadata: { name: 'n1', uid: 'n1', resourceVersion: '5', labels: { pool: 'a' } },
  spec: {},
  status: {},
};
/** Without watches no further Node begins, and the one that is admitted goes on. */
const MAINTENANCE = maintenanceRaw('10', {
  stage: 'Cordon',
  isProtected: true,
  nodes: [nodeRaw('n1')],
});

/** An API server with one Node and a maintenance that cordons it. */
const rig = (
  { onCordon = Effect.succeed({ status: 200, body: NODE }), isServed = true }: {
    /** What answers a write to the Node. */
    readonly onCordon?: Effect.Effect<KubeAnswer>;
    readonly isServed?: boolean;
  } = {},
) => {
  const time = simulatedTime();
  let cordons = 0;
  const lists = new Map<string, readonly object[]>([
    ['/api/v1/nodes', [NODE]],
    [`${GROUP}/nodemaintenances`, [MAINTENANCE]],
  ]);
  const api = answeringApi(({ method, path }) =>
    Effect.suspend(() => {
      const [collection = ''] = path.split('?');
      const body = {
        metadata: { resourceVersion: '20' },
        items: lists.get(collection) ?? [],
        resources: [{ name: 'nodemaintenances' }],
      };
      if (method === 'GET') return Effect.succeed({ status: isServed ? 200 : 404, body });
      if (collection !== '/api/v1/nodes/n1') {
        const isOfNode = collection.startsWith('/api/v1/nodes');
        return Effect.succeed({ status: 200, body: isOfNode ? NODE : MAINTENANCE });
      }
      cordons += 1;
      return onCordon;
    })
  );
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      cordonsLayer(silentTelemetry),
      podEvictionApiLayer(silentTelemetry),
      servingGatesLayer,
      evictionRequestsLayer,
      nodeMaintenancesLayer,
    ).pipe(Layer.provideMerge(api), Layer.provideMerge(clockLayer(time))),
  );
  const { environment, informers } = informedEnvironment(time, runtime);
  const roleOf = (drains?: DrainEngine) =>
    nodeMaintenanceRole(environment, { policy: { own: null, paused: false }, drains }, {
      informers,
      record: () => {},
      recordOnLease: () => {},
    });
  return { time, informers, roleOf, cordons: () => cordons };
};

test('the role maintenance does not start where its kind is not served', async () => {
  expect(await rig({ isServed: false }).roleOf().discover?.()).toMatchObject({
    _tag: 'Refused',
    problem: expect.stringContaining('does not serve nodemaintenances.lifecycle.tidegate.dev'),
  });
});

test('the role maintenance is ready when its lists are complete, and cordons when it leads', async () => {
  const { time, informers, roleOf, cordons } = rig();
  const role = roleOf();
  expect(await role.discover?.()).toEqual({ _tag: 'Started' });
  expect(role.ready()).toContain('nodemaintenances');
  informers.start();
  await time.advance(1000);
  expect([role.ready(), role.informers.every(({ synced }) => synced)]).toEqual([undefined, true]);
  expect(cordons()).toBe(0);
  role.onLeading();
  await time.advance(5000);
  expect(cordons()).toBeGreaterThan(0);
});

test.each(['onLeadershipLost', 'close'] as const)(
  'the role maintenance cordons no more after %s',
  async (end) => {
    const { time, informers, roleOf, cordons } = rig({
      onCordon: Effect.succeed({ status: 500, body: {} }),
    });
    const role = roleOf();
    informers.start();
    role.onLeading();
    await time.advance(1000);
    const before = cordons();
    expect(before).toBeGreaterThan(0);
    await role[end]?.();
    await time.advance(600_000);
    expect(cordons()).toBe(before);
  },
);

test('the role maintenance stops when its cordons are answered', async () => {
  const answer = Deferred.makeUnsafe<KubeAnswer>();
  const { time, informers, roleOf, cordons } = rig({ onCordon: Deferred.await(answer) });
  const role = roleOf();
  informers.start();
  role.onLeading();
  await time.advance(1000);
  expect(cordons()).toBe(1);
  let hasStopped = false;
  const stopped = role.stop().then(() => {
    hasStopped = true;
  });
  await time.advance(1000);
  expect(hasStopped).toBe(false);
  await Effect.runPromise(Deferred.succeed(answer, { status: 200, body: NODE }));
  await Promise.all([stopped, time.advance(60_000)]);
  expect(cordons()).toBe(1);
});

test('the drains of another role are not led, discovered or stopped by the role maintenance', async () => {
  const { time, informers, roleOf, cordons } = rig();
  const other = roleOf();
  const role = roleOf({
    ...other.shared,
    discover: () => Promise.resolve({ _tag: 'Refused', problem: 'not its own' }),
  });
  expect(await role.discover?.()).toEqual({ _tag: 'Started' });
  informers.start();
  await time.advance(1000);
  role.onLeading();
  await time.advance(5000);
  expect(cordons(), 'nobody leads the drains').toBe(0);
  other.onLeading();
  role.onLeadershipLost();
  await Promise.all([role.stop(), time.advance(60_000)]);
  await time.advance(5000);
  expect(cordons(), 'the other role goes on').toBeGreaterThan(0);
});
