/** The scheduler that RxJS operators get: simulated time for streams. */
import { Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const environment = () => {
  const time = simulatedTime();
  const runtime = ManagedRuntime.make(Layer.empty);
  onTestFinished(() => runtime.dispose());
  const { scheduler } = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  return { time, scheduler };
};

test('work that schedules itself runs again, until it is unsubscribed', async () => {
  const { time, scheduler } = environment();
  const at: number[] = [];
  const begin = scheduler.now();
  scheduler.schedule<number>(function (round = 0) {
    at.push(scheduler.now() - begin);
    if (round === 2) this.unsubscribe();
    this.schedule(round + 1, 10);
  }, 5);
  await time.advance(1000);
  expect(at).toEqual([5, 15, 25]);
});

test('work that is unsubscribed before its time does not run', async () => {
  const { time, scheduler } = environment();
  let runs = 0;
  const subscription = scheduler.schedule(() => {
    runs += 1;
  }, 5);
  subscription.unsubscribe();
  await time.advance(1000);
  expect(runs).toBe(0);
});
