/** The verdict on an EvictionRequest: who is asked, who is next, and who can act. */
import { expect, test } from 'vitest';
import { DEFAULT_TIMING } from '../../../../src/domain/eviction-requests/interceptor-deadline.ts';
import {
  REQUEST_SITUATIONS,
  type RequestSituation,
  requestVerdict,
} from '../../../../src/domain/eviction-requests/request-verdict.ts';
import type { JsonRecord } from '../../../../src/domain/json.ts';
import {
  ACTOR_A,
  ACTOR_B,
  B_ACTIVE,
  CREATED_MS,
  entry,
  factsOf,
  IMPERATIVE,
  observedRequest,
  type RequestTraits,
  statusWith,
  stepAt,
} from '../../../support/eviction-requests/request-fixture.ts';

const verdictAt = (seconds: number, traits: RequestTraits = {}) =>
  requestVerdict(observedRequest(traits), {
    nowMs: CREATED_MS + seconds * 1000,
    timing: DEFAULT_TIMING,
  });

const bReported = (times: Readonly<Record<string, number>>, message = ''): JsonRecord =>
  statusWith({ active: ACTOR_B, interceptors: [entry(ACTOR_B, times, message)] });

const evicting = (message: string): JsonRecord =>
  statusWith({
    active: IMPERATIVE,
    processed: [ACTOR_B, ACTOR_A],
    interceptors: [entry(IMPERATIVE, { startTime: 0, heartbeatTime: 0 }, message)],
  });

const ended = (type: string, reason: string, message: string): JsonRecord =>
  statusWith({ active: null, conditions: [{ type, status: 'True', reason, message }] });

interface Case {
  readonly title: string;
  readonly traits?: RequestTraits;
  readonly seconds: number;
  readonly is: readonly [RequestSituation, reason: string, canAct: string, sentence: string];
}

const CASES: readonly Case[] = [
  {
    title: 'a new request',
    seconds: 5,
    is: ['Unserved', 'EvictionRequestUnserved', 'nobody', 'No controller has taken'],
  },
  {
    title: 'a request that no operator serves',
    seconds: 31,
    is: ['Unserved', 'EvictionRequestUnserved', 'platform', 'No controller has taken'],
  },
  {
    title: 'an interceptor that reports',
    traits: { status: bReported({ startTime: 0, heartbeatTime: 60 }, 'moving data, 40 %') },
    seconds: 100,
    is: ['Intercepting', 'InterceptorActive', 'nobody', 'moving data, 40 %'],
  },
  {
    title: 'an interceptor that has never reported',
    traits: { status: B_ACTIVE },
    seconds: 61,
    is: ['Silent', 'InterceptorSilent', 'application', 'and has never reported'],
  },
  {
    title: 'an interceptor that became silent',
    traits: { status: bReported({ startTime: 0, heartbeatTime: 60 }) },
    seconds: 60 + 240,
    is: ['Silent', 'InterceptorSilent', 'application', 'silent since 2026-05-01T10:01:00Z'],
  },
  {
    title: 'a hand-over that is overdue',
    traits: { status: B_ACTIVE },
    seconds: 1200 + 30,
    is: ['Unserved', 'EvictionRequestUnserved', 'platform', 'was due at 2026-05-01T10:20:00Z'],
  },
  {
    title: 'an interceptor that has finished',
    traits: { status: bReported({ startTime: 0, heartbeatTime: 60, completionTime: 90 }) },
    seconds: 100,
    is: ['HandingOver', 'InterceptorActive', 'nobody', 'has finished'],
  },
  {
    title: 'a request between two interceptors',
    traits: { status: statusWith({ active: null, processed: [ACTOR_B] }) },
    seconds: 100,
    is: ['HandingOver', 'InterceptorActive', 'nobody', `Interceptor "${ACTOR_A}" is next`],
  },
  {
    title: 'a request that its last requester has left',
    traits: { status: B_ACTIVE, requesters: [] },
    seconds: 100,
    is: ['HandingOver', 'NoRequesters', 'nobody', 'The last requester has left'],
  },
  {
    title: 'an eviction under way',
    traits: { status: evicting('') },
    seconds: 10,
    is: ['Evicting', 'ImperativeEviction', 'nobody', 'Tidegate evicts the pod'],
  },
  {
    title: 'an eviction that a budget refuses',
    traits: { status: evicting('Budget "a/b" allows 0 disruptions') },
    seconds: 10,
    is: [
      'Evicting',
      'ImperativeEvictionBlocked',
      'application',
      'Budget "a/b" allows 0 disruptions',
    ],
  },
  {
    title: 'a pod of a DaemonSet',
    traits: { status: evicting('The pod belongs to a DaemonSet; not evicted.') },
    seconds: 10,
    is: ['Evicting', 'EvictionUnsupported', 'application', 'DaemonSet'],
  },
  {
    title: 'an imperative eviction that reports no more',
    traits: { status: evicting('') },
    seconds: 180 + 30,
    is: ['Unserved', 'EvictionRequestUnserved', 'platform', 'has not reported since'],
  },
  {
    title: 'a pod that remains after all interceptors',
    traits: {
      status: statusWith({ active: null, processed: [ACTOR_B, ACTOR_A, IMPERATIVE] }),
    },
    seconds: 10,
    is: ['Processed', 'InterceptorsProcessed', 'nobody', 'the pod remains'],
  },
  {
    title: 'an evicted pod',
    traits: { status: ended('Evicted', 'PodDeleted', 'Pod "p-1" is gone') },
    seconds: 10,
    is: ['Evicted', 'PodDeleted', 'nobody', 'Pod "p-1" is gone'],
  },
  {
    title: 'a canceled request',
    traits: { status: ended('Canceled', 'NoRequesters', 'No requester is left') },
    seconds: 10,
    is: ['Canceled', 'NoRequesters', 'nobody', 'No requester is left'],
  },
  {
    title: 'a refused request',
    traits: { status: ended('Canceled', 'ValidationFailed', 'Target Pod p-1 was not found.') },
    seconds: 10,
    is: ['Canceled', 'ValidationFailed', 'application', 'Target Pod p-1 was not found.'],
  },
];

