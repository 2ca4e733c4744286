/**
 * The registry of NodeMaintenances over drains that only record what is asked of them.
 *
 * A maintenance that was observed while other lists were incomplete had no actor until its next
 * change: considered were those that came later, and all only when there was none.
 */
import { expect, test } from 'vitest';
import {
  CORDON_PREFIX,
  type CordonEnd,
  maintenanceOwner,
  printCordon,
} from '../../../src/domain/drain/cordon.ts';
import { nodeRaw } from '../../support/node-maintenance/maintenance-fixture.ts';
import { podOfType } from '../../support/node-maintenance/plan-runs.ts';
import { nodeOf, registryRig } from '../../support/node-maintenance/registry-rig.ts';

interface KeyTraits {
  readonly sinceMs?: number;
  readonly ended?: CordonEnd | null;
}

/** The key of a maintenance, whose drain goes on unless it has ended. */
const keyOf = (maintenance: string, { sinceMs = 0, ended = null }: KeyTraits = {}) => {
  const ids = [`${maintenance}@1`];
  const key = printCordon({ ids, deadlineMs: null, graceSeconds: 0, sinceMs, ended });
  return { [`${CORDON_PREFIX}${maintenanceOwner(`uid-${maintenance}`)}`]: key };
};

/** A Node with the key of a maintenance. */
const heldNode = (name: string, maintenance: string, traits: KeyTraits = {}) =>
  nodeOf(name, keyOf(maintenance, traits));

test('a maintenance that was observed before the Nodes are listed is worked on', async () => {
  const { time, nodes, ordered, registry, maintain, sync } = registryRig();
  registry.onLeading();
  maintain('early', { stage: 'Cordon' });
  sync();
  nodes.put(nodeOf('n1'));
  maintain('later', { stage: 'Cordon' });
  await time.advance(5000);
  expect([...ordered].toSorted()).toEqual(
    ['early', 'later'].map((name) => `n1 ${maintenanceOwner(`uid-${name}`)}`).toSorted(),
  );
});

test('NM-05: an idle maintenance touches no Node, and one that does not lead neither', async () => {
  const { time, nodes, ordered, withdrawn, registry, maintain, sync } = registryRig();
  sync();
  nodes.put(nodeOf('n1'));
  maintain('cordons', { stage: 'Cordon' });
  await time.advance(5000);
  expect([ordered.size, withdrawn.size]).toEqual([0, 0]);
  registry.onLeading();
  maintain('idle', { stage: 'Idle' });
  await time.advance(5000);
  expect([...ordered]).toEqual([`n1 ${maintenanceOwner('uid-cordons')}`]);
});

test('NM-04: a maintenance that begins with Drain has its Nodes cordoned, without pods too', async () => {
  const { time, nodes, pods, ordered, writes, registry, maintain, sync } = registryRig();
  sync();
  registry.onLeading();
  for (const name of ['n1', 'n2']) nodes.put(nodeOf(name));
  pods.put(podOfType('Default', { node: 'n1' }));
  maintain('kernel', { stage: 'Drain', isProtected: true });
  await time.advance(5000);
  const owner = maintenanceOwner('uid-kernel');
  expect([...ordered].toSorted()).toEqual([`n1 ${owner}`, `n2 ${owner}`]);
  const stages = writes.flatMap((one) => one.write === 'setStatus' ? [one.status.stages] : []);
  expect(stages.at(-1)?.map(({ name }) => name)).toEqual(['Cordon', 'Drain']);
});

test('NM-06: a maintenance that goes from Idle to Complete only removes its own keys', async () => {
  const { time, nodes, ordered, withdrawn, writes, registry, maintain, sync } = registryRig();
  const [kernel, other] = [maintenanceOwner('uid-kernel'), maintenanceOwner('uid-other')];
  sync();
  registry.onLeading();
  const admitted = ['n1', 'n2'].map((name) => nodeRaw(name));
  maintain('other', { stage: 'Cordon', isProtected: true, nodes: admitted });
  maintain('kernel', { stage: 'Idle' });
  nodes.put(nodeOf('n1', { ...keyOf('kernel'), ...keyOf('other') }));
  nodes.put(nodeOf('n2', keyOf('other')));
  nodes.put(nodeOf('n3'));
  await time.advance(5000);
  expect([...ordered]).toEqual([`n3 ${other}`]);
  const before = writes.length;
  maintain('kernel', { stage: 'Complete' }, '10');
  await time.advance(5000);
  expect([...ordered]).toEqual([`n3 ${other}`]);
  expect([...withdrawn]).toEqual([`n1 ${kernel}`]);
  expect(new Set(writes.slice(before).map(({ write }) => write))).toEqual(new Set(['setStatus']));
});

