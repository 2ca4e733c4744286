/** Drains that ask the interceptors of a pod first, on a small cluster in memory. */
import { describe, expect, test } from 'vitest';
import type { RigOptions } from '../../support/drains/eviction-rig.ts';
import { evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

const OURS = 'reclaim.tidegate.dev';
const OTHER = 'other.example.com';
const BACKUP = 'backup.db.example.com';
const IMPERATIVE = 'imperative-eviction.k8s.io';

/** A drain of the node `n1`; its pod `p1` registers an interceptor, `p2` does not. */
const draining = async (options: RigOptions = {}) => {
  const made = evictionsOfTest({ mode: 'auto', ...options });
  for (const name of ['p1', 'p2']) made.cluster.addPod({ name, node: 'n1', app: name });
  made.requests.register('p1', [BACKUP]);
  await made.ready();
  made.drain('n1');
  await made.time.advance(100);
  const activate = (active: string | null) =>
    made.requests.change('p1', ({ generation }) => ({
      status: {
        observedGeneration: generation,
        conditions: [],
        targets: [BACKUP, IMPERATIVE],
        active,
        processed: active === IMPERATIVE ? [BACKUP] : active === null ? [BACKUP, IMPERATIVE] : [],
        starts: {},
      },
    }));
  const end = (type: 'Canceled' | 'Evicted', reason: string) =>
    made.requests.change('p1', ({ status }) => ({
      status: {
        ...status,
        active: null,
        conditions: [{ type, status: 'True', reason, message: 'no', sinceMs: 0 }],
      },
    }));
  /** The role evictions of the same process. */
  const imperative = () => {
    const [pod] = made.cluster.onNode('n1').filter(({ name }) => name === 'p1');
    if (pod === undefined) throw new Error('p1 is gone');
    made.registry.want(pod, {
      node: 'n1',
      owner: 'eviction-request',
      deadlineMonotonicMs: null,
      drainSinceMs: made.time.monotonic(),
      podsLeft: () => 1,
    });
  };
  return { ...made, made, activate, end, imperative };
};

describe('a pod with an interceptor', () => {
  test('ER-74: is requested by the drain, and not evicted while the interceptor acts', async () => {
    const { made, requests, activate, time, status } = await draining();
    expect(podsAsked(made)).toEqual(['p2']);
    expect(requests.of('p1')?.requesters).toEqual([OURS]);
    expect(status('p1')?.reason).toBe('EvictionRequestPending');
    activate(BACKUP);
    await time.advance(300_000);
    expect(podsAsked(made)).toEqual(['p2']);
    expect(status('p1')).toMatchObject({ reason: 'WaitingForInterceptor', subject: BACKUP });
  });

  test('ER-65: is evicted once when the imperative eviction joins the drain', async () => {
    const { made, activate, imperative, time, cluster, requests } = await draining();
    activate(IMPERATIVE);
    await time.advance(5000);
    expect(podsAsked(made)).toEqual(['p2']);
    imperative();
    expect(requests.of('p1')?.requesters).toEqual([OURS]);
    await time.advance(5000);
    expect(requests.of('p1')?.requesters).toEqual([OURS]);
    expect(podsAsked(made)).toEqual(['p2', 'p1']);
    expect(cluster.violations).toEqual([]);
  });

  test('ER-65: waits again when the imperative eviction is withdrawn before its call', async () => {
    const { made, activate, imperative, time, registry, uidOf, status } = await draining();
    activate(IMPERATIVE);
    await time.advance(100);
    imperative();
    const uid = uidOf('p1');
    if (uid !== undefined) registry.withdraw(uid, 'eviction-request');
    await time.advance(5000);
    expect(podsAsked(made)).toEqual(['p2']);
    expect(status('p1')?.state).toBe('intercepted');
  });

  test('ER-78: its request is deleted after the pod is gone and the request final', async () => {
    const { requests, activate, end, time, cluster } = await draining();
    activate(BACKUP);
    cluster.drop('p1');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OURS]);
    end('Evicted', 'PodDeleted');
    await time.advance(1000);
    expect(requests.of('p1')).toBe(undefined);
    expect(requests.writes).toEqual(['join p1', 'remove p1']);
  });
});

