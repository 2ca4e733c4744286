/** The condition Ready of an UpcomingNode, over every phase, and what an upgrade does to it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HoldingFact } from '../../../src/domain/object-phase.ts';
import type { MachineState } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { asRecord, listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { readyCondition } from '../../../src/domain/machine-condition.ts';
import { type Phase, PHASES } from '../../../src/domain/machine-phase.ts';
import {
  pendingWrite,
  projectUpcomingNode,
  reportOf,
  specPatch,
  statusPatch,
  type UpcomingNodeFacts,
} from '../../../src/domain/upcoming-node.ts';
import { mergePatched } from '../../../packages/embedded-kubernetes/src/patches/merge-patch.ts';

const STATES: readonly MachineState[] = [
  'Unspecified',
  'Speculative',
  'Creating',
  'Idle',
  'Configuring',
  'Configured',
  'Draining',
  'Failed',
];
const MACHINE = 'm-1';
const [BEFORE, NOW] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'];

const reportIn = (states: readonly MachineState[]) =>
  states.reduce<ReturnType<typeof reportOf> | undefined>(
    (before, state) =>
      reportOf(before, {
        machineId: machineId(MACHINE),
        state,
        nodeName: '',
        providerId: 'host-1',
        lastError: 'no user data',
        labels: {},
        resources: { cpu: '2' },
        taints: [],
      }, Date.parse(BEFORE)),
    undefined,
  ) ?? null;

const objectWith = (status: object): object => ({
  metadata: {
    name: 'un-m-1',
    uid: 'u1',
    resourceVersion: '7',
    generation: 4,
    annotations: { 'bigfleet.lucy.sh/machine-id': MACHINE },
  },
  spec: { resources: { cpu: '2' } },
  status,
});

const factsOf = (
  states: readonly MachineState[],
  raw: object,
  drain: HoldingFact | null = null,
): UpcomingNodeFacts => ({
  reported: reportIn(states),
  current: projectUpcomingNode(raw) ?? null,
  node: null,
  drain,
});

const statusOf = (raw: object): object => asRecord(asRecord(raw)?.['status']) ?? {};

/** The object after its pending status write. */
const written = (facts: UpcomingNodeFacts, raw: object): object =>
  asRecord(mergePatched(raw, statusPatch(facts, Date.parse(NOW)) ?? {})) ?? {};

const conditionIn = (raw: object): object | undefined =>
  asRecord(listOrEmptyAt(raw, 'status', 'conditions')[0]);

const conditionWith = (reason: string, status: string): object => ({
  type: 'Ready',
  status,
  reason,
  message: 'any',
  lastTransitionTime: BEFORE,
});

describe('upcomingNodes: the condition Ready', () => {
  test.each(PHASES)('is True in phase Ready alone, and has phase %s as its reason', (phase) => {
    const condition = readyCondition(phase, '');
    expect(condition).toMatchObject({ type: 'Ready', reason: phase });
    expect(condition.status).toBe(phase === 'Ready' ? 'True' : 'False');
    expect(condition.message).not.toBe('');
    expect(readyCondition(phase, 'no user data').message).toBe('no user data');
  });

  test.each(
    [
      [['Creating'], null, 'Provisioning'],
      [['Creating', 'Idle'], null, 'Launched'],
      [['Configuring'], null, 'Registered'],
      [['Configured'], null, 'Ready'],
      [['Configured', 'Draining'], null, 'Draining'],
      [
        ['Configured'],
        { _tag: 'Draining', blocked: 'budget "b" allows 0 disruptions' },
        'Draining',
      ],
      [['Draining', 'Idle'], null, 'Drained'],
      [['Failed'], null, 'Failed'],
    ] as const,
  )('goes with the phase after %j', (states, drain, phase: Phase) => {
    const raw = objectWith(phase === 'Drained' ? { phase: 'Draining' } : {});
    const after = written(factsOf(states, raw, drain), raw);
    expect(textAt(after, 'status', 'phase')).toBe(phase);
    const message = textAt(after, 'status', 'lastError') ?? readyCondition(phase, '').message;
    expect(conditionIn(after)).toEqual({
      type: 'Ready',
      status: phase === 'Ready' ? 'True' : 'False',
      reason: phase,
      message,
      lastTransitionTime: NOW,
    });
  });

  test('a status write ends with a condition that is no reason for another, after any reports', () => {
    const conditions = fc.option(
      fc.tuple(fc.constantFrom(...PHASES, 'Other'), fc.constantFrom('True', 'False', 'Unknown'))
        .map(([reason, status]) => [conditionWith(reason, status)]),
      { nil: undefined },
    );
    fc.assert(fc.property(
      fc.array(fc.constantFrom(...STATES), { minLength: 1, maxLength: 4 }),
      fc.option(fc.constantFrom(...PHASES), { nil: undefined }),
      conditions,
      (states, phase, current) => {
        const raw = objectWith({
          ...(phase && { phase }),
          ...(current && { conditions: current }),
        });
        const facts = factsOf(states, raw);
        if (pendingWrite(MACHINE, facts) !== 'status_update') return;
        const after = written(facts, raw);
        const before = current?.[0];
        const status = textAt(conditionIn(after), 'status');
        expect(textAt(conditionIn(after), 'reason')).toBe(textAt(after, 'status', 'phase'));
        expect(textAt(conditionIn(after), 'lastTransitionTime'), 'changes with the status')
          .toBe(textAt(before, 'status') === status ? BEFORE : NOW);
        expect(pendingWrite(MACHINE, factsOf(states, after))).not.toBe('status_update');
        expect(specPatch(MACHINE, factsOf(states, after))).toBeUndefined();
      },
    ));
  });

  test('comes with the next status write to an object without one, and causes none', () => {
    const status = { phase: 'Ready', providerID: 'host-1', provisioningStartTime: BEFORE };
    const raw = objectWith(status);
    expect(pendingWrite(MACHINE, factsOf(['Configured'], raw))).toBeUndefined();
    const after = written(factsOf(['Configured', 'Draining'], raw), raw);
    expect(conditionIn(after)).toMatchObject({ status: 'False', reason: 'Draining' });
  });

  test('is corrected when an older version changed the phase beside it', () => {
    const status = {
      phase: 'Ready',
      providerID: 'host-1',
      provisioningStartTime: BEFORE,
      conditions: [conditionWith('Registered', 'False')],
    };
    const raw = objectWith(status);
    const facts = factsOf(['Configured'], raw);
    expect(pendingWrite(MACHINE, facts)).toBe('status_update');
    expect(statusOf(written(facts, raw))).toEqual({
      ...status,
      conditions: [{
        ...conditionWith('Ready', 'True'),
        message: 'The machine serves the cluster',
        lastTransitionTime: NOW,
      }],
    });
  });
});