test('NM-08: a maintenance has the finalizer once it is not idle', async () => {
  const { time, nodes, writes, registry, maintain, sync } = registryRig();
  const kinds = () => writes.map(({ write }) => write);
  sync();
  registry.onLeading();
  nodes.put(nodeOf('n1'));
  maintain('kernel', { stage: 'Idle' });
  await time.advance(5000);
  expect(kinds()).not.toContain('addFinalizer');
  maintain('kernel', { stage: 'Cordon' }, '10');
  await time.advance(5000);
  expect(kinds().filter((kind) => kind === 'addFinalizer')).toHaveLength(1);
});

test('keys of maintenances that do not exist leave their Nodes', async () => {
  const { time, nodes, withdrawn, registry, sync } = registryRig();
  const owner = maintenanceOwner('uid-gone');
  sync();
  registry.onLeading();
  nodes.put(heldNode('n1', 'gone'));
  await time.advance(5000);
  expect([...withdrawn]).toEqual([`n1 ${owner}`]);
});

/**
 * While no operator ran, a person had marked the node as done and uncordoned it, and pods had come.
 * The operator cordoned it again and evicted pods by the targets of before, until the status
 * showed that its work was done.
 */
test('NM-13: a node that is done is not cordoned again before the status shows that', async () => {
  const { time, nodes, ordered, registry, writes, maintain, sync } = registryRig();
  const owner = maintenanceOwner('uid-kernel');
  const schedulable = (name: string, doneFor: string) => ({
    ...heldNode(name, 'kernel', { ended: 'Drained' }),
    unschedulable: false,
    doneFor,
  });
  sync();
  nodes.put(schedulable('n1', 'kernel'));
  nodes.put(schedulable('n2', ''));
  registry.onLeading();
  const drainTargets = [{ podType: 'Default', podPriority: 100 }];
  maintain('kernel', {
    stage: 'Drain',
    isProtected: true,
    spec: { maxNodesAtOnce: 2, releaseWhen: 'Done' },
    nodes: [nodeRaw('n1', { drainTargets }), nodeRaw('n2', { drainTargets })],
  });
  await time.advance(5000);
  expect(writes.length).toBeGreaterThan(0);
  expect([...ordered]).toEqual([`n2 ${owner}`]);
});

/** Nothing else changed in the cluster, so that nothing else led to another look. */
test('NM-53: a drain that failed begins again after a minute, without a change', async () => {
  const { time, nodes, pods, ordered, registry, maintain, sync } = registryRig();
  const owner = maintenanceOwner('uid-kernel');
  sync();
  registry.onLeading();
  nodes.put(heldNode('n1', 'kernel', { sinceMs: time.now(), ended: 'Failed' }));
  pods.put(podOfType('Default', { node: 'n1' }));
  maintain('kernel', {
    stage: 'Drain',
    isProtected: true,
    nodes: [nodeRaw('n1', { drainTargets: [{ podType: 'Default', podPriority: 100 }] })],
  });
  await time.advance(55_000);
  expect([...ordered]).toEqual([]);
  await time.advance(10_000);
  expect([...ordered]).toEqual([`n1 ${owner}`]);
});

test('NM-14: a node that is made schedulable three times is recorded once', async () => {
  const { time, nodes, notes, registry, maintain, sync } = registryRig();
  const cordoned = heldNode('n1', 'kernel');
  sync();
  registry.onLeading();
  nodes.put(cordoned);
  maintain('kernel', { stage: 'Cordon' });
  await time.advance(5000);
  const recorded = () => notes.filter(({ reason }) => reason === 'MaintenanceUncordoned').length;
  for (const times of [1, 2, 3, 4]) {
    nodes.put({ ...cordoned, unschedulable: false });
    await time.advance(5000);
    expect([times, recorded()]).toEqual([times, times < 3 ? 0 : 1]);
    nodes.put(cordoned);
    await time.advance(5000);
  }
});

