/** Whole collections, as interactive commands read them. */
import { Effect, Layer } from 'effect';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numberAt } from '../../../src/domain/json.ts';
import { type KubeAnswer, KubeApi, type KubeCall } from '../../../src/effects/kube-api.ts';
import { readList } from '../../../src/effects/object-lists.ts';
import { unwatched } from '../../support/api/fake-api.ts';

const PODS = { path: '/api/v1/pods', query: { fieldSelector: 'spec.nodeName=n1' } };

/** Lists from a server that answers like this; objects are numbers, and odd ones are left out. */
const listing = async (answer: (call: KubeCall) => KubeAnswer) => {
  const calls: KubeCall[] = [];
  const api = Layer.succeed(KubeApi, {
    call: (call: KubeCall) => {
      calls.push(call);
      return Effect.succeed(answer(call));
    },
    watch: unwatched,
  });
  const even = (raw: unknown): number | undefined => {
    const number = numberAt(raw, 'number') ?? 1;
    return number % 2 === 0 ? number : undefined;
  };
  return { read: await Effect.runPromise(Effect.provide(readList(PODS, even), api)), calls };
};

const evenOf = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, number) => number).filter((number) => number % 2 === 0);

/** Pages of this size; a continue token of an expired list is refused. */
const paged = (count: number, pageSize: number, expiresAt: number) => ({ query }: KubeCall) => {
  const from = Number(query?.['continue'] ?? 0);
  if (from > 0 && from >= expiresAt) return { status: 410, body: { message: 'too old' } };
  const until = query?.['limit'] === undefined ? count : Math.min(count, from + pageSize);
  const items = Array.from({ length: until - from }, (_, index) => ({ number: from + index }));
  const token = until < count ? `${until}` : '';
  return { status: 200, body: { metadata: { continue: token, resourceVersion: '7' }, items } };
};

test('a list has each object once and in order, whatever its pages and when they expire', () =>
  fc.assert(fc.asyncProperty(
    fc.nat({ max: 12 }),
    fc.integer({ min: 1, max: 5 }),
    fc.nat({ max: 14 }),
    async (count, pageSize, expiresAt) => {
      const { read, calls } = await listing(paged(count, pageSize, expiresAt));
      expect(read).toEqual({ _tag: 'Listed', objects: evenOf(count), resourceVersion: '7' });
      expect(calls.every(({ query }) => query?.['fieldSelector'] === 'spec.nodeName=n1'))
        .toBe(true);
    },
  )));

test('a list that is refused in the middle has no objects, only the reason', async () => {
  const refusing = (status: number, body: unknown) => ({ query }: KubeCall) =>
    query?.['continue'] === undefined
      ? { status: 200, body: { metadata: { continue: 'next' }, items: [{ number: 2 }] } }
      : { status, body };
  expect((await listing(refusing(403, { message: 'not you' }))).read)
    .toEqual({ _tag: 'Refused', status: 403, why: 'not you' });
  expect((await listing(refusing(500, ''))).read)
    .toEqual({ _tag: 'Refused', status: 500, why: 'HTTP status 500' });
  expect((await listing(refusing(404, { message: 'x' }))).read).toEqual({
    _tag: 'Refused',
    status: 404,
    why: 'the API server does not serve this resource',
  });
});

test('a whole list that expired is refused, not asked for again', async () => {
  const { read, calls } = await listing(() => ({ status: 410, body: { message: 'too old' } }));
  expect(read).toEqual({ _tag: 'Refused', status: 410, why: 'too old' });
  expect(calls.map(({ query }) => query?.['limit'])).toEqual(['500', '5000', undefined]);
});
