/** The end of the role evictions: a write that was sent is awaited, and none follows. */
import { Deferred, Effect, Layer } from 'effect';
import { expect, test } from 'vitest';
import { type KubeAnswer, KubeApi } from '../../../src/effects/kube-api.ts';
import { Writes } from '../../../src/effects/writes.ts';
import { unwatched } from '../../support/api/fake-api.ts';
import {
  ACTOR_A,
  ACTOR_B,
  entry,
  IMPERATIVE,
  rawPod,
  rawRequest,
  statusWith,
} from '../../support/eviction-requests/request-fixture.ts';
import { roleOnApi } from '../../support/eviction-requests/role-rig.ts';

const GROUP = '/apis/lifecycle.tidegate.dev/v1alpha1';

/** What a read of a request and its pod gives. */
const answerOf = (path: string, request: object): KubeAnswer => {
  const listed = (...items: readonly unknown[]): KubeAnswer => ({
    status: 200,
    body: { metadata: { resourceVersion: '20' }, items },
  });
  const [collection = ''] = path.split('?');
  if (collection === GROUP) {
    return { status: 200, body: { resources: [{ name: 'evictionrequests' }] } };
  }
  if (collection === `${GROUP}/evictionrequests`) return listed(request);
  return collection === '/api/v1/pods' ? listed(rawPod()) : listed();
};

/** The role with a write that nobody has answered; others are answered at once. */
const writing = async (request = rawRequest(), isHeld = (_path: string): boolean => true) => {
  const sent: string[] = [];
  const answer = Deferred.makeUnsafe<KubeAnswer>();
  const api = Layer.mergeAll(
    Layer.succeed(KubeApi, {
      watch: unwatched,
      call: ({ path }) => Effect.sync(() => answerOf(path, request)),
    }),
    Layer.succeed(Writes, {
      send: (_class, { path }) =>
        Effect.suspend(() => {
          sent.push(path);
          return isHeld(path)
            ? Deferred.await(answer)
            : Effect.succeed({ status: 200, body: request });
        }),
    }),
  );
  const { time, informers, role } = roleOnApi(api);
  await role.discover?.();
  informers.start();
  await time.advance(1000);
  role.onLeading();
  await time.advance(1000);
  return { time, role, sent, answer };
};

/** Stops the role, which waits for the answer. */
const stopsAfterAnswer = async (
  { time, role, sent, answer }: Awaited<ReturnType<typeof writing>>,
): Promise<void> => {
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
};

test('the role evictions stops when what it wrote is answered', async () => {
  await stopsAfterAnswer(await writing());
});

test('the role evictions stops when its own eviction is answered', async () => {
  const status = statusWith({
    active: IMPERATIVE,
    processed: [ACTOR_B, ACTOR_A],
    interceptors: [entry(IMPERATIVE, { startTime: 0, heartbeatTime: 0 })],
  });
  const isEviction = (path: string): boolean => path.endsWith('/eviction');
  const scene = await writing(rawRequest({ status }), isEviction);
  expect(scene.sent.filter(isEviction)).toHaveLength(1);
  await stopsAfterAnswer(scene);
});
