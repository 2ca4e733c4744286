/** `explain machine`: the phase of the fleet and the readiness of the Node, separately. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CordonEnd } from '../../../src/domain/drain/cordon.ts';
import { explainMachine } from '../../../src/view/explain-machine.ts';
import { age } from '../../../src/view/explanation.ts';
import { budgetOf, podOf } from '../../support/drains/drain-facts.ts';
import { sceneAnnotation, sceneOfNode } from '../../support/drains/drain-scene.ts';
import { explanationText } from '../../../src/view/explanation-text.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');

const upcomingNode = (status: object | undefined) => ({
  metadata: { name: 'un-m-1', annotations: { 'bigfleet.lucy.sh/machine-id': 'm-1' } },
  spec: { resources: { cpu: '8' }, labels: { zone: 'a' } },
  ...(status === undefined ? {} : { status }),
});

const withNode = { phase: 'Ready', nodeRef: { kind: 'Node', name: 'node-1' } };

const node = (ready: object | undefined, unschedulable = false) => ({
  metadata: { name: 'node-1' },
  spec: { unschedulable },
  status: { conditions: ready === undefined ? [] : [{ type: 'Ready', ...ready }] },
});

const explain = (object: unknown, itsNode?: unknown) =>
  explainMachine({ upcomingNode: object, node: itsNode, events: [], nowMs });

describe('explainMachine', () => {
  test.each([
    ['Provisioning', 'provider', 'The provider to deliver the machine'],
    ['Launched', 'nobody', 'The fleet to configure it for this cluster'],
    ['Registered', 'platform', 'Its kubelet to join, and the fleet to report it as configured'],
    ['Draining', 'application', 'The pods on its Node to terminate'],
    ['Drained', 'nobody', 'The operator to delete this object'],
  ])('phase %s: %s can act, waits for: %s', (phase, canAct, waitsFor) => {
    expect(explain(upcomingNode({ phase }))).toMatchObject({ state: phase, canAct, waitsFor });
  });

  const closed = budgetOf({
    spec: { minAvailable: undefined, maxUnavailable: 0 },
    status: { currentHealthy: 4, desiredHealthy: 4 },
  });
  const drainedWith = (ended: CordonEnd | null, phase: string, unschedulable = true) =>
    explainMachine({
      upcomingNode: upcomingNode({ phase, lastError: '1 pod remains: ns/a (budget ns/db)' }),
      node: undefined,
      events: [],
      drained: sceneOfNode({
        node: { unschedulable, cordons: { reclaim: sceneAnnotation({ ended }) } },
        pods: [podOf()],
        budgets: [closed],
      }),
      nowMs,
    });

  test.each(
    [
      ['goes on', null, 'Draining'],
      ['failed', 'Failed', 'Failed'],
    ] as const,
  )('a drain that %s explains its machine: the owner of the budget can act', (_, ended, phase) => {
    const explained = drainedWith(ended, phase);
    expect(explained.why).toContain('The fleet reclaim');
    expect(explained.why).not.toContain('the machine failed');
    expect(explained).toMatchObject({
      canAct: 'application',
      action: expect.stringContaining('kubectl patch pdb db'),
    });
  });

  test('DR-05: a reclaim that a person cancelled waits for the fleet, and drains no more', () => {
    const explained = drainedWith('Cancelled', 'Draining', false);
    expect(explained.why).toBe(
      'The fleet reclaimed this machine (instruction i-7): the drain was cancelled: the node is ' +
        'schedulable again and may get new pods. The fleet still reclaims the machine',
    );
    expect(explained).toMatchObject({
      state: 'Draining',
      waitsFor: expect.stringContaining('The fleet to return the machine to service'),
      canAct: 'provider',
      action: expect.stringContaining('who uncordoned the Node'),
    });
  });

  test('a drain that has ended explains a machine whose object does not show it', () => {
    expect(drainedWith('Drained', 'Draining')).toMatchObject({
      why: expect.stringContaining('all pods that had to leave are gone'),
      waitsFor: 'The fleet to remove the machine; the node stays cordoned until then',
    });
    expect(drainedWith('Failed', 'Draining').why).toContain('the deadline passed first');
  });

  test('a machine that the fleet reports as failed is explained by the fleet', () => {
    expect(drainedWith(null, 'Failed').why).toContain('The fleet reports that the machine failed');
  });

  test('a failed machine shows its last error', () => {
    const explained = explain(upcomingNode({ phase: 'Failed', lastError: 'no user data' }));
    expect(explained.why).toBe('The fleet reports that the machine failed: no user data');
    expect(explained.details).toContainEqual({ name: 'Last error', value: 'no user data' });
  });

  test('a configured machine without a Node shows what its Node needs', () => {
    const explained = explain(upcomingNode({ phase: 'Ready', providerID: 'host/7' }));
    expect(explained.why).toContain('it has no Node');
    expect(explained).toMatchObject({ canAct: 'platform' });
    expect(explained.details).toContainEqual({ name: 'Provider id', value: 'host/7' });
  });

  test('a configured machine whose Node is not ready shows the cause, and for how long', () => {
    const explained = explain(
      upcomingNode(withNode),
      node({
        status: 'False',
        reason: 'KubeletNotReady',
        message: 'cni plugin not initialized',
        lastTransitionTime: '2026-03-01T11:56:55Z',
      }),
    );
    expect(explained.why).toBe(
      'Its Node "node-1" joined but is not ready: KubeletNotReady: cni plugin not initialized',
    );
    expect(explained.details).toContainEqual({ name: 'Node is', value: 'not ready, for 3m5s' });
  });

  test('a Node that has not reported yet is unknown', () => {
    const explained = explain(upcomingNode(withNode), node(undefined));
    expect(explained.why).toContain('its kubelet has not reported');
    expect(explained.details).toContainEqual({ name: 'Node is', value: 'unknown' });
  });

  test('a configured machine with a ready Node waits for nothing', () => {
    const explained = explain(upcomingNode(withNode), node({ status: 'True' }, true));
    expect(explained).toMatchObject({ waitsFor: 'Nothing', canAct: 'nobody' });
    expect(explained.details).toContainEqual({ name: 'Node schedulable', value: 'no, cordoned' });
  });

  test('a configured machine whose Node is gone reports it', () => {
    expect(explain(upcomingNode(withNode)).why).toContain('its Node "node-1" is gone');
  });

  test('an object without a status is new', () => {
    expect(explain(upcomingNode(undefined))).toMatchObject({ state: 'Unknown', canAct: 'nobody' });
  });

  test('any JSON has an explanation', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (object, itsNode) => {
        explanationText(explain(object, itsNode), { nowMs, colors: true });
      }),
      { numRuns: 2000 },
    );
  });
});

test.each([
  ['2026-03-01T11:59:59.400Z', '1s'],
  ['2026-03-01T11:00:00Z', '1h'],
  ['2026-03-01T10:58:30Z', '1h1m'],
  ['2026-02-26T08:00:00Z', '3d4h'],
  ['2026-03-01T12:00:05Z', '0s'],
  ['soon', undefined],
  [undefined, undefined],
])('age of %s is %s', (time, text) => {
  expect(age(time, nowMs)).toBe(text);
});
