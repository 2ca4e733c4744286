/** The registry of free capacity over a small API server in memory. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { Subject } from 'rxjs';
import { afterEach, expect, test } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startAvailableCapacities } from '../../../src/actors/upcoming-nodes/available-capacities.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { projectAvailableCapacity } from '../../../src/domain/available-capacity.ts';
import type { Need } from '../../../src/domain/demand/need.ts';
import type { CapacityObservation, ShardEvent } from '../../../src/domain/frames.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import {
  AVAILABLE_CAPACITIES_PATH,
  availableCapacitiesLayer,
} from '../../../src/effects/available-capacities.ts';
import { NotSent } from '../../../src/effects/kube-api.ts';
import { fakeObjects } from '../../support/api/fake-objects.ts';

/** Golden (DEM-09). */
const KEY = 'available:p=1000000|ipb=0|rpb=0|reqs=node.kubernetes.io/instance-type:1:' +
  'a3-highgpu-8g;|spr=';
const NAME = 'ac-c1e0f71c92d76ecb4932359515c143ee';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const rig = ({ synced = true } = {}) => {
  const time = simulatedTime();
  const cluster = fakeObjects(AVAILABLE_CAPACITIES_PATH, projectAvailableCapacity);
  const notes: EventNote[] = [];
  const shardEvents = new Subject<ShardEvent>();
  const acknowledged = new Subject<{ readonly needs: readonly Need[] }>();
  const counted = new Map<string, number>();
  const telemetry: Telemetry = {
    ...silentTelemetry,
    count: (name, by, ..._labels) => void counted.set(name, (counted.get(name) ?? 0) + by),
  };
  const runtime = ManagedRuntime.make(
    availableCapacitiesLayer({ telemetry }).pipe(
      Layer.provideMerge(cluster.layer),
      Layer.provideMerge(clockLayer(time)),
    ),
  );
  if (synced) cluster.list();
  const registry = startAvailableCapacities(
    makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 }),
    {
      shardEvents,
      acknowledged,
      availableCapacities: {
        ...cluster.reflector,
        values: () => cluster.names().flatMap((name) => cluster.known(name) ?? []),
      },
      record: (note) => notes.push(note),
    },
  );
  stops.push(async () => {
    await registry.stop();
    await runtime.dispose();
  });
  const observe = (availableCount: number, more: Partial<CapacityObservation> = {}): void =>
    shardEvents.next({
      _tag: 'CapacityObserved',
      capacity: {
        supersedesKey: KEY,
        requirements: [
          { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['a3-highgpu-8g'] },
        ],
        resources: { memory: '4Gi', cpu: '2' },
        availableCount,
        confidence: availableCount === 0 ? 'None' : 'High',
        costPerHour: 0.1 + 0.2,
        ...more,
      },
    });
  const report = (...observed: Parameters<typeof observe>) => {
    observe(...observed);
    return time.settle();
  };
  /** Acknowledges roll-ups of these needs, one a minute. */
  const rollups = async (needs: readonly Need[], minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      acknowledged.next({ needs });
      await time.advance(60_000);
    }
  };
  const sources = [shardEvents, acknowledged];
  return { time, cluster, notes, counted, registry, observe, report, rollups, sources };
};

/** A need of the profile of `KEY`. */
const NEED: Need = {
  key: 'k',
  requirements: [
    { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['a3-highgpu-8g'] },
  ],
  aggregateResources: { cpu: '8' },
  minUnit: { cpu: '8' },
  priority: 1_000_000,
  spread: [],
  interruptionBucket: 0,
  reclamationBucket: 0,
  group: '',
  requests: 1,
};

test('availableCapacities: an object is named by the hash of its key and has the exact cost', async () => {
  const { cluster, report } = rig();
  await report(3);
  expect(cluster.get(NAME)).toMatchObject({
    spec: {
      requirements: [
        { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['a3-highgpu-8g'] },
      ],
      resources: { cpu: '2', memory: '4Gi' },
      availableCount: 3,
      availability: 'High',
      cost: '0.3',
    },
  });
});

