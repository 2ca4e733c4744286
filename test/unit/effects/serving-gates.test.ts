/** Writes of serving gates, and whether Services send clients to a pod. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { describe, expect, onTestFinished, test } from 'vitest';
import { servingGatePatch } from '../../../src/domain/drain/serving-gate.ts';
import { type KubeAnswer, KubeApi, type KubeCall, NotSent } from '../../../src/effects/kube-api.ts';
import { ServingGates, servingGatesLayer } from '../../../src/effects/serving-gates.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { NotLeader, type WriteFault, Writes } from '../../../src/effects/writes.ts';

type Answer = Effect.Effect<KubeAnswer, WriteFault>;

/** The service over an API server that answers so; `calls` are those that it got. */
const gates = (
  { read = Effect.succeed({ status: 200, body: { items: [] } }), write }: {
    readonly read?: Effect.Effect<KubeAnswer, NotSent>;
    readonly write?: Answer;
  },
) => {
  const calls: KubeCall[] = [];
  const got = <Result>(call: KubeCall, answer: Result): Result => {
    calls.push(call);
    return answer;
  };
  const runtime = ManagedRuntime.make(servingGatesLayer.pipe(
    Layer.provide(Layer.succeed(Writes, {
      send: (_writeClass, call) => got(call, write ?? Effect.succeed({ status: 200, body: {} })),
    })),
    Layer.provide(Layer.succeed(KubeApi, {
      call: (call) => got(call, read),
      watch: () => Effect.die('nothing is watched'),
    })),
  ));
  onTestFinished(() => runtime.dispose());
  return {
    calls,
    isListed: (uid: string) =>
      runtime.runPromise(ServingGates.use((service) => service.isListed('ns', uid))),
    write: (isOpen: boolean) =>
      runtime.runPromise(ServingGates.use((service) =>
        service.write({
          namespace: 'ns',
          name: 'p1',
          body: servingGatePatch('u1', { isOpen, nowMs: 0 }),
        })
      )),
  };
};

const listOf = (...endpoints: readonly object[]) =>
  Effect.succeed({ status: 200, body: { items: [{ endpoints: [] }, { endpoints }] } });
const endpoint = (uid: string, ready?: boolean) => ({
  targetRef: { uid },
  conditions: ready === undefined ? {} : { ready },
});

describe('a pod of Services', () => {
  test('RS-14: is listed while an endpoint of its UID is ready, or says nothing', async () => {
    const { isListed, calls } = gates({
      read: listOf(endpoint('a', true), endpoint('b', false), endpoint('c')),
    });
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(isListed))).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(calls.map(({ path }) => path))
      .toEqual(['/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices']);
    expect(await isListed('a')).toBe(true);
    expect(calls).toHaveLength(2);
  });

  test('RS-14: is not looked for in a list that began before it was asked for', async () => {
    const [first, second] = [Promise.withResolvers<object>(), Promise.withResolvers<object>()];
    const left = [first, second];
    const { isListed, calls } = gates({
      read: Effect.suspend(() =>
        Effect.map(
          Effect.promise(() => left.shift()?.promise ?? Promise.resolve({ items: [] })),
          (body) => ({ status: 200, body }),
        )
      ),
    });
    const earlier = isListed('a');
    await simulatedTime().settle();
    expect(calls).toHaveLength(1);
    const [next, beside] = [isListed('a'), isListed('b')];
    await simulatedTime().settle();
    expect(calls, 'one list of a namespace at a time').toHaveLength(1);
    first.resolve({ items: [] });
    expect(await earlier).toBe(false);
    second.resolve({ items: [{ endpoints: [endpoint('a', true)] }] });
    expect(await Promise.all([next, beside])).toEqual([true, false]);
    expect(calls).toHaveLength(2);
  });

  test('RS-14: counts as listed while EndpointSlices cannot be read', async () => {
    const refused = Effect.succeed({ status: 403, body: { message: 'no' } });
    expect(await gates({ read: refused }).isListed('a')).toBe(true);
    expect(await gates({ read: Effect.fail(new NotSent({ why: 'cut' })) }).isListed('a')).toBe(
      true,
    );
    const unserved = Effect.succeed({ status: 404, body: {} });
    expect(await gates({ read: unserved }).isListed('a')).toBe(false);
  });
});

describe('the write of a gate', () => {
  test('RS-14: names the UID of the pod and the reason', async () => {
    const { write, calls } = gates({});
    expect(await write(false)).toBe('Written');
    expect(calls).toMatchObject([{
      method: 'PATCH',
      path: '/api/v1/namespaces/ns/pods/p1/status',
      contentType: 'application/strategic-merge-patch+json',
      body: {
        metadata: { uid: 'u1' },
        status: {
          conditions: [{ type: 'tidegate.dev/serving', status: 'False', reason: 'Evicting' }],
        },
      },
    }]);
  });

  test('RS-14: finds the pod gone when another one has its name', async () => {
    const invalid = (field: string): Answer =>
      Effect.succeed({ status: 422, body: { details: { causes: [{ field }] } } });
    expect(await gates({ write: invalid('metadata.uid') }).write(true)).toBe('Gone');
    expect(await gates({ write: invalid('status.conditions') }).write(true)).toBe('Refused');
  });

  test.each<[string, Answer]>([
    ['Gone', Effect.succeed({ status: 404, body: {} })],
    ['Fault', Effect.succeed({ status: 409, body: {} })],
    ['Refused', Effect.succeed({ status: 403, body: {} })],
    ['Refused', Effect.succeed({ status: 422, body: {} })],
    ['Fault', Effect.succeed({ status: 429, body: {} })],
    ['Fault', Effect.succeed({ status: 503, body: {} })],
    ['Fault', Effect.fail(new NotSent({ why: 'cut' }))],
    ['NotLeader', Effect.fail(new NotLeader({ why: 'lost' }))],
  ])('RS-14: ends as %s', async (outcome, answer) => {
    expect(await gates({ write: answer }).write(true)).toBe(outcome);
  });
});
