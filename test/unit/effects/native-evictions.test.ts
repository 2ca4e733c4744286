/** The order of the writes behind a native request, and what each answer means. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import type { ControlledStatus } from '../../../src/domain/eviction-requests/observed-request.ts';
import type { JoinedRequest } from '../../../src/domain/native-evictions/joined-request.ts';
import type { KubeAnswer } from '../../../src/effects/kube-api.ts';
import { askNative, writeNative } from '../../../src/effects/native-evictions.ts';
import { type AnswersInOrder, answersInOrder } from '../../support/api/answers-in-order.ts';
import {
  ACTIVE_STATUS,
  joined,
  nativeRequest,
  rawNativeEviction,
  rawNativeRequest,
} from '../../support/eviction-requests/native-fixture.ts';
import { CREATED_MS } from '../../support/eviction-requests/request-fixture.ts';

const DRAIN = rawNativeRequest('nodes.example.com/drain');
const BALANCER = rawNativeRequest('zones.example.com/balance');
const EVICTION = rawNativeEviction();
const EVICTIONS = '/apis/lifecycle.k8s.io/v1alpha1/namespaces/blueberry/evictions';
const REQUESTS = '/apis/lifecycle.k8s.io/v1alpha1/namespaces/blueberry/evictionrequests';
const PATH = `${EVICTIONS}/pod-1-p-1`;
const REQUEST = joined({ requests: [DRAIN] });

const CANCELED: ControlledStatus = {
  ...ACTIVE_STATUS,
  active: null,
  conditions: [{
    type: 'Canceled',
    status: 'True',
    reason: 'NoRequesters',
    message: '',
    sinceMs: CREATED_MS,
  }],
};

const found = (body: object): KubeAnswer => ({ status: 200, body });
const REFUSED: KubeAnswer = { status: 403, body: { message: 'forbidden' } };
const BUSY: KubeAnswer = { status: 500, body: { message: 'busy' } };
const GONE: KubeAnswer = { status: 404, body: {} };
const refusal = { _tag: 'Refused', why: '403 forbidden' };

type Write = Parameters<typeof writeNative>[2];

const setStatus = (status: ControlledStatus): Write => ({
  write: 'setStatus',
  status,
  notes: [],
  unlessPodExists: false,
});
const STATUS = setStatus(ACTIVE_STATUS);

const written = async (script: AnswersInOrder, write: Write, request: JoinedRequest = REQUEST) => {
  const { api, writes, calls } = answersInOrder(script);
  const outcome = await Effect.runPromise(writeNative({ api, writes }, request, write));
  return { outcome, sent: calls.map(({ method, path }) => `${method} ${path}`), calls };
};

const MIRROR = `PATCH ${REQUESTS}/request-of-nodes.example.com-drain/status`;
const mirrors = { [MIRROR]: [found(DRAIN)] } as const;

describe('the status of a request', () => {
  test('is in the objects of its requesters before it is in its Eviction', async () => {
    const { outcome, sent } = await written({
      ...mirrors,
      POST: [found(EVICTION)],
      [`PATCH ${PATH}/status`]: [found(EVICTION)],
    }, STATUS);
    expect(sent).toEqual([MIRROR, `POST ${EVICTIONS}`, `PATCH ${PATH}/status`]);
    expect(outcome).toMatchObject({
      _tag: 'Written',
      current: { native: { evictionName: 'pod-1-p-1', requests: [{}] } },
    });
  });

  test('is written for those that are left when a requester has deleted its object', async () => {
    const request = joined({ requests: [DRAIN, BALANCER], evictions: [] });
    const { outcome } = await written(
      {
        [MIRROR]: [GONE],
        [`PATCH ${REQUESTS}/request-of-zones.example.com-balance/status`]: [found(BALANCER)],
        POST: [found(EVICTION)],
        [`PATCH ${PATH}/status`]: [found(EVICTION)],
      },
      STATUS,
      request,
    );
    expect(outcome).toMatchObject({
      current: { native: { requests: [{ requester: 'zones.example.com/balance' }] } },
    });
  });

  test.each([[REFUSED, refusal], [BUSY, { _tag: 'Fault', why: '500 busy' }]])(
    'is in no Eviction when a requester cannot know it: %j',
    async (answer, expected) => {
      const { outcome, sent } = await written({ [MIRROR]: [answer] }, STATUS);
      expect(outcome).toEqual(expected);
      expect(sent).toEqual([MIRROR]);
    },
  );

  test('needs no Eviction when the request is canceled before it has one', async () => {
    const { outcome, sent } = await written(mirrors, setStatus(CANCELED));
    expect(outcome).toMatchObject({ _tag: 'Written', current: { native: { eviction: null } } });
    expect(sent).toEqual([MIRROR]);
  });

  test('is canceled in the Eviction that there is', async () => {
    const request = joined({ requests: [DRAIN], evictions: [EVICTION] });
    const { sent } = await written(
      {
        ...mirrors,
        PATCH: [found(EVICTION)],
      },
      setStatus(CANCELED),
      request,
    );
    expect(sent.at(-1)).toBe(`PATCH ${PATH}/status`);
  });

  test.each([
    ['of another pod', {
      ...EVICTION,
      spec: { target: { pod: { name: 'p-1', uid: 'another' } } },
    }],
    ['that another controller serves', rawNativeEviction({ manager: 'another-controller' })],
    ['that has been observed', rawNativeEviction({ status: { observedGeneration: 1 } })],
  ])('is not in an Eviction %s', async (_, other) => {
    const { outcome, sent } = await written({
      ...mirrors,
      POST: [{ status: 409, body: {} }],
      GET: [found(other)],
    }, STATUS);
    expect(outcome).toEqual({
      _tag: 'Fault',
      why: 'another controller has created the Eviction',
    });
    expect(sent).toEqual([MIRROR, `POST ${EVICTIONS}`, `GET ${PATH}`]);
  });

  test('goes to our own Eviction whose creation was not answered', async () => {
    const { outcome } = await written({
      ...mirrors,
      POST: [{ status: 409, body: {} }],
      GET: [found(EVICTION)],
      [`PATCH ${PATH}/status`]: [found(EVICTION)],
    }, STATUS);
    expect(outcome._tag).toBe('Written');
  });

  test.each(
    [
      ['its Eviction is refused', { ...mirrors, POST: [REFUSED] }],
      ['its own write is refused', {
        ...mirrors,
        POST: [found(EVICTION)],
        [`PATCH ${PATH}/status`]: [REFUSED],
      }],
    ] satisfies readonly [string, AnswersInOrder][],
  )('is refused when %s', async (_, script) => {
    expect((await written(script, STATUS)).outcome).toEqual(refusal);
  });

  test('brings labels and owners that the Eviction lacks', async () => {
    const request = joined({
      requests: [DRAIN],
      evictions: [rawNativeEviction({ status: { observedGeneration: 1 } })],
    });
    const { sent, calls } = await written(
      { ...mirrors, PATCH: [found(EVICTION)] },
      STATUS,
      request,
    );
    expect(sent).toEqual([MIRROR, `PATCH ${PATH}`, `PATCH ${PATH}/status`]);
    expect(calls[1]?.body).toMatchObject({
      metadata: { ownerReferences: [{ uid: nativeRequest(DRAIN).uid }] },
    });
  });

  test('is written alone to an Eviction that has labels and owners', async () => {
    const whole = rawNativeEviction({
      metadata: {
        labels: {
          'nodes.example.com/drain': 'requester',
          'fruit.example.com/actor-a': 'responder',
          'imperative-eviction.k8s.io/evictor': 'responder',
        },
        ownerReferences: [{ uid: nativeRequest(DRAIN).uid }],
      },
      status: { observedGeneration: 1 },
    });
    const request = joined({ requests: [DRAIN], evictions: [whole] });
    const { sent } = await written({ ...mirrors, PATCH: [found(whole)] }, STATUS, request);
    expect(sent).toEqual([MIRROR, `PATCH ${PATH}/status`]);
  });
});

describe('everything about a request', () => {
  const both = joined({ requests: [DRAIN, BALANCER], evictions: [EVICTION] });
  const REMOVE: Write = { write: 'remove' };

  test('is deleted, the Eviction last', async () => {
    const { outcome, calls } = await written({ DELETE: [found({})] }, REMOVE, both);
    expect(outcome).toEqual({ _tag: 'Absent' });
    expect(calls.map(({ body }) => body)).toMatchObject([
      { preconditions: { uid: nativeRequest(DRAIN).uid } },
      { preconditions: { uid: nativeRequest(BALANCER).uid } },
      { preconditions: { uid: 'uid-of-pod-1-p-1' } },
    ]);
  });

  test('is deleted when it is gone already', async () => {
    const { outcome, calls } = await written({ DELETE: [GONE] }, REMOVE, both);
    expect(outcome).toEqual({ _tag: 'Absent' });
    expect(calls).toHaveLength(3);
  });

  test.each([[REFUSED, 'Refused'], [BUSY, 'Fault']])(
    'stays when an object cannot be deleted: %j',
    async (answer, tag) => {
      const { outcome, calls } = await written({ DELETE: [answer] }, REMOVE, both);
      expect(outcome._tag).toBe(tag);
      expect(calls).toHaveLength(1);
      const last = await written({ DELETE: [found({}), found({}), answer] }, REMOVE, both);
      expect(last.outcome._tag).toBe(tag);
    },
  );

  test('is deleted without an Eviction when there is none', async () => {
    const { outcome, calls } = await written({ DELETE: [found({})] }, REMOVE);
    expect(outcome).toEqual({ _tag: 'Absent' });
    expect(calls).toHaveLength(1);
  });
});

describe('the imperative eviction', () => {
  const request = joined({ requests: [DRAIN], evictions: [EVICTION] });
  const REPORT: Write = {
    write: 'report',
    report: { heartbeatMs: CREATED_MS, message: 'waiting' },
  };

  test('reports in the status of the Eviction', async () => {
    const { outcome, calls } = await written({ PATCH: [found(EVICTION)] }, REPORT, request);
    expect(outcome).toMatchObject({ _tag: 'Written', current: { native: { requests: [{}] } } });
    expect(calls).toMatchObject([{
      path: `${PATH}/status`,
      body: { status: { responders: [{ message: 'waiting' }] } },
    }]);
  });

  test('is refused', async () => {
    expect((await written({ PATCH: [REFUSED] }, REPORT, request)).outcome).toEqual(refusal);
  });
});

test('the labels of a pod are not written', async () => {
  const { outcome, sent } = await written({}, { write: 'setLabels', labels: {} });
  expect([outcome._tag, sent]).toEqual(['Written', []]);
});

describe('a requester', () => {
  const requester = 'drain.nodes.example.com';
  const { pod: { name, uid } } = REQUEST;
  const pod = { namespace: 'blueberry', name, uid };
  const own = rawNativeRequest('nodes.example.com/drain', {
    metadata: { name: `${uid}.${requester}`, uid: 'own-uid' },
  });

  const done = async (
    script: AnswersInOrder,
    request: JoinedRequest | null,
    write: 'join' | 'leave',
  ) => {
    const { api, writes, calls } = answersInOrder(script);
    const basis = { requester, pod, request };
    return {
      outcome: await Effect.runPromise(askNative({ api, writes }, basis, { write })),
      calls,
    };
  };

  test('asks with an object of its own, beside those of others', async () => {
    const request = joined({ requests: [BALANCER], evictions: [EVICTION] });
    const { outcome, calls } = await done({ PATCH: [found(own)] }, request, 'join');
    expect(outcome).toMatchObject({
      _tag: 'Written',
      current: {
        requesters: expect.arrayContaining([requester, 'balance.zones.example.com']),
        native: { eviction: {}, evictionName: 'pod-1-p-1' },
      },
    });
    expect(calls).toMatchObject([{ path: `${REQUESTS}/${uid}.${requester}` }]);
  });

  test('asks once', async () => {
    const request = joined({ requests: [own] });
    const { outcome } = await done({ PATCH: [found(own)] }, request, 'join');
    expect(outcome).toMatchObject({ current: { native: { requests: [{ uid: 'own-uid' }] } } });
  });

  test('is the first to ask', async () => {
    const { outcome } = await done({ PATCH: [found(own)] }, null, 'join');
    expect(outcome).toMatchObject({
      current: { native: { eviction: null, evictionName: 'pod-1-p-1', requests: [{}] } },
    });
  });

  test('is refused', async () => {
    expect((await done({ PATCH: [REFUSED] }, null, 'join')).outcome).toEqual(refusal);
  });

  test('leaves by deleting its own object', async () => {
    const request = joined({ requests: [own, BALANCER] });
    const { outcome, calls } = await done({ DELETE: [found({})] }, request, 'leave');
    expect(outcome).toEqual({ _tag: 'Absent' });
    expect(calls).toMatchObject([{
      path: `${REQUESTS}/${uid}.${requester}`,
      body: { preconditions: { uid: 'own-uid' } },
    }]);
  });

  test.each([null, joined({ requests: [BALANCER] })])('has nothing to leave', async (request) => {
    expect(await done({}, request, 'leave')).toEqual({ outcome: { _tag: 'Absent' }, calls: [] });
  });

  test('may not leave', async () => {
    const request = joined({ requests: [own] });
    expect((await done({ DELETE: [REFUSED] }, request, 'leave')).outcome).toEqual(refusal);
  });
});
