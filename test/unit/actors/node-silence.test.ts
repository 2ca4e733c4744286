/**
 * How long Nodes are silent, and which Nodes are looked at: by the Leases and lists of a process.
 *
 * Regression: a process that began to lead when nothing changed any more left the keys of enabled
 * Nodes, and what pods of Nodes that are back show, until the next change of anything.
 */
import { expect, test } from 'vitest';
import { uid } from '../../../src/domain/ids.ts';
import {
  availabilitiesRig as rig,
  nodeNamed,
  POLICY,
  REVIEW_MS,
} from '../../support/node-availability/availabilities-rig.ts';

/** Its controller misses its reports; the Lease decides. */
const UNKNOWN = { readyStatus: 'Unknown' } as const;
const { offlineAfterMs } = POLICY;

test('RS-05: silence counts from the last renewal, not from a list that has none', async () => {
  const { time, registry, offline, renew, listLeases } = rig([nodeNamed('lost', UNKNOWN)]);
  registry.onLeading();
  await time.advance(50_000);
  renew('lost', '1');
  await time.advance(30_000);
  listLeases({ lost: '1' });
  await time.advance(offlineAfterMs - 30_001);
  expect(offline()).toBe(0);
  await time.advance(1);
  expect(offline()).toBe(1);
  renew('lost', '2');
  await time.settle();
  expect(offline()).toBe(0);
});

test('RS-05: a renewal in a list counts, also before this process leads', async () => {
  const { time, registry, offline, listLeases } = rig([nodeNamed('lost', UNKNOWN)]);
  await time.advance(40_000);
  listLeases({ lost: '1' });
  await time.advance(30_000);
  registry.onLeading();
  await time.advance(offlineAfterMs - 30_001);
  expect(offline()).toBe(0);
  await time.advance(1);
  expect(offline()).toBe(1);
});

test('RS-05: a Node without a Lease is silent from its first sight, whoever leads then', async () => {
  const { time, registry, offline, changeNode } = rig([nodeNamed('lost', UNKNOWN)]);
  await time.advance(20_000);
  changeNode(nodeNamed('new', UNKNOWN));
  await time.advance(offlineAfterMs - 20_000);
  registry.onLeading();
  await time.advance(1);
  expect(offline()).toBe(1);
  await time.advance(20_000);
  expect(offline()).toBe(2);
});

test('RS-05: a Node whose Lease is gone is silent from its last renewal on', async () => {
  const { time, registry, offline, renew, removeLease } = rig([nodeNamed('lost', UNKNOWN)]);
  await time.advance(30_000);
  renew('lost', '1');
  await time.advance(10_000);
  removeLease('lost');
  await time.advance(offlineAfterMs - 10_001);
  registry.onLeading();
  await time.settle();
  expect(offline()).toBe(0);
  await time.advance(1);
  expect(offline()).toBe(1);
});

test.each([
  ['is gone before it', false],
  ['is gone after it', true],
])('RS-05: a Node that joins again is not silent since its former life: the Lease %s', async (
  _title,
  isRenewed,
) => {
  const { time, beginTerm, offline, renew, removeLease, removeNode, changeNode } = rig([
    nodeNamed('lost', UNKNOWN),
    nodeNamed('well'),
  ]);
  await beginTerm();
  removeNode(nodeNamed('lost'));
  if (isRenewed) {
    renew('lost', '1');
    removeLease('lost');
  }
  await time.advance(2 * offlineAfterMs);
  changeNode({ ...nodeNamed('lost', UNKNOWN), uid: uid('joined') });
  await time.advance(offlineAfterMs - 1);
  expect(offline()).toBe(0);
  await time.advance(1);
  expect(offline()).toBe(1);
});

