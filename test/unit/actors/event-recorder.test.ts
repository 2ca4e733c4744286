/** Events: one per occurrence, deduplicated, and never blocking. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { afterEach, expect, test } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startEventRecorder, WAITING_EVENTS_MAX } from '../../../src/actors/event-recorder.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { NOTES_PER_OBJECT_MAX } from '../../../src/domain/event-series.ts';
import { textAt } from '../../../src/domain/json.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { eventsLayer } from '../../../src/effects/events.ts';
import type { KubeAnswer, KubeCall } from '../../../src/effects/kube-api.ts';
import { Writes } from '../../../src/effects/writes.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const rig = () => {
  const time = simulatedTime();
  const calls: (KubeCall & { readonly writeClass: string })[] = [];
  const counted = new Map<string, number>();
  const telemetry: Telemetry = {
    ...silentTelemetry,
    count: (name, by, ...[labels]) => {
      const key = [name, ...Object.values(labels ?? {})].join(' ');
      counted.set(key, (counted.get(key) ?? 0) + by);
    },
  };
  let answer: (call: KubeCall) => Effect.Effect<KubeAnswer> = () =>
    Effect.succeed({ status: 201, body: {} });
  const writes = Layer.succeed(Writes, {
    send: (writeClass, call) =>
      Effect.suspend(() => {
        calls.push({ ...call, writeClass });
        return answer(call);
      }),
  });
  const runtime = ManagedRuntime.make(
    eventsLayer.pipe(Layer.provide(writes), Layer.provideMerge(clockLayer(time))),
  );
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 });
  const recorder = startEventRecorder(environment, { instance: 'tidegate-0' });
  stops.push(recorder.stop);
  return {
    time,
    calls,
    recorder,
    counted: (outcome: string) => counted.get(`tidegate_events_total ${outcome}`) ?? 0,
    answer: (next: typeof answer) => {
      answer = next;
    },
  };
};

const note = (text: string, regarding: Partial<EventNote['regarding']> = {}): EventNote => ({
  regarding: {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'UpcomingNode',
    name: 'un-m1',
    uid: 'u1',
    ...regarding,
  },
  reason: 'NodeReady',
  note: text,
});

test('events: a note becomes an Event with reason, action and reporter', async () => {
  const { recorder, calls } = rig();
  recorder.record(note('Node "n1" is Ready'));
  await recorder.idle();
  expect(calls).toMatchObject([{
    writeClass: 'event',
    method: 'POST',
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
    body: {
      metadata: { namespace: 'default' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'tidegate.dev/operator',
      reportingInstance: 'tidegate-0',
      reason: 'NodeReady',
      action: 'WatchNode',
      type: 'Normal',
      note: 'Node "n1" is Ready',
      regarding: { kind: 'UpcomingNode', name: 'un-m1', uid: 'u1' },
    },
  }]);
});

test('events: an Event is in the namespace of its object', async () => {
  const { recorder, calls } = rig();
  recorder.record(note('x', { kind: 'CapacityRequest', namespace: 'team-a', name: 'cr-1' }));
  await recorder.idle();
  expect(calls[0]?.path).toBe('/apis/events.k8s.io/v1/namespaces/team-a/events');
});

test('events: on the Lease one reason does not silence the others', async () => {
  const { recorder, calls, counted } = rig();
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: 'tidegate' };
  for (let n = 0; n <= NOTES_PER_OBJECT_MAX; n += 1) recorder.record(note(`queued ${n}`, lease));
  recorder.record({ ...note('a storm', lease), reason: 'OfflineStorm' });
  await recorder.idle();
  expect(counted('dropped')).toBe(1);
  expect(textAt(calls.at(-1)?.body, 'reason')).toBe('OfflineStorm');
});

test('events: equal notes are one Event whose series is written once a minute', async () => {
  const { recorder, calls, time, counted } = rig();
  for (let n = 0; n < 10; n += 1) {
    recorder.record(note('again'));
    await time.advance(10_000);
  }
  await recorder.idle();
  expect(calls.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  expect(calls[1]?.body).toEqual({
    series: { count: 7, lastObservedTime: '2026-01-01T00:01:00.000000Z' },
  });
  expect(calls[1]?.path).toContain(textAt(calls[0]?.body, 'metadata', 'name') ?? 'nothing');
  expect(counted('counted')).toBe(8);
});

test('events: a repeat after half an hour starts a new Event', async () => {
  const { recorder, calls, time } = rig();
  recorder.record(note('again'));
  await time.advance(31 * 60_000);
  recorder.record(note('again'));
  await recorder.idle();
  expect(calls.map(({ method }) => method)).toEqual(['POST', 'POST']);
  const names = calls.map(({ body }) => textAt(body, 'metadata', 'name'));
  expect(new Set(names).size).toBe(2);
});

test.each([['back', -3_600_000], ['forward', 3_600_000]])(
  'events: a step of the wall clock %s neither mutes a series nor begins a new one',
  async (_, stepMs) => {
    const { time, recorder, calls } = rig();
    recorder.record(note('again'));
    await recorder.idle();
    time.jumpWallClock(stepMs);
    recorder.record(note('again'));
    await recorder.idle();
    expect(calls.length).toBe(1);
    await time.advance(61_000);
    recorder.record(note('again'));
    await recorder.idle();
    expect(calls.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  },
);

test('events: a series whose Event has expired is created again', async () => {
  const { recorder, calls, time, answer } = rig();
  recorder.record(note('again'));
  await time.advance(61_000);
  answer(({ method }) => Effect.succeed({ status: method === 'PATCH' ? 404 : 201, body: {} }));
  recorder.record(note('again'));
  await recorder.idle();
  expect(calls.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
});

test('events: one object cannot flood the cluster with Events', async () => {
  const { recorder, calls, counted } = rig();
  for (let n = 0; n < 100; n += 1) recorder.record(note(`note ${n}`));
  recorder.record(note('another', { name: 'un-m2' }));
  await recorder.idle();
  expect(calls.length).toBe(NOTES_PER_OBJECT_MAX + 1);
  expect(counted('dropped')).toBe(100 - NOTES_PER_OBJECT_MAX);
});

test('DR-42: no limit drops the start and the end of a drain', async () => {
  const { recorder, calls, counted, answer, time } = rig();
  const drainEnd = (text: string): EventNote => ({
    ...note(text),
    reason: 'DrainFinished',
    isUnlimited: true,
  });
  for (let n = 0; n < 100; n += 1) recorder.record(note(`note ${n}`));
  for (let n = 0; n < 30; n += 1) recorder.record(drainEnd(`Drained in ${n} s`));
  await recorder.idle();
  expect(calls.length).toBe(NOTES_PER_OBJECT_MAX + 30);
  expect(counted('dropped')).toBe(100 - NOTES_PER_OBJECT_MAX);
  answer(() => Effect.never);
  for (let n = 0; n < WAITING_EVENTS_MAX; n += 1) recorder.record(note('x', { name: `un-${n}` }));
  recorder.record(drainEnd('Drained in 99 s'));
  await time.settle();
  expect(counted('dropped')).toBe(100 - NOTES_PER_OBJECT_MAX);
});

test('events: recording never waits, and overflow is dropped and counted', async () => {
  const { recorder, calls, counted, time, answer } = rig();
  answer(() => Effect.never);
  for (let n = 0; n < WAITING_EVENTS_MAX + 10; n += 1) {
    recorder.record(note('x', { name: `un-m${n}` }));
  }
  await time.settle();
  expect(counted('dropped')).toBe(10);
  expect(calls.length).toBe(4);
});

test('events: a failed write is tried three times and then dropped', async () => {
  const { recorder, calls, counted, time, answer } = rig();
  answer(() => Effect.succeed({ status: 500, body: {} }));
  recorder.record(note('x'));
  await time.advance(10_000);
  expect(calls.length).toBe(3);
  expect(counted('failed')).toBe(1);
  answer(() => Effect.succeed({ status: 201, body: {} }));
  recorder.record(note('y'));
  await recorder.idle();
  expect(counted('written')).toBe(1);
});

test('events: more writes that throw than run at once hold up no later Event', async () => {
  const { recorder, calls, answer, counted } = rig();
  answer(() => Effect.die(new Error('planted')));
  for (let n = 0; n < 8; n += 1) recorder.record(note(`note ${n}`));
  await recorder.idle();
  answer(() => Effect.succeed({ status: 201, body: {} }));
  recorder.record(note('later'));
  await recorder.idle();
  expect(calls.at(-1)).toMatchObject({ body: { note: 'later' } });
  expect([counted('failed'), counted('written')]).toEqual([8, 1]);
});

test('a note is truncated at a whole character when it exceeds the byte limit of an Event', async () => {
  const { time, calls, recorder } = rig();
  recorder.record(note('é'.repeat(1000)));
  await time.advance(1000);
  expect(textAt(calls[0]?.body, 'note')).toBe('é'.repeat(512));
});

test('events: is idle only when every Event is written', async () => {
  const { recorder, time, answer } = rig();
  answer(() => Effect.delay(Effect.succeed({ status: 201, body: {} }), 1000));
  for (let n = 0; n < 6; n += 1) recorder.record(note('x', { name: `un-${n}` }));
  let idle = 0;
  void recorder.idle().then(() => (idle += 1));
  await time.advance(1500);
  expect(idle, 'two of them still wait').toBe(0);
  await time.advance(1000);
  expect(idle).toBe(1);
});

test('events: a stop drops the queue, ends every wait, and nothing is written after it', async () => {
  const { recorder, calls, counted, time, answer } = rig();
  answer(() => Effect.delay(Effect.succeed({ status: 201, body: {} }), 1000));
  for (let n = 0; n < 6; n += 1) recorder.record(note('x', { name: `un-${n}` }));
  await time.settle();
  const waiting = recorder.idle();
  recorder.stop();
  await waiting;
  await recorder.idle();
  recorder.record(note('late'));
  await time.advance(10_000);
  expect(calls.length).toBe(4);
  expect(counted('dropped')).toBe(0);
});
