/** Nodes that go offline together: which count as a storm, and what it says of them. */
import { expect, test } from 'vitest';
import type { NodeTraits } from '../../support/node-availability/availability-fixture.ts';
import {
  availabilitiesRig,
  nodeNamed,
  POLICY,
  REVIEW_MS,
  SETTLE_MS,
} from '../../support/node-availability/availabilities-rig.ts';
import { podOn } from '../../support/node-availability/availability-fixture.ts';

/** An alarm gathers the Nodes of so long. */
const GATHERS_MS = 15_000;
const UNKNOWN = { readyStatus: 'Unknown' } as const;
const HANDLED = { ...UNKNOWN, label: 'Offline' } as const;
const GAUGE = 'tidegate_storm_nodes';

const nameOf = (at: number): string => `node-${at}`;

/** Ten Nodes with a pod each, the first ones with these traits; this process leads. */
const tenNodes = async (first: readonly NodeTraits[] = []) => {
  const numbers = Array.from({ length: 10 }, (_, at) => at);
  const site = availabilitiesRig(
    numbers.map((at) => nodeNamed(nameOf(at), first[at])),
    numbers.map((at) => podOn(nameOf(at), `pod-${at}`)),
  );
  let version = 1;
  await site.beginTerm();
  return {
    ...site,
    deleted: (): readonly string[] => site.removals.map(({ name }) => name),
    /** Another observation of Nodes. */
    seen: (at: readonly number[], traits: NodeTraits): void => {
      version += 1;
      for (const each of at) site.changeNode(nodeNamed(nameOf(each), traits, String(version)));
    },
  };
};

/** Four of the ten Nodes are lost together. */
const storm = async () => {
  const site = await tenNodes();
  await site.time.advance(10 * POLICY.offlineAfterMs);
  site.seen([0, 1, 2, 3], UNKNOWN);
  await site.time.advance(REVIEW_MS);
  return site;
};

const alarmOf = (count: number): string =>
  `OfflineStorm: ${count} of 10 Nodes went offline together: ` +
  `${Array.from({ length: count }, (_, at) => nameOf(at)).join(', ')}; ` +
  'none of their pods is deleted';

test('RS-06: no pod of a storm is deleted, and one Event names its Nodes', async () => {
  const { time, offline, deleted, alarms, gauges, seen } = await storm();
  expect([offline(), gauges.get(GAUGE), alarms]).toEqual([4, 4, []]);
  await time.advance(GATHERS_MS);
  expect(alarms).toEqual([alarmOf(4)]);
  seen([9], {});
  await time.advance(10 * GATHERS_MS);
  expect([alarms, deleted()]).toEqual([[alarmOf(4)], []]);
});

test('RS-06: three Nodes are no storm, nor is a fourth after one is back or gone', async () => {
  const { time, deleted, alarms, seen, removeNode } = await tenNodes();
  await time.advance(POLICY.offlineAfterMs);
  seen([0, 1, 2], UNKNOWN);
  await time.advance(SETTLE_MS + REVIEW_MS);
  expect(deleted()).toEqual(['pod-0', 'pod-1', 'pod-2']);
  seen([0], {});
  seen([3], UNKNOWN);
  await time.advance(SETTLE_MS + REVIEW_MS);
  removeNode(nodeNamed(nameOf(1)));
  seen([4], UNKNOWN);
  await time.advance(SETTLE_MS + REVIEW_MS);
  expect(deleted()).toEqual(['pod-0', 'pod-1', 'pod-2', 'pod-3', 'pod-4']);
  await time.advance(GATHERS_MS);
  expect(alarms).toEqual([]);
});

test('RS-06: Nodes that a former process handled are no sign of a storm', async () => {
  const { time, deleted, alarms, seen } = await tenNodes([HANDLED, HANDLED, HANDLED]);
  await time.advance(POLICY.offlineAfterMs);
  seen([3], UNKNOWN);
  await time.advance(SETTLE_MS + GATHERS_MS);
  expect([deleted(), alarms]).toEqual([['pod-0', 'pod-1', 'pod-2', 'pod-3'], []]);
});

test('RS-06: a Node that is lost again counts, although it still shows the last time', async () => {
  const { time, removals, deleted, seen } = await tenNodes([HANDLED]);
  expect(deleted()).toEqual(['pod-0']);
  removals[0]?.end({ _tag: 'Deleted' });
  seen([0], { label: 'Offline' });
  await time.advance(POLICY.offlineAfterMs);
  seen([0], HANDLED);
  seen([1, 2, 3], UNKNOWN);
  await time.advance(SETTLE_MS + REVIEW_MS);
  expect(deleted()).toEqual(['pod-0']);
});

