/** Pods of Nodes that are lost, and of Nodes that are back: which are looked at, and when. */
import { expect, test } from 'vitest';
import { resourceVersion, uid } from '../../../src/domain/ids.ts';
import type { LostPod } from '../../../src/domain/node-availability/lost-pods.ts';
import {
  availabilitiesRig as rig,
  nodeNamed,
  REVIEW_MS,
  SETTLE_MS,
} from '../../support/node-availability/availabilities-rig.ts';
import { podOn } from '../../support/node-availability/availability-fixture.ts';

/** A former process found it offline. */
const LOST = nodeNamed('lost', { readyStatus: 'Unknown', label: 'Offline' });
const BACK = nodeNamed('lost', { label: 'Offline' }, '2');
const WELL = nodeNamed('well');

const stateful = (node: string, name: string): LostPod => ({
  ...podOn(node, name),
  podClass: 'Stateful',
});

test('RS-23: pods that come later are deleted, too, each once', async () => {
  const { time, beginTerm, removals, change } = rig([LOST, WELL], [podOn('lost', 'a')]);
  await beginTerm();
  removals[0]?.end({ _tag: 'Deleted' });
  change({ ...podOn('lost', 'a'), resourceVersion: resourceVersion('2') });
  change(podOn('lost', 'b'));
  change(podOn('well', 'c'));
  await time.advance(REVIEW_MS);
  removals[1]?.end({ _tag: 'Gone' });
  await time.advance(10 * SETTLE_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a', 'b']);
});

test('RS-23: pods that a list has first are deleted, too', async () => {
  const pods = ['a', 'b'].map((name) => podOn('lost', name));
  const { time, beginTerm, removals, listPods } = rig([LOST, WELL], pods.slice(0, 1));
  await beginTerm();
  removals[0]?.end({ _tag: 'Deleted' });
  listPods(pods);
  await time.advance(REVIEW_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a', 'b']);
});

test('RS-20: pods are not deleted while the lists are behind', async () => {
  const { time, site, beginTerm, removals, changeClaim } = rig([LOST, WELL], [podOn('lost', 'a')]);
  site.isBehind = true;
  await beginTerm();
  changeClaim();
  await time.advance(SETTLE_MS);
  expect(removals).toEqual([]);
  site.isBehind = false;
  changeClaim();
  await time.advance(REVIEW_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a']);
});

test('RS-20: pods of a Node that is back are not deleted', async () => {
  const { time, beginTerm, removals, changeNode, change } = rig([LOST, WELL], [podOn('lost', 'a')]);
  await beginTerm();
  changeNode(BACK);
  removals[0]?.end({ _tag: 'Fault', why: 'no answer' });
  change(podOn('lost', 'b'));
  await time.advance(10 * SETTLE_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a']);
});

test('RS-21: a stateful pod shows that its Node is offline, until that is back', async () => {
  const db = stateful('lost', 'db-0');
  const { time, beginTerm, patched, notes, changeNode, change } = rig([LOST, WELL], [
    db,
    podOn('lost', 'web'),
    { ...podOn('lost', 'agent'), podClass: 'Ignored' },
    stateful('well', 'db-1'),
  ]);
  await beginTerm();
  expect(patched).toEqual(['db-0']);
  change({ ...db, showsHomeOffline: true });
  changeNode(BACK);
  await time.advance(REVIEW_MS);
  expect(patched).toEqual(['db-0', 'db-0']);
  change(db);
  await time.advance(REVIEW_MS);
  expect([patched.length, notes.at(-1)]).toEqual([2, 'Node lost NodeBack']);
});

test('RS-21: a pod that shows it since a former process does so no more when its Node is well', async () => {
  const { beginTerm, patched } = rig([WELL, LOST], [
    { ...stateful('well', 'db-0'), showsHomeOffline: true },
    { ...stateful('lost', 'db-1'), showsHomeOffline: true },
    stateful('well', 'db-2'),
  ]);
  await beginTerm();
  expect(patched).toEqual(['db-0']);
});

test('RS-21: pods of a Node that is gone show it no more', async () => {
  const db = stateful('lost', 'db-0');
  const { time, beginTerm, patched, change, removeNode } = rig([LOST, WELL], [db]);
  await beginTerm();
  change({ ...db, showsHomeOffline: true });
  removeNode(LOST);
  await time.advance(REVIEW_MS);
  expect(patched).toEqual(['db-0', 'db-0']);
});

test('RS-21: a pod whose write got no answer is written again', async () => {
  const { time, site, beginTerm, patched } = rig([LOST, WELL], [stateful('lost', 'db-0')]);
  site.podOutcome = 'Fault';
  await beginTerm();
  expect(patched.length).toBeGreaterThan(1);
  site.podOutcome = 'Written';
  await time.advance(REVIEW_MS);
  const { length } = patched;
  await time.advance(10 * REVIEW_MS);
  expect(patched).toHaveLength(length);
});

test('RS-21: the next term writes pods again, and records them', async () => {
  const { beginTerm, registry, patched, notes } = rig([LOST, WELL], [stateful('lost', 'db-0')]);
  await beginTerm();
  registry.onLeadershipLost();
  await beginTerm();
  const recorded = notes.filter((note) => note === 'Pod db-0 VolumeHomeNodeOffline');
  expect([patched, recorded.length]).toEqual([['db-0', 'db-0'], 2]);
});

test('RS-21: the next term ends what pods show of a Node that is back by then', async () => {
  const db = stateful('lost', 'db-0');
  const { time, beginTerm, registry, patched, change, changeNode } = rig([LOST, WELL], [db]);
  await beginTerm();
  change({ ...db, showsHomeOffline: true });
  await time.advance(REVIEW_MS);
  registry.onLeadershipLost();
  changeNode(BACK);
  await time.advance(REVIEW_MS);
  expect(patched).toEqual(['db-0']);
  await beginTerm();
  expect(patched).toEqual(['db-0', 'db-0']);
});

test('RS-21: the next term removes again what got no answer in the last one', async () => {
  const { time, site, beginTerm, registry, patched } = rig([WELL], [
    { ...stateful('well', 'db-0'), showsHomeOffline: true },
  ]);
  const answer = Promise.withResolvers<void>();
  site.podsAnswer = answer.promise;
  site.podOutcome = 'Fault';
  await beginTerm();
  registry.onLeadershipLost();
  answer.resolve();
  await time.settle();
  site.podOutcome = 'Written';
  expect(patched).toEqual(['db-0']);
  await beginTerm();
  expect(patched).toEqual(['db-0', 'db-0']);
});

test('RS-01: a change of a pod reads no other pod of a Node that is well', async () => {
  let reads = 0;
  const other: LostPod = {
    ...podOn('well', 'a'),
    get uid() {
      reads += 1;
      return uid('a');
    },
  };
  const { time, beginTerm, change } = rig([WELL], [other, podOn('well', 'b')]);
  await beginTerm();
  reads = 0;
  change({ ...podOn('well', 'b'), resourceVersion: resourceVersion('2') });
  await time.advance(REVIEW_MS);
  expect(reads).toBe(0);
});

test('RS-21: no pod is written after the stop', async () => {
  const pods = ['a', 'b', 'c', 'd', 'e'].map((name) => stateful('lost', name));
  const { time, site, beginTerm, registry, patched } = rig([LOST, WELL], pods);
  const answer = Promise.withResolvers<void>();
  site.podsAnswer = answer.promise;
  await beginTerm();
  expect(patched).toHaveLength(4);
  await registry.stop();
  answer.resolve();
  await time.advance(REVIEW_MS);
  expect(patched).toHaveLength(4);
});