test('RS-05: renewals are those of the Node that has the name now', async () => {
  const former = nodeNamed('lost', UNKNOWN);
  const { time, beginTerm, registry, offline, renew, removeNode, changeNode } = rig([former]);
  await beginTerm();
  changeNode({ ...former, uid: uid('joined') });
  expect(registry.counts()).toEqual({ active: 1 });
  removeNode(former);
  for (const renewTime of ['1', '2', '3']) {
    await time.advance(offlineAfterMs / 2);
    renew('lost', renewTime);
  }
  expect([registry.counts(), offline()]).toEqual([{ active: 1 }, 0]);
  await time.advance(offlineAfterMs);
  expect(offline()).toBe(1);
});

test('RS-01: Nodes have no state before all lists are complete, and a renewal looks at none', async () => {
  const { time, site, beginTerm, registry, changeNode, renew, listLeases } = rig([
    nodeNamed('well'),
  ]);
  site.isSynced = false;
  await beginTerm();
  changeNode(nodeNamed('new'));
  await time.advance(REVIEW_MS);
  expect(registry.counts()).toEqual({});
  site.isSynced = true;
  renew('well', '1');
  await time.advance(REVIEW_MS);
  expect(registry.counts()).toEqual({});
  listLeases();
  await time.advance(REVIEW_MS);
  expect(registry.counts()).toEqual({ active: 2 });
});

test('RS-01: all Nodes are read once when this process begins to lead', async () => {
  const { time, reads, beginTerm, registry, changeNode } = rig([nodeNamed('a'), nodeNamed('b')]);
  await beginTerm();
  changeNode(nodeNamed('a', {}, '2'));
  await time.advance(REVIEW_MS);
  expect(reads.nodes).toBe(2);
  registry.onLeadershipLost();
  changeNode(nodeNamed('a', {}, '3'));
  await time.advance(REVIEW_MS);
  expect([reads.nodes, registry.counts()]).toEqual([2, { active: 0 }]);
  await beginTerm();
  expect([reads.nodes, registry.counts()]).toEqual([4, { active: 2 }]);
});

test('RS-30: a Node that a list lacks is counted no more, and its series is removed', async () => {
  const nodes = [nodeNamed('a'), nodeNamed('b')] as const;
  const [gone, ...others] = nodes;
  const { beginTerm, registry, forgotten, gauges, listNodes, removeNode } = rig(nodes);
  await beginTerm();
  listNodes(others);
  expect([registry.counts(), forgotten]).toEqual([{ active: 1 }, ['a']]);
  removeNode(gone);
  expect(gauges.get('tidegate_nodes active')).toBe(1);
  expect([registry.counts(), forgotten]).toEqual([{ active: 1 }, ['a']]);
});

test('RS-03: the leader withdraws the key of an enabled Node unless a drain of it does', async () => {
  const enabled = { ...nodeNamed('enabled'), wasDisabled: true };
  const other = { ...nodeNamed('other'), wasDisabled: true };
  const { time, site, beginTerm, registry, withdrawn, changeNode, changeClaim } = rig([
    enabled,
    other,
  ]);
  site.draining.add('other');
  const withdrawals = async (): Promise<readonly string[]> => {
    withdrawn.clear();
    changeClaim();
    await time.advance(REVIEW_MS);
    return [...withdrawn];
  };
  expect(await withdrawals()).toEqual([]);
  await beginTerm();
  expect([...withdrawn]).toEqual(['enabled']);
  expect(await withdrawals()).toEqual(['enabled']);
  changeNode(nodeNamed('enabled', {}, '2'));
  expect(await withdrawals()).toEqual([]);
  site.draining.clear();
  expect(await withdrawals()).toEqual(['other']);
  registry.onLeadershipLost();
  expect(await withdrawals()).toEqual([]);
});

test('RS-01: nothing is looked at after the stop', async () => {
  const { time, beginTerm, registry, withdrawn, changeNode } = rig([nodeNamed('enabled')]);
  await beginTerm();
  await registry.stop();
  changeNode({ ...nodeNamed('enabled', {}, '2'), wasDisabled: true });
  changeNode(nodeNamed('new'));
  await time.advance(REVIEW_MS);
  expect([[...withdrawn], registry.counts()]).toEqual([[], { active: 1 }]);
});
