/**
 * The availability of all Nodes: what a change costs, and that an earlier term deletes nothing.
 *
 * Regressions: a deletion without an answer in the term in which it was sent went on with the other
 * pods of its Node in the next term of the same process, which may have found a storm by then. A
 * Node that was back from a storm when a process began to lead, and still showed the storm, was
 * protected from then on: when it was lost alone, its pods were never replaced. One that still
 * showed that it had been offline was so again as soon as Ready was Unknown, before its Lease had
 * been silent for long enough. A deletion that was not answered before its Node was back went on
 * beside the next attempt when the Node was lost again, and its end counted as that of the other.
 * After an outage a list of Leases had renewals from its beginning: they ended the storm that the
 * outage was, and the pods of those Nodes that stayed away longest were deleted.
 */
import { expect, test } from 'vitest';
import { resourceVersion } from '../../../src/domain/ids.ts';
import type { LostPod } from '../../../src/domain/node-availability/lost-pods.ts';
import {
  availabilitiesRig as rig,
  nodeNamed,
  POLICY,
  REVIEW_MS,
  SETTLE_MS,
} from '../../support/node-availability/availabilities-rig.ts';
import { podOn } from '../../support/node-availability/availability-fixture.ts';

/** A former process found it offline. */
const OFFLINE = { readyStatus: 'Unknown', label: 'Offline' } as const;

