/** What a review of one drain's pods says: what left, what was asked, and what blocks. */
import { describe, expect, test } from 'vitest';
import { DrainPods, type DrainPodsOptions } from '../../../src/actors/node-drains/drain-pods.ts';
import type { PodEvictionStatus } from '../../../src/actors/pod-evictions/pod-evictions.ts';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import type { DrainPod } from '../../../src/domain/drain/pod.ts';
import type { Uid } from '../../../src/domain/ids.ts';
import { podOf, type PodTraits } from '../../support/drains/drain-facts.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const FOREVER = Number.POSITIVE_INFINITY;
const TERMS = { deadlineMs: null, graceSeconds: 600 };
const TOLERATES = { tolerations: [{ operator: 'Exists' }] };

const nodeOf = (annotations: object = {}) => {
  const metadata = { name: 'n1', uid: 'u1', resourceVersion: '1', annotations };
  const node = projectDrainedNode({ metadata });
  if (node === undefined) throw new Error('no Node');
  return node;
};
const NODE = nodeOf();

const WAITING: PodEvictionStatus = {
  reason: 'WaitingForTurn',
  text: 'eviction is next',
  subject: '',
  state: 'queued',
  accepted: false,
  inFlight: false,
  noSlotMs: FOREVER,
  refusals: 0,
};

const rig = (options: Partial<DrainPodsOptions> = {}) => {
  const present = new Map<string, DrainPod>();
  const statuses = new Map<Uid, Partial<PodEvictionStatus>>();
  const refusals = new Map<Uid, string>();
  const asked: Uid[] = [];
  const statusOf = (uid: Uid) => {
    const status = statuses.get(uid);
    return status && { ...WAITING, ...status };
  };
  const pods = new DrainPods({
    on: () => present.values(),
    evictions: {
      statusOf,
      progress: (uid) => {
        asked.push(uid);
        const status = statusOf(uid);
        return status && { accepted: status.accepted, refusal: refusals.get(uid) ?? '' };
      },
    },
    resumedSinceMs: null,
    own: null,
    daemonSetsLeave: false,
    isWithheld: () => false,
    now: () => NOW_MS,
    ...options,
  });
  return {
    pods,
    put: (traits: PodTraits) => {
      const pod = podOf(traits);
      present.set(pod.name, pod);
      return pod;
    },
    remove: (name: string) => void present.delete(name),
    status: (pod: DrainPod, status: Partial<PodEvictionStatus>) => statuses.set(pod.uid, status),
    refuse: (pod: DrainPod, why: string) => refusals.set(pod.uid, why),
    unasked: (startedTo: number | null) => pods.unasked(startedTo).map(({ name }) => name),
    blocked: (node = NODE) =>
      pods.review(node, TERMS).blocked.map(({ blocker, pods: keys }) => [blocker.reason, keys]),
    /** The UIDs of which the progress was read since the last call. */
    read: () => asked.splice(0),
  };
};

