/** Single objects and their Events, as interactive commands read them. */
import { Effect, Layer } from 'effect';
import { expect, test } from 'vitest';
import { type KubeAnswer, KubeApi, type KubeCall } from '../../../src/effects/kube-api.ts';
import { readEvents, readObject } from '../../../src/effects/object-reads.ts';

/** An API server with one answer, and the calls that it got. */
const answering = (answer: KubeAnswer) => {
  const calls: KubeCall[] = [];
  const api = Layer.succeed(KubeApi, {
    call: (call: KubeCall) => {
      calls.push(call);
      return Effect.succeed(answer);
    },
    watch: () => Effect.never,
  });
  return {
    calls,
    read: (query?: Readonly<Record<string, string>>) =>
      Effect.runPromise(Effect.provide(readObject('/api/v1/nodes/n1', query), api)),
    events: () =>
      Effect.runPromise(
        Effect.provide(readEvents({ kind: 'Node', name: 'n1', namespace: 'a/b' }), api),
      ),
  };
};

test('an object is read by its path, with a query only when one is given', async () => {
  const { calls, read } = answering({ status: 200, body: { kind: 'Node' } });
  expect(await read()).toEqual({ _tag: 'Found', object: { kind: 'Node' } });
  await read({ limit: '1' });
  expect(calls.map(({ method, path }) => [method, path]))
    .toEqual([['GET', '/api/v1/nodes/n1'], ['GET', '/api/v1/nodes/n1']]);
  expect(calls.map((call) => Object.hasOwn(call, 'query') && call.query))
    .toEqual([false, { limit: '1' }]);
});

test('an object that is missing is absent, and an unknown resource is refused', async () => {
  const missing = { status: 404, body: { details: { name: 'n1' } } };
  expect(await answering(missing).read()).toEqual({ _tag: 'Absent' });
  expect(await answering({ status: 404, body: '404 page not found' }).read()).toEqual({
    _tag: 'Refused',
    status: 404,
    why: 'the API server does not serve this resource: its CRD is not installed',
  });
});

test('a refusal has the message of the API server, else the HTTP status', async () => {
  const named = { status: 403, body: { message: 'no', details: { name: 'n1' } } };
  expect(await answering(named).read()).toEqual({ _tag: 'Refused', status: 403, why: 'no' });
  expect(await answering({ status: 302, body: '' }).read())
    .toEqual({ _tag: 'Refused', status: 302, why: 'HTTP status 302' });
});

test('Events are those of one object, and none without the permission', async () => {
  const { calls, events } = answering({ status: 200, body: { items: [] } });
  expect(await events()).toEqual({ items: [] });
  expect(calls).toMatchObject([{
    path: '/apis/events.k8s.io/v1/namespaces/a%2Fb/events',
    query: { fieldSelector: 'regarding.kind=Node,regarding.name=n1', limit: '500' },
  }]);
  expect(await answering({ status: 403, body: {} }).events()).toBeUndefined();
});