test('keys of maintenances that do not exist leave when a process begins to lead', async () => {
  const { time, nodes, withdrawn, registry, sync, sweeps } = registryRig();
  sync();
  nodes.put(heldNode('n1', 'gone'));
  await time.advance(5000);
  expect([withdrawn.size, sweeps()]).toEqual([0, 0]);
  registry.onLeading();
  await time.advance(5000);
  expect([...withdrawn]).toEqual([`n1 ${maintenanceOwner('uid-gone')}`]);
  expect(sweeps(), 'their requests leave, too').toBe(1);
});

/**
 * Requests of a maintenance that a process does not know may be those of one that goes on; its key
 * left the node, which had pods again in the middle of its maintenance.
 */
test('NM-19: no maintenance is taken for gone before the list of them is current', async () => {
  const current = Promise.withResolvers<void>();
  const { time, nodes, registry, maintained, maintain, sync, sweeps, withdrawn } = registryRig({
    whenMaintenancesCurrent: () => current.promise,
  });
  const isGone = () => maintained.isGone('late.nodemaintenance.tidegate.dev');
  sync();
  registry.onLeading();
  nodes.put(heldNode('n1', 'late'));
  nodes.put(heldNode('n2', 'early'));
  await time.advance(5000);
  expect([isGone(), sweeps(), withdrawn.size]).toEqual([false, 0, 0]);
  maintain('late', { stage: 'Idle' });
  current.resolve();
  await time.advance(5000);
  expect([isGone(), sweeps()]).toEqual([false, 1]);
  expect(maintained.isGone('early.nodemaintenance.tidegate.dev')).toBe(true);
  expect([...withdrawn]).toEqual([`n2 ${maintenanceOwner('uid-early')}`]);
});

/** The work on the node was done since, and it was emptied in service. */
test('NM-13: no node is cordoned or drained by an old list of maintenances', async () => {
  let current = Promise.withResolvers<void>();
  const { time, nodes, pods, ordered, registry, maintain, sync } = registryRig({
    whenMaintenancesCurrent: () => current.promise,
  });
  sync();
  nodes.put(nodeOf('n1'));
  pods.put(podOfType('Default', { node: 'n1' }));
  const drainTargets = [{ podType: 'Default', podPriority: 100 }];
  const nodesDraining = [nodeRaw('n1', { drainTargets })];
  maintain('kernel', { stage: 'Drain', isProtected: true, nodes: nodesDraining });
  registry.onLeading();
  await time.advance(5000);
  expect(ordered.size).toBe(0);
  current.resolve();
  await time.advance(5000);
  expect(ordered.size, 'the list is current').toBe(1);
  registry.onLeadershipLost();
  ordered.clear();
  current = Promise.withResolvers();
  registry.onLeading();
  await time.advance(5000);
  expect(ordered.size, 'another list is old').toBe(0);
});

/** The list was empty and came before those of Nodes and pods. */
test('the first maintenance of a process that led before its lists begins', async () => {
  const { time, nodes, ordered, registry, maintenances, maintain, sync } = registryRig();
  registry.onLeading();
  maintenances.list();
  sync();
  nodes.list(nodeOf('n1'));
  await time.advance(5000);
  maintain('kernel', DRAINING);
  await time.advance(5000);
  expect([...ordered]).toEqual([`n1 ${maintenanceOwner('uid-kernel')}`]);
});

test('NM-19: a process that leads no more takes no maintenance for gone', async () => {
  const current = Promise.withResolvers<void>();
  const { time, registry, maintained, sync, sweeps } = registryRig({
    whenMaintenancesCurrent: () => current.promise,
  });
  sync();
  registry.onLeading();
  registry.onLeadershipLost();
  current.resolve();
  await time.advance(5000);
  expect(sweeps()).toBe(0);
  expect(maintained.isGone('early.nodemaintenance.tidegate.dev')).toBe(false);
});

const DRAINING = { stage: 'Drain', isProtected: true, nodes: [nodeRaw('n1')] } as const;
const SERIES = 'tidegate_node_maintenance_pods_left';

