/** What caches keep of EvictionRequests and of the pods that they are about. */
import { describe, expect, test } from 'vitest';
import {
  isFinal,
  projectCachedRequest,
  projectEvictionRequest,
} from '../../../../src/domain/eviction-requests/observed-request.ts';
import { writePlan } from '../../../../src/domain/eviction-requests/request-writes.ts';
import { interceptedPodProjection } from '../../../../src/domain/eviction-requests/target-pod.ts';
import {
  ACTOR_A,
  ACTOR_B,
  atSeconds,
  B_ACTIVE,
  CREATED_MS,
  factsOf,
  IMPERATIVE,
  rawPod,
  rawRequest,
  statusWith,
  stepAt,
} from '../../../support/eviction-requests/request-fixture.ts';

const EVICTED = {
  type: 'Evicted',
  status: 'True',
  reason: 'PodDeleted',
  message: 'Pod "p-1" is gone',
  lastTransitionTime: atSeconds(30),
};

const FINAL = rawRequest({
  metadata: { labels: { app: 'p' } },
  status: statusWith({
    active: null,
    processed: [ACTOR_B, ACTOR_A, IMPERATIVE],
    conditions: [EVICTED],
  }),
});

describe('the cache of requests', () => {
  test('keeps all of an open request', () => {
    const raw = rawRequest({ status: B_ACTIVE });
    expect(projectCachedRequest(raw)).toEqual(projectEvictionRequest(raw));
  });

  test('keeps the end and the requesters of a final request, and no interceptors and labels', () => {
    const [cached, whole] = [projectCachedRequest(FINAL), projectEvictionRequest(FINAL)];
    expect(cached).toMatchObject({
      requesters: whole?.requesters,
      pod: whole?.pod,
      labels: {},
      reports: [],
      status: { conditions: whole?.status.conditions, targets: [], processed: [], active: null },
    });
    expect(cached !== undefined && isFinal(cached)).toBe(true);
  });

  test('ER-53: nothing is written to a final request for what its cache leaves out', () => {
    const cached = projectCachedRequest(FINAL);
    if (cached === undefined) throw new Error('No request');
    const facts = factsOf(cached, null);
    const basis = {
      progress: { refusals: 0, blocker: '' },
      refusedBefore: 0,
      reportedMs: null,
      statusWrittenMs: null,
    };
    const at = (nowMs: number, ttlMs: number | null) =>
      writePlan(facts, stepAt(40, facts), { ...basis, nowMs, ttlMs });
    expect(at(CREATED_MS + 40_000, null)).toEqual({ write: null, checkAtMs: null });
    expect(at(CREATED_MS + 90_000, 60_000).write).toEqual({ write: 'remove' });
  });
});

describe('the cache of pods', () => {
  test('shares the interceptors of pods that register the same ones', () => {
    const project = interceptedPodProjection();
    const [one, other, third] = [
      project(rawPod()),
      project(rawPod({ metadata: { name: 'p-2' } })),
      project(rawPod({ annotation: ACTOR_A })),
    ];
    expect(one?.interceptors.names).toEqual([ACTOR_B, ACTOR_A]);
    expect(other?.interceptors).toBe(one?.interceptors);
    expect(third?.interceptors.names).toEqual([ACTOR_A]);
  });
});
