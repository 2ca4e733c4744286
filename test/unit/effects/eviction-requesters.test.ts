/** What a requester sends, and what the answers of the API server mean to it. */
import { Clock, Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { textAt } from '../../../src/domain/json.ts';
import { effectClock } from '../../../src/effects/effect-clock.ts';
import {
  type RequesterOutcome,
  requestEviction,
  type Requesting,
  withdrawEviction,
} from '../../../src/effects/eviction-requesters.ts';
import type { KubeAnswer, KubeApi, KubeFault } from '../../../src/effects/kube-api.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { type AnswersInOrder, answersInOrder } from '../../support/api/answers-in-order.ts';
import {
  rawNativeEviction,
  rawNativeRequest,
} from '../../support/eviction-requests/native-fixture.ts';
import { BALANCER, DRAIN, rawRequest } from '../../support/eviction-requests/request-fixture.ts';

const UID = textAt(rawRequest(), 'metadata', 'name') ?? '';
const POD = { namespace: 'blueberry', name: 'p-1', uid: UID };
const OWN = `/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/blueberry/evictionrequests/${UID}`;
const NATIVE = '/apis/lifecycle.k8s.io/v1alpha1/namespaces/blueberry';
const ABSENT: KubeAnswer = { status: 404, body: { message: 'none', details: { name: UID } } };
const REFUSED: KubeAnswer = { status: 403, body: { message: 'forbidden' } };
const FINAL = rawRequest({ status: { conditions: [{ type: 'Evicted', status: 'True' }] } });

const found = (body: object): KubeAnswer => ({ status: 200, body });
const created: KubeAnswer = { status: 201, body: rawRequest() };

/** Pauses take no time. */
const asked = async (
  act: (requesting: Requesting) => Effect.Effect<RequesterOutcome, KubeFault, KubeApi>,
  script: AnswersInOrder,
  requesting: Partial<Requesting> = {},
) => {
  const { calls, layer } = answersInOrder(script);
  const pauses: unknown[] = [];
  const clock: Clock.Clock = {
    ...effectClock(realTime),
    sleep: (duration) => Effect.sync(() => void pauses.push(duration)),
  };
  const outcome = await Effect.runPromise(
    act({ api: 'tidegate', pod: POD, requester: DRAIN, ...requesting }).pipe(
      Effect.provide(layer),
      Effect.provideService(Clock.Clock, clock),
    ),
  );
  return { outcome, sent: calls.map(({ method }) => method).join(' '), calls, pauses };
};

const why = (text: string | RegExp) => ({
  _tag: 'Refused',
  why: expect.stringMatching(text),
});

describe('a requester of an eviction', () => {
  test('creates a request', async () => {
    const { outcome, calls } = await asked(requestEviction, { PATCH: [created] });
    expect(outcome).toMatchObject({ _tag: 'Stored', change: 'Created' });
    expect(calls).toMatchObject([
      { method: 'GET', path: OWN },
      { method: 'PATCH', path: OWN, query: { fieldManager: DRAIN, force: 'false' } },
    ]);
  });

  test.each([
    [[BALANCER], 'Joined'],
    [[DRAIN, BALANCER], 'AlreadyRequested'],
  ])('finds the request of %s', async (requesters, change) => {
    const { outcome } = await asked(requestEviction, {
      GET: [found(rawRequest({ requesters }))],
      PATCH: [found(rawRequest())],
    });
    expect(outcome).toMatchObject({ _tag: 'Stored', change });
  });

  test('joins what others have created in between', async () => {
    const { outcome } = await asked(requestEviction, { PATCH: [found(rawRequest())] });
    expect(outcome).toMatchObject({ _tag: 'Stored', change: 'Joined' });
  });

  test.each([200, 404, 409])('replaces a final request: %s', async (status) => {
    const { outcome, calls, sent } = await asked(requestEviction, {
      GET: [found(FINAL), ABSENT],
      DELETE: [{ status, body: {} }],
      PATCH: [created],
    });
    expect(outcome).toMatchObject({ _tag: 'Stored', change: 'Replaced' });
    expect(sent).toBe('GET DELETE GET PATCH');
    expect(calls[1]).toMatchObject({ path: OWN, body: { preconditions: { uid: 'request-uid' } } });
  });

  test('may not replace a final request', async () => {
    const { outcome, sent } = await asked(requestEviction, {
      GET: [found(FINAL)],
      DELETE: [REFUSED],
    });
    expect(outcome).toEqual(why('forbidden'));
    expect(sent).toBe('GET DELETE');
  });

  test.each([
    ['has no requesters', { requesters: [] }],
    ['is being deleted', { metadata: { deletionTimestamp: '2026-05-01T10:00:00Z' } }],
    ['is final and being deleted', {
      metadata: { deletionTimestamp: '2026-05-01T10:00:00Z' },
      status: { conditions: [{ type: 'Canceled', status: 'True' }] },
    }],
  ])('waits for the end of a request that %s', async (_, traits) => {
    const { outcome, sent, pauses } = await asked(requestEviction, {
      GET: [found(rawRequest(traits)), ABSENT],
      PATCH: [created],
    });
    expect(outcome).toMatchObject({ _tag: 'Stored', change: 'Created' });
    expect([sent, pauses.length]).toEqual(['GET GET PATCH', 1]);
  });

  test('gives up when the request does not end', async () => {
    const { outcome, pauses } = await asked(requestEviction, {
      GET: [found(rawRequest({ requesters: [] }))],
    });
    expect(outcome).toEqual(why('does not end it'));
    expect(pauses).toHaveLength(20);
  });

  test('tries again when the request ends meanwhile', async () => {
    const { outcome, sent } = await asked(requestEviction, {
      GET: [found(rawRequest()), found(rawRequest({ requesters: [] })), ABSENT],
      PATCH: [{ status: 409, body: { message: 'conflict' } }, created],
    });
    expect(outcome).toMatchObject({ _tag: 'Stored', change: 'Created' });
    expect(sent).toBe('GET PATCH GET GET PATCH');
  });

  test.each(
    [
      ['while its request goes on', [found(rawRequest())], 'forbidden'],
      ['without one', [ABSENT], 'forbidden'],
    ] as const,
  )('is refused %s', async (_, answers, reason) => {
    const { outcome } = await asked(requestEviction, { GET: answers, PATCH: [REFUSED] });
    expect(outcome).toEqual(why(reason));
  });

  test.each([
    ['a message', { status: 403, body: { message: 'forbidden' } }, /forbidden/],
    ['no message', { status: 500, body: {} }, /500/],
  ])('may not read: %s', async (_, answer, reason) => {
    const { outcome, sent } = await asked(requestEviction, { GET: [answer] });
    expect(outcome).toEqual(why(reason));
    expect(sent).toBe('GET');
  });

  test.each([
    [{ status: 300, body: {} }, 'HTTP status 300'],
    [{ status: 199, body: {} }, 'HTTP status 199'],
    [{ status: 201, body: {} }, 'not an EvictionRequest'],
  ])('is answered with %j', async (answer, reason) => {
    expect((await asked(requestEviction, { PATCH: [answer] })).outcome).toEqual(why(reason));
  });
});

describe('a requester that withdraws', () => {
  test('leaves the request of this UID', async () => {
    const { outcome, calls } = await asked(withdrawEviction, {
      GET: [found(rawRequest({ requesters: [DRAIN, BALANCER] }))],
      PATCH: [found(rawRequest({ requesters: [BALANCER] }))],
    });
    expect(outcome).toMatchObject({ _tag: 'Stored', change: 'Withdrawn' });
    expect(calls[1]).toMatchObject({
      body: { metadata: { uid: 'request-uid' }, spec: { requesters: [] } },
    });
  });

  test.each(
    [
      ['without a request', [ABSENT]],
      ['from a request of others', [found(rawRequest({ requesters: [BALANCER] }))]],
      ['from a final one', [found(FINAL)]],
    ] as const,
  )('has nothing to withdraw %s', async (_, answers) => {
    const { outcome, sent } = await asked(withdrawEviction, { GET: answers });
    expect([outcome, sent]).toEqual([{ _tag: 'NotRequested' }, 'GET']);
  });

  test.each(
    [
      ['may not read', { GET: [REFUSED] }, 'forbidden'],
      ['may not write', { GET: [found(rawRequest())], PATCH: [REFUSED] }, 'forbidden'],
      ['is kept by another manager', {
        GET: [found(rawRequest())],
        PATCH: [found(rawRequest())],
      }, 'another field manager'],
      ['gets no object', { GET: [found(rawRequest())], PATCH: [found({})] }, 'not an Eviction'],
    ] satisfies readonly [string, AnswersInOrder, string][],
  )('%s', async (_, script, reason) => {
    expect((await asked(withdrawEviction, script)).outcome).toEqual(why(reason));
  });
});

describe('a requester of the API of Kubernetes', () => {
  const REQUESTER = 'drain.nodes.example.com';
  const name = `${UID}.${REQUESTER}`;
  const list = (...items: readonly object[]): KubeAnswer =>
    found({ metadata: { resourceVersion: '9' }, items });
  const own = rawNativeRequest('nodes.example.com/drain', { metadata: { name, uid: 'own-uid' } });
  const other = rawNativeRequest('zones.example.com/balance');
  const REQUESTS = `GET ${NATIVE}/evictionrequests`;
  const EVICTIONS = `GET ${NATIVE}/evictions`;
  const ended = rawNativeEviction({
    status: {
      observedGeneration: 1,
      requesters: [{ name: 'nodes.example.com/drain', intent: 'Eviction' }],
      conditions: [
        { type: 'TargetEvicted', status: 'True', reason: 'PodDeleted' },
        { type: 'Failed', status: 'False', reason: 'Succeeded' },
      ],
    },
  });
  const mirrored = {
    ...own,
    status: {
      observedGeneration: 1,
      conditions: [
        { type: 'TargetEvicted', status: 'True', reason: 'PodDeleted' },
        { type: 'Failed', status: 'False', reason: 'Succeeded' },
      ],
    },
  };

  test('creates an object of its own, and reads the request of all', async () => {
    const { outcome, calls } = await asked(requestEviction, {
      [REQUESTS]: [list(), list(own)],
      [EVICTIONS]: [list()],
      PATCH: [{ status: 201, body: own }],
    }, { api: 'native' });
    expect(outcome).toMatchObject({ _tag: 'Stored', change: 'Created' });
    expect(calls.filter(({ method }) => method === 'PATCH'))
      .toMatchObject([{ path: `${NATIVE}/evictionrequests/${name}` }]);
  });

  test.each(
    [
      ['is not there any more', [list(), list()], /not an EvictionRequest/],
      ['may not be read', [list(), REFUSED], /forbidden/],
    ] as const,
  )('is stored as what then %s', async (_, requests, reason) => {
    const { outcome } = await asked(requestEviction, {
      [REQUESTS]: requests,
      [EVICTIONS]: [list()],
      PATCH: [{ status: 201, body: own }],
    }, { api: 'native' });
    expect(outcome).toEqual(why(reason));
  });

  test('replaces its own object of a final request', async () => {
    const { outcome, calls } = await asked(requestEviction, {
      [REQUESTS]: [list(mirrored), list(), list(own)],
      [EVICTIONS]: [list(ended), list()],
      DELETE: [found({})],
      PATCH: [{ status: 201, body: own }],
    }, { api: 'native' });
    expect(outcome).toMatchObject({ _tag: 'Stored', change: 'Replaced' });
    expect(calls.filter(({ method }) => method === 'DELETE')).toMatchObject([{
      path: `${NATIVE}/evictionrequests/${name}`,
      body: { preconditions: { uid: 'own-uid' } },
    }]);
  });

  test('withdraws its own object', async () => {
    const { outcome } = await asked(withdrawEviction, {
      [REQUESTS]: [list(own, other)],
      [EVICTIONS]: [list()],
      DELETE: [found({})],
    }, { api: 'native' });
    expect(outcome).toMatchObject({
      _tag: 'Stored',
      change: 'Withdrawn',
      request: { requesters: ['balance.zones.example.com'] },
    });
  });

  test.each(
    [
      [
        'that another command made',
        rawNativeRequest('nodes.example.com/drain'),
        found({}),
        /yourself/,
      ],
      ['that it may not delete', own, REFUSED, /forbidden/],
    ] as const,
  )('cannot withdraw an object %s', async (_, request, answer, reason) => {
    const { outcome } = await asked(withdrawEviction, {
      [REQUESTS]: [list(request)],
      [EVICTIONS]: [list()],
      DELETE: [answer],
    }, { api: 'native' });
    expect(outcome).toEqual(why(reason));
  });
});
