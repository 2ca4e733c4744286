/** What the user may do, as `tidegate doctor` asks the API server. */
import { Effect, Layer } from 'effect';
import { expect, test } from 'vitest';
import { type KubeAnswer, KubeApi, type KubeCall } from '../../../src/effects/kube-api.ts';
import { reviewAccess } from '../../../src/effects/access-reviews.ts';
import { unwatched } from '../../support/api/fake-api.ts';

const reviewed = async (answer: KubeAnswer, subresource: string, namespace?: string) => {
  const calls: KubeCall[] = [];
  const api = Layer.succeed(KubeApi, {
    call: (call: KubeCall) => {
      calls.push(call);
      return Effect.succeed(answer);
    },
    watch: unwatched,
  });
  const verbs = ['create'];
  const object = { group: '', resource: 'pods', subresource, name: '' };
  const right = { ...object, verbs, isOfLease: false, isOptional: false };
  const asked = reviewAccess({ right, verb: 'create', namespace });
  return { answered: await Effect.runPromise(Effect.provide(asked, api)), calls };
};

test('a right is allowed only when the API server says so', async () => {
  const answering = (status: object) => reviewed({ status: 201, body: { status } }, '');
  expect((await answering({ allowed: true })).answered).toEqual({ _tag: 'Allowed' });
  expect((await answering({ allowed: false })).answered).toEqual({ _tag: 'Denied' });
  expect((await answering({})).answered).toEqual({ _tag: 'Denied' });
});

test('a review that is refused answers nothing, with the reason', async () => {
  expect(
    (await reviewed({ status: 403, body: { message: 'no', status: { allowed: true } } }, ''))
      .answered,
  ).toEqual({ _tag: 'Unanswered', why: 'no' });
  expect((await reviewed({ status: 200, body: '' }, '')).answered)
    .toEqual({ _tag: 'Unanswered', why: 'HTTP status 200' });
});

test('a review names the subresource and the namespace only when the right has them', async () => {
  const answer = { status: 201, body: { status: { allowed: true } } };
  const attributesOf = ({ calls }: { readonly calls: readonly KubeCall[] }) =>
    calls.map(({ body }) => body);
  const spec = (more: object) => [
    expect.objectContaining({
      spec: { resourceAttributes: { group: '', resource: 'pods', verb: 'create', ...more } },
    }),
  ];
  expect(attributesOf(await reviewed(answer, ''))).toEqual(spec({}));
  expect(attributesOf(await reviewed(answer, 'eviction', 'ns')))
    .toEqual(spec({ subresource: 'eviction', namespace: 'ns' }));
});
