/** Whether a pod of a DaemonSet may be removed for a maintenance. */
import { describe, expect, test } from 'vitest';
import { daemonSetRemoval } from '../../../../src/domain/node-maintenance/daemon-set-removal.ts';
import {
  maintenanceOf,
  type MaintenanceTraits,
  nodeRaw,
} from '../../../support/node-maintenance/maintenance-fixture.ts';
import { podOfType } from '../../../support/node-maintenance/plan-runs.ts';

const POD = podOfType('DaemonSet', { node: 'n1', priority: 50, labels: { app: 'agent' } });

/** A maintenance in Drain whose targets on the node have reached this priority. */
const reaching = (
  podPriority: number,
  { spec = {}, ...traits }: MaintenanceTraits = {},
  node: object = {},
) =>
  maintenanceOf('1', {
    stage: 'Drain',
    isProtected: true,
    nodes: [nodeRaw('n1', { drainTargets: [{ podType: 'DaemonSet', podPriority }], ...node })],
    spec: { reason: 'New kernel', ...spec },
    ...traits,
  });

describe('a pod of a DaemonSet', () => {
  test('NM-45: may be removed once a maintenance has reached it, and says for which', () => {
    expect(daemonSetRemoval(POD, [reaching(50)])).toEqual({
      may: true,
      message: 'DaemonSet "ds" ends the pod for NodeMaintenance "kernel" (New kernel)',
      graceSeconds: 30,
    });
    expect(daemonSetRemoval(POD, [reaching(50, { spec: { reason: '' } })])?.message)
      .toBe('DaemonSet "ds" ends the pod for NodeMaintenance "kernel"');
  });

  test.each([
    ['without a maintenance', []],
    ['of a higher priority than the target', [reaching(49)]],
    ['after the maintenance is complete', [reaching(50, { stage: 'Complete' })]],
    ['once the maintenance is deleted', [reaching(50, { isDeleting: true })]],
    ['on a node that waits for its turn', [reaching(50, {}, { state: 'Waiting' })]],
    ['on a node that gives way', [reaching(50, {}, { state: 'Yielding' })]],
    ['on another node', [reaching(50, {}, { nodeRef: { name: 'n2' } })]],
    ['of a type that stays', [reaching(50, { spec: { podTypes: ['Default'] } })]],
    [
      'of labels that stay',
      [reaching(50, { spec: { podSelector: { matchLabels: { app: 'other' } } } })],
    ],
  ])('NM-44: stays %s', (_, maintenances) => {
    expect(daemonSetRemoval(POD, maintenances)).toEqual({
      may: false,
      message: 'Waits: no NodeMaintenance in Drain has reached the pod on node "n1"',
      graceSeconds: 30,
    });
  });

  test('NM-44: stays while its maintenance only cordons', () => {
    expect(daemonSetRemoval(POD, [reaching(50, { stage: 'Cordon' })])?.may).toBe(false);
  });

  test('NM-45: gets the longest grace of the maintenances that have reached it', () => {
    const short = reaching(50, { spec: { gracePeriodSeconds: 5 } });
    expect(daemonSetRemoval(POD, [short])?.graceSeconds).toBe(5);
    expect(daemonSetRemoval(POD, [short, reaching(50)])?.graceSeconds).toBe(30);
  });

  test('others have no verdict', () => {
    expect(daemonSetRemoval(podOfType('Default', { node: 'n1' }), [reaching(50)])).toBeUndefined();
  });
});
