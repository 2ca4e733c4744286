/** What the API server's answers mean to writes of EvictionRequests. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { EvictionRequests, evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import { type KubeAnswer, NotSent } from '../../../src/effects/kube-api.ts';
import { writePlan } from '../../../src/domain/eviction-requests/request-writes.ts';
import { REVIVAL_REFUSED } from '../../../src/domain/eviction-requests/requester.ts';
import { answeringApi } from '../../support/api/fake-api.ts';
import {
  CREATED_MS,
  DRAIN,
  factsOf,
  observedRequest,
  rawPod,
  rawRequest,
  stepAt,
} from '../../support/eviction-requests/request-fixture.ts';

const REQUEST = observedRequest();
const PODS = '/api/v1/namespaces/blueberry/pods';
const UNSEEN = { ...factsOf(REQUEST, null), podSeen: false };

const pending = (facts: typeof UNSEEN) => {
  const basis = {
    progress: { refusals: 0, blocker: '' },
    refusedBefore: 0,
    reportedMs: null,
    statusWrittenMs: null,
    nowMs: CREATED_MS,
    ttlMs: null,
  };
  const { write } = writePlan(facts, stepAt(0, facts), basis);
  return write ?? expect.fail('nothing is written');
};

/** The outcome of the write that follows, and the calls sent, for an answer about pods. */
const written = async (facts: typeof UNSEEN, pods: Effect.Effect<KubeAnswer, NotSent>) => {
  const calls: string[] = [];
  const api = answeringApi((call) =>
    Effect.suspend((): Effect.Effect<KubeAnswer, NotSent> => {
      calls.push(`${call.method} ${call.path} ${call.query?.['fieldSelector'] ?? ''}`.trim());
      return call.path === PODS ? pods : Effect.succeed({ status: 200, body: rawRequest() });
    })
  );
  const outcome = await Effect.runPromise(
    EvictionRequests.use((requests) => requests.write(REQUEST, pending(facts))).pipe(
      Effect.provide(evictionRequestsLayer),
      Effect.provide(api),
    ),
  );
  return { outcome, calls };
};

const listed = (...items: readonly unknown[]) =>
  Effect.succeed({ status: 200, body: { kind: 'PodList', items } });

const READ = `GET ${PODS} metadata.name=${REQUEST.pod.name}`;

describe('ER-43 a request of a pod that was never observed', () => {
  test('stays open while the API server has the pod', async () => {
    const { outcome, calls } = await written(UNSEEN, listed(rawPod()));
    expect(outcome).toEqual({
      _tag: 'Fault',
      why: `pod "${REQUEST.pod.name}" exists and is not observed yet`,
    });
    expect(calls).toEqual([READ]);
  });

  test.each([
    ['has no such pod', listed()],
    ['has another pod of the name', listed(rawPod({ uid: 'another' }))],
  ])('ends when the API server %s', async (_, pods) => {
    const { outcome, calls } = await written(UNSEEN, pods);
    expect(outcome._tag).toBe('Written');
    expect(calls).toEqual([READ, expect.stringMatching(/^PATCH .*\/status$/)]);
  });

  test.each([
    ['does not answer', Effect.fail(new NotSent({ why: 'reset' })), 'reset'],
    [
      'refuses',
      Effect.succeed({ status: 403, body: {} }),
      `reading pod "${REQUEST.pod.name}" was answered with 403`,
    ],
  ])('stays open while the API server %s', async (_, pods, why) => {
    const { outcome, calls } = await written(UNSEEN, pods);
    expect(outcome).toEqual({ _tag: 'Fault', why });
    expect(calls).toEqual([READ]);
  });
});

test('ER-47 a pod that was observed and left needs no further look', async () => {
  const { calls } = await written({ ...UNSEEN, podSeen: true }, listed(rawPod()));
  expect(calls).toEqual([expect.stringMatching(/^PATCH .*\/status$/)]);
});

test.each([
  ['Fault', `EvictionRequest "u" is invalid: spec: ${REVIVAL_REFUSED}: delete it`],
  ['Refused', 'EvictionRequest "u" is invalid: spec.requesters: Too many: 101'],
])('ER-75: a requester that joins is answered with a %s: %s', async (tag, message) => {
  const { namespace, pod } = REQUEST;
  const answer = { status: 422, body: { message, reason: 'Invalid' } };
  const outcome = await Effect.runPromise(
    EvictionRequests.use((requests) =>
      requests.ask(
        { requester: DRAIN, pod: { namespace, ...pod }, request: REQUEST },
        { write: 'join' },
      )
    ).pipe(
      Effect.provide(evictionRequestsLayer),
      Effect.provide(answeringApi(() => Effect.succeed(answer))),
    ),
  );
  expect(outcome).toEqual({ _tag: tag, why: expect.stringContaining(message) });
});
