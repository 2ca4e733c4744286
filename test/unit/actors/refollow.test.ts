/**
 * A cache that is followed again. Found by a world: the request for the watch of pods was lost, and
 * roll-ups had the demand of the list for 40 s.
 */
import { Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { startInformer } from '../../../src/actors/informers/informer.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { objectKey } from '../../../src/domain/ids.ts';
import { identityOf } from '../../../src/domain/object-meta.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { scriptedApi } from '../../support/api/scripted-api.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

/** A cache with one object, listed and watched. */
const followed = async () => {
  const time = simulatedTime();
  const api = scriptedApi();
  const services = Layer.merge(Layer.succeed(KubeApi, api.service), clockLayer(time));
  const runtime = ManagedRuntime.make(services);
  onTestFinished(() => runtime.dispose());
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 7,
  });
  api.put('a');
  const informer = startInformer(environment, {
    id: 'things',
    path: '/things',
    project: identityOf,
  });
  onTestFinished(informer.stop);
  await time.settle();
  const isOver = { relist: false, refollow: false };
  return {
    time,
    api,
    has: (name: string): boolean => informer.get(objectKey(name)) !== undefined,
    isOver,
    begin: (what: keyof typeof isOver): void => {
      isOver[what] = false;
      void informer[what]().then(() => {
        isOver[what] = true;
      });
    },
  };
};

test('wire 5: a cache is followed again once the watch after its new list is open', async () => {
  const { time, api, has, isOver, begin } = await followed();
  api.refuseWatches('lost');
  begin('relist');
  begin('refollow');
  await time.advance(60_000);
  api.put('b');
  await time.settle();
  expect([isOver, has('b')]).toEqual([{ relist: true, refollow: false }, false]);
  await time.advance(600_000);
  expect([isOver.refollow, has('b')]).toEqual([true, true]);
});

test('wire 5: a cache is followed again after each list, also when one replaces another', async () => {
  const { time, api, isOver, begin } = await followed();
  begin('refollow');
  await time.settle();
  expect(isOver.refollow).toBe(true);
  api.refuseWatches('lost');
  begin('refollow');
  await time.settle();
  begin('relist');
  await time.settle();
  expect(isOver).toEqual({ relist: true, refollow: true });
});