test.each(CASES)('the verdict on $title', ({ traits, seconds, is }) => {
  const { situation, reason, canAct, sentence, change } = verdictAt(seconds, traits);
  const [wantedSituation, wantedReason, wantedWho, wantedText] = is;
  expect([situation, reason, canAct]).toEqual([wantedSituation, wantedReason, wantedWho]);
  expect(sentence).toContain(wantedText);
  expect(change === '').toBe(canAct === 'nobody');
});

test('every situation has a verdict', () => {
  const covered = new Set(CASES.map(({ is: [situation] }) => situation));
  expect(REQUEST_SITUATIONS.filter((situation) => !covered.has(situation))).toEqual([]);
});

test('the verdict names who is asked, who is next, and when the hand-over comes', () => {
  const { turn, next, waitsFor } = verdictAt(100, {
    status: bReported({ startTime: 0, heartbeatTime: 60 }, 'busy'),
  });
  expect(turn).toEqual({
    name: ACTOR_B,
    sinceMs: CREATED_MS,
    heartbeatMs: CREATED_MS + 60_000,
    silentSinceMs: null,
    handOverMs: CREATED_MS + 60_000 + 1_200_000,
    message: 'busy',
  });
  expect(next).toBe(ACTOR_A);
  expect(waitsFor).toContain(
    `without another report interceptor "${ACTOR_A}" takes over at 2026-05-01T10:21:00Z`,
  );
});

test('ER-34: an interceptor whose clock is ahead is not silent while the operator says nothing', () => {
  const status = bReported({ startTime: 0, heartbeatTime: 1385 });
  const { situation, severity, turn } = verdictAt(1370, { status });
  expect([situation, severity]).toEqual(['Intercepting', 'Waiting']);
  expect([turn?.silentSinceMs, turn?.handOverMs]).toEqual([null, null]);
});

test('the verdict takes the deadline of a silent interceptor from the condition', () => {
  // The operator has another deadline than the default.
  const timing = { ...DEFAULT_TIMING, deadlineMs: 300_000 };
  const request = observedRequest({ status: B_ACTIVE });
  const { status: { conditions } } = stepAt(61, factsOf(request), { timing });
  const warned = { ...request, status: { ...request.status, conditions } };
  const { turn, next } = requestVerdict(warned, {
    nowMs: CREATED_MS + 70_000,
    timing: DEFAULT_TIMING,
  });
  expect(turn?.handOverMs).toBe(CREATED_MS + 300_000);
  expect(turn?.silentSinceMs).toBe(CREATED_MS);
  expect(next).toBe(ACTOR_A);
});