test('RS-06: Nodes that went offline more than five minutes ago are no sign of a storm', async () => {
  const { time, deleted, seen } = await tenNodes();
  await time.advance(POLICY.offlineAfterMs);
  seen([0, 1, 2], UNKNOWN);
  await time.advance(300_000);
  seen([3], UNKNOWN);
  await time.advance(SETTLE_MS + REVIEW_MS);
  expect(deleted()).toEqual(['pod-0', 'pod-1', 'pod-2', 'pod-3']);
});

test('RS-06: a storm that grows is recorded again, with all of its Nodes', async () => {
  const { time, deleted, alarms, gauges, seen } = await storm();
  await time.advance(GATHERS_MS);
  seen([4], UNKNOWN);
  await time.advance(SETTLE_MS + GATHERS_MS);
  expect(alarms).toEqual([alarmOf(4), alarmOf(5)]);
  expect([gauges.get(GAUGE), deleted()]).toEqual([5, []]);
});

test('RS-06: pods of a Node of a storm that is confirmed gone are deleted', async () => {
  const { time, deleted, alarms, gauges, seen } = await storm();
  await time.advance(GATHERS_MS);
  seen([2], { ...UNKNOWN, isConfirmedGone: true });
  await time.advance(SETTLE_MS + GATHERS_MS);
  expect([deleted(), alarms, gauges.get(GAUGE)]).toEqual([['pod-2'], [alarmOf(4)], 3]);
});

test('RS-06: Nodes that are back, gone or of the next leader are protected no more', async () => {
  const { time, gauges, registry, seen, removeNode } = await storm();
  await time.advance(GATHERS_MS);
  seen([0], {});
  expect(gauges.get(GAUGE)).toBe(3);
  removeNode(nodeNamed(nameOf(1)));
  expect(gauges.get(GAUGE)).toBe(2);
  registry.onLeadershipLost();
  expect(gauges.get(GAUGE)).toBe(0);
});

test('RS-06: without the guard, a Node of a former storm is handled', async () => {
  const former = nodeNamed('lost', { ...UNKNOWN, label: 'OfflineStorm' });
  const { beginTerm, removals } = availabilitiesRig([former], [podOn('lost', 'a')], {
    stormLimitPercent: 100,
  });
  await beginTerm();
  expect(removals.map(({ name }) => name)).toEqual(['a']);
});

test('RS-06: a process that has lost the lease records no storm', async () => {
  const { time, alarms, registry } = await storm();
  registry.onLeadershipLost();
  await time.advance(GATHERS_MS);
  expect(alarms).toEqual([]);
});

test('RS-06: Nodes of the last term are no sign of a storm', async () => {
  const { time, deleted, beginTerm, registry, seen } = await tenNodes();
  await time.advance(POLICY.offlineAfterMs);
  seen([0, 1, 2], UNKNOWN);
  await time.advance(SETTLE_MS + REVIEW_MS);
  registry.onLeadershipLost();
  seen([0, 1, 2], HANDLED);
  seen([3], UNKNOWN);
  await beginTerm();
  expect(deleted().slice(3)).toEqual(['pod-0', 'pod-1', 'pod-2', 'pod-3']);
});

// Their reason was Offline at once, so that the next leader took them for handled ones.
test('RS-06: Nodes that go offline shortly before a change of the leader count in the next term', async () => {
  const { time, deleted, alarms, labels, registry, seen } = await tenNodes();
  await time.advance(POLICY.offlineAfterMs);
  seen([0, 1, 2], UNKNOWN);
  await time.advance(SETTLE_MS / 2);
  registry.onLeadershipLost();
  for (const at of [0, 1, 2]) {
    seen([at], { ...UNKNOWN, label: labels.get(nameOf(at)) ?? 'Active' });
  }
  registry.onLeading();
  await time.advance(REVIEW_MS);
  seen([3], UNKNOWN);
  await time.advance(SETTLE_MS + GATHERS_MS);
  expect([deleted(), alarms]).toEqual([[], [alarmOf(4)]]);
});

test('RS-06: a Node shows that it is offline once its pods are deleted, and a storm at once', async () => {
  const { time, labels, seen } = await tenNodes();
  await time.advance(POLICY.offlineAfterMs);
  seen([0], UNKNOWN);
  await time.advance(SETTLE_MS - 1);
  expect([...labels]).toEqual([]);
  await time.advance(1);
  expect([...labels]).toEqual([[nameOf(0), 'Offline']]);
  seen([1, 2, 3], UNKNOWN);
  await time.advance(REVIEW_MS);
  const storm = [1, 2, 3].map((at) => labels.get(nameOf(at)));
  expect(storm).toEqual(storm.map(() => 'OfflineStorm'));
});