describe('the entry of a drain', () => {
  test('ER-75: is added again when another requester removed it', async () => {
    const { requests, activate, time } = await draining();
    activate(BACKUP);
    requests.change('p1', () => ({ requesters: [OTHER] }));
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OTHER, OURS]);
  });

  test('ER-75: is in a new request when the old one was canceled', async () => {
    const { requests, end, time } = await draining();
    const before = requests.of('p1')?.uid;
    requests.change('p1', () => ({ requesters: [] }));
    end('Canceled', 'NoRequesters');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OURS]);
    expect(requests.of('p1')?.uid).not.toBe(before);
  });

  test('ER-76: leaves when the drain is cancelled, and others stay', async () => {
    const { made, requests, activate, time, registry } = await draining();
    requests.change('p1', ({ requesters }) => ({ requesters: [...requesters, OTHER] }));
    activate(BACKUP);
    await time.advance(1000);
    registry.release('n1', 'reclaim');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OTHER]);
    expect(podsAsked(made)).toEqual(['p2']);
  });

  test('NM-19: of a maintenance leaves with it, and another maintenance still asks', async () => {
    const { made, requests, time, registry } = await draining();
    const owners = ['maintenance-u1', 'maintenance-u2'] as const;
    for (const owner of owners) made.drainBy(owner)('n1');
    await time.advance(1000);
    const names = owners.map((owner) => `${owner}.tidegate.dev`);
    expect(requests.of('p1')?.requesters).toEqual([OURS, ...names]);
    registry.release('n1', owners[0]);
    registry.release('n1', 'reclaim');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual(names.slice(1));
  });

  test('ER-78: the last requester deletes the request that it left, once it is canceled', async () => {
    const { requests, activate, end, time, registry } = await draining();
    activate(BACKUP);
    registry.release('n1', 'reclaim');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([]);
    end('Canceled', 'NoRequesters');
    await time.advance(1000);
    expect(requests.of('p1')).toBe(undefined);
  });

  test('ER-85: stays when the lease is lost', async () => {
    const { requests, requesters, activate, time, registry } = await draining();
    activate(BACKUP);
    requesters.onLeadershipLost();
    registry.release('n1', 'reclaim');
    await time.advance(120_000);
    expect(requests.of('p1')?.requesters).toEqual([OURS]);
    expect(requests.writes).toEqual(['join p1']);
  });

  test('ER-76: of a drain that ended while no process led is removed by the next leader', async () => {
    const { requests, requesters, activate, time } = await draining();
    activate(BACKUP);
    requesters.onLeadershipLost();
    await time.advance(1000);
    requesters.onLeading();
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([]);
  });
});

describe('a drain evicts without asking', () => {
  const UNAVAILABLE = 'EvictionRequestUnavailable';

  test('after a minute without an answer, and says so once', async () => {
    const { made, requests, time, notes, status } = await draining();
    await time.advance(58_000);
    expect([podsAsked(made), notes]).toEqual([['p2'], []]);
    await time.advance(2100);
    expect(status('p1')?.text).toContain('no controller of EvictionRequests answered within 60 s');
    await time.advance(3000);
    expect(podsAsked(made)).toEqual(['p2', 'p1']);
    expect(notes.map(({ reason, regarding }) => [reason, regarding.name]))
      .toEqual([[UNAVAILABLE, 'n1']]);
    await time.advance(120_000);
    expect(requests.of('p1')).toBe(undefined);
    expect(made.unasked).toEqual([{ by: 1, cause: 'Unanswered' }]);
  });

  test('when the request is refused', async () => {
    const made = evictionsOfTest({ mode: 'eviction-requests' });
    for (const name of ['p1', 'p2']) made.cluster.addPod({ name, node: 'n1', app: name });
    made.requests.refuse('403 requesting an eviction needs the permission to delete the pod');
    await made.ready();
    made.drain('n1');
    await made.time.advance(5000);
    expect(podsAsked(made).toSorted()).toEqual(['p1', 'p2']);
    expect(made.notes.map(({ reason }) => reason)).toEqual([UNAVAILABLE]);
    expect(made.unasked).toEqual([{ by: 1, cause: 'Refused' }, { by: 1, cause: 'Refused' }]);
    expect(made.notes[0]?.note).toContain('permission to delete the pod');
  });

  test('when the request is invalid, or all interceptors had their turn', async () => {
    for (const ends of ['invalid', 'processed']) {
      const { made, activate, end, time, notes } = await draining();
      if (ends === 'invalid') end('Canceled', 'ValidationFailed');
      else activate(null);
      await time.advance(5000);
      expect(podsAsked(made)).toEqual(['p2', 'p1']);
      expect(notes.map(({ reason }) => reason)).toEqual([UNAVAILABLE]);
    }
  });

  test('ER-55: and a pod that registers none is requested when it has a default', async () => {
    const { made, requests } = await draining({
      defaultsFor: ({ name }) => name === 'p2' ? ['surge.tidegate.dev'] : [],
    });
    expect(podsAsked(made)).toEqual([]);
    expect(requests.of('p2')?.requesters).toEqual([OURS]);
  });

  test('with --via evictions, whatever the pod registers', async () => {
    const { made, requests } = await draining({ mode: 'evictions' });
    expect(podsAsked(made)).toEqual(['p1', 'p2']);
    expect(requests.writes).toEqual([]);
  });
});
