/** Roll-ups and acknowledgements on simulated time, with an in-process cache and session. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { BehaviorSubject, Subject } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { textAt } from '../../../src/domain/json.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startRollups } from '../../../src/actors/demand/rollups.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import type { ShardEvent } from '../../../src/domain/frames.ts';
import { uid as asUid } from '../../../src/domain/ids.ts';
import type { Rollup } from '../../../src/domain/session.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { capacityRequestsLayer } from '../../../src/effects/capacity-requests.ts';
import { type KubeAnswer, type KubeCall, NotSent } from '../../../src/effects/kube-api.ts';
import { NotLeader, Writes } from '../../../src/effects/writes.ts';
import { fedRequests, request } from '../../support/demand/fed-requests.ts';

const INTERVAL_MS = 10_000;
type Answer = KubeAnswer | 'NotSent' | 'NotLeader' | 'never';

const started: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of started.splice(0)) await end();
});

const start = (options: { readonly ackConcurrency?: number } = {}) => {
  const time = simulatedTime();
  const cluster = fedRequests();
  const shardEvents = new Subject<ShardEvent>();
  const acknowledged = new Subject<Rollup>();
  const leading = new BehaviorSubject(true);
  const offered: Rollup[] = [];
  const events: EventNote[] = [];
  const patches: KubeCall[] = [];
  /** Those that set Pending. */
  const stamps: KubeCall[] = [];
  const counts = new Map<string, number>();
  const gauges = new Map<string, number>();
  let answer: (call: KubeCall) => Answer = () => ({
    status: 200,
    body: { metadata: { resourceVersion: '100' } },
  });
  const writes = Layer.succeed(Writes, {
    send: (_class, call) =>
      Effect.suspend((): Effect.Effect<KubeAnswer, NotSent | NotLeader> => {
        const isStamp = textAt(call.body, 'status', 'phase') === 'Pending';
        (isStamp ? stamps : patches).push(call);
        const given = answer(call);
        if (given === 'never') return Effect.never;
        if (given === 'NotSent') return Effect.fail(new NotSent({ why: 'reset' }));
        if (given === 'NotLeader') return Effect.fail(new NotLeader({ why: 'lost the lease' }));
        return Effect.succeed(given);
      }),
  });
  const telemetry: Telemetry = {
    ...silentTelemetry,
    count: (name, by, ..._labels) => {
      counts.set(name, (counts.get(name) ?? 0) + by);
    },
    gauge: (name, value, ..._labels) => {
      gauges.set(name, value);
    },
  };
  const runtime = ManagedRuntime.make(
    Layer.merge(Layer.provide(capacityRequestsLayer, writes), clockLayer(time)),
  );
  const rollups = startRollups(makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 }), {
    session: {
      shardEvents,
      acknowledged,
      leading,
      offerRollup: (rollup) => offered.push(rollup),
    },
    requests: cluster,
    intervalMs: INTERVAL_MS,
    ackConcurrency: options.ackConcurrency ?? 16,
    record: (event) => events.push(event),
  });
  started.push(async () => {
    rollups.stop();
    await runtime.dispose();
  });
  return {
    time,
    cluster,
    shardEvents,
    leading,
    offered,
    events,
    patches,
    stamps,
    counts,
    gauges,
    rollups,
    answer: (how: (call: KubeCall) => Answer) => {
      answer = how;
    },
    openStream: () => shardEvents.next({ _tag: 'StreamOpened', stream: 1 }),
    /** The shard acknowledges the newest roll-up. */
    ack: () => {
      const newest = offered.at(-1);
      if (newest !== undefined) acknowledged.next(newest);
    },
  };
};

const cpus = (offered: readonly Rollup[]): readonly string[] =>
  offered.map(({ needs }) => needs.map((need) => need.aggregateResources['cpu']).join(','));

