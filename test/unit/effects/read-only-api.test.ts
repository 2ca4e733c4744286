/** A connection that only reads. */
import { Effect } from 'effect';
import { expect, test } from 'vitest';
import { KubeApi, type KubeCall } from '../../../src/effects/kube-api.ts';
import { readOnly } from '../../../src/effects/read-only-api.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

test('a connection that only reads sends GET, and refuses everything else', async () => {
  const calls: KubeCall[] = [];
  let watches = 0;
  const answers = await Effect.runPromise(
    readOnly(Effect.gen(function* () {
      const api = yield* KubeApi;
      const called = METHODS.map((method) => Effect.exit(api.call({ method, path: '/api' })));
      const watched = Effect.exit(Effect.scoped(api.watch({ path: '/api' })));
      return (yield* Effect.all([...called, watched])).map(({ _tag }) => _tag);
    })).pipe(Effect.provideService(KubeApi, {
      call: (call) =>
        Effect.sync(() => {
          calls.push(call);
          return { status: 200, body: {} };
        }),
      watch: () =>
        Effect.sync(() => {
          watches += 1;
          return (async function* () {})();
        }),
    })),
  );
  expect(answers).toEqual(['Success', ...Array.from({ length: 5 }, () => 'Failure')]);
  expect(calls.map(({ method }) => method)).toEqual(['GET']);
  expect(watches).toBe(0);
});
