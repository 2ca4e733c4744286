/** What the availability of Nodes writes, and how the answers of the API server end it. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import {
  type AvailabilityWrite,
  NodeAvailabilityApi,
  nodeAvailabilityLayer,
} from '../../../src/effects/node-availability.ts';
import { type KubeCall, NotSent } from '../../../src/effects/kube-api.ts';
import { answeringApi } from '../../support/api/fake-api.ts';

const TAINTS = { spec: { taints: [{ key: 'offline' }] } };
const CONDITION = { status: { conditions: [{ type: 'Offline' }] } };
const WHOLE: AvailabilityWrite = { node: 'n1', taints: TAINTS, condition: CONDITION };
const POD = { namespace: 'blueberry', name: 'p-1', uid: 'uid-1', mayLeave: () => true };

type Answer = number | 'lost';

/** The service on an API server that answers the calls in this order, the last one for ever. */
const answering = (...answers: readonly [Answer, ...Answer[]]) => {
  const calls: KubeCall[] = [];
  const api = answeringApi((call) => {
    const answer = answers[Math.min(calls.length, answers.length - 1)] ?? 'lost';
    calls.push(call);
    return answer === 'lost'
      ? Effect.fail(new NotSent({ why: 'reset' }))
      : Effect.succeed({ status: answer, body: { message: 'said', of: call.path } });
  });
  const run = <Outcome>(
    use: (service: NodeAvailabilityApi['Service']) => Effect.Effect<Outcome>,
  ): Promise<Outcome> =>
    Effect.runPromise(
      NodeAvailabilityApi.use(use).pipe(
        Effect.provide(nodeAvailabilityLayer),
        Effect.provide(api),
      ),
    );
  return { calls, run };
};

describe('a Node', () => {
  test('gets its taints before its condition', async () => {
    const { calls, run } = answering(200);
    expect(await run(({ write }) => write(WHOLE)))
      .toEqual({ _tag: 'Written', node: { message: 'said', of: '/api/v1/nodes/n1/status' } });
    expect(calls.map(({ path, body }) => [path, body]))
      .toEqual([['/api/v1/nodes/n1', TAINTS], ['/api/v1/nodes/n1/status', CONDITION]]);
  });

  test.each<[string, Answer, string]>([
    ['are refused', 403, '403 said'],
    ['are redirected', 300, '300 said'],
    ['are lost', 'lost', 'reset'],
  ])('gets no condition when its taints %s', async (_, answer, why) => {
    const { calls, run } = answering(answer);
    expect(await run(({ write }) => write(WHOLE))).toEqual({ _tag: 'Fault', why });
    expect(calls).toHaveLength(1);
  });

  test('gets its condition alone when its taints are there', async () => {
    const { calls, run } = answering(200);
    const outcome = await run(({ write }) => write({ ...WHOLE, taints: undefined }));
    expect(outcome._tag).toBe('Written');
    expect(calls.map(({ path }) => path)).toEqual(['/api/v1/nodes/n1/status']);
  });

  test('gets its taints alone when its condition is there', async () => {
    const { calls, run } = answering(200);
    const outcome = await run(({ write }) => write({ ...WHOLE, condition: undefined }));
    expect(outcome._tag).toBe('Written');
    expect(calls.map(({ path }) => path)).toEqual(['/api/v1/nodes/n1']);
  });
});

describe('a pod of a lost Node', () => {
  test.each<[Answer, object]>([
    [200, { _tag: 'Deleted' }],
    [299, { _tag: 'Deleted' }],
    [300, { _tag: 'Fault', why: '300 said' }],
    [404, { _tag: 'Gone' }],
    [409, { _tag: 'Gone' }],
    [403, { _tag: 'Fault', why: '403 said' }],
    [500, { _tag: 'Fault', why: '500 said' }],
    ['lost', { _tag: 'Fault', why: 'reset' }],
  ])('is deleted by its UID: %s', async (answer, outcome) => {
    const { calls, run } = answering(answer);
    expect(await run(({ remove }) => remove(POD))).toEqual(outcome);
    expect(calls).toMatchObject([{
      method: 'DELETE',
      path: '/api/v1/namespaces/blueberry/pods/p-1',
      body: { preconditions: { uid: 'uid-1' } },
      mayLeave: POD.mayLeave,
    }]);
  });

  test.each<[Answer, string]>([
    [200, 'Written'],
    [300, 'Refused'],
    [404, 'Refused'],
  ])('has a condition: %s', async (answer, outcome) => {
    const { calls, run } = answering(answer);
    const outcomeOnPod = await run(({ showOnPod }) => showOnPod({ ...POD, body: CONDITION }));
    expect(outcomeOnPod).toBe(outcome);
    expect(calls.map(({ path }) => path))
      .toEqual(['/api/v1/namespaces/blueberry/pods/p-1/status']);
  });
});
