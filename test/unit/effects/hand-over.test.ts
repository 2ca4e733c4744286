/** A drained Node is left to a person by as few requests as are safe. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import { recordAt } from '../../../src/domain/json.ts';
import { handOverCordon } from '../../../src/effects/drained-pods.ts';
import type { KubeCall } from '../../../src/effects/kube-api.ts';
import { answeringApi } from '../../support/api/fake-api.ts';

const CONFLICT = 409;
const PERSON = 'cordon.tidegate.dev/person';

const rawNode = ({ unschedulable = false, uid = 'u1', version = '1' } = {}) => ({
  metadata: { name: 'n1', uid, resourceVersion: version },
  spec: { unschedulable },
});

/** Hands over a Node that was so before; `now` is the Node of each read, one after the other. */
const handedOver = async (
  before: ReturnType<typeof rawNode>,
  { patches, now = [] }: {
    readonly patches: readonly number[];
    readonly now?: readonly ReturnType<typeof rawNode>[];
  },
) => {
  const node = projectDrainedNode(before);
  if (node === undefined) throw new Error('the Node has no identity');
  const calls: KubeCall[] = [];
  const [statuses, reads] = [[...patches], [...now]];
  const api = answeringApi((call) => {
    calls.push(call);
    return Effect.succeed(
      call.method === 'GET'
        ? { status: 200, body: reads.shift() ?? rawNode() }
        : { status: statuses.shift() ?? 500, body: { message: 'no' } },
    );
  });
  const why = await Effect.runPromise(handOverCordon(node, 0).pipe(Effect.provide(api)));
  return { why, calls };
};

const methods = (calls: readonly KubeCall[]) => calls.map(({ method }) => method);

describe('a cordon is left to a person', () => {
  test('of a Node that was schedulable: by one patch of that Node, whatever its version', async () => {
    const { why, calls } = await handedOver(rawNode(), { patches: [200] });
    expect([why, methods(calls)]).toEqual([undefined, ['PATCH']]);
    const { metadata, spec } = recordAt(calls[0], 'body') ?? {};
    expect(spec).toEqual({ unschedulable: true });
    expect(metadata).toEqual({
      uid: 'u1',
      annotations: { [PERSON]: '{"v":1,"ids":[],"since":"1970-01-01T00:00:00.000Z"}' },
    });
  });

  test('of a Node that was cordoned: by what it shows now', async () => {
    const now = [rawNode({ unschedulable: true, version: '7' })];
    const { why, calls } = await handedOver(now[0] ?? rawNode(), { patches: [200], now });
    expect([why, methods(calls)]).toEqual([undefined, ['GET', 'PATCH']]);
    expect(recordAt(calls[1], 'body')).toMatchObject({ metadata: { resourceVersion: '7' } });
  });

  test('of a Node that others change at the same time: again, by its newest version', async () => {
    const { why, calls } = await handedOver(rawNode(), {
      patches: [CONFLICT, CONFLICT, 200],
      now: [rawNode({ version: '8' }), rawNode({ version: '9' })],
    });
    expect([why, methods(calls)]).toEqual([undefined, ['PATCH', 'GET', 'PATCH', 'GET', 'PATCH']]);
    expect(recordAt(calls[4], 'body')).toMatchObject({ metadata: { resourceVersion: '9' } });
  });

  test('not of another Node that has its name now', async () => {
    const now = [rawNode({ uid: 'u2' })];
    const { why, calls } = await handedOver(rawNode(), { patches: [CONFLICT], now });
    expect([why, methods(calls)]).toEqual([undefined, ['PATCH', 'GET']]);
  });

  test('not of a Node that is gone', async () => {
    const { why, calls } = await handedOver(rawNode(), { patches: [404] });
    expect([why, methods(calls)]).toEqual([undefined, ['PATCH']]);
  });

  test('or it is said why not', async () => {
    const { why } = await handedOver(rawNode(), { patches: [403] });
    expect(why).toBe('no');
  });
});