test('availableCapacities: only changes are patched, and nothing without a change', async () => {
  const { cluster, report } = rig();
  await report(3);
  await report(3);
  expect(cluster.writes()).toEqual(['POST']);
  await report(4);
  expect(cluster.writes()).toEqual(['POST', `PATCH ${NAME}`]);
  expect(cluster.calls.at(-1)?.body).toEqual({ spec: { availableCount: 4 } });
});

test('availableCapacities: an object is deleted at count 0 with confidence NONE, and only then', async () => {
  const { cluster, report, registry } = rig();
  await report(3);
  await report(0, { confidence: 'Low' });
  expect(cluster.get(NAME)).toMatchObject({ spec: { availableCount: 0, availability: 'Low' } });
  await report(0);
  expect(cluster.names()).toEqual([]);
  expect(registry.get(KEY)).toBeUndefined();
  await report(0);
  expect(cluster.writes().length).toBe(3);
});

test('availableCapacities: nothing is written before the list is complete, and then the latest', async () => {
  const { cluster, report, time } = rig({ synced: false });
  for (const count of [1, 2, 3]) await report(count);
  expect(cluster.writes()).toEqual([]);
  cluster.list();
  await time.settle();
  expect(cluster.get(NAME)).toMatchObject({ spec: { availableCount: 3 } });
  expect(cluster.writes()).toEqual(['POST']);
});

test('availableCapacities: an object of an earlier process is patched, not created again', async () => {
  const { cluster, report, time } = rig({ synced: false });
  cluster.put(NAME, { metadata: { name: NAME, uid: 'u' }, spec: { resources: {}, cost: 1 } });
  cluster.list();
  await report(3);
  await time.settle();
  expect(cluster.writes()).toEqual([`PATCH ${NAME}`]);
  expect(cluster.get(NAME)).toMatchObject({ spec: { availableCount: 3, cost: '0.3' } });
});

test('availableCapacities: a value from another client is overwritten', async () => {
  const { cluster, report, time } = rig();
  await report(3);
  cluster.put(NAME, { spec: { availableCount: 99 } });
  await time.settle();
  expect(cluster.get(NAME)).toMatchObject({ spec: { availableCount: 3 } });
  cluster.remove(NAME);
  await time.settle();
  expect(cluster.get(NAME)).toMatchObject({ spec: { availableCount: 3 } });
});

test('availableCapacities: a change that another client reverts at once is not repeated in a loop', async () => {
  const { cluster, report, time, notes } = rig();
  await report(3);
  let touches = 0;
  cluster.intercept(({ method }) =>
    Effect.gen(function* () {
      if (method !== 'PATCH') return undefined;
      // Long enough for another frame with the same report to arrive.
      yield* Effect.sleep(150);
      touches += 1;
      cluster.put(NAME, { spec: { availableCount: 100 + touches } });
      return { status: 200, body: cluster.get(NAME) };
    })
  );
  for (let tenth = 0; tenth < 600; tenth += 1) {
    await report(4);
    await time.advance(100);
  }
  cluster.intercept(() => Effect.succeed(undefined));
  await time.advance(1000);
  expect(touches).toBeGreaterThan(1);
  expect(touches).toBeLessThan(30);
  expect(notes[0]).toMatchObject({ reason: 'WriteFailing', regarding: { name: NAME } });
});

test('availableCapacities: a failed write is retried with the latest report', async () => {
  const { cluster, report, time } = rig();
  cluster.intercept(() => Effect.fail(new NotSent({ why: 'connection refused' })));
  await report(3);
  await time.advance(10_000);
  await report(5);
  cluster.intercept(() => Effect.succeed(undefined));
  await time.advance(31_000);
  expect(cluster.get(NAME)).toMatchObject({ spec: { availableCount: 5 } });
});

