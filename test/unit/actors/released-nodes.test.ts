/** The write that removes the `reclaim` key from the Node of a machine that serves again. */
import { Effect, Layer } from 'effect';
import { expect, test } from 'vitest';
import { releaseFrom } from '../../../src/actors/upcoming-nodes/upcoming-node-actor.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { type NodeProjection, projectNode } from '../../../src/domain/cluster-node.ts';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import { cordonsLayer } from '../../../src/effects/cordons.ts';
import type { KubeAnswer } from '../../../src/effects/kube-api.ts';
import { fakeApi, fakeObjects } from '../../support/api/fake-objects.ts';

const RECLAIM = 'cordon.tidegate.dev/reclaim';

/** Releases Node `n1`, whose drain ended; `answer` is that of the API server. */
const released = async (
  { unschedulable = false, name = 'n1', answer }: {
    readonly unschedulable?: boolean;
    readonly name?: string;
    readonly answer?: KubeAnswer;
  } = {},
) => {
  const nodes = fakeObjects('/api/v1/nodes', projectNode);
  const key = { ids: ['i'], deadlineMs: 1, graceSeconds: 1, sinceMs: 0, ended: 'Drained' } as const;
  nodes.put('n1', {
    metadata: { name: 'n1', uid: 'nu1', annotations: { [RECLAIM]: printCordon(key) } },
    spec: { unschedulable },
  });
  nodes.list();
  nodes.intercept(() => Effect.succeed(answer));
  const put: NodeProjection[] = [];
  const release = releaseFrom({
    nodeNamed: (one) => nodes.known(one),
    putNode: (node) => {
      put.push(node);
      return [];
    },
  });
  const outcome = await Effect.runPromise(
    release(name).pipe(
      Effect.provide(cordonsLayer(silentTelemetry).pipe(Layer.provide(fakeApi([nodes])))),
    ),
  );
  return { outcome, put, writes: nodes.writes() };
};

test('DR-04: a released Node is known without its key before the watch shows it', async () => {
  const { outcome, put, writes } = await released();
  expect(outcome).toMatchObject({ _tag: 'Written', current: { name: 'n1', ended: null } });
  expect(put).toMatchObject([{ name: 'n1', uid: 'nu1', cordons: {} }]);
  expect(writes).toEqual(['PATCH n1']);
});

test('DR-04: a Node that no longer allows it, or is gone, gets no write', async () => {
  const cordoned = await released({ unschedulable: true });
  expect(cordoned.outcome).toMatchObject({ _tag: 'Written', current: { releasable: false } });
  const gone = await released({ name: 'n2' });
  expect(gone.outcome).toEqual({ _tag: 'Absent' });
  expect([cordoned.writes, gone.writes]).toEqual([[], []]);
});

test.each(
  [
    [404, { _tag: 'Absent' }],
    [409, { _tag: 'Fault', why: 'the Node changed concurrently' }],
    [422, { _tag: 'Refused', why: '422 planted' }],
    [500, { _tag: 'Fault', why: '500 planted' }],
  ] as const,
)(
  'DR-04: a release that the API server answers with %i changes nothing',
  async (status, outcome) => {
    const answer = { status, body: { message: 'planted' } };
    expect(await released({ answer })).toMatchObject({ outcome, put: [] });
  },
);
