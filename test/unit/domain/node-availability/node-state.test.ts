/** The state of a Node, from facts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printCordon } from '../../../../src/domain/drain/cordon.ts';
import {
  availableNode,
  DEGRADED_CONDITIONS_DEFAULT,
  DEGRADED_TAINT,
} from '../../../../src/domain/node-availability/available-node.ts';
import {
  conditionPatch,
  taintsPatch,
} from '../../../../src/domain/node-availability/availability-writes.ts';
import {
  AVAILABILITY_LABELS,
  differsFrom,
  NODE_STATES,
  nodeState,
  wantedAvailability,
} from '../../../../src/domain/node-availability/node-state.ts';
import { nodeWith } from '../../../support/node-availability/availability-fixture.ts';

const read = availableNode(DEGRADED_CONDITIONS_DEFAULT);

const rawNode = (
  { annotations = {}, conditions = [], unschedulable = true, taints = [] }: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly conditions?: readonly object[];
    readonly unschedulable?: boolean;
    readonly taints?: readonly object[];
  },
) => ({
  metadata: { name: 'node-1', uid: 'node-1', resourceVersion: '7', annotations },
  spec: { unschedulable, taints },
  status: { conditions },
});

const cordonKey = (owner: string, ended: 'Drained' | 'Cancelled' | null = null) => ({
  [`cordon.tidegate.dev/${owner}`]: printCordon({
    ids: [],
    deadlineMs: null,
    graceSeconds: 0,
    sinceMs: 0,
    ended,
  }),
});

const facts = fc.record({
  readyStatus: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
  isDisabled: fc.boolean(),
  isDraining: fc.boolean(),
});
const terms = fc.record({ isSilent: fc.boolean(), isDegraded: fc.boolean() });

test('RS-01: a node has the first of its five states that its facts allow', () => {
  fc.assert(fc.property(facts, terms, (node, known) => {
    const allowed = {
      Offline: known.isSilent && node.readyStatus === 'Unknown',
      Disabled: node.isDisabled,
      Draining: node.isDraining,
      Degraded: known.isDegraded,
      Active: true,
    };
    expect(nodeState(node, known)).toBe(NODE_STATES.find((state) => allowed[state]));
  }));
});

test('RS-05: a node is offline only when its Lease is silent and Ready is Unknown', () => {
  fc.assert(fc.property(facts, terms, (node, known) => {
    const isOffline = nodeState(node, known) === 'Offline';
    expect(isOffline).toBe(known.isSilent && node.readyStatus === 'Unknown');
  }));
});

test.each([
  ['RS-02: a node of a reclaim is draining', cordonKey('reclaim'), 'Draining'],
  [
    'RS-02: a drained node that is not back is draining',
    cordonKey('reclaim', 'Drained'),
    'Draining',
  ],
  ['RS-02: a cancelled drain leaves the node active', cordonKey('reclaim', 'Cancelled'), 'Active'],
  ['RS-02: a node of a maintenance is draining', cordonKey('maintenance-0a'), 'Draining'],
  ['RS-03: a node that a person disabled is disabled', {
    ...cordonKey('disabled'),
    ...cordonKey('reclaim'),
  }, 'Disabled'],
  ['RS-01: a node that a person cordoned is active', cordonKey('person'), 'Active'],
])('%s', (_, annotations, state) => {
  const node = read(rawNode({ annotations }));
  expect(node && nodeState(node, { isSilent: false, isDegraded: false })).toBe(state);
});

test('RS-02: a cordon key on a schedulable node is of no drain', () => {
  const node = read(rawNode({ annotations: cordonKey('reclaim'), unschedulable: false }));
  expect(node?.isDraining).toBe(false);
});

test.each([
  ['Present', [{ type: 'DiskPressure', status: 'True' }, {
    type: 'PIDPressure',
    status: 'Unknown',
  }]],
  ['Unknown', [{ type: 'DiskPressure', status: 'Unknown' }]],
  ['Absent', [{ type: 'DiskPressure', status: 'False' }, { type: 'Other', status: 'True' }]],
])('RS-04: the problem of a node is %s by its configured conditions', (problem, conditions) => {
  expect(read(rawNode({ conditions }))?.problem).toBe(problem);
});

test('RS-01: a node that shows what it should is not written, and no other', () => {
  fc.assert(fc.property(
    fc.constantFrom(...AVAILABILITY_LABELS),
    fc.constantFrom(...AVAILABILITY_LABELS),
    fc.boolean(),
    fc.boolean(),
    (label, wantedLabel, isTainted, wantsTaint) => {
      const node = nodeWith('7', { label, isTainted });
      const wanted = { label: wantedLabel, isTainted: wantsTaint, endsConfirmation: false };
      const isWritten = taintsPatch(node, wanted) !== undefined ||
        conditionPatch(node, wanted, 0) !== undefined;
      expect(isWritten).toBe(differsFrom(node.availability, wanted));
    },
  ));
});

test('RS-04: the taint is added to those of others and removed from them', () => {
  const other = { key: 'example.com/gpu', value: 'a', effect: 'NoSchedule', timeAdded: '' };
  const node = { ...nodeWith('7'), taints: [other] };
  const wanted = { isTainted: true, endsConfirmation: false };
  expect(taintsPatch(node, wanted)).toEqual({
    metadata: { resourceVersion: '7' },
    spec: {
      taints: [{ key: 'example.com/gpu', value: 'a', effect: 'NoSchedule' }, DEGRADED_TAINT],
    },
  });
  const tainted = {
    ...nodeWith('8', { isTainted: true }),
    taints: [other, { ...DEGRADED_TAINT, value: '', timeAdded: '' }],
  };
  expect(taintsPatch(tainted, { isTainted: false, endsConfirmation: false })).toEqual({
    metadata: { resourceVersion: '8' },
    spec: { taints: [{ key: 'example.com/gpu', value: 'a', effect: 'NoSchedule' }] },
  });
});

test('RS-22: a confirmed node that is Ready again loses the taint that a command set', () => {
  const traits = { isConfirmedGone: true, isConfirmedByCommand: true };
  const decided = {
    state: 'Active',
    isDegraded: false,
    isProtected: false,
    isSettled: false,
  } as const;
  const back = wantedAvailability(nodeWith('7', traits), decided);
  expect(back.endsConfirmation).toBe(true);
  const away = wantedAvailability(nodeWith('7', { ...traits, readyStatus: 'Unknown' }), decided);
  expect(away.endsConfirmation).toBe(false);
  const byHand = nodeWith('7', { isConfirmedGone: true });
  expect(wantedAvailability(byHand, decided).endsConfirmation).toBe(false);
});

test('RS-01: a condition keeps the time of its transition when only its reason changes', () => {
  const first = conditionPatch(nodeWith('7'), { label: 'Offline' }, 0);
  expect(JSON.stringify(first)).toContain('1970-01-01T00:00:00Z');
  const next = conditionPatch(nodeWith('7', { label: 'Offline' }), { label: 'Disabled' }, 0);
  expect(JSON.stringify(next)).not.toContain('lastTransitionTime');
});
