/** The end of the role evictions: a write that was sent is awaited, and none follows. */
import { Deferred, Effect, Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { evictionRequestsRole } from '../../../src/actors/eviction-requests/eviction-requests-role.ts';
import { sharedInformers } from '../../../src/actors/informers/shared-informers.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import { type KubeAnswer, KubeApi } from '../../../src/effects/kube-api.ts';
import { podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import { servingGatesLayer } from '../../../src/effects/serving-gates.ts';
import { Writes } from '../../../src/effects/writes.ts';
import { unwatched } from '../../support/api/fake-api.ts';
import {
  CREATED_MS,
  rawPod,
  rawRequest,
  TIMING,
} from '../../support/eviction-requests/request-fixture.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const GROUP = '/apis/lifecycle.tidegate.dev/v1alpha1';

/** What a read of one request and its pod gives. */
const answerOf = (path: string): KubeAnswer => {
  const listed = (...items: readonly unknown[]): KubeAnswer => ({
    status: 200,
    body: { metadata: { resourceVersion: '20' }, items },
  });
  const [collection = ''] = path.split('?');
  if (collection === GROUP) {
    return { status: 200, body: { resources: [{ name: 'evictionrequests' }] } };
  }
  if (collection === `${GROUP}/evictionrequests`) return listed(rawRequest());
  return collection === '/api/v1/pods' ? listed(rawPod()) : listed();
};

/** The role with a write that nobody has answered. */
const writing = async () => {
  const time = simulatedTime(CREATED_MS);
  const sent: string[] = [];
  const answer = Deferred.makeUnsafe<KubeAnswer>();
  const api = Layer.mergeAll(
    Layer.succeed(KubeApi, {
      watch: unwatched,
      call: ({ path }) => Effect.sync(() => answerOf(path)),
    }),
    Layer.succeed(Writes, {
      send: (_class, { path }) =>
        Effect.suspend(() => {
          sent.push(path);
          return Deferred.await(answer);
        }),
    }),
  );
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(evictionRequestsLayer, podEvictionApiLayer(silentTelemetry), servingGatesLayer)
      .pipe(Layer.provideMerge(api), Layer.provideMerge(clockLayer(time))),
  );
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const informers = sharedInformers(environment);
  const role = evictionRequestsRole(environment, { policy: { timing: TIMING, ttlMs: null } }, {
    informers,
    record: () => {},
    recordOnLease: () => {},
  });
  onTestFinished(async () => {
    informers.stop();
    await runtime.dispose();
  });
  await role.start();
  informers.start();
  await time.advance(1000);
  role.onLeading();
  await time.advance(1000);
  return { time, role, sent, answer };
};

test('the role evictions stops when what it wrote is answered', async () => {
  const { time, role, sent, answer } = await writing();
  expect(sent.length).toBeGreaterThan(0);
  const before = sent.length;
  let hasStopped = false;
  const stopped = role.stop().then(() => {
    hasStopped = true;
  });
  await time.advance(1000);
  expect(hasStopped).toBe(false);
  await Effect.runPromise(Deferred.succeed(answer, { status: 200, body: rawRequest() }));
  await Promise.all([stopped, time.advance(60_000)]);
  expect([hasStopped, sent.length]).toEqual([true, before]);
});
