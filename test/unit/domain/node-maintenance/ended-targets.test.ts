/**
 * A maintenance that was over skipped the plans of later ones on its nodes.
 *
 * The targets of before were those of every object that exists. A Complete one keeps its status for
 * as long as nobody deletes it, so that weeks later the first targets of another one selected all
 * pods, and those of DaemonSets left beside the workloads.
 */
import { describe, expect, test } from 'vitest';
import {
  maintenanceProgress,
  NO_PROGRESS,
  type ProgressMemory,
} from '../../../../src/domain/node-maintenance/maintenance-progress.ts';
import type { NodeStatus } from '../../../../src/domain/node-maintenance/observed-maintenance.ts';
import {
  maintenanceOf,
  type MaintenanceTraits,
  nodeRaw,
} from '../../../support/node-maintenance/maintenance-fixture.ts';
import { podOfType } from '../../../support/node-maintenance/plan-runs.ts';

/** Everything but static pods. */
const FAR = [
  { podType: 'Default', podPriority: 2_147_483_647 },
  { podType: 'DaemonSet', podPriority: 2_147_483_647 },
];

/** A maintenance that has been through its plan on the node. */
const earlier = (traits: MaintenanceTraits, node: object = {}) =>
  maintenanceOf('1', {
    name: 'earlier',
    uid: 'uid-earlier',
    isProtected: true,
    nodes: [nodeRaw('n1', { drainTargets: FAR, ...node })],
    ...traits,
  });

const successor = (node: object = {}) =>
  maintenanceOf('1', {
    name: 'successor',
    uid: 'uid-successor',
    stage: 'Drain',
    isProtected: true,
    nodes: [nodeRaw('n1', node)],
  });

/** What the later maintenance shows of the node, and what is remembered. */
const look = (
  one: ReturnType<typeof earlier>,
  { maintenance = successor(), hasKey = false, before = NO_PROGRESS }: {
    readonly maintenance?: ReturnType<typeof successor>;
    /** The key of the earlier maintenance is on the node. */
    readonly hasKey?: boolean;
    readonly before?: ProgressMemory;
  } = {},
) => {
  const node = { name: 'n1', labels: {}, bootId: 'boot-1', doneFor: '', createdMs: 0 };
  const progress = maintenanceProgress(
    [{ maintenance, nodes: [node], drains: true, begins: true, yields: false }],
    [one, maintenance],
    {
      before,
      facts: {
        podsOn: () => [podOfType('Default'), podOfType('DaemonSet')],
        isCordoned: () => true,
        hasEnded: () => true,
        isHeld: (_, { uid }) => uid === maintenance.uid || hasKey,
        isBehind: false,
        cordoned: [],
        budgets: [],
        unschedulable: [],
      },
    },
  );
  return { progress, node: progress.reported.get(maintenance.uid)?.nodes[0] };
};

const typesOf = (node: NodeStatus | undefined) =>
  node?.drainTargets.map(({ podType }) => podType) ?? [];

describe('the first targets of a maintenance', () => {
  test('NM-39: are those of its own plan on a node of one that is Complete', () => {
    const { node } = look(earlier({ stage: 'Complete' }));
    expect(typesOf(node)).toEqual(['Default']);
    expect(node?.drainMessage).toBe('Evacuating');
  });

  test('NM-39: are those of its own plan on a node that a rolling one has given back', () => {
    const { node } = look(earlier({ stage: 'Drain' }, { state: 'Released' }));
    expect(typesOf(node)).toEqual(['Default']);
  });

  test.each<[string, MaintenanceTraits, object, boolean]>([
    ['is drained by another one', { stage: 'Drain' }, {}, false],
    [
      'another one keeps cordoned after its drain',
      { stage: 'Drain', spec: { maxNodesAtOnce: 1, releaseWhen: 'Drained' } },
      { state: 'Released' },
      false,
    ],
    ['the key of a Complete one is still on', { stage: 'Complete' }, {}, true],
    ['the key of a deleted one is still on', { stage: 'Drain', isDeleting: true }, {}, true],
    ['the key of a rolling one is still on', { stage: 'Drain' }, { state: 'Released' }, true],
  ])('NM-34, NM-39: are as far as before on a node that %s', (_, traits, status, hasKey) => {
    const { node } = look(earlier(traits, status), { hasKey });
    expect(typesOf(node)).toEqual(['Default', 'DaemonSet']);
  });
});

test('NM-34: the targets stay when the maintenance that was further has left the node', () => {
  const { progress } = look(earlier({ stage: 'Drain' }));
  const ended = earlier({ stage: 'Complete' });
  expect(typesOf(look(ended, { before: progress }).node)).toEqual(['Default', 'DaemonSet']);
  const restarted = look(ended, { maintenance: successor({ drainTargets: FAR }) });
  expect(typesOf(restarted.node)).toEqual(['Default', 'DaemonSet']);
});