describe('roll-ups', () => {
  test('wire 5: while demand is held, the demand of that moment is repeated', async () => {
    const { time, cluster, offered, openStream, rollups, patches, ack } = start();
    cluster.list(request('a'), request('b'));
    openStream();
    rollups.hold();
    cluster.hide(request('a'));
    cluster.list(request('b'));
    rollups.hold();
    await time.advance(2 * INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches.map(({ path }) => path.split('/').at(-2)), 'what is left is acknowledged')
      .toEqual(['b']);
    rollups.release();
    await time.advance(INTERVAL_MS);
    expect(cpus(offered)).toEqual(['2', '2', '2', '1']);
  });

  test('wire 2: one is sent on each new stream and every interval, complete each time', async () => {
    const { time, cluster, offered, openStream, shardEvents } = start();
    cluster.list(request('a'), request('b'));
    await time.advance(60_000);
    expect(offered).toEqual([]);
    openStream();
    expect(cpus(offered)).toEqual(['2']);
    cluster.show(request('c', { spec: { priority: 7 } }));
    cluster.hide(request('b'));
    await time.advance(INTERVAL_MS);
    expect(cpus(offered)).toEqual(['2', '1,1']);
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    await time.advance(5 * INTERVAL_MS);
    expect(offered).toHaveLength(2);
    openStream();
    expect(offered.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  test('wire 2: an invalid request is excluded, counted and recorded once', async () => {
    const { time, cluster, offered, openStream, events, gauges } = start();
    const bad = request('bad', { spec: { resources: { cpu: 'lots' } } });
    cluster.list(request('a'), bad);
    cluster.show({ ...bad });
    openStream();
    await time.advance(INTERVAL_MS);
    expect(cpus(offered)).toEqual(['1', '1']);
    expect(gauges.get('tidegate_capacity_requests_unreadable')).toBe(1);
    expect(events).toEqual([{
      regarding: {
        apiVersion: 'bigfleet.lucy.sh/v1alpha1',
        kind: 'CapacityRequest',
        namespace: 'ns',
        name: 'bad',
        uid: 'uid-bad',
      },
      reason: 'InvalidCapacityRequest',
      note: expect.stringContaining('spec.resources'),
    }]);
  });

  test('wire 2: a request that is too large is excluded and has its own Event', async () => {
    const { time, cluster, offered, openStream, events } = start();
    const names = Array.from({ length: 40_000 }, (_, index) => [`example.com/r${index}`, '1']);
    const large = request('large', { spec: { resources: Object.fromEntries(names) } });
    cluster.list(request('a'), large);
    openStream();
    await time.advance(INTERVAL_MS);
    expect(cpus(offered)).toEqual(['1', '1']);
    expect(events).toEqual([
      expect.objectContaining({
        reason: 'CapacityRequestTooLarge',
        note: expect.stringContaining('spec.resources has 40000 entries, more than 64'),
      }),
    ]);
  });

  test('wire 5: a request that becomes invalid keeps its last valid reading until it is deleted', async () => {
    const { time, cluster, offered, openStream, events } = start();
    cluster.list(request('a', { spec: { resources: { cpu: '3' } } }));
    openStream();
    cluster.show(request('a', { spec: { resources: { cpu: '-3' } }, version: '2' }));
    await time.advance(INTERVAL_MS);
    cluster.hide(request('a'));
    await time.advance(INTERVAL_MS);
    expect(cpus(offered)).toEqual(['3', '3', '']);
    expect(events).toHaveLength(1);
  });

  test('a standby defers its Events until it leads', () => {
    const { cluster, leading, events } = start();
    leading.next(false);
    cluster.list(
      request('bad', { spec: { resources: {}, priority: 'high' } }),
      request('mended', { spec: { priority: 'x' } }),
    );
    cluster.show(request('mended', { version: '2' }));
    expect(events).toEqual([]);
    leading.next(true);
    expect(events.map(({ regarding }) => regarding.name)).toEqual(['bad']);
  });

  test('a standby forgets the Event of a request that a new list shows valid', () => {
    const { cluster, leading, events } = start();
    leading.next(false);
    cluster.list(request('mended', { spec: { priority: 'x' } }));
    cluster.list(request('mended', { version: '2' }));
    leading.next(true);
    expect(events).toEqual([]);
  });
});

describe('acknowledgements', () => {
  test('wire 2: requests become Acknowledged with the ack of their roll-up, not when it was sent', async () => {
    const { time, cluster, openStream, patches, ack, counts } = start();
    cluster.list(
      request('new'),
      request('pending', { phase: 'Pending' }),
      request('known', { phase: 'Acknowledged' }),
      request('bad', { spec: { resources: { cpu: 'x' } } }),
    );
    openStream();
    await time.settle();
    expect(patches).toEqual([]);
    ack();
    await time.settle();
    expect(patches).toEqual(['new', 'pending'].map((name) => ({
      method: 'PATCH',
      path: `/apis/bigfleet.lucy.sh/v1alpha1/namespaces/ns/capacityrequests/${name}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { phase: 'Acknowledged', acknowledgedAt: '2026-01-01T00:00:00Z' } },
      timeoutMs: 15_000,
    })));
    expect(counts.get('bigfleet_operator_acknowledged_total')).toBe(2);
  });

  test('a request that arrives after the roll-up waits for the next one', async () => {
    const { time, cluster, openStream, patches, ack } = start();
    cluster.list(request('early'));
    openStream();
    cluster.show(request('late'));
    ack();
    await time.settle();
    expect(patches.map(({ path }) => path.split('/').at(-2))).toEqual(['early']);
    await time.advance(INTERVAL_MS);
    cluster.show(request('early', { phase: 'Acknowledged', version: '100' }));
    ack();
    await time.settle();
    expect(patches.map(({ path }) => path.split('/').at(-2))).toEqual(['early', 'late']);
  });

  test('no request is acknowledged twice while its cache lags behind the patch', async () => {
    const { time, cluster, openStream, patches, ack } = start();
    cluster.list(request('a'));
    openStream();
    ack();
    ack();
    await time.settle();
    cluster.show(request('a', { phase: 'Pending', version: '50' }));
    await time.advance(INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches).toHaveLength(1);
    cluster.show(request('a', { phase: 'Acknowledged', version: '100' }));
    cluster.list(request('a', { phase: 'Acknowledged', version: '100' }));
    await time.advance(INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches).toHaveLength(1);
  });

  test('no request is acknowledged twice for an ack of a roll-up that was built long before', async () => {
    const { time, cluster, openStream, patches, ack } = start();
    cluster.list(request('a'));
    openStream();
    ack();
    await time.settle();
    cluster.show(request('a', { phase: 'Acknowledged', version: '100' }));
    ack();
    await time.settle();
    expect(patches).toHaveLength(1);
  });

  test('a request that a client sets back to Pending is acknowledged again', async () => {
    const { time, cluster, openStream, patches, ack } = start();
    cluster.list(request('a'));
    openStream();
    ack();
    await time.settle();
    cluster.show(request('a', { phase: 'Acknowledged', version: '100' }));
    cluster.show(request('a', { phase: 'Pending', version: '101' }));
    await time.advance(INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches).toHaveLength(2);
  });

  test('another request of the same name is another request', async () => {
    const { time, cluster, openStream, patches, ack } = start();
    cluster.list(request('a'));
    openStream();
    ack();
    await time.settle();
    cluster.hide(request('a'));
    cluster.show({ ...request('a', { version: '60' }), uid: request('b').uid });
    ack();
    await time.settle();
    expect(patches, 'it was not in that roll-up').toHaveLength(1);
    await time.advance(INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches).toHaveLength(2);
  });

  test("a request that is gone is nobody's business", async () => {
    const { time, cluster, openStream, answer, ack, counts, rollups } = start();
    answer(() => ({ status: 404, body: { message: 'not found' } }));
    cluster.list(request('a'), request('b'));
    openStream();
    cluster.hide(request('b'));
    ack();
    await time.settle();
    expect(counts.get('tidegate_acknowledgement_faults_total')).toBe(undefined);
    expect(rollups.demand.size).toBe(1);
  });

  test('transient failures are retried at once, longer ones with later roll-ups', async () => {
    const { time, cluster, openStream, patches, answer, ack, counts } = start();
    let tries = 0;
    answer(() => {
      tries += 1;
      if (tries === 1) return 'NotSent';
      return tries < 4 ? { status: 500, body: {} } : { status: 200, body: {} };
    });
    cluster.list(request('a'));
    openStream();
    ack();
    await time.advance(5000);
    expect([patches.length, counts.get('tidegate_acknowledgement_faults_total')]).toEqual([3, 1]);
    expect(patches.map(({ body }) => JSON.stringify(body)), 'with the same bytes')
      .toEqual(Array(3).fill(JSON.stringify(patches[0]?.body)));
    await time.advance(5000);
    ack();
    await time.settle();
    expect([patches.length, counts.get('bigfleet_operator_acknowledged_total')]).toEqual([4, 1]);
  });

  test('without the lease nothing is retried', async () => {
    const { time, cluster, openStream, patches, answer, ack } = start();
    answer(() => 'NotLeader');
    cluster.list(request('a'));
    openStream();
    ack();
    await time.advance(5000);
    expect(patches).toHaveLength(1);
  });

  test('the concurrency is limited, and roll-ups continue meanwhile', async () => {
    const { time, cluster, openStream, patches, answer, offered, ack } = start({
      ackConcurrency: 4,
    });
    answer(() => 'never');
    cluster.list(...Array.from({ length: 50 }, (_, index) => request(`r-${index}`)));
    openStream();
    ack();
    await time.advance(3 * INTERVAL_MS);
    ack();
    await time.settle();
    expect([patches.length, offered.length]).toEqual([4, 4]);
  });

  test('after losing leadership nothing new is sent and the queue is dropped', async () => {
    const { time, cluster, leading, openStream, patches, answer, ack } = start({
      ackConcurrency: 2,
    });
    answer(() => 'never');
    cluster.list(...Array.from({ length: 10 }, (_, index) => request(`r-${index}`)));
    openStream();
    ack();
    await time.settle();
    leading.next(false);
    answer(() => ({ status: 200, body: {} }));
    ack();
    await time.advance(INTERVAL_MS);
    expect(patches).toHaveLength(2);
  });

  test('requests that waited when leadership was lost are acknowledged in the next term', async () => {
    const { time, cluster, leading, openStream, patches, answer, ack } = start({
      ackConcurrency: 1,
    });
    answer(() => 'NotSent');
    cluster.list(request('a'), request('b'), request('c'));
    openStream();
    ack();
    await time.settle();
    leading.next(false);
    await time.advance(INTERVAL_MS);
    leading.next(true);
    answer(() => ({ status: 200, body: {} }));
    await time.advance(INTERVAL_MS);
    patches.length = 0;
    ack();
    await time.settle();
    expect(patches.map(({ path }) => path.split('/').at(-2))).toEqual(['a', 'b', 'c']);
  });
});

describe('a request without a phase', () => {
  const names = (calls: readonly KubeCall[]): readonly (string | undefined)[] =>
    calls.map(({ path }) => path.split('/').at(-2));

  test('becomes Pending after an interval, with or without a session, valid or not', async () => {
    const { time, cluster, stamps, patches } = start();
    cluster.list(
      request('a'),
      request('bad', { spec: { resources: { cpu: 'x' } } }),
      request('pending', { phase: 'Pending' }),
      request('known', { phase: 'Acknowledged' }),
    );
    await time.advance(INTERVAL_MS);
    expect(stamps, 'most are acknowledged by then').toEqual([]);
    await time.advance(INTERVAL_MS);
    expect([names(stamps), patches]).toEqual([['a', 'bad'], []]);
    expect(stamps[0]).toEqual({
      method: 'PATCH',
      path: '/apis/bigfleet.lucy.sh/v1alpha1/namespaces/ns/capacityrequests/a/status',
      contentType: 'application/merge-patch+json',
      body: {
        metadata: { uid: 'uid-a', resourceVersion: '1' },
        status: { phase: 'Pending' },
      },
      timeoutMs: 15_000,
    });
  });

  test('becomes Pending only while it has no other phase', async () => {
    const { time, cluster, stamps } = start();
    cluster.list(request('acked'), request('gone'), request('replaced'));
    await time.advance(INTERVAL_MS);
    cluster.show(request('acked', { phase: 'Acknowledged', version: '2' }));
    cluster.hide(request('gone'));
    cluster.hide(request('replaced'));
    cluster.show({ ...request('replaced', { version: '3' }), uid: asUid('another') });
    await time.advance(INTERVAL_MS);
    expect(stamps, 'an object of the same name waits for itself').toEqual([]);
  });

  test('that changed concurrently is left to a later interval', async () => {
    const { time, cluster, stamps, answer, counts } = start();
    cluster.list(request('a'));
    answer(() => ({ status: 409, body: {} }));
    await time.advance(2 * INTERVAL_MS);
    expect(counts.get('tidegate_pending_phase_writes_total')).toBe(1);
    cluster.show(request('a', { version: '7' }));
    await time.advance(INTERVAL_MS);
    expect(stamps.map(({ body }) => textAt(body, 'metadata', 'resourceVersion')))
      .toEqual(['1', '7']);
  });

  test('becomes Pending two at a time, and never twice at once', async () => {
    const { time, cluster, stamps, answer } = start();
    answer(() => 'never');
    cluster.list(...Array.from({ length: 50 }, (_, index) => request(`r-${index}`)));
    await time.advance(5 * INTERVAL_MS);
    expect(names(stamps)).toEqual(['r-0', 'r-1']);
  });

  test('becomes Pending once, while its cache lags behind the patch', async () => {
    const { time, cluster, stamps } = start();
    cluster.list(request('a'));
    await time.advance(6 * INTERVAL_MS);
    expect(names(stamps)).toEqual(['a']);
  });

  test('becomes Pending only by the leader', async () => {
    const { time, cluster, stamps, leading } = start();
    leading.next(false);
    cluster.list(request('a'));
    await time.advance(5 * INTERVAL_MS);
    expect(stamps).toEqual([]);
    leading.next(true);
    await time.advance(2 * INTERVAL_MS);
    expect(names(stamps)).toEqual(['a']);
  });
});
