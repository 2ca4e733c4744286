/** EvictionRequests on a real API server: their schema, and the role that serves them. */
import { beforeAll, expect, it } from 'vitest';
import { type JsonRecord, listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import { rfc3339Seconds } from '../../src/domain/time.ts';
import { nameOf, uidOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { enforcePolicies } from '../support/eviction-requests/enforced-policies.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import {
  ACTOR_A,
  ACTOR_B,
  BALANCER,
  DRAIN,
  IMPERATIVE,
} from '../support/eviction-requests/request-fixture.ts';
import {
  activeIn,
  reportOf,
  requestersOf,
  timeIn,
} from '../support/eviction-requests/request-reading.ts';
import { TIMED } from '../support/eviction-requests/request-scene.ts';
import {
  conditionsIn,
  createPod,
  noted,
  REQUESTS,
  serveRequests,
  untilRequest,
  writers,
} from '../support/eviction-requests/served-requests.ts';
import { forwardedTime } from '../support/time/forwarded-time.ts';

const NAME = '0b9c3d5e-1f2a-4b3c-8d4e-5f6a7b8c9d0e';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const PODS = '/api/v1/namespaces/default/pods';

const now = (): string => rfc3339Seconds(Date.now());

const requester = (name: string) => ({ name });

interface Given {
  readonly metadata?: JsonRecord;
  readonly target?: unknown;
  readonly requesters?: readonly JsonRecord[];
}

const requestWith = (
  { metadata = {}, target, requesters = [requester(DRAIN)] }: Given = {},
): JsonRecord => ({
  apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
  kind: 'EvictionRequest',
  metadata: { name: NAME, ...metadata },
  spec: { target: target ?? { pod: { name: 'p', uid: NAME } }, requesters },
});

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => requester(`r${index}.example.com`));

