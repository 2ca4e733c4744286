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

/** A Node with the key of a maintenance, whose drain goes on unless it has ended. */
const heldNode = (
  name: string,
  maintenance: string,
  { sinceMs = 0, ended = null }: {
    readonly sinceMs?: number;
    readonly ended?: CordonEnd | null;
  } = {},
) => {
  const ids = [`${maintenance}@1`];
  const key = printCordon({ ids, deadlineMs: null, graceSeconds: 0, sinceMs, ended });
  return nodeOf(name, { [`${CORDON_PREFIX}${maintenanceOwner(`uid-${maintenance}`)}`]: key });
};

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
