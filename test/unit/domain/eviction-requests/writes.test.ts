/** What is written to an EvictionRequest, by which field manager, and when. */
import { describe, expect, test } from 'vitest';
import {
  MESSAGE_SPACING_MS,
  NOTHING_SENT,
  refusalMessage,
  refusalsIn,
} from '../../../../src/domain/eviction-requests/imperative-report.ts';
import {
  LABELS_MANAGER,
  type ObservedRequest,
  projectEvictionRequest,
} from '../../../../src/domain/eviction-requests/observed-request.ts';
import {
  labelsBody,
  reportBody,
  statusBody,
  type WriteBasis,
  writePlan,
} from '../../../../src/domain/eviction-requests/request-writes.ts';
import {
  ACTOR_A,
  ACTOR_B,
  atSeconds,
  B_ACTIVE,
  CREATED_MS,
  entry,
  factsOf,
  IMPERATIVE,
  observedRequest,
  rawRequest,
  statusWith,
  stepAt,
  targetPod,
} from '../../../support/eviction-requests/request-fixture.ts';

/** The plan, `seconds` after the creation. */
const planAt = (
  seconds: number,
  request: ObservedRequest,
  { pod = targetPod(), ...basis }: Partial<WriteBasis> & {
    readonly pod?: ReturnType<typeof targetPod>;
  } = {},
) => {
  const facts = factsOf(request, pod);
  return writePlan(facts, stepAt(seconds, facts), {
    progress: NOTHING_SENT,
    refusedBefore: 0,
    reportedMs: null,
    statusWrittenMs: null,
    ttlMs: null,
    nowMs: CREATED_MS + seconds * 1000,
    ...basis,
  });
};

const LABELLED = { labels: { app: 'p' } };

const imperative = (times: Readonly<Record<string, number>>, message = '') =>
  observedRequest({
    metadata: LABELLED,
    status: statusWith({
      active: IMPERATIVE,
      processed: [ACTOR_B, ACTOR_A],
      interceptors: [entry(IMPERATIVE, { startTime: 0, ...times }, message)],
    }),
  });

describe('the status', () => {
  test('ER-31: the controller applies no more of an interceptor than its name and start', () => {
    const request = observedRequest({
      status: statusWith({
        active: ACTOR_B,
        interceptors: [
          entry(ACTOR_B, { startTime: 0, heartbeatTime: 5, completionTime: 6 }, 'saved'),
        ],
      }),
    });
    expect(statusBody(request, request.status)).toMatchObject({
      status: {
        interceptors: [
          { name: ACTOR_B, startTime: atSeconds(0) },
          { name: ACTOR_A },
          { name: IMPERATIVE },
        ],
      },
    });
    expect(JSON.stringify(statusBody(request, request.status))).not.toMatch(/heartbeat|saved/);
  });

  test('ER-25: every interceptor has an entry from the first sync on', () => {
    const facts = factsOf(observedRequest());
    const body = statusBody(facts.request, stepAt(0, facts).status);
    expect(body).toMatchObject({
      metadata: { resourceVersion: '10', uid: 'request-uid' },
      status: {
        targetInterceptors: [{ name: ACTOR_B }, { name: ACTOR_A }, { name: IMPERATIVE }],
        activeInterceptors: [ACTOR_B],
        processedInterceptors: [],
        interceptors: [{ name: ACTOR_B }, { name: ACTOR_A }, { name: IMPERATIVE }],
      },
    });
  });

  test('ER-53: nothing is written when the status has what follows', () => {
    const request = observedRequest({ metadata: LABELLED, status: B_ACTIVE });
    expect(planAt(5, request).write).toBe(null);
  });

  test('a request has at most one write of its status a second, and then what is right by then', () => {
    const request = observedRequest({
      metadata: LABELLED,
      status: statusWith({
        active: ACTOR_B,
        interceptors: [entry(ACTOR_B, { startTime: 0, completionTime: 20 })],
      }),
    });
    const statusWrittenMs = CREATED_MS + 19_500;
    expect(planAt(20.4, request, { statusWrittenMs }))
      .toMatchObject({ write: null, checkAtMs: CREATED_MS + 20_500 });
    expect(planAt(20.5, request, { statusWrittenMs }).write)
      .toMatchObject({ write: 'setStatus', status: { active: ACTOR_A } });
  });

  test('ER-41: a long message is read in part and rejects nothing', () => {
    const raw = rawRequest({
      status: statusWith({ active: ACTOR_B, interceptors: [entry(ACTOR_B, {}, 'x'.repeat(9000))] }),
    });
    expect(projectEvictionRequest(raw)?.reports[0]?.message).toHaveLength(4000);
  });
});

describe('labels', () => {
  test('ER-63: the labels of the pod win, and further ones of the request stay', () => {
    const request = observedRequest({
      metadata: { labels: { app: 'other', team: 'fruit' } },
      status: B_ACTIVE,
    });
    const { write } = planAt(5, request);
    expect(write).toEqual({ write: 'setLabels', labels: { app: 'p' } });
    expect(labelsBody(request, { app: 'p' })).toMatchObject({ metadata: { labels: { app: 'p' } } });
  });

  test('ER-64: a copied label that left the pod leaves the request', () => {
    const managedFields = [{
      manager: LABELS_MANAGER,
      fieldsV1: { 'f:metadata': { 'f:labels': { 'f:app': {}, 'f:tier': {} } } },
    }];
    const request = observedRequest({
      metadata: { labels: { app: 'p', tier: 'web' }, managedFields },
      status: B_ACTIVE,
    });
    expect(request.copiedLabels).toEqual(['app', 'tier']);
    expect(planAt(5, request).write).toEqual({ write: 'setLabels', labels: { app: 'p' } });
  });

  test('ER-64: a label that somebody else gave the request is no reason to write', () => {
    const request = observedRequest({
      metadata: { labels: { app: 'p', team: 'fruit' } },
      status: B_ACTIVE,
    });
    expect(planAt(5, request).write).toBe(null);
  });
});

