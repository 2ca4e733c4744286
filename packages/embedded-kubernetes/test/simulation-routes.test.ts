/** The handles below `/_sim/`. */
import { describe, expect, test } from 'vitest';
import { simulatedTime } from '../src/values/simulated-time.ts';
import { withSimulation } from '../src/http/simulation-routes.ts';
import { makeCluster } from '../src/cluster.ts';
import { scaledClock } from '../src/scaled-clock.ts';

const setUp = () => {
  const base = simulatedTime(Date.UTC(2026, 0, 1));
  const time = scaledClock(base);
  const cluster = makeCluster({ time, seed: 1 });
  const handle = withSimulation({ cluster, time });
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await handle({ method, path, ...(body === undefined ? {} : { body }) });
    return answer._tag === 'Answer' ? [answer.status, answer.body] : [answer._tag];
  };
  return { base, cluster, ask };
};

describe('control endpoints of the embedded cluster', () => {
  test('faults are set, listed and removed, and do not affect the endpoints', async () => {
    const { ask } = setUp();
    const fault = { kind: 'refuse', status: 503, path: '/nodes', times: 5 };
    await ask('POST', '/_sim/faults', fault);
    expect((await ask('GET', '/api/v1/nodes'))[0]).toBe(503);
    expect(await ask('GET', '/_sim/faults')).toEqual([200, [
      { trouble: { kind: 'refuse', status: 503 }, path: '/nodes', times: 5, touched: 1 },
    ]]);
    expect(await ask('DELETE', '/_sim/faults')).toEqual([200, []]);
    expect((await ask('GET', '/api/v1/nodes'))[0]).toBe(200);
  });

  test.each([
    { body: { kind: 'melt' }, error: /write one of refuse, cut, unreachable, hang, slow/ },
    { body: { kind: 'slow', delayMs: -1 }, error: /"delayMs".*at least 0/ },
    { body: [], error: /JSON object/ },
  ])('a fault that is none is refused: $body', async ({ body, error }) => {
    const { ask, cluster } = setUp();
    expect(await ask('POST', '/_sim/faults', body)).toEqual([400, {
      error: expect.stringMatching(error),
    }]);
    expect(cluster.faults.list()).toEqual([]);
  });

  test('time is reported, advanced and stopped', async () => {
    const { ask } = setUp();
    expect(await ask('POST', '/_sim/time', { advanceMs: 90_000, rate: 0 })).toEqual([200, {
      now: '2026-01-01T00:01:30.000Z',
      rate: 0,
    }]);
    expect((await ask('GET', '/_sim/time'))[0]).toBe(200);
  });

  test('watches are dropped and revisions compacted', async () => {
    const { ask, cluster } = setUp();
    const watch = cluster.answer({ method: 'GET', path: '/api/v1/nodes?watch=true' });
    if (watch._tag === 'Watch') watch.open({ lines: () => {}, ended: () => {}, cut: () => {} });
    expect(await ask('POST', '/_sim/watches', { resource: 'pods' })).toEqual([200, { dropped: 0 }]);
    expect(await ask('POST', '/_sim/watches')).toEqual([200, { dropped: 1 }]);
    await ask('POST', '/_sim/compact');
    expect(cluster.store.collection('namespaces').since(1)).toBeUndefined();
  });

  test('the state counts objects and watches', async () => {
    const { ask } = setUp();
    expect(await ask('GET', '/_sim/state')).toMatchObject([200, {
      resources: { namespaces: { objects: 4, watches: 0 } },
    }]);
  });

  test('an unknown path is not found, and other paths go to the cluster', async () => {
    const { ask } = setUp();
    expect((await ask('GET', '/_sim/none'))[0]).toBe(404);
    expect((await ask('PUT', '/_sim/time'))[0]).toBe(404);
    expect((await ask('GET', '/api/v1/namespaces'))[0]).toBe(200);
  });
});
