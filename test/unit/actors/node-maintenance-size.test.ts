/** A NodeMaintenance that selects more Nodes than its status has room for says so (NM-40). */
import { expect, test } from 'vitest';
import { maintenanceOwner } from '../../../src/domain/drain/cordon.ts';
import {
  type MaintenanceTraits,
  nodeRaw,
} from '../../support/node-maintenance/maintenance-fixture.ts';
import { nodeOf, registryRig } from '../../support/node-maintenance/registry-rig.ts';

const SETTLED_MS = 20_000;
const ROOM = 1000;

const named = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `n${index}`);

/** A leading registry with so many Nodes, all of which the maintenance selects. */
const selecting = async (count: number, traits: MaintenanceTraits) => {
  const rig = registryRig();
  rig.sync();
  rig.registry.onLeading();
  for (const name of named(count)) rig.nodes.put(nodeOf(name));
  rig.maintain('kernel', traits);
  await rig.time.advance(SETTLED_MS);
  const status = () =>
    rig.writes.flatMap((one) => one.write === 'setStatus' ? [one.status] : []).at(-1);
  return {
    ...rig,
    status,
    condition: (type: string): string => {
      const found = status()?.conditions.find((one) => one.type === type);
      return found === undefined ? '' : `${found.status} ${found.reason}: ${found.message}`;
    },
  };
};

const TEXT = 'spec.nodeSelector of NodeMaintenance "kernel" selects 1002 nodes, and its status ' +
  'has room for 1000: 2 do not begin. Split the selector among NodeMaintenances of at most 1000 ' +
  'nodes each';

test.each(['Idle', 'Cordon'] as const)('NM-40: says in %s that it is too large', async (stage) => {
  const { condition, notes } = await selecting(ROOM + 2, { stage, isProtected: stage !== 'Idle' });
  expect(condition('TooManyNodes')).toBe(`True TooManyNodes: ${TEXT}`);
  expect(notes).toMatchObject([{
    regarding: { kind: 'NodeMaintenance', name: 'kernel' },
    reason: 'MaintenanceTooManyNodes',
    note: TEXT,
  }]);
});

test('NM-40: is not drained, and says why, when nothing else is left to do', async () => {
  const { condition, status, notes, nodes, time } = await selecting(ROOM + 2, {
    stage: 'Drain',
    isProtected: true,
    spec: { maxNodesAtOnce: 1 },
    nodes: named(ROOM).map((name) => nodeRaw(name, { state: 'Released' })),
  });
  expect(condition('Drained')).toBe(`False TooManyNodes: ${TEXT}`);
  expect([status()?.progress, notes.length]).toEqual(['1000/1002', 1]);
  for (const name of named(2)) nodes.remove(nodeOf(name));
  await time.advance(SETTLED_MS);
  expect(condition('TooManyNodes')).toBe('');
  expect(condition('Drained')).toBe('False Evacuating: 0 pods left on 0 of 1000 nodes');
});

test('NM-40: as many Nodes as the status has room for are not too many', async () => {
  const { condition, notes, ordered } = await selecting(ROOM, { stage: 'Cordon' });
  expect([condition('TooManyNodes'), notes.length]).toEqual(['', 0]);
  expect(ordered.has(`n0 ${maintenanceOwner('uid-kernel')}`)).toBe(true);
});

test('NM-40: a new leader keeps the condition until it has counted', async () => {
  const rig = registryRig();
  rig.sync();
  for (const name of named(ROOM + 2)) rig.nodes.put(nodeOf(name));
  rig.registry.onLeading();
  const condition = {
    type: 'TooManyNodes',
    status: 'True',
    reason: 'TooManyNodes',
    message: TEXT,
    lastTransitionTime: '2025-01-01T00:00:00Z',
  };
  rig.maintain('kernel', { conditions: [condition] });
  await rig.time.advance(SETTLED_MS);
  const kept = rig.writes.flatMap((one) => one.write === 'setStatus' ? [one.status] : [])
    .map(({ conditions }) => conditions.find(({ type }) => type === 'TooManyNodes')?.sinceMs);
  expect(new Set(kept)).toEqual(new Set([Date.parse(condition.lastTransitionTime)]));
});