describe('the pods of a drain', () => {
  test('DR-21: are asked once each, those of started tiers only, and again after a release', () => {
    const { pods, put, unasked, read } = rig();
    const a = put({ name: 'a' });
    put({ name: 'b' });
    put({ name: 'c', priority: 10 });
    expect(pods.look(null).podCounts).toEqual({
      left: 3,
      tiers: [{ key: 0, left: 2 }, { key: 10, left: 1 }],
    });
    expect(unasked(null)).toEqual([]);
    expect(unasked(0)).toEqual(['a', 'b']);
    pods.setAsked(a);
    expect(unasked(10)).toEqual(['b', 'c']);
    pods.look(10);
    expect(read(), 'only pods that were asked have an answer').toEqual([a.uid]);
    expect(unasked(10), 'a review forgets no request').toEqual(['b', 'c']);
    pods.setReleased();
    expect(unasked(10)).toEqual(['a', 'b', 'c']);
  });

  test('DR-21: move when one of a started tier leaves, is gone, or its eviction is accepted', () => {
    const { pods, put, remove, status } = rig();
    const a = put({ name: 'a' });
    put({ name: 'b' });
    put({ name: 'c', priority: 10 });
    const moved = () => pods.look(0).moved;
    expect(moved()).toBe(false);
    pods.setAsked(a);
    status(a, { accepted: false });
    expect(moved()).toBe(false);
    status(a, { accepted: true });
    expect([moved(), moved()]).toEqual([true, false]);
    put({ name: 'b', deletion: '2026-01-01T00:00:30Z' });
    expect([moved(), moved()]).toEqual([true, false]);
    remove('b');
    expect([moved(), moved()]).toEqual([true, false]);
    put({ name: 'c', priority: 10, deletion: '2026-01-01T00:00:30Z' });
    expect(moved(), 'its tier has not started').toBe(false);
    remove('c');
    expect(moved(), 'its tier has not started').toBe(false);
    put({ name: 'd', deletion: '2026-01-01T00:00:30Z' });
    expect(moved(), 'it was leaving when it was first seen').toBe(false);
  });

  test('a missing permission to evict one of them is what the review says', () => {
    const { pods, put, status, refuse } = rig();
    const [a, b] = [put({ name: 'a' }), put({ name: 'b' })];
    for (const pod of [a, b]) {
      status(pod, {});
      pods.setAsked(pod);
    }
    expect(pods.look(0).refusal).toBe('');
    refuse(a, 'cannot create pods/eviction');
    expect(pods.look(0).refusal).toBe('cannot create pods/eviction');
  });

  test('count those that are not due yet, which are in no tier and not asked', () => {
    const { pods, put, unasked } = rig({ isWithheld: ({ name }) => name === 'b' });
    put({ name: 'a' });
    put({ name: 'b' });
    expect(pods.look(0).podCounts).toEqual({ left: 2, tiers: [{ key: 0, left: 1 }] });
    expect([pods.left(), unasked(0)]).toEqual([2, ['a']]);
  });

  test('DR-20: only what the drain evicted and came back past the cordon stays', () => {
    const { pods, put, remove } = rig();
    const asked = put({ name: 'a', ...TOLERATES });
    put({ name: 'b', ...TOLERATES, controller: { kind: 'ReplicaSet', name: 'other' } });
    put({ name: 'c', controller: { kind: 'ReplicaSet', name: 'third' } });
    pods.look(0);
    pods.setAsked(asked);
    pods.look(0);
    expect(pods.tolerating(), 'it is still to leave').toEqual([]);
    for (const name of ['a', 'b', 'c']) remove(name);
    pods.look(0);
    put({ name: 'a2', ...TOLERATES });
    put({ name: 'b2', ...TOLERATES, controller: { kind: 'ReplicaSet', name: 'other' } });
    put({ name: 'c2', ...TOLERATES, controller: { kind: 'ReplicaSet', name: 'third' } });
    pods.look(0);
    expect(pods.tolerating()).toEqual(['ns/a2']);
    expect(pods.staying()).toEqual(['ns/a2']);
    expect(pods.left()).toBe(2);
  });

  test('DR-20: a pod that is replaced while it terminates is one that came back', () => {
    const { pods, put } = rig();
    const asked = put({ name: 'a', ...TOLERATES });
    pods.look(0);
    pods.setAsked(asked);
    put({ name: 'a', ...TOLERATES, deletion: '2026-01-01T00:00:30Z' });
    put({ name: 'a2', ...TOLERATES });
    pods.look(0);
    expect(pods.tolerating()).toEqual(['ns/a2']);
  });

  test('DR-20: a pod that was there before leaves after another of its controller', () => {
    const { pods, put, remove } = rig();
    const asked = put({ name: 'a', ...TOLERATES });
    put({ name: 'b', ...TOLERATES });
    pods.look(0);
    pods.setAsked(asked);
    put({ name: 'a', ...TOLERATES, deletion: '2026-01-01T00:00:30Z' });
    expect(pods.look(0).podCounts.left).toBe(2);
    remove('a');
    put({ name: 'a2', ...TOLERATES });
    expect(pods.look(0).podCounts.left).toBe(1);
    expect([pods.tolerating(), pods.unasked(0)]).toMatchObject([['ns/a2'], [{ name: 'b' }]]);
  });

  test('DR-20: a resumed drain waits for pods that were there before its cordon', () => {
    const { pods, put } = rig({ resumedSinceMs: NOW_MS });
    put({ name: 'a', ...TOLERATES, deletion: '2026-01-01T00:00:30Z' });
    put({ name: 'b', ...TOLERATES, created: '2025-12-31T00:00:00Z' });
    put({ name: 'a2', ...TOLERATES, created: '2026-01-01T00:01:00Z' });
    expect(pods.look(0).podCounts.left).toBe(2);
    expect(pods.tolerating()).toEqual(['ns/a2']);
  });

  test('NM-46: what came to the cordoned node before its pods began to leave leaves, too', () => {
    const drainSinceMs = () => Date.parse('2026-01-01T00:02:00Z');
    const { pods, put } = rig({ resumedSinceMs: NOW_MS, drainSinceMs });
    put({ name: 'a', ...TOLERATES, created: '2026-01-01T00:01:00Z' });
    expect(pods.look(0).podCounts.left).toBe(1);
    expect(pods.tolerating()).toEqual([]);
  });

  test('DR-20: what came back after an earlier process began the drain stays from the first review', () => {
    const { pods, put } = rig({ resumedSinceMs: NOW_MS });
    put({ name: 'a', ...TOLERATES, created: '2026-01-01T00:01:00Z' });
    pods.look(null);
    expect(pods.tolerating()).toEqual(['ns/a']);
    put({
      name: 'b',
      ...TOLERATES,
      created: '2026-01-01T00:01:00Z',
      controller: { kind: 'ReplicaSet', name: 'other' },
    });
    pods.look(null);
    expect(pods.tolerating(), 'later ones were not evicted by that process').toEqual(['ns/a']);
  });

  test('DR-42: time alone changes a review when the first termination becomes overdue', () => {
    const { pods, put } = rig();
    put({ name: 'a', deletion: '2026-01-01T00:00:50Z' });
    put({ name: 'b', deletion: '2026-01-01T00:00:30Z' });
    put({ name: 'c' });
    pods.look(0);
    expect(pods.review(NODE, TERMS)).toEqual({ blocked: [], nextMs: 30_000 });
    put({ name: 'b', deletion: '2026-01-01T00:00:00Z' });
    pods.look(0);
    expect(pods.review(NODE, TERMS).nextMs, 'overdue in this moment').toBe(0);
    put({ name: 'b', deletion: '2025-12-31T23:59:50Z' });
    pods.look(0);
    expect(pods.review(NODE, TERMS).nextMs, 'the past changes nothing').toBe(50_000);
  });

  test('DR-42: a budget blocks after twenty seconds without a slot, and budgets are one group', () => {
    const { pods, put, status, blocked } = rig();
    const [a, b, c] = [put({ name: 'a' }), put({ name: 'b' }), put({ name: 'c' })];
    pods.look(0);
    const budget = { reason: 'BlockedByBudget', text: 'budget', subject: 'ns/x' } as const;
    status(a, { ...budget, noSlotMs: 19_999 });
    expect(pods.review(NODE, TERMS)).toEqual({ blocked: [], nextMs: 1 });
    status(a, { ...budget, noSlotMs: 20_000 });
    status(b, { ...budget, subject: 'ns/y', noSlotMs: 20_000 });
    expect(pods.review(NODE, TERMS).nextMs).toBe(FOREVER);
    expect(blocked()).toEqual([['BlockedByBudget', ['ns/a', 'ns/b']]]);
    expect(pods.review(NODE, TERMS).blocked[0]?.blocker.text).toBe(
      '2 budgets allow 0 disruptions: ns/x, ns/y',
    );
    for (const pod of [a, b]) status(pod, { reason: 'PolicyRefused', text: 'no', subject: 'p' });
    status(c, { reason: 'PolicyRefused', text: 'no', subject: 'q' });
    expect(blocked(), 'any other has a group for each subject').toEqual([
      ['PolicyRefused', ['ns/a', 'ns/b']],
      ['PolicyRefused', ['ns/c']],
    ]);
    expect(pods.review(NODE, TERMS).blocked[0]?.blocker).toMatchObject({ text: 'no' });
  });

  test('DR-42: a drain that will not be empty in time is forecast last', () => {
    const { pods, put, status } = rig();
    status(put({ name: 'a' }), { reason: 'BudgetNeverAllows', text: 'never', subject: 'ns/x' });
    pods.look(0);
    const { blocked } = pods.review(NODE, { deadlineMs: NOW_MS, graceSeconds: 600 });
    expect(blocked.map(({ blocker }) => blocker.reason)).toEqual([
      'BudgetNeverAllows',
      'DeadlineUnreachable',
    ]);
  });

  test('DR-45: on a paused Node the pause holds up the pods, whatever their evictions say', () => {
    const { pods, put, status, blocked } = rig();
    const refused = { reason: 'PolicyRefused', text: 'refused', subject: 'p' } as const;
    status(put({ name: 'a' }), refused);
    status(put({ name: 'b', deletion: '2026-01-01T00:00:30Z' }), refused);
    pods.look(0);
    expect(blocked(nodeOf({ 'tidegate.dev/pause': 'true' }))).toEqual([
      ['DrainPaused', ['ns/a']],
      ['PolicyRefused', ['ns/b']],
    ]);
  });

  test('DR-41: at the deadline a pod of a later tier was not evicted before it', () => {
    const { pods, put, status } = rig();
    status(put({ name: 'a' }), { text: 'eviction is next' });
    put({ name: 'b', priority: 10 });
    pods.look(0);
    expect(pods.remaining(NODE, true)).toBe(
      '2 pods remain: ns/a (eviction is next), ns/b (not evicted before the deadline)',
    );
    expect(pods.remaining(NODE, false)).not.toContain('not evicted before the deadline');
  });

  test('RS-12: kept pods count until they are acknowledged, and are named from then on', () => {
    const acknowledged = new Set<Uid>();
    const { pods, put, remove, blocked } = rig({
      kept: {
        dataOf: ({ name }) => (name.startsWith('db') ? [`volume "${name}"`] : []),
        acknowledged: () => acknowledged,
      },
    });
    const [db1, db2] = [put({ name: 'db1' }), put({ name: 'db2' })];
    put({ name: 'web' });
    expect(pods.look(0).podCounts, 'it has no data').toMatchObject({ left: 3, kept: 2 });
    remove('web');
    expect(pods.look(0).podCounts).toEqual({ left: 2, kept: 2, tiers: [] });
    expect(blocked()).toEqual([['StatefulLocalVolume', ['ns/db1', 'ns/db2']]]);
    expect([pods.stayed(), pods.acknowledged()]).toEqual(['', []]);
    acknowledged.add(db1.uid);
    expect(pods.look(0).podCounts).toEqual({ left: 1, kept: 1, tiers: [] });
    expect(pods.remaining(NODE, true)).toBe(
      '1 pod remains: ns/db2 (data only on this node: volume "db2")',
    );
    acknowledged.add(db2.uid);
    expect(pods.look(0).podCounts).toEqual({ left: 0, tiers: [] });
    expect(blocked()).toEqual([]);
    expect(pods.stayed()).toBe(
      'All other pods are gone; stay, as was acknowledged: ns/db1, ns/db2',
    );
    expect(pods.staying()).toEqual(['ns/db1', 'ns/db2']);
  });
});