test('RS-23: a process that leads again does not go on with the deletions of its last term', async () => {
  const pods = [podOn('lost', 'a'), podOn('lost', 'b')];
  const { time, removals, registry } = rig([nodeNamed('lost', OFFLINE), nodeNamed('well')], pods);
  registry.onLeading();
  await time.advance(SETTLE_MS + REVIEW_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a']);
  registry.onLeadershipLost();
  registry.onLeading();
  removals[0]?.end({ _tag: 'Fault', why: 'no answer' });
  await time.advance(REVIEW_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a']);
  await time.advance(SETTLE_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a', 'a']);
});

test('RS-23: a deletion that is answered when its Node is lost again is the last of its attempt', async () => {
  const pods = [podOn('lost', 'a'), podOn('lost', 'b')];
  const { time, removals, registry, changeNode } = rig(
    [nodeNamed('lost', OFFLINE), nodeNamed('well')],
    pods,
  );
  const seen = (version: string, readyStatus: 'True' | 'Unknown'): void =>
    changeNode({
      ...nodeNamed('lost', { ...OFFLINE, readyStatus }),
      resourceVersion: resourceVersion(version),
    });
  registry.onLeading();
  await time.advance(SETTLE_MS + REVIEW_MS);
  seen('2', 'True');
  seen('3', 'Unknown');
  await time.advance(SETTLE_MS + REVIEW_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a', 'a']);
  removals[0]?.end({ _tag: 'Fault', why: 'no answer' });
  await time.advance(SETTLE_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a', 'a']);
  removals[1]?.end({ _tag: 'Deleted' });
  await time.advance(REVIEW_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a', 'a', 'b']);
});

test('RS-21: a stateful pod of an offline Node and its claim are recorded, once', async () => {
  const pod: LostPod = { ...podOn('lost', 'db-0'), podClass: 'Stateful' };
  const { time, registry, notes, change } = rig([nodeNamed('lost', OFFLINE), nodeNamed('well')], [
    pod,
  ]);
  registry.onLeading();
  await time.advance(SETTLE_MS + REVIEW_MS);
  change({ ...pod, resourceVersion: resourceVersion('2') });
  await time.advance(REVIEW_MS);
  const recorded = notes.filter((note) => note.endsWith('VolumeHomeNodeOffline'));
  expect(recorded).toEqual([
    'Pod db-0 VolumeHomeNodeOffline',
    'PersistentVolumeClaim data VolumeHomeNodeOffline',
  ]);
});

test('RS-20: the pods of an offline Node are looked at again when a claim has changed', async () => {
  const { time, registry, reads, changeClaim } = rig(
    [nodeNamed('lost', OFFLINE), nodeNamed('well')],
    [podOn('lost', 'a'), podOn('well', 'b')],
  );
  registry.onLeading();
  await time.advance(SETTLE_MS + REVIEW_MS);
  expect(reads.claims).toBe(1);
  changeClaim();
  await time.advance(REVIEW_MS);
  expect(reads.claims).toBe(2);
});

test('RS-03: nothing of an enabled Node is withdrawn once it is gone', async () => {
  const enabled = { ...nodeNamed('enabled'), wasDisabled: true };
  const well = nodeNamed('well');
  const { time, registry, withdrawn, removeNode, changeNode } = rig([enabled, well], []);
  registry.onLeading();
  await time.advance(SETTLE_MS + REVIEW_MS);
  expect([...withdrawn]).toEqual(['enabled']);
  removeNode(enabled);
  withdrawn.clear();
  changeNode({ ...well, wasDisabled: true, resourceVersion: resourceVersion('2') });
  await time.advance(REVIEW_MS);
  expect([...withdrawn]).toEqual(['well']);
});

/** A Node that is back, shows how it was lost before, and is lost anew when this process leads. */
const lostAgain = async (label: 'Offline' | 'OfflineStorm', silentMs: number) => {
  const site = rig([nodeNamed('lost', { label }), nodeNamed('well')], [podOn('lost', 'a')]);
  site.registry.onLeading();
  await site.time.advance(silentMs);
  site.changeNode({
    ...nodeNamed('lost', { readyStatus: 'Unknown', label }),
    resourceVersion: resourceVersion('2'),
  });
  await site.time.advance(SETTLE_MS + REVIEW_MS);
  return site;
};

test('RS-06: a Node that was back from a storm before this process led is not protected by it', async () => {
  const { removals } = await lostAgain('OfflineStorm', POLICY.offlineAfterMs);
  expect(removals.map(({ name }) => name)).toEqual(['a']);
});

test('RS-06: a renewal does not end a storm, but that its Node is ready does', async () => {
  const storm = { readyStatus: 'Unknown', label: 'OfflineStorm' } as const;
  const { time, registry, removals, renew, changeNode } = rig(
    [nodeNamed('lost', storm), nodeNamed('well')],
    [podOn('lost', 'a')],
  );
  const seen = (version: string, readyStatus: 'True' | 'Unknown'): void =>
    changeNode({
      ...nodeNamed('lost', { ...storm, readyStatus }),
      resourceVersion: resourceVersion(version),
    });
  registry.onLeading();
  await time.advance(SETTLE_MS);
  renew('lost', '1');
  await time.advance(POLICY.offlineAfterMs + SETTLE_MS + REVIEW_MS);
  expect(removals).toEqual([]);
  seen('2', 'True');
  renew('lost', '2');
  seen('3', 'Unknown');
  await time.advance(POLICY.offlineAfterMs + SETTLE_MS + REVIEW_MS);
  expect(removals.map(({ name }) => name)).toEqual(['a']);
});

test('RS-05: a Node that was back before this process led is silent for its whole time again', async () => {
  const { removals, time } = await lostAgain('Offline', POLICY.offlineAfterMs / 2);
  expect(removals).toEqual([]);
  await time.advance(POLICY.offlineAfterMs / 2);
  expect(removals.map(({ name }) => name)).toEqual(['a']);
});

test('RS-01: changes of pods read no Node, and no claims but those of an offline Node', async () => {
  const names = Array.from({ length: 5000 }, (_, at) => `node-${at}`);
  const nodes = [nodeNamed('lost', OFFLINE), ...names.map((name) => nodeNamed(name))];
  const pods = [
    podOn('lost', 'a'),
    ...names.flatMap((name) => Array.from({ length: 30 }, (_, at) => podOn(name, `${name}-${at}`))),
  ];
  const { time, reads, registry, change } = rig(nodes, pods);
  registry.onLeading();
  await time.advance(SETTLE_MS + REVIEW_MS);
  expect(reads).toEqual({ nodes: nodes.length, claims: 1 });
  for (const pod of pods.slice(1, 1001)) {
    change({ ...pod, resourceVersion: resourceVersion('2') });
    await time.advance(REVIEW_MS);
  }
  expect(reads).toEqual({ nodes: nodes.length, claims: 1 });
  change(podOn('lost', 'b'));
  await time.advance(REVIEW_MS);
  expect(reads).toEqual({ nodes: nodes.length, claims: 3 });
});
