/** The caches of `drain status --watch` over API servers in memory, on simulated time. */
import { Layer, ManagedRuntime } from 'effect';
import { afterEach, describe, expect, test } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startDrainWatch } from '../../../src/cli/drain/drain-watch.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { DRAIN_SELECTIONS } from '../../../src/effects/drain-reads.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { scriptedApi } from '../../support/api/scripted-api.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** One API server in memory per collection, selected by the path. */
const bed = () => {
  const time = simulatedTime();
  const collections = {
    nodes: scriptedApi(),
    pods: scriptedApi(),
    budgets: scriptedApi(),
    maintenances: scriptedApi(),
    others: scriptedApi(),
  };
  const at = (path: string) => {
    if (path === DRAIN_SELECTIONS.nodes.path) return collections.nodes.service;
    if (path === DRAIN_SELECTIONS.boundPods.path) return collections.pods.service;
    if (path === DRAIN_SELECTIONS.budgets.path) return collections.budgets.service;
    if (path === DRAIN_SELECTIONS.maintenances.path) return collections.maintenances.service;
    return collections.others.service;
  };
  const api: KubeApi['Service'] = {
    call: (call) => at(call.path).call(call),
    watch: (call) => at(call.path).watch(call),
  };
  const runtime = ManagedRuntime.make(
    Layer.merge(Layer.succeed(KubeApi, api), clockLayer(time)),
  );
  cleanups.push(() => runtime.dispose());
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 7,
  });
  const start = (selector?: string) => {
    const watch = startDrainWatch(environment, { own: null, selector });
    cleanups.push(watch.stop);
    let changes = 0;
    watch.onChange(() => {
      changes += 1;
    });
    let ready = false;
    void watch.whenReady.then(() => {
      ready = true;
    });
    return { watch, changes: () => changes, ready: () => ready };
  };
  return { time, collections, start };
};

describe('the watch of drains', () => {
  test('shows nothing before Nodes, pods and budgets are complete', async () => {
    const { time, collections, start } = bed();
    collections.nodes.put('n1');
    const held = collections.budgets.holdPages();
    const { watch, changes, ready } = start();
    await time.advance(10_000);
    expect([ready(), changes()]).toEqual([false, 0]);
    held.release();
    await time.advance(10_000);
    expect([ready(), changes()]).toEqual([true, 1]);
    expect(watch.reading().nodes.map(({ name }) => name)).toEqual(['n1']);
  });

  test('emits simultaneous changes together, and nothing without a change', async () => {
    const { time, collections, start } = bed();
    const { watch, changes } = start();
    await time.advance(10_000);
    const before = changes();
    for (const name of ['a', 'b', 'c', 'd']) collections.pods.put(name);
    await time.advance(10_000);
    expect(changes()).toBe(before + 1);
    expect(watch.reading().pods.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
    await time.advance(60_000);
    expect(changes()).toBe(before + 1);
  });

  test('follows NodeMaintenances, and works without them', async () => {
    const { time, collections, start } = bed();
    const { watch, changes } = start();
    await time.advance(10_000);
    const before = changes();
    collections.maintenances.put('kernel');
    await time.advance(10_000);
    expect(changes()).toBe(before + 1);
    expect(watch.reading().maintenances.map(({ name }) => name)).toEqual(['kernel']);
    const other = bed();
    other.collections.maintenances.refuseLists(
      ...Array.from({ length: 50 }, () => ({ status: 404 })),
    );
    const without = other.start();
    await other.time.advance(10_000);
    expect(without.ready()).toBe(true);
    expect(without.watch.reading().maintenances).toEqual([]);
  });

  test('knows a Node that has lost the label of the selector, and no deleted one', async () => {
    const { time, collections, start } = bed();
    const { watch } = start('pool=old');
    await time.advance(10_000);
    const change = async (type: string, resourceVersion: string, labels: object) => {
      const metadata = { name: 'n1', uid: 'u1', resourceVersion, labels };
      collections.nodes.chunk([{ type, object: { metadata } }]);
      await time.advance(10_000);
      return [watch.reading().nodes.map(({ name }) => name), watch.node('n1')?.name];
    };
    expect(await change('ADDED', '2', { pool: 'old' })).toEqual([['n1'], 'n1']);
    expect(await change('MODIFIED', '3', { pool: 'new' })).toEqual([[], 'n1']);
    expect(await change('DELETED', '4', { pool: 'new' })).toEqual([[], undefined]);
  });

  test('works without Events and UpcomingNodes', async () => {
    const { time, collections, start } = bed();
    collections.others.refuseLists(
      ...Array.from({ length: 50 }, () => ({ status: 403 })),
    );
    const { watch, ready } = start();
    await time.advance(10_000);
    expect(ready()).toBe(true);
    expect(watch.reading()).toMatchObject({ events: [], machines: [], missing: [] });
  });

  test('calls no subscriber after the unsubscription', async () => {
    const { time, collections, start } = bed();
    const { watch, changes } = start();
    await time.advance(10_000);
    const before = changes();
    watch.stop();
    collections.nodes.put('n1');
    await time.advance(10_000);
    expect(changes()).toBe(before);
  });
});