describeWithTestbed('EvictionRequests on a real API server', {}, (bed) => {
  // The role must satisfy them, too.
  beforeAll(async () => {
    await bed().installCrds();
    await enforcePolicies(bed());
  });

  const schema = async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    const create = async (object: JsonRecord): Promise<string> => {
      const { status, body } = await cluster.call('POST', REQUESTS, object);
      return status === 201 ? '' : textAt(body, 'message') ?? `${status}`;
    };
    const change = async (patch: unknown, subresource = ''): Promise<string> => {
      const path = `${REQUESTS}/${NAME}${subresource}`;
      const { status, body } = await cluster.call('PATCH', path, patch);
      return status === 200 ? '' : textAt(body, 'message') ?? `${status}`;
    };
    const read = async (): Promise<JsonRecord> =>
      (await cluster.call('GET', `${REQUESTS}/${NAME}`)).body;
    return { cluster, create, change, read };
  };

  it('ER-01: a generated name is refused', async () => {
    const { create } = await schema();
    expect(await create(requestWith({ metadata: { name: '', generateName: 'a-' } })))
      .toContain('generateName is not supported');
    expect(await create(requestWith({ metadata: { generateName: 'a-' } })))
      .toContain('generateName is not supported');
  });

  it('ER-02: the name is the UID of the pod', async () => {
    const { create } = await schema();
    expect(await create(requestWith({ metadata: { name: 'other' } })))
      .toContain('metadata.name must be the UID');
    expect(await create(requestWith())).toBe('');
  });

  it('ER-03: a request names a pod', async () => {
    const { create } = await schema();
    expect(await create(requestWith({ target: {} }))).toContain('spec.target.pod: Required value');
  });

  it('ER-04: the name and the UID of the pod are not empty', async () => {
    const { create } = await schema();
    expect(await create(requestWith({ target: { pod: { name: '', uid: NAME } } })))
      .toContain('spec.target.pod.name');
    expect(await create(requestWith({ target: { pod: { name: 'p', uid: '' } } })))
      .toContain('spec.target.pod.uid');
    expect(await create(requestWith({ target: { pod: { uid: NAME } } })))
      .toContain('spec.target.pod.name: Required value');
  });

  it('ER-06: there are at most 100 requesters', async () => {
    const { create } = await schema();
    expect(await create(requestWith({ requesters: many(101) }))).toContain('at most 100 items');
    expect(await create(requestWith({ requesters: many(100) }))).toBe('');
  });

  it('ER-07: two requesters have two names', async () => {
    const { create } = await schema();
    expect(await create(requestWith({ requesters: [requester(DRAIN), requester(DRAIN)] })))
      .toContain('Duplicate value');
  });

  it('ER-08: the API server refuses names that are not qualified', async () => {
    const { create } = await schema();
    for (const name of ['example.com', 'A.example.com', 'a_b.example.com', 'a.example.com.']) {
      expect(await create(requestWith({ requesters: [requester(name)] })))
        .toContain('spec.requesters[0].name');
    }
  });

  it('ER-09: the API server refuses names of Kubernetes', async () => {
    const { create } = await schema();
    for (const name of ['a.node.k8s.io', 'drain.kubernetes.io']) {
      expect(await create(requestWith({ requesters: [requester(name)] }))).toContain('reserved');
    }
  });

  it('ER-10: a status in the body of a creation is dropped', async () => {
    const { create, read } = await schema();
    expect(await create({ ...requestWith(), status: { activeInterceptors: [ACTOR_A] } })).toBe('');
    expect(await read()).not.toHaveProperty('status');
  });

  it('ER-12: a second request for a pod exists already', async () => {
    const { create } = await schema();
    await create(requestWith());
    expect(await create(requestWith())).toContain('already exists');
  });

  it('ER-13: a request for a pod that does not exist is accepted', async () => {
    const { create } = await schema();
    expect(await create(requestWith())).toBe('');
  });

  it('ER-14: the target is immutable', async () => {
    const { create, change } = await schema();
    await create(requestWith());
    expect(await change({ spec: { target: { pod: { name: 'q' } } } })).toContain('immutable');
  });

  it('ER-15: requesters may be added, renamed and removed', async () => {
    const { create, change } = await schema();
    await create(requestWith());
    for (const requesters of [[DRAIN, BALANCER], ['other.example.com'], []]) {
      expect(await change({ spec: { requesters: requesters.map(requester) } })).toBe('');
    }
  });

  it('ER-16: a request without requesters gets none any more', async () => {
    const { create, change } = await schema();
    await create(requestWith());
    await change({ spec: { requesters: [] } });
    expect(await change({ spec: { requesters: [requester(DRAIN)] } })).toContain('be revived');
    expect(await change({ metadata: { labels: { a: 'b' } } })).toBe('');
  });

  it('ER-18: spec and status are written apart', async () => {
    const { create, change, read } = await schema();
    await create(requestWith());
    expect(await change({ status: { activeInterceptors: [ACTOR_A] } })).toBe('');
    expect(await read()).not.toHaveProperty('status');
    const both = { spec: { requesters: [] }, status: { observedGeneration: 1 } };
    expect(await change(both, '/status')).toBe('');
    expect(requestersOf(await read())).toEqual([DRAIN]);
    expect(valueAt(await read(), 'status', 'observedGeneration')).toBe(1);
  });

  it('ER-19: the generation rises with the spec, and not with labels', async () => {
    const { create, change, read } = await schema();
    await create(requestWith());
    await change({ metadata: { labels: { a: 'b' } } });
    expect(valueAt(await read(), 'metadata', 'generation')).toBe(1);
    await change({ spec: { requesters: [requester(BALANCER)] } });
    expect(valueAt(await read(), 'metadata', 'generation')).toBe(2);
  });

  it('ER-41: a message of 64 KiB is accepted', async () => {
    const { create, change } = await schema();
    await create(requestWith());
    const entry = (message: string) => ({
      status: {
        targetInterceptors: [{ name: ACTOR_A }],
        activeInterceptors: [ACTOR_A],
        interceptors: [{ name: ACTOR_A, message }],
      },
    });
    expect(await change(entry('m'.repeat(65_536)), '/status')).toBe('');
    expect(await change(entry('m'.repeat(65_537)), '/status')).toContain('Too long');
  });

  it('ER-22: interceptors have qualified names, which may be those of Kubernetes', async () => {
    const { create, change } = await schema();
    await create(requestWith());
    const status = (name: string) => ({
      status: { targetInterceptors: [{ name }], interceptors: [{ name }] },
    });
    expect(await change(status('Wrong'), '/status')).toContain('status.targetInterceptors[0].name');
    expect(await change(status(IMPERATIVE), '/status')).toBe('');
  });

  it('ER-74: each requester adds its own entry and removes no other', async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    const { request } = writers(bed());
    const pod = await createPod(cluster, 'added');
    await Promise.all([DRAIN, BALANCER].map((name) => request(pod, name)));
    await request(pod, DRAIN);
    const both = await untilRequest({ cluster, pod }, 'both are there', () => true);
    expect(requestersOf(both)).toEqual([BALANCER, DRAIN]);
  });

  it('ER-77: an entry that another manager also owns stays when one leaves', async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    const { request } = writers(bed());
    const pod = await createPod(cluster, 'owned-twice');
    await request(pod, DRAIN);
    await request(pod, DRAIN, { manager: 'second-manager' });
    await request(pod, DRAIN, { isWanted: false });
    const kept = await untilRequest({ cluster, pod }, 'it is there', () => true);
    expect(requestersOf(kept)).toEqual([DRAIN]);
    await request(pod, DRAIN, { isWanted: false, manager: 'second-manager' });
    const empty = await untilRequest({ cluster, pod }, 'it is there', () => true);
    expect(requestersOf(empty)).toEqual([]);
  });

  it('ER-79: of two requesters one leaves, and the interceptors go on in turn', async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    const { notes } = serveRequests(bed());
    const { request, report } = writers(bed());
    const pod = await createPod(cluster, 'two-requesters', [ACTOR_B, ACTOR_A]);
    await request(pod, DRAIN);
    const first = await untilRequest(
      { cluster, pod },
      'B is active',
      (one) => activeIn(one) === ACTOR_B && textAt(one, 'metadata', 'labels', 'app') !== undefined,
    );
    expect(listOrEmptyAt(first, 'status', 'interceptors').map((one) => textAt(one, 'name')))
      .toEqual([ACTOR_B, ACTOR_A, IMPERATIVE]);
    await request(pod, BALANCER);
    const heartbeatTime = now();
    await report(pod, ACTOR_B, { heartbeatTime, message: 'telling the users' });
    await request(pod, DRAIN, { isWanted: false });
    const one = await untilRequest(
      { cluster, pod },
      'one requester is left',
      (object) =>
        requestersOf(object).length === 1 &&
        valueAt(object, 'metadata', 'generation') ===
          valueAt(object, 'status', 'observedGeneration'),
    );
    expect(requestersOf(one)).toEqual([BALANCER]);
    expect(activeIn(one)).toBe(ACTOR_B);
    expect(textAt(reportOf(one, ACTOR_B), 'message')).toBe('telling the users');
    await report(pod, ACTOR_B, { heartbeatTime, completionTime: now(), message: 'ready' });
    const next = await untilRequest(
      { cluster, pod },
      'A is active',
      (object) => activeIn(object) === ACTOR_A,
    );
    expect(valueAt(next, 'status', 'processedInterceptors')).toEqual([ACTOR_B]);
    expect(reportOf(next, ACTOR_B)).toMatchObject({ message: 'ready' });
    await cluster.call('DELETE', `${PODS}/${nameOf(pod)}`);
    await report(pod, ACTOR_A, { heartbeatTime: now(), completionTime: now() });
    const last = await untilRequest(
      { cluster, pod },
      'the pod is evicted',
      (object) => conditionsIn(object).length > 0,
    );
    expect(conditionsIn(last)).toEqual(['Evicted=True PodDeleted']);
    expect(valueAt(last, 'status', 'processedInterceptors')).toEqual([ACTOR_B, ACTOR_A]);
    await noted({ notes }, ['InterceptorActive', 'InterceptorActive', 'PodDeleted']);
  });

  it('ER-72: a pod is evicted when the budget that keeps it is deleted', async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    await cluster.clear(BUDGETS);
    const { notes } = serveRequests(bed());
    const { request } = writers(bed());
    const pod = await createPod(cluster, 'kept');
    const ready = { type: 'Ready', status: 'True' };
    await cluster.call('PATCH', `${PODS}/kept/status`, {
      status: { phase: 'Running', conditions: [ready] },
    });
    const budget = { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } };
    await cluster.create(BUDGETS, [{ metadata: { name: 'keeper' }, spec: budget }]);
    const counted = { expectedPods: 1, currentHealthy: 1, desiredHealthy: 1 };
    await cluster.call('PATCH', `${BUDGETS}/keeper/status`, {
      status: { observedGeneration: 1, disruptionsAllowed: 0, ...counted },
    });
    await request(pod, DRAIN);
    const kept = await untilRequest(
      { cluster, pod },
      'the budget is named',
      (one) => textAt(reportOf(one, IMPERATIVE), 'message')?.includes('keeper') === true,
    );
    expect(reportOf(kept, IMPERATIVE)).toHaveProperty('heartbeatTime');
    expect(uidOf((await cluster.call('GET', `${PODS}/kept`)).body)).toBe(uidOf(pod));
    await cluster.call('DELETE', `${BUDGETS}/keeper`);
    const evicted = await untilRequest(
      { cluster, pod },
      'the pod is evicted',
      (one) => conditionsIn(one).length > 0,
    );
    expect(conditionsIn(evicted)).toEqual(['Evicted=True PodDeleted']);
    await noted({ notes }, ['ImperativeEviction', 'PodDeleted']);
    expect(notes.map(({ regarding }) => [regarding.kind, regarding.name]))
      .toEqual(notes.map(() => ['EvictionRequest', uidOf(pod)]));
  });

  it('ER-85: the next process hands over at the deadline of the one before', async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    const time = forwardedTime();
    const before = serveRequests(bed(), { timing: TIMED, time });
    const { request } = writers(bed());
    const pod = await createPod(cluster, 'restarted', [ACTOR_B, ACTOR_A]);
    await request(pod, DRAIN);
    const active = await untilRequest(
      { cluster, pod },
      'B is active',
      (one) => activeIn(one) === ACTOR_B,
    );
    time.forward(TIMED.deadlineMs / 2);
    await before.stop();
    serveRequests(bed(), { timing: TIMED, time });
    time.forward(TIMED.deadlineMs / 2);
    const next = await untilRequest(
      { cluster, pod },
      'A is active',
      (one) => activeIn(one) === ACTOR_A,
    );
    expect(timeIn(next, ACTOR_A, 'startTime') - timeIn(active, ACTOR_B, 'startTime'))
      .toBeGreaterThanOrEqual(TIMED.deadlineMs);
  });
});
