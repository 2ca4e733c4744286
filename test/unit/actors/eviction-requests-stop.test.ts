/** The end of the role evictions: a write that was sent is awaited, and none follows. */
import { Deferred, Effect, Layer } from 'effect';
import { expect, test } from 'vitest';
import { type KubeAnswer, KubeApi } from '../../../src/effects/kube-api.ts';
import { Writes } from '../../../src/effects/writes.ts';
import { unwatched } from '../../support/api/fake-api.ts';
import { rawPod, rawRequest } from '../../support/eviction-requests/request-fixture.ts';
import { roleOnApi } from '../../support/eviction-requests/role-rig.ts';

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
  const { time, informers, role } = roleOnApi(api);
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