test.each(['Absent', 'Listed'])('a maintenance that is gone (%s) leaves nothing', async (fact) => {
  const { time, nodes, withdrawn, registry, series, maintain, maintenances, sync } = registryRig();
  sync();
  registry.onLeading();
  nodes.put(heldNode('n1', 'gone'));
  for (const name of ['gone', 'kept']) maintain(name, DRAINING);
  await time.advance(5000);
  const [gone, kept] = [...maintenances.values()];
  if (gone === undefined || kept === undefined) throw new Error('No maintenances');
  expect([...registry.actors()].length).toBe(2);
  expect([...series.keys()]).toEqual([`${SERIES} gone`, `${SERIES} kept`]);
  expect(withdrawn.size).toBe(0);
  const actor = () => [...registry.actors()].at(-1);
  const before = actor();
  if (fact === 'Absent') maintenances.remove(gone);
  else maintenances.list(kept);
  // It is not known, and goes again.
  maintenances.remove(gone);
  await time.advance(5000);
  expect([...registry.actors()]).toEqual([before]);
  expect([...series.keys()]).toEqual([`${SERIES} kept`]);
  expect([...withdrawn]).toEqual([`n1 ${maintenanceOwner('uid-gone')}`]);
});

test('a process that leads no more has no maintenance and no series', async () => {
  const { time, nodes, ordered, registry, series, maintain, sync } = registryRig();
  sync();
  registry.onLeading();
  maintain('kernel', DRAINING);
  await time.advance(1000);
  expect(series.size).toBe(1);
  registry.onLeadershipLost();
  nodes.put(nodeOf('n1'));
  maintain('kernel', DRAINING, '50');
  await time.advance(5000);
  expect([[...registry.actors()].length, series.size, ordered.size]).toEqual([0, 0, 0]);
});

test('a registry that stops orders and writes nothing more', async () => {
  const { time, nodes, ordered, registry, writes, conditionWrites, maintain, sync } = registryRig();
  sync();
  registry.onLeading();
  nodes.put(nodeOf('n1'));
  maintain('kernel', { stage: 'Cordon' });
  await registry.stop();
  nodes.put(nodeOf('n2'));
  maintain('other', { stage: 'Cordon' });
  await time.advance(60_000);
  expect([ordered.size, writes, conditionWrites]).toEqual([0, [], []]);
});

test('NM-09: the finalizer leaves after the last key has left the Nodes', async () => {
  const { time, nodes, registry, writes, withdrawn, maintain, sync } = registryRig();
  const kinds = () => writes.map(({ write }) => write);
  sync();
  registry.onLeading();
  nodes.put(heldNode('n1', 'kernel'));
  maintain('kernel', { stage: 'Complete', isProtected: true });
  await time.advance(60_000);
  expect(withdrawn.size).toBe(1);
  expect(kinds()).not.toContain('removeFinalizer');
  nodes.put(nodeOf('n1'));
  await time.advance(5000);
  expect(kinds()).toContain('removeFinalizer');
});

/** Whether the last written status says that the maintenance selects all Nodes. */
const selectsAll = async (...labels: readonly Readonly<Record<string, string>>[]) => {
  const { time, nodes, registry, writes, maintain, sync } = registryRig();
  sync();
  registry.onLeading();
  labels.forEach((one, index) => nodes.put({ ...nodeOf(`n${index}`), labels: one }));
  maintain('kernel', {});
  await time.advance(5000);
  const last = writes.findLast((write) => write.write === 'setStatus');
  return last?.status.conditions.some(({ type, status }) =>
    type === 'SelectsAllNodes' && status === 'True'
  ) ?? false;
};

test('a maintenance says that it selects every Node, if there is any', async () => {
  expect(await selectsAll({ pool: 'a' }, { pool: 'a' })).toBe(true);
  expect(await selectsAll({ pool: 'a' }, { pool: 'b' })).toBe(false);
  expect(await selectsAll({ pool: 'b' })).toBe(false);
  expect(await selectsAll()).toBe(false);
});

test('a maintenance that begins at once has no preview', async () => {
  const { time, nodes, registry, writes, maintain, sync } = registryRig();
  sync();
  registry.onLeading();
  nodes.put(nodeOf('n1'));
  maintain('kernel', { stage: 'Cordon', isProtected: true });
  await time.advance(5000);
  const previews = writes.flatMap((one) => one.write === 'setStatus' ? [one.status.preview] : []);
  expect(new Set(previews)).toEqual(new Set([null]));
});
