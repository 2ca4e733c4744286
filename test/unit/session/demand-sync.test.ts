/** When demand is held and released: after the lease, failures of collections, and missing pods. */
import { Layer, ManagedRuntime } from 'effect';
import { BehaviorSubject, Subject } from 'rxjs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startDemandSync } from '../../../src/actors/demand/demand-sync.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { MISSING_REQUESTS_MS_MAX } from '../../../src/machines/demand-sync.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

/** A collection whose lists are completed by hand. */
const collection = (name: string, lists: string[]) => {
  const failures = new Subject<void>();
  let listed = Promise.withResolvers<void>();
  return {
    id: name,
    failures,
    failure: () => undefined,
    refollow: () => {
      lists.push(name);
      return listed.promise;
    },
    complete: (): void => {
      listed.resolve();
      listed = Promise.withResolvers<void>();
    },
  };
};

const start = (
  { withPods = true, withNamespaces = false, onRelease = () => {} }: {
    readonly withPods?: boolean;
    readonly withNamespaces?: boolean;
    readonly onRelease?: () => void;
  } = {},
) => {
  const time = simulatedTime();
  const lists: string[] = [];
  const requests = collection('requests', lists);
  const pods = collection('pods', lists);
  const namespaces = collection('namespaces', lists);
  const missing = new BehaviorSubject(0);
  let state = 'unknown';
  let writes = true;
  const runtime = ManagedRuntime.make(Layer.empty);
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const sync = startDemandSync(environment, {
    requests,
    pods: withPods
      ? {
        collections: withNamespaces ? [pods, namespaces] : [pods],
        setCurrent: (current) => {
          writes = current;
        },
        missing,
      }
      : undefined,
    hold: () => {
      state = 'held';
    },
    release: () => {
      onRelease();
      state = 'released';
    },
  });
  onTestFinished(async () => {
    await sync.stop();
    await runtime.dispose();
  });
  return {
    time,
    lists,
    requests,
    pods,
    namespaces,
    missing,
    sync,
    state: () => state,
    writes: () => writes,
    complete: async (...collections: readonly { readonly complete: () => void }[]) => {
      for (const { complete } of collections) {
        complete();
        await time.settle();
      }
    },
  };
};

describe('demand', () => {
  test('wire 5: is released in a term when requests, then pods were listed in it', async () => {
    const { time, lists, requests, pods, sync, state, writes, complete } = start();
    await time.advance(60_000);
    expect([state(), writes(), lists]).toEqual(['held', false, []]);
    sync.setLeading(true);
    await time.advance(600_000);
    expect([state(), writes(), lists]).toEqual(['held', false, ['requests']]);
    await complete(requests);
    expect([state(), writes(), lists]).toEqual(['held', false, ['requests', 'pods']]);
    await complete(pods);
    expect([state(), writes()]).toEqual(['released', true]);
    sync.setLeading(false);
    expect([state(), writes()]).toEqual(['held', false]);
    sync.setLeading(true);
    await time.settle();
    expect([state(), lists.length]).toEqual(['held', 3]);
  });

  test('wire 5: needs no pods where another process writes their requests', async () => {
    const { time, lists, requests, sync, state, complete } = start({ withPods: false });
    sync.setLeading(true);
    await time.settle();
    await complete(requests);
    expect([state(), lists]).toEqual(['released', ['requests']]);
  });

  test.each(['requests', 'pods'] as const)(
    'wire 5: is held from a failure of %s until all were listed again',
    async (failing) => {
      const rig = start();
      const { time, lists, requests, pods, sync, state, writes, complete } = rig;
      sync.setLeading(true);
      await time.settle();
      await complete(requests, pods);
      rig[failing].failures.next();
      await time.settle();
      expect([state(), writes(), lists.length]).toEqual(['held', false, 3]);
      // What fails while it is listed retries by itself.
      rig[failing].failures.next();
      await time.settle();
      expect(lists).toHaveLength(3);
      await complete(requests);
      expect(state()).toBe('held');
      await complete(pods);
      expect([state(), writes()]).toEqual(['released', true]);
    },
  );

  test('wire 5: lists requests once more when they fail while pods are listed', async () => {
    const { time, lists, requests, pods, sync, state, complete } = start();
    sync.setLeading(true);
    await time.settle();
    await complete(requests);
    requests.failures.next();
    await time.settle();
    await complete(pods);
    expect([state(), lists]).toEqual(['held', ['requests', 'pods', 'requests']]);
    await complete(requests, pods);
    expect(state()).toBe('released');
  });

  // The cache of pods was stale in roll-ups: its watch broke while namespaces were listed.
  test('wire 5: lists pods once more when they fail while namespaces are listed', async () => {
    const rig = start({ withNamespaces: true });
    const { time, lists, requests, pods, namespaces, sync, state, writes, complete } = rig;
    sync.setLeading(true);
    await time.settle();
    await complete(requests, pods);
    pods.failures.next();
    await time.settle();
    await complete(namespaces);
    expect([state(), writes(), lists]).toEqual(['held', false, [
      'requests',
      'pods',
      'namespaces',
      'pods',
    ]]);
    namespaces.failures.next();
    await complete(pods);
    expect([state(), lists.at(-1)]).toEqual(['held', 'namespaces']);
    await complete(namespaces);
    expect([state(), writes(), lists.length]).toEqual(['released', true, 5]);
  });

  test('wire 5: lists pods no more for a term that ended', async () => {
    const rig = start({ withNamespaces: true });
    const { time, lists, requests, pods, namespaces, sync, complete } = rig;
    sync.setLeading(true);
    await time.settle();
    await complete(requests, pods);
    pods.failures.next();
    sync.setLeading(false);
    await complete(namespaces);
    await time.settle();
    expect(lists).toEqual(['requests', 'pods', 'namespaces']);
  });

  test.each([true, false])(
    'wire 5: is listed again after a crash, and only by the leader: %s',
    async (isLeading) => {
      let crashes = 1;
      const { time, lists, requests, pods, sync, state, complete } = start({
        onRelease: () => {
          crashes -= 1;
          if (crashes === 0) throw new Error('planted');
        },
      });
      sync.setLeading(true);
      await time.settle();
      await complete(requests, pods);
      sync.setLeading(isLeading);
      await time.advance(60_000);
      expect([state(), lists.length]).toEqual(['held', isLeading ? 3 : 2]);
      await complete(requests, pods);
      expect(state()).toBe(isLeading ? 'released' : 'held');
    },
  );

  test('wire 5: waits for the requests of pods, for a minute at most', async () => {
    const { time, requests, pods, missing, sync, state, writes, complete } = start();
    missing.next(2);
    sync.setLeading(true);
    await time.settle();
    await complete(requests, pods);
    expect([state(), writes()]).toEqual(['held', true]);
    missing.next(1);
    await time.advance(MISSING_REQUESTS_MS_MAX - 1000);
    expect(state()).toBe('held');
    await time.advance(1000);
    expect(state()).toBe('released');
    requests.failures.next();
    await time.settle();
    await complete(requests, pods);
    expect(state()).toBe('held');
    missing.next(0);
    await time.settle();
    expect(state()).toBe('released');
  });
});