describe('the report of the imperative eviction', () => {
  test('ER-71: it reports at once and then every three minutes', () => {
    const first = planAt(1, imperative({}));
    expect(first.write).toEqual({
      write: 'report',
      report: { heartbeatMs: CREATED_MS + 1000, message: '' },
    });
    const next = imperative({ heartbeatTime: 1 });
    expect(planAt(180, next)).toEqual({ write: null, checkAtMs: CREATED_MS + 181_000 });
    expect(planAt(181, next).write).toMatchObject({
      report: { heartbeatMs: CREATED_MS + 181_000 },
    });
  });

  test('ER-71: its first report comes a second after the hand-over', () => {
    const statusWrittenMs = CREATED_MS + 30_000;
    expect(planAt(30.1, imperative({}), { statusWrittenMs }))
      .toMatchObject({ write: null, checkAtMs: CREATED_MS + 31_000 });
    expect(planAt(31, imperative({}), { statusWrittenMs }).write).toMatchObject({
      write: 'report',
    });
  });

  test('ER-36: a new message comes with the old heartbeat within a minute of it', () => {
    const request = imperative({ heartbeatTime: 10 });
    const progress = { refusals: 1, blocker: '' };
    const message = refusalMessage(1, '');
    expect(planAt(69, request, { progress }).write)
      .toEqual({ write: 'report', report: { heartbeatMs: CREATED_MS + 10_000, message } });
    expect(planAt(70, request, { progress }).write)
      .toEqual({ write: 'report', report: { heartbeatMs: CREATED_MS + 70_000, message } });
  });

  test('ER-68: the message has the words and the count of the refused calls', () => {
    expect(refusalMessage(7, '')).toBe(
      'Could not evict a pod due to failing eviction requests, number of retries: 7.',
    );
    expect(refusalMessage(0, 'budget "db" allows 0 disruptions'))
      .toBe('budget "db" allows 0 disruptions');
  });

  test('ER-68: the count goes on after a restart', () => {
    const before = refusalMessage(7, 'budget "db" allows 0 disruptions');
    expect(refusalsIn(before)).toBe(7);
    expect(refusalsIn('anything else')).toBe(0);
    const { write } = planAt(20, imperative({ heartbeatTime: 1 }, before), {
      refusedBefore: refusalsIn(before),
      progress: { refusals: 2, blocker: '' },
    });
    expect(write).toMatchObject({ report: { message: refusalMessage(9, '') } });
  });

  test('ER-68: messages are at least five seconds apart', () => {
    const request = imperative({ heartbeatTime: 1 });
    const progress = { refusals: 1, blocker: '' };
    const reportedMs = CREATED_MS + 20_000;
    expect(planAt(21, request, { progress, reportedMs }))
      .toEqual({ write: null, checkAtMs: reportedMs + MESSAGE_SPACING_MS });
    expect(planAt(25, request, { progress, reportedMs }).write).not.toBe(null);
  });

  test('ER-66: it says why a pod of a DaemonSet stays', () => {
    const owner = { kind: 'DaemonSet', name: 'd', uid: 'd' };
    const pod = targetPod({ metadata: { ownerReferences: [owner] } });
    expect(planAt(1, imperative({}), { pod }).write).toMatchObject({
      report: { message: 'The pod belongs to a DaemonSet, which would replace it; not evicted.' },
    });
  });

  test('ER-31: the imperative eviction applies its own entry and nothing else', () => {
    const body = reportBody(imperative({}), { heartbeatMs: CREATED_MS, message: 'm' });
    expect(body).toMatchObject({
      status: {
        interceptors: [{ name: IMPERATIVE, heartbeatTime: atSeconds(0), message: 'm' }],
      },
    });
    expect(Object.keys(body).toSorted()).toEqual(['apiVersion', 'kind', 'metadata', 'status']);
  });
});

describe('the end of a request', () => {
  const final = observedRequest({
    status: statusWith({
      active: null,
      conditions: [{
        type: 'Evicted',
        status: 'True',
        reason: 'PodDeleted',
        message: '',
        lastTransitionTime: atSeconds(100),
      }],
    }),
  });

  test('ER-21: nothing deletes a final request unless a time to live is set', () => {
    expect(planAt(1_000_000, final)).toEqual({ write: null, checkAtMs: null });
  });

  test('ER-21: with a time to live it is deleted that long after its final condition', () => {
    const ttlMs = 60_000;
    expect(planAt(159, final, { ttlMs })).toEqual({
      write: null,
      checkAtMs: CREATED_MS + 160_000,
    });
    expect(planAt(160, final, { ttlMs }).write).toEqual({ write: 'remove' });
  });

  test('ER-20: nothing is written to a request that is being deleted', () => {
    const request = observedRequest({ metadata: { deletionTimestamp: atSeconds(1) } });
    expect(planAt(5, request).write).toBe(null);
  });
});
