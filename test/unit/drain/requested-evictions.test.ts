/** Drains that ask the interceptors of a pod first, on a small cluster in memory. */
import { describe, expect, test } from 'vitest';
import { MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import { CORDON_PREFIX, type DrainOwner, printCordon } from '../../../src/domain/drain/cordon.ts';
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

describe('the entry of a drain that ended or goes on', () => {
  test('ER-75: is in a new request when another client deleted the old one', async () => {
    const { requests, activate, time } = await draining();
    activate(BACKUP);
    requests.remove('p1');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OURS]);
    expect(requests.writes).toEqual(['join p1', 'join p1']);
  });

  test('ER-75: is not in a new request while the pod leaves', async () => {
    const { requests, activate, imperative, end, time } = await draining({
      timing: { terminationMs: 600_000 },
    });
    activate(IMPERATIVE);
    await time.advance(5000);
    imperative();
    await time.advance(5000);
    end('Canceled', 'NoRequesters');
    await time.advance(5000);
    expect(requests.of('p1')).toBe(undefined);
    expect(requests.writes).toEqual(['join p1', 'remove p1']);
  });

  test('ER-78: leaves its request to others when the pod has finished', async () => {
    const { requests, activate, end, time, cluster } = await draining();
    activate(BACKUP);
    cluster.change('p1', { phase: 'Succeeded' });
    await time.advance(1000);
    requests.change('p1', () => ({ requesters: [OURS, OTHER] }));
    end('Evicted', 'PodDeleted');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OTHER]);
  });

  test('ER-75: comes again with another drain of the node', async () => {
    const { requests, activate, time, registry, drain } = await draining();
    requests.change('p1', () => ({ requesters: [OURS, OTHER] }));
    activate(BACKUP);
    registry.release('n1', 'reclaim');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OTHER]);
    drain('n1');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OTHER, OURS]);
  });

  test('ER-75: comes again before its first request has ended', async () => {
    const { requests, activate, time, registry, drain } = await draining();
    activate(BACKUP);
    registry.release('n1', 'reclaim');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([]);
    drain('n1');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OURS]);
  });

  test('ER-76: stays with those of others when a leader looks for what has ended', async () => {
    const { requests, requesters, activate, time, registry } = await draining();
    requests.change('p1', () => ({ requesters: [OURS, OTHER] }));
    activate(BACKUP);
    await time.advance(1000);
    requesters.sweep();
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OURS, OTHER]);
    registry.release('n1', 'reclaim');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OTHER]);
    requesters.onLeadershipLost();
    requesters.onLeading();
    await time.advance(120_000);
    expect(requests.of('p1')?.requesters).toEqual([OTHER]);
  });

  test('ER-85: stays for the next leader while the node has the key of the drain', async () => {
    const { requests, requesters, activate, time, cluster, registry } = await draining();
    const key = { ids: ['i1'], deadlineMs: null, graceSeconds: 0, sinceMs: 0 };
    const show = (ended: 'Drained' | null) =>
      cluster.node('n1', 'True', { [`${CORDON_PREFIX}reclaim`]: printCordon({ ...key, ended }) });
    activate(BACKUP);
    const changeLeader = async (ended: 'Drained' | null) => {
      requesters.onLeadershipLost();
      show(ended);
      await time.advance(1000);
      requesters.onLeading();
      await time.advance(1000);
    };
    // The dispatcher of this process is not that of the next leader.
    requesters.onLeadershipLost();
    registry.release('n1', 'reclaim');
    await changeLeader(null);
    expect(requests.writes).toEqual(['join p1']);
    await changeLeader('Drained');
    expect(requests.writes).toEqual(['join p1', 'leave p1']);
  });

  test.each(
    [
      ['is gone', ({ cluster }) => cluster.drop('p1')],
      ['is another one', ({ cluster }) => {
        cluster.drop('p1');
        cluster.addPod({ name: 'p1', node: 'n1', app: 'p1' });
      }],
      ['has finished', ({ cluster }) => cluster.change('p1', { phase: 'Failed' })],
    ] as const satisfies readonly [string, (rig: Awaited<ReturnType<typeof draining>>) => void][],
  )('ER-78: waits for the end of its request when the pod %s', async (_, change) => {
    const rig = await draining();
    const { requests, requesters, activate, end, time } = rig;
    activate(BACKUP);
    requesters.onLeadershipLost();
    change(rig);
    await time.advance(1000);
    requesters.onLeading();
    await time.advance(1000);
    expect(requests.writes).toEqual(['join p1']);
    end('Evicted', 'PodDeleted');
    await time.advance(1000);
    expect(requests.writes).toEqual(['join p1', 'remove p1']);
  });

  test('NM-19: has the name of the maintenance, also for the next leader', async () => {
    const name = 'kernel.nodemaintenance.tidegate.dev';
    const maintained = new MaintainedNodes();
    const made = evictionsOfTest({ mode: 'auto', maintained });
    const { cluster, requests, requesters, time } = made;
    cluster.addPod({ name: 'p1', node: 'n1', app: 'p1' });
    requests.register('p1', [BACKUP]);
    maintained.setRequester('maintenance-u1', name);
    await made.ready();
    made.drainBy('maintenance-u1')('n1');
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([name]);
    requests.change('p1', () => ({ requesters: [name, OTHER] }));
    requesters.onLeadershipLost();
    maintained.clear();
    requesters.onLeading();
    await time.advance(1000);
    expect(requests.of('p1')?.requesters, 'before the name is known').toEqual([name, OTHER]);
    maintained.setRequester('maintenance-u1', name);
    requesters.sweep();
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OTHER]);
  });

  test('ER-85: is written by a leader only, and not after the stop', async () => {
    const { requests, requesters, activate, time, cluster, drain } = await draining();
    activate(BACKUP);
    requesters.onLeadershipLost();
    cluster.addPod({ name: 'p3', node: 'n1', app: 'p3' });
    requests.register('p3', [BACKUP]);
    await time.advance(1000);
    drain('n1');
    requesters.sweep();
    await time.advance(1000);
    expect(requests.writes).toEqual(['join p1']);
    requesters.onLeading();
    await requesters.stop();
    expect(requests.isFollowed()).toBe(false);
    drain('n1');
    await time.advance(120_000);
    expect(requests.writes).toEqual(['join p1']);
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

  /** The pods that are evicted of those that register an interceptor or have none. */
  const asked = async (
    { options = {}, kind = 'ReplicaSet', owner = 'reclaim', isSynced = true }: {
      readonly options?: RigOptions;
      readonly kind?: string;
      readonly owner?: DrainOwner;
      readonly isSynced?: boolean;
    },
  ) => {
    const made = evictionsOfTest({ mode: 'auto', ...options });
    for (const name of ['p1', 'p2']) made.cluster.addPod({ name, node: 'n1', app: name, kind });
    made.requests.register('p1', [BACKUP]);
    made.requests.cache.synced = isSynced;
    await made.ready();
    made.drainBy(owner)('n1');
    await made.time.advance(1000);
    return { evicted: podsAsked(made), writes: made.requests.writes };
  };

  test('when its owner can have no name among requesters', async () => {
    expect(await asked({ owner: `maintenance-${'x'.repeat(80)}` }))
      .toEqual({ evicted: ['p1', 'p2'], writes: [] });
  });

  test('before the list of requests is complete', async () => {
    expect(await asked({ isSynced: false })).toEqual({ evicted: ['p1', 'p2'], writes: [] });
  });

  test('NM-44: a pod of a DaemonSet without an interceptor of its own', async () => {
    const options = { mode: 'eviction-requests' } as const;
    expect((await asked({ options, kind: 'DaemonSet' })).writes).toEqual(['join p1']);
    expect((await asked({ options })).writes).toEqual(['join p1', 'join p2']);
  });

  test('with one Event for a cause and node, until nothing asks for its pods', async () => {
    const made = evictionsOfTest({ mode: 'auto' });
    const { cluster, requests, requesters, notes, time } = made;
    const begin = async (...names: readonly string[]) => {
      for (const name of names) {
        cluster.addPod({ name, node: 'n1', app: name });
        requests.register(name, [BACKUP]);
      }
      await time.advance(100);
      made.drain('n1');
      await time.advance(1000);
    };
    const cancel = async (
      name: string,
      type: 'Canceled' | 'Evicted' = 'Canceled',
      reason = 'ValidationFailed',
    ) => {
      requests.change(name, ({ status }) => ({
        status: {
          ...status,
          conditions: [{ type, status: 'True', reason, message: '', sinceMs: 0 }],
        },
      }));
      await time.advance(5000);
    };
    cluster.node('n1', 'True');
    await begin('p1', 'p2', 'p3');
    await cancel('p1');
    cluster.drop('p3');
    await cancel('p3', 'Evicted', 'PodDeleted');
    await cancel('p2');
    expect([podsAsked(made), cluster.left('n1')]).toEqual([['p1', 'p2'], 0]);
    expect(notes.map(({ regarding }) => regarding))
      .toEqual([{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-n1' }]);
    expect(notes[0]?.note).toContain('(ns/p1)');
    await begin('p4', 'p5');
    await cancel('p4');
    expect(notes, 'after the last entry').toHaveLength(2);
    requesters.onLeadershipLost();
    requesters.onLeading();
    made.drain('n1');
    await begin('p6');
    await cancel('p6');
    expect(notes, 'of another leader').toHaveLength(3);
  });
});
