/** Faults touch what they name, as often as they say, and leave done what was done. */
import { describe, expect, test } from 'vitest';
import { simulatedTime } from '../src/values/simulated-time.ts';
import type { ClusterResponse } from '../src/api.ts';
import { makeCluster } from '../src/cluster.ts';

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';

const setUp = () => {
  const time = simulatedTime();
  const cluster = makeCluster({ time, seed: 1 });
  const create = (name: string) =>
    cluster.handle({ method: 'POST', path: CONFIGMAPS, body: { metadata: { name } } });
  const exists = (name: string): boolean =>
    cluster.store.collection('configmaps').get({ namespace: 'default', name }) !== undefined;
  return { time, cluster, create, exists };
};

const statusOf = (response: ClusterResponse): number | string =>
  response._tag === 'Answer' ? response.status : response._tag;

describe('faults of the embedded cluster', () => {
  test('a refusal applies the given number of times, without running the request', async () => {
    const { cluster, create, exists } = setUp();
    cluster.faults.set({ trouble: { kind: 'refuse', status: 409 }, times: 2 });
    const statuses = [await create('a'), await create('a'), await create('a')].map(statusOf);
    expect(statuses).toEqual([409, 409, 201]);
    expect(exists('a')).toBe(true);
  });

  test('a refusal may have Retry-After', async () => {
    const { cluster, create } = setUp();
    cluster.faults.set({ trouble: { kind: 'refuse', status: 429, retryAfterSeconds: 3 } });
    expect(await create('a')).toMatchObject({ status: 429, headers: { 'retry-after': '3' } });
  });

  test('only matching requests are affected', async () => {
    const { cluster, create } = setUp();
    cluster.faults.set({ trouble: { kind: 'unreachable' }, methods: ['GET'], path: '/configmaps' });
    expect(statusOf(await create('a'))).toBe(201);
    await expect(cluster.handle({ method: 'GET', path: CONFIGMAPS })).rejects.toMatchObject({
      sent: false,
    });
    expect(statusOf(await cluster.handle({ method: 'GET', path: '/api/v1/nodes' }))).toBe(200);
    expect(cluster.faults.list().map(({ touched }) => touched)).toEqual([1]);
  });

  test.each([{ done: true }, { done: false }])(
    'a cut connection keeps applied changes: $done',
    async ({ done }) => {
      const { cluster, create, exists } = setUp();
      cluster.faults.set({ trouble: { kind: 'cut', done }, times: 1 });
      await expect(create('a')).rejects.toMatchObject({ sent: true });
      expect(exists('a')).toBe(done);
    },
  );

  test('a hanging request is never answered, and others are', async () => {
    const { time, cluster, create, exists } = setUp();
    cluster.faults.set({ trouble: { kind: 'hang', done: true }, times: 1 });
    let answered = false;
    void create('a').finally(() => {
      answered = true;
    });
    expect(statusOf(await create('b'))).toBe(201);
    await time.advance(3_600_000);
    expect([answered, exists('a')]).toEqual([false, true]);
  });

  test('a slow request runs after its delay', async () => {
    const { time, cluster, create, exists } = setUp();
    cluster.faults.set({ trouble: { kind: 'slow', delayMs: 500 } });
    const answer = create('a');
    await time.advance(499);
    expect(exists('a')).toBe(false);
    await time.advance(1);
    expect(statusOf(await answer)).toBe(201);
  });

  test('a removed fault affects nothing', async () => {
    const { cluster, create } = setUp();
    const lift = cluster.faults.set({ trouble: { kind: 'refuse', status: 500 } });
    lift();
    cluster.faults.set({ trouble: { kind: 'refuse', status: 500 } });
    cluster.faults.clear();
    expect(statusOf(await create('a'))).toBe(201);
  });

  test('watches are cut or ended, optionally those of one resource only', () => {
    const { cluster } = setUp();
    const ends: string[] = [];
    for (const path of [CONFIGMAPS, '/api/v1/nodes', '/api/v1/pods']) {
      const watch = cluster.answer({ method: 'GET', path: `${path}?watch=true` });
      if (watch._tag !== 'Watch') throw new Error('no watch');
      watch.open({
        lines: () => {},
        ended: () => ends.push(`${path} ended`),
        cut: () => ends.push(`${path} cut`),
      });
    }
    expect(cluster.watches.drop({ resource: 'nodes' })).toBe(1);
    expect(cluster.watches.drop({ quietly: true })).toBe(2);
    expect(ends).toEqual(['/api/v1/nodes cut', `${CONFIGMAPS} ended`, '/api/v1/pods ended']);
    expect(cluster.watches.count()).toBe(0);
  });
});
