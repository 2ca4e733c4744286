/** NodeMaintenances that people write into files. */
import { expect, test } from 'vitest';
import {
  isMaintenance,
  writtenProblem,
} from '../../../../src/domain/node-maintenance/written-maintenance.ts';
import { nodeMaintenance } from '../../../../src/api/node-maintenance.ts';

const SELECTOR = {
  nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['a'] }] }],
};

const written = (spec: object, metadata: object = { name: 'kernel' }) => ({
  apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
  kind: 'NodeMaintenance',
  metadata,
  spec: { nodeSelector: SELECTOR, ...spec },
});

test('a NodeMaintenance is told by its kind and version', () => {
  expect(isMaintenance(written({}))).toBe(true);
  expect(isMaintenance({ ...written({}), apiVersion: 'v1' })).toBe(false);
  expect(isMaintenance(undefined)).toBe(false);
});

test.each([
  [{}],
  [nodeMaintenance.example['spec']],
  [{ maxNodesAtOnce: '25%', topologyKey: 'zone', releaseWhen: 'Drained', podTypes: ['Default'] }],
  [{ podSelector: { matchLabels: { app: 'web' } }, gracePeriodSeconds: 1 }],
  [{ drainPlan: [{ podPriority: 5 }, { podPriority: 5, podType: 'DaemonSet' }] }],
])('%j is accepted', (spec) => {
  expect(writtenProblem(written(spec ?? {}))).toBeUndefined();
});

test.each([
  [{ stage: 'Drained' }, 'spec.stage'],
  [{ maxNodes: 2 }, 'spec.maxNodes'],
  [{ nodeSelector: undefined }, 'spec.nodeSelector'],
  [{ nodeSelector: {} }, 'spec.nodeSelector'],
  [{ nodeSelector: { nodeSelectorTerms: [{}] } }, 'spec.nodeSelector.nodeSelectorTerms[0]'],
  [{ maxNodesAtOnce: 0 }, 'spec.maxNodesAtOnce'],
  [{ maxNodesAtOnce: '0%' }, 'spec.maxNodesAtOnce'],
  [{ topologyKey: 'zone' }, 'spec.topologyKey'],
  [{ drainPlan: [{ podPriority: 2 }, { podPriority: 1 }] }, 'spec.drainPlan[1]'],
  [{ drainPlan: [{ podType: 'Default' }] }, 'spec.drainPlan[0]'],
  [{ drainPlan: 5 }, 'spec.drainPlan[0]'],
  [{ podTypes: ['Mirror'] }, 'spec.podTypes'],
  [{ podSelector: {} }, 'spec.podSelector'],
  [{ podSelector: 'app=web' }, 'spec.podSelector'],
  [{ podSelector: { matchExpressions: [{ key: 'app', operator: 'In' }] } }, 'spec.podSelector'],
  [{ gracePeriodSeconds: 0 }, 'spec.gracePeriodSeconds'],
  [{ gracePeriodSeconds: '30s' }, 'spec.gracePeriodSeconds'],
  [{ releaseWhen: 'Rebooted' }, 'spec.releaseWhen'],
])('%j is refused at its field, with a remedy', (spec, field) => {
  const problem = writtenProblem(written(spec));
  expect(problem?.field).toBe(field);
  expect(problem?.remedy).not.toBe('');
});

test('a NodeMaintenance needs a name', () => {
  expect(writtenProblem(written({}, {}))?.field).toBe('metadata.name');
});
