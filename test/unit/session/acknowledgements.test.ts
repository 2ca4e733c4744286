/** Acknowledgements and first phases on simulated time, with an in-process cache and session. */
import { describe, expect, test } from 'vitest';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { uid as asUid } from '../../../src/domain/ids.ts';
import type { KubeCall } from '../../../src/effects/kube-api.ts';
import { request } from '../../support/demand/fed-requests.ts';
import { INTERVAL_MS, startedRollups as start } from '../../support/demand/rollup-rig.ts';

/** The condition of an acknowledged request. */
const trueSince = (observedGeneration: number) => ({
  type: 'Acknowledged',
  status: 'True',
  reason: 'Acknowledged',
  message: 'any',
  observedGeneration,
  lastTransitionTime: '2025-12-31T00:00:00Z',
});

/** A session whose first roll-up, with these requests, was acknowledged. */
const acknowledged = async (...requests: readonly ReturnType<typeof request>[]) => {
  const session = start();
  session.cluster.list(...requests);
  session.openStream();
  session.ack();
  await session.time.settle();
  return session;
};

describe('acknowledgements', () => {
  test('wire 2: requests become Acknowledged with the ack of their roll-up, not when it was sent', async () => {
    const { time, cluster, openStream, patches, ack, counts } = start();
    cluster.list(
      request('new'),
      request('pending', { phase: 'Pending' }),
      request('known', { phase: 'Acknowledged' }),
      request('bad', { spec: { resources: { cpu: 'x' } } }),
    );
    openStream();
    await time.settle();
    expect(patches).toEqual([]);
    ack();
    await time.settle();
    expect(patches).toEqual(['new', 'pending'].map((name) => ({
      method: 'PATCH',
      path: `/apis/bigfleet.lucy.sh/v1alpha1/namespaces/ns/capacityrequests/${name}/status`,
      contentType: 'application/merge-patch+json',
      body: {
        status: {
          phase: 'Acknowledged',
          acknowledgedAt: '2026-01-01T00:00:00Z',
          conditions: [{
            type: 'Acknowledged',
            status: 'True',
            reason: 'Acknowledged',
            message: 'The fleet acknowledged the demand with this request',
            observedGeneration: 1,
            lastTransitionTime: '2026-01-01T00:00:00Z',
          }],
        },
      },
      timeoutMs: 15_000,
    })));
    expect(counts.get('bigfleet_operator_acknowledged_total')).toBe(2);
  });

  test('a request that arrives after the roll-up waits for the next one', async () => {
    const { time, cluster, openStream, patches, ack } = start();
    cluster.list(request('early'));
    openStream();
    cluster.show(request('late'));
    ack();
    await time.settle();
    expect(patches.map(({ path }) => path.split('/').at(-2))).toEqual(['early']);
    await time.advance(INTERVAL_MS);
    cluster.show(request('early', { phase: 'Acknowledged', version: '100' }));
    ack();
    await time.settle();
    expect(patches.map(({ path }) => path.split('/').at(-2))).toEqual(['early', 'late']);
  });

  test('no request is acknowledged twice while its cache lags behind the patch', async () => {
    const { time, cluster, openStream, patches, ack } = start();
    cluster.list(request('a'));
    openStream();
    ack();
    ack();
    await time.settle();
    cluster.show(request('a', { phase: 'Pending', version: '50' }));
    await time.advance(INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches).toHaveLength(1);
    cluster.show(request('a', { phase: 'Acknowledged', version: '100' }));
    cluster.list(request('a', { phase: 'Acknowledged', version: '100' }));
    await time.advance(INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches).toHaveLength(1);
  });

  test('no request is acknowledged twice for an ack of a roll-up that was built long before', async () => {
    const { time, cluster, patches, ack } = await acknowledged(request('a'));
    cluster.show(request('a', { phase: 'Acknowledged', version: '100' }));
    ack();
    await time.settle();
    expect(patches).toHaveLength(1);
  });

  test('a request that a client sets back to Pending is acknowledged again', async () => {
    const { time, cluster, patches, ack } = await acknowledged(request('a'));
    cluster.show(request('a', { phase: 'Acknowledged', version: '100' }));
    cluster.show(request('a', { phase: 'Pending', version: '101' }));
    await time.advance(INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches).toHaveLength(2);
  });

  test('a changed request is acknowledged again, and its condition stays True since the first time', async () => {
    const { time, cluster, openStream, patches, ack } = start();
    const at = (generation: number, observed: number, version: string) =>
      request('a', {
        generation,
        version,
        phase: 'Acknowledged',
        conditions: [trueSince(observed)],
      });
    cluster.list(at(1, 1, '1'));
    openStream();
    ack();
    await time.settle();
    expect(patches, 'nothing has changed').toEqual([]);
    cluster.show(at(2, 1, '2'));
    ack();
    await time.settle();
    expect(patches, 'the roll-up had the first generation').toEqual([]);
    await time.advance(INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches.map(({ body }) => body)).toEqual([{
      status: {
        conditions: [{
          ...trueSince(2),
          message: 'The fleet acknowledged the demand with this request',
        }],
      },
    }]);
    cluster.show(at(2, 2, '100'));
    await time.advance(INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches).toHaveLength(1);
  });

  test('an upgrade writes no request that an older version acknowledged', async () => {
    const { time, cluster, openStream, patches, stamps, ack } = start();
    const names = Array.from({ length: 100 }, (_, index) => `old-${index}`);
    cluster.list(
      ...names.map((name) => request(name, { phase: 'Acknowledged', generation: 3 })),
      request('waiting', { phase: 'Pending' }),
    );
    openStream();
    ack();
    await time.advance(3 * INTERVAL_MS);
    ack();
    await time.settle();
    expect(stamps).toEqual([]);
    expect(patches.map(({ path }) => path.split('/').at(-2))).toEqual(['waiting']);
  });

  test('a condition that an older version left behind is corrected', async () => {
    const unknown = { ...trueSince(1), status: 'Unknown', reason: 'Pending' };
    const { patches } = await acknowledged(
      request('a', { phase: 'Acknowledged', conditions: [unknown] }),
    );
    expect(patches.map(({ body }) => listOrEmptyAt(body, 'status', 'conditions')))
      .toMatchObject([[{ status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]]);
  });

  test('another request of the same name is another request', async () => {
    const { time, cluster, patches, ack } = await acknowledged(request('a'));
    cluster.hide(request('a'));
    cluster.show({ ...request('a', { version: '60' }), uid: request('b').uid });
    ack();
    await time.settle();
    expect(patches, 'it was not in that roll-up').toHaveLength(1);
    await time.advance(INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches).toHaveLength(2);
  });

  test("a request that is gone is nobody's business", async () => {
    const { time, cluster, openStream, answer, ack, counts, rollups } = start();
    answer(() => ({ status: 404, body: { message: 'not found' } }));
    cluster.list(request('a'), request('b'));
    openStream();
    cluster.hide(request('b'));
    ack();
    await time.settle();
    expect(counts.get('tidegate_acknowledgement_faults_total')).toBe(undefined);
    expect(rollups.demand.size).toBe(1);
  });

  test('transient failures are retried at once, longer ones with later roll-ups', async () => {
    const { time, cluster, openStream, patches, answer, ack, counts } = start();
    let tries = 0;
    answer(() => {
      tries += 1;
      if (tries === 1) return 'NotSent';
      return tries < 4 ? { status: 500, body: {} } : { status: 200, body: {} };
    });
    cluster.list(request('a'));
    openStream();
    ack();
    await time.advance(5000);
    expect([patches.length, counts.get('tidegate_acknowledgement_faults_total')]).toEqual([3, 1]);
    expect(patches.map(({ body }) => JSON.stringify(body)), 'with the same bytes')
      .toEqual(Array(3).fill(JSON.stringify(patches[0]?.body)));
    await time.advance(5000);
    ack();
    await time.settle();
    expect([patches.length, counts.get('bigfleet_operator_acknowledged_total')]).toEqual([4, 1]);
  });

  test('the time of a roll-up is measured once, when the last of its requests is acknowledged', async () => {
    const { time, cluster, openStream, answer, ack, observed } = start();
    const metric = 'bigfleet_operator_acknowledge_duration_seconds';
    const durations = () => observed.flatMap(([name, value]) => name === metric ? [value] : []);
    const tries = new Map<string, number>();
    answer(({ path }) => {
      tries.set(path, (tries.get(path) ?? 0) + 1);
      return path.includes('/slow/') && tries.get(path) === 1
        ? 'NotSent'
        : { status: 200, body: { metadata: { resourceVersion: '100' } } };
    });
    cluster.list(request('quick'), request('slow'));
    await time.advance(3000);
    openStream();
    ack();
    await time.settle();
    expect(durations()).toEqual([]);
    await time.advance(5000);
    expect(durations()).toEqual([expect.closeTo(0.5, 0)]);
  });

  test('without the lease nothing is retried', async () => {
    const { time, cluster, openStream, patches, answer, ack } = start();
    answer(() => 'NotLeader');
    cluster.list(request('a'));
    openStream();
    ack();
    await time.advance(5000);
    expect(patches).toHaveLength(1);
  });

  test('the concurrency is limited, and roll-ups continue meanwhile', async () => {
    const { time, cluster, openStream, patches, answer, offered, ack } = start({
      ackConcurrency: 4,
    });
    answer(() => 'never');
    cluster.list(...Array.from({ length: 50 }, (_, index) => request(`r-${index}`)));
    openStream();
    ack();
    await time.advance(3 * INTERVAL_MS);
    ack();
    await time.settle();
    expect([patches.length, offered.length]).toEqual([4, 4]);
  });

  test('after losing leadership nothing new is sent and the queue is dropped', async () => {
    const { time, cluster, leading, openStream, patches, answer, ack } = start({
      ackConcurrency: 2,
    });
    answer(() => 'never');
    cluster.list(...Array.from({ length: 10 }, (_, index) => request(`r-${index}`)));
    openStream();
    ack();
    await time.settle();
    leading.next(false);
    answer(() => ({ status: 200, body: {} }));
    ack();
    await time.advance(INTERVAL_MS);
    expect(patches).toHaveLength(2);
  });

  test('requests that waited when leadership was lost are acknowledged in the next term', async () => {
    const { time, cluster, leading, openStream, patches, answer, ack } = start({
      ackConcurrency: 1,
    });
    answer(() => 'NotSent');
    cluster.list(request('a'), request('b'), request('c'));
    openStream();
    ack();
    await time.settle();
    leading.next(false);
    await time.advance(INTERVAL_MS);
    leading.next(true);
    answer(() => ({ status: 200, body: {} }));
    await time.advance(INTERVAL_MS);
    patches.length = 0;
    ack();
    await time.settle();
    expect(patches.map(({ path }) => path.split('/').at(-2))).toEqual(['a', 'b', 'c']);
  });
});

describe('a request without a phase', () => {
  const names = (calls: readonly KubeCall[]): readonly (string | undefined)[] =>
    calls.map(({ path }) => path.split('/').at(-2));

  test('becomes Pending after an interval, with or without a session, valid or not', async () => {
    const { time, cluster, stamps, patches } = start();
    cluster.list(
      request('a'),
      request('bad', { spec: { resources: { cpu: 'x' } } }),
      request('pending', { phase: 'Pending' }),
      request('known', { phase: 'Acknowledged' }),
    );
    await time.advance(INTERVAL_MS);
    expect(stamps, 'most are acknowledged by then').toEqual([]);
    await time.advance(INTERVAL_MS);
    expect([names(stamps), patches]).toEqual([['a', 'bad'], []]);
    expect(stamps[0]).toEqual({
      method: 'PATCH',
      path: '/apis/bigfleet.lucy.sh/v1alpha1/namespaces/ns/capacityrequests/a/status',
      contentType: 'application/merge-patch+json',
      body: {
        metadata: { uid: 'uid-a', resourceVersion: '1' },
        status: {
          phase: 'Pending',
          conditions: [{
            type: 'Acknowledged',
            status: 'Unknown',
            reason: 'Pending',
            message: 'The fleet has not acknowledged the demand with this request yet',
            observedGeneration: 1,
            lastTransitionTime: '2026-01-01T00:00:20Z',
          }],
        },
      },
      timeoutMs: 15_000,
    });
    const [condition] = listOrEmptyAt(stamps[1]?.body, 'status', 'conditions');
    expect(condition, 'a person must change it').toMatchObject({
      status: 'False',
      reason: 'InvalidCapacityRequest',
      message: expect.stringContaining('Left out of the demand: spec.resources["cpu"]'),
    });
  });

  test('becomes Pending only while it has no other phase', async () => {
    const { time, cluster, stamps } = start();
    cluster.list(request('acked'), request('gone'), request('replaced'));
    await time.advance(INTERVAL_MS);
    cluster.show(request('acked', { phase: 'Acknowledged', version: '2' }));
    cluster.hide(request('gone'));
    cluster.hide(request('replaced'));
    cluster.show({ ...request('replaced', { version: '3' }), uid: asUid('another') });
    await time.advance(INTERVAL_MS);
    expect(stamps, 'an object of the same name waits for itself').toEqual([]);
  });

  test('that changed concurrently is left to a later interval', async () => {
    const { time, cluster, stamps, answer, counts } = start();
    cluster.list(request('a'));
    answer(() => ({ status: 409, body: {} }));
    await time.advance(2 * INTERVAL_MS);
    expect(counts.get('tidegate_pending_phase_writes_total')).toBe(1);
    cluster.show(request('a', { version: '7' }));
    await time.advance(INTERVAL_MS);
    expect(stamps.map(({ body }) => textAt(body, 'metadata', 'resourceVersion')))
      .toEqual(['1', '7']);
  });

  test('becomes Pending two at a time, and never twice at once', async () => {
    const { time, cluster, stamps, answer } = start();
    answer(() => 'never');
    cluster.list(...Array.from({ length: 50 }, (_, index) => request(`r-${index}`)));
    await time.advance(5 * INTERVAL_MS);
    expect(names(stamps)).toEqual(['r-0', 'r-1']);
  });

  test('that waited when leadership was lost becomes Pending in the next term', async () => {
    const { time, cluster, stamps, answer, leading } = start();
    answer(() => {
      leading.next(false);
      return 'NotSent';
    });
    cluster.list(request('a'), request('b'), request('c'));
    await time.advance(4 * INTERVAL_MS);
    expect(names(stamps)).not.toContain('c');
    answer(() => ({ status: 200, body: {} }));
    stamps.length = 0;
    leading.next(true);
    await time.advance(2 * INTERVAL_MS);
    expect(names(stamps)).toEqual(['a', 'b', 'c']);
  });

  test('becomes Pending once, while its cache lags behind the patch', async () => {
    const { time, cluster, stamps } = start();
    cluster.list(request('a'));
    await time.advance(6 * INTERVAL_MS);
    expect(names(stamps)).toEqual(['a']);
  });

  test('becomes Pending when it is created after the list, and again when it loses its phase', async () => {
    const { time, cluster, stamps } = start();
    cluster.list();
    cluster.show(request('a'));
    await time.advance(2 * INTERVAL_MS);
    expect(names(stamps)).toEqual(['a']);
    cluster.show(request('a', { phase: 'Pending', version: '100' }));
    await time.advance(3 * INTERVAL_MS);
    cluster.show(request('a', { version: '101' }));
    await time.advance(2 * INTERVAL_MS);
    expect(names(stamps)).toEqual(['a', 'a']);
  });

  test('becomes Pending only by the leader', async () => {
    const { time, cluster, stamps, leading } = start();
    leading.next(false);
    cluster.list(request('a'));
    await time.advance(5 * INTERVAL_MS);
    expect(stamps).toEqual([]);
    leading.next(true);
    await time.advance(2 * INTERVAL_MS);
    expect(names(stamps)).toEqual(['a']);
  });
});
