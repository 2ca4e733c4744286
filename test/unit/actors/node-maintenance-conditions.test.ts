/** The conditions that Nodes get from the registry of NodeMaintenances. */
import { expect, test } from 'vitest';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { CORDON_PREFIX, maintenanceOwner } from '../../../src/domain/drain/cordon.ts';
import { resourceVersion } from '../../../src/domain/ids.ts';
import { nodeRaw } from '../../support/node-maintenance/maintenance-fixture.ts';
import { podOfType } from '../../support/node-maintenance/plan-runs.ts';
import {
  nodeOf,
  registryRig,
  type RegistryRigOptions,
} from '../../support/node-maintenance/registry-rig.ts';

/** A leading registry with a planned maintenance of one Node. */
const planned = (options: RegistryRigOptions = {}) => {
  const rig = registryRig(options);
  rig.sync();
  rig.registry.onLeading();
  rig.nodes.put(nodeOf('n1'));
  rig.maintain('kernel', {});
  const showing = (message: string, version: string) =>
    rig.nodes.put(nodeOf('n1', {}, {
      version,
      conditions: [
        { type: 'MaintenancePlanned', status: 'True', reason: 'NodeMaintenance', message },
      ],
    }));
  return {
    ...rig,
    /** The cache has what was written. */
    showing,
    types: () =>
      rig.conditionWrites.map(({ body }) =>
        listOrEmptyAt(body, 'status', 'conditions')
          .map((one) => `${textAt(one, '$patch') ?? 'set'} ${textAt(one, 'type')}`)
      ),
  };
};

test('NM-42: a Node gets one request for a change, and none while it shows what it should', async () => {
  const { time, types, showing, nodes, maintain } = planned();
  await time.advance(2000);
  expect(types()).toEqual([['set MaintenancePlanned']]);
  // The answer is known before the watch shows it.
  nodes.put(nodeOf('n1', {}, { version: '50' }));
  await time.advance(2000);
  showing('NodeMaintenance kernel', '101');
  await time.advance(600_000);
  nodes.put(nodeOf('n2'));
  await time.advance(2000);
  expect(types().slice(1), 'only the other Node').toEqual([['set MaintenancePlanned']]);
  maintain('kernel', { stage: 'Complete' }, '100');
  await time.advance(2000);
  expect(types().slice(2)).toEqual([['delete MaintenancePlanned']]);
});

test('NM-42: what another client reverts is shown again', async () => {
  const { time, types, nodes } = planned();
  await time.advance(2000);
  nodes.put(nodeOf('n1', {}, { version: '102' }));
  await time.advance(2000);
  expect(types().length).toBe(2);
});

test('NM-42: a Node keeps nothing of a maintenance that is gone', async () => {
  const { time, types, showing, registry } = planned();
  registry.onLeadershipLost();
  registry.onLeading();
  showing('NodeMaintenance kernel, of which this process has never known', '7');
  await time.advance(2000);
  expect(types()).toEqual([['set MaintenancePlanned']]);
});

test('NM-42: without the right to the status of Nodes a change is tried once', async () => {
  const { time, types, nodes, maintain } = planned({
    conditionOutcome: () => ({ _tag: 'Refused', why: '403' }),
  });
  await time.advance(2000);
  for (let version = 2; version < 10; version += 1) {
    nodes.put(nodeOf('n1', {}, { version: `${version}` }));
    await time.advance(60_000);
  }
  expect(types().length).toBe(1);
  maintain('other', {});
  await time.advance(2000);
  expect(types().length, 'another change is tried').toBe(2);
});

test('NM-42: a change that was refused, and made by another client, is tried again', async () => {
  const { time, types, nodes, showing } = planned({
    conditionOutcome: () => ({ _tag: 'Refused', why: '403' }),
  });
  await time.advance(2000);
  showing('NodeMaintenance kernel', '2');
  await time.advance(2000);
  expect(types().length).toBe(1);
  nodes.put(nodeOf('n1', {}, { version: '3' }));
  await time.advance(2000);
  expect(types().length).toBe(2);
});

/** A process kept the change of every Node that was deleted since, for as long as it led. */
test('NM-42: nothing is kept of a refused change once its Node is deleted', async () => {
  const { time, types, nodes } = planned({
    conditionOutcome: () => ({ _tag: 'Refused', why: '403' }),
  });
  await time.advance(2000);
  nodes.remove(nodeOf('n1'));
  await time.advance(2000);
  expect(types().length).toBe(1);
  nodes.put(nodeOf('n1'));
  await time.advance(2000);
  expect(types().length).toBe(2);
});

test('NM-42: a failed change is tried again with the next look at the Node', async () => {
  const { time, types, nodes } = planned({
    conditionOutcome: (nth) =>
      nth === 1
        ? { _tag: 'Fault', why: '500' }
        : { _tag: 'Written', resourceVersion: resourceVersion('101') },
  });
  await time.advance(2000);
  nodes.put(nodeOf('n1', {}, { version: '2' }));
  await time.advance(2000);
  expect(types().length).toBe(2);
});

test('NM-42: a Node shows a maintenance only while it has its key: neither write meets the other', async () => {
  const { time, types, nodes, pods, maintain } = planned({
    conditionOutcome: (count) => ({
      _tag: 'Written',
      resourceVersion: resourceVersion(`${300 + count}`),
    }),
  });
  pods.put(podOfType('Default', { node: 'n1' }));
  await time.advance(2000);
  const drainTargets = [{ podType: 'Default', podPriority: 5000 }];
  const drains = {
    stage: 'Drain',
    isProtected: true,
    nodes: [nodeRaw('n1', { drainTargets })],
  } as const;
  maintain('kernel', drains, '10');
  await time.advance(10_000);
  expect(types().slice(1), 'its cordon is on the way').toEqual([]);
  const key = { [`${CORDON_PREFIX}${maintenanceOwner('uid-kernel')}`]: '{}' };
  nodes.put(nodeOf('n1', key, { version: '200' }));
  await time.advance(2000);
  expect(types().slice(1)).toEqual([['set DrainInProgress', 'set MaintenanceInProgress']]);
  const conditions = ['DrainInProgress', 'MaintenanceInProgress'].map((type) => ({
    type,
    status: 'True',
    reason: 'NodeMaintenance',
    message: 'NodeMaintenance kernel',
  }));
  nodes.put(nodeOf('n1', key, { version: '201', conditions }));
  maintain('kernel', { ...drains, stage: 'Complete' }, '20');
  await time.advance(10_000);
  expect(types().slice(2), 'the key leaves first').toEqual([]);
  nodes.put(nodeOf('n1', {}, { version: '202', conditions }));
  await time.advance(2000);
  expect(types().slice(2)).toEqual([['delete DrainInProgress', 'delete MaintenanceInProgress']]);
});
