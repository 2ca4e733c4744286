/**
 * The acts of a serving gate.
 *
 * Regressions: EndpointSlices that were read for an earlier closing of a gate were taken for those
 * of the present one, so that a pod could be evicted while clients were sent to it. After a read
 * that threw, none was made again.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { provideServingGate } from '../../../src/actors/pod-evictions/serving-gate-actor.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { type GateWriteOutcome, ServingGates } from '../../../src/effects/serving-gates.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const OPEN = { isOpen: true, isEvicting: false, areContainersReady: true };
const LOOK_MS = 1000;

const WRITTEN: Effect.Effect<GateWriteOutcome> = Effect.succeed('Written');

/** An actor whose writes land at once, and whose reads are answered by the test. */
const gate = (write = WRITTEN) => {
  const time = simulatedTime();
  const followed = { pod: true, writes: 0, lost: 0 };
  const logs: string[] = [];
  const telemetry: Telemetry = {
    ...silentTelemetry,
    log: (_, message) => void logs.push(message),
  };
  const reads: ((answer: Effect.Effect<boolean>) => void)[] = [];
  const runtime = ManagedRuntime.make(Layer.succeed(ServingGates, {
    write: () => {
      followed.writes += 1;
      return write;
    },
    isListed: () => Effect.callback<boolean>((resume) => void reads.push(resume)),
  }));
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry,
    firstSeed: 1,
  });
  const machine = provideServingGate(
    environment,
    {
      podOf: () => followed.pod ? { namespace: 'ns', name: 'p1' } : undefined,
      onNotLeader: () => {
        followed.lost += 1;
      },
    },
    (act) => act,
  );
  const input = { uid: 'u1', key: 'ns/p1', gate: OPEN, isOpener: true, seed: 1 };
  const actor = environment.actor(machine, 'gate', input);
  actor.start();
  onTestFinished(async () => {
    actor.stop();
    await runtime.dispose();
  });
  return { actor, reads, time, followed, logs, stateNow: () => actor.getSnapshot().value };
};

test('RS-14: a pod is out of its Services by a read of this closing, not of an earlier one', async () => {
  const { actor, reads, time: { settle }, stateNow } = gate();
  for (const type of ['eviction.began', 'eviction.ended', 'eviction.began'] as const) {
    actor.send({ type });
    await settle();
  }
  const [earlier, present] = reads;
  expect(reads).toHaveLength(2);
  earlier?.(Effect.succeed(false));
  await settle();
  expect(stateNow()).toEqual({ leavingBackends: 'reading' });
  present?.(Effect.succeed(false));
  await settle();
  expect(stateNow()).toBe('outOfBackends');
});

test('RS-14: EndpointSlices are read again after a read that threw', async () => {
  const { actor, reads, time, stateNow } = gate();
  actor.send({ type: 'eviction.began' });
  await time.settle();
  reads[0]?.(Effect.die(new Error('planted')));
  await time.settle();
  expect(stateNow()).toEqual({ leavingBackends: 'pausing' });
  await time.advance(LOOK_MS);
  expect(reads).toHaveLength(2);
});

test('RS-14: a gate whose write threw is written again', async () => {
  const { actor, time: { settle }, stateNow } = gate(Effect.die(new Error('planted')));
  actor.send({ type: 'eviction.began' });
  await settle();
  expect(stateNow()).toBe('backingOff');
});

test('RS-14: a gate that is followed no more is neither written nor read', async () => {
  const closing = gate();
  closing.followed.pod = false;
  closing.actor.send({ type: 'eviction.began' });
  await closing.time.settle();
  expect([closing.followed.writes, closing.logs]).toEqual([0, []]);
  const closed = gate();
  closed.actor.send({ type: 'eviction.began' });
  closed.actor.send({ type: 'gate.written', outcome: 'Written' });
  closed.followed.pod = false;
  await closed.time.advance(5000);
  expect([closed.reads, closed.logs]).toEqual([[], []]);
});

test('RS-14: a write that is refused is logged, and one that failed is not', async () => {
  const rows = [
    ['Refused', ['Cannot write the serving gate of a pod: refused'], 'refused'],
    ['Fault', [], 'backingOff'],
  ] as const;
  for (const [outcome, lines, state] of rows) {
    const { actor, time, logs, stateNow } = gate(Effect.succeed(outcome));
    actor.send({ type: 'eviction.began' });
    await time.settle();
    expect([logs, stateNow()]).toEqual([lines, state]);
  }
});

test('RS-14: a lost lease ends the gate that wrote, and none that followed it', async () => {
  for (const isStopped of [false, true]) {
    const { promise, resolve } = Promise.withResolvers<GateWriteOutcome>();
    const { actor, followed, time } = gate(Effect.promise(() => promise));
    actor.send({ type: 'eviction.began' });
    await time.settle();
    if (isStopped) actor.stop();
    resolve('NotLeader');
    await time.settle();
    expect(followed.lost).toBe(isStopped ? 0 : 1);
  }
});