test('availableCapacities: a refused object gets an Event', async () => {
  const { cluster, report, time, notes } = rig();
  cluster.intercept(() => Effect.succeed({ status: 422, body: { message: 'bad cost' } }));
  await report(3);
  await time.settle();
  expect(notes.map(({ reason, regarding }) => [reason, regarding.name])).toEqual([
    ['WriteRefused', NAME],
  ]);
});

test('availableCapacities: reports of an earlier term of leadership are not written in the next', async () => {
  const { cluster, registry, report, time } = rig();
  cluster.intercept(() => Effect.as(Effect.sleep(1000), undefined));
  for (let profile = 0; profile < 20; profile += 1) {
    await report(3, { supersedesKey: `available:${profile}` });
  }
  registry.onLeadershipLost();
  await time.advance(60_000);
  expect(cluster.names()).toEqual([]);
  expect([...registry.actors()]).toEqual([]);
});

test('availableCapacities: an object whose profile no roll-up has had for an hour is deleted', async () => {
  const { cluster, report, rollups, time } = rig();
  await report(3);
  await rollups([NEED], 90);
  await time.advance(7_200_000);
  expect(cluster.names(), 'requested, or without a session').toEqual([NAME]);
  await rollups([], 60);
  expect(cluster.names()).toEqual([NAME]);
  await rollups([], 2);
  expect(cluster.names()).toEqual([]);
  await report(5);
  expect(cluster.get(NAME)).toMatchObject({ spec: { availableCount: 5 } });
});

test('availableCapacities: an object that an earlier process left ages as well', async () => {
  const { cluster, rollups, report } = rig();
  for (const name of [NAME, 'ac-of-a-person']) {
    cluster.put(name, { metadata: { name, uid: name }, spec: { resources: {}, cost: 1 } });
  }
  await rollups([], 40);
  await report(3);
  await rollups([], 40);
  expect(cluster.names(), 'a report begins its hour anew').toContain(NAME);
  await rollups([], 30);
  expect(cluster.names()).toEqual(['ac-of-a-person']);
});

test('availableCapacities: demand that returns within the hour keeps the object', async () => {
  const { cluster, report, rollups } = rig();
  await report(3);
  await rollups([], 40);
  await rollups([NEED], 2);
  await rollups([], 40);
  expect(cluster.names()).toEqual([NAME]);
});

test('availableCapacities: an object begins its hour anew in each term of leadership', async () => {
  const { cluster, registry, report, rollups } = rig();
  await report(3);
  await rollups([], 40);
  registry.onLeadershipLost();
  await rollups([], 60);
  expect(cluster.names()).toEqual([NAME]);
  await rollups([], 2);
  expect(cluster.names()).toEqual([]);
});

test('availableCapacities: a list in the next term writes no report of the last', async () => {
  const { cluster, registry, report, time } = rig();
  await report(3);
  registry.onLeadershipLost();
  cluster.put(NAME, { spec: { availableCount: 99 } });
  cluster.list();
  await time.settle();
  expect(cluster.get(NAME)).toMatchObject({ spec: { availableCount: 99 } });
  await report(3);
  expect(cluster.get(NAME)).toMatchObject({ spec: { availableCount: 3 } });
});

test('availableCapacities: a profile beyond 10,000 is counted and left out; known ones are not', async () => {
  const { counted, observe, report } = rig({ synced: false });
  const leftOut = () => counted.get('tidegate_available_capacities_left_out_total');
  for (let at = 0; at < 10_000; at += 1) observe(3, { supersedesKey: `available:${at}` });
  await report(4, { supersedesKey: 'available:0' });
  expect(leftOut()).toBeUndefined();
  await report(3, { supersedesKey: 'available:beyond' });
  await report(5, { supersedesKey: 'available:0' });
  expect(leftOut()).toBe(1);
});

test('availableCapacities: what has stopped is subscribed to nothing', async () => {
  const { registry, sources } = rig();
  expect(sources.map(({ observed }) => observed)).toEqual([true, true]);
  await registry.stop();
  expect(sources.map(({ observed }) => observed)).toEqual([false, false]);
});
