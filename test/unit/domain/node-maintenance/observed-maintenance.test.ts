/** A NodeMaintenance as the API server returns it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { projectMaintenance } from '../../../../src/domain/node-maintenance/observed-maintenance.ts';
import { labelsHold } from '../../../../src/domain/label-condition.ts';
import { entryOf } from '../../../support/node-maintenance/plan-runs.ts';

const METADATA = { name: 'os-upgrade', uid: 'u-1', resourceVersion: '7', generation: 3 };

const read = (rest: object, metadata: object = {}) => {
  const maintenance = projectMaintenance({ metadata: { ...METADATA, ...metadata }, ...rest });
  if (maintenance === undefined) throw new Error('No maintenance');
  return maintenance;
};

describe('a NodeMaintenance', () => {
  test('without optional fields has their defaults', () => {
    expect(read({ spec: { nodeSelector: { nodeSelectorTerms: [] } } })).toMatchObject({
      key: 'os-upgrade',
      name: 'os-upgrade',
      generation: 3,
      deleting: false,
      hasFinalizer: false,
      spec: {
        nodeSelector: [],
        stage: 'Idle',
        drainPlan: [],
        podTypes: ['Default', 'DaemonSet', 'Static'],
        podSelector: null,
        gracePeriodSeconds: null,
        reason: '',
        maxNodesAtOnce: null,
        topologyKey: '',
        releaseWhen: 'Done',
        window: null,
      },
      status: {
        observedGeneration: 0,
        stages: [],
        nodes: [],
        waves: [],
        preview: null,
        conditions: [],
      },
    });
  });

  test('is read with all of its fields', () => {
    const raw = {
      spec: {
        nodeSelector: {
          nodeSelectorTerms: [{
            matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }],
            matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['one'] }],
          }],
        },
        stage: 'Drain',
        drainPlan: [
          { podPriority: 5000 },
          { podPriority: 9, podType: 'DaemonSet', podSelector: { matchLabels: { app: 'web' } } },
        ],
        podTypes: ['DaemonSet', 'Default'],
        podSelector: { matchLabels: { app: 'web' } },
        gracePeriodSeconds: 20,
        reason: 'OS upgrade',
        maxNodesAtOnce: '25%',
        topologyKey: 'topology.kubernetes.io/zone',
        releaseWhen: 'Drained',
        window: { schedule: '0 2 * * 6', durationMinutes: 240, timeZone: 'Europe/Berlin' },
      },
    };
    expect(read(raw).spec).toEqual({
      nodeSelector: [{
        labels: [{ key: 'zone', operator: 'In', values: ['a'] }],
        fields: [{ key: 'metadata.name', operator: 'NotIn', values: ['one'] }],
      }],
      stage: 'Drain',
      drainPlan: [entryOf(5000), entryOf(9, 'DaemonSet', 'web')],
      podTypes: ['Default', 'DaemonSet'],
      podSelector: [{ key: 'app', operator: 'In', values: ['web'] }],
      gracePeriodSeconds: 20,
      reason: 'OS upgrade',
      maxNodesAtOnce: { _tag: 'Percent', percent: 25 },
      topologyKey: 'topology.kubernetes.io/zone',
      releaseWhen: 'Drained',
      window: { schedule: '0 2 * * 6', durationMinutes: 240, timeZone: 'Europe/Berlin' },
    });
    expect(read({ spec: { maxNodesAtOnce: 3 } }).spec.maxNodesAtOnce)
      .toEqual({ _tag: 'Number', nodes: 3 });
  });

  test('NM-26: a selector of pods that cannot be read selects none of them', () => {
    const scopeOf = (podSelector: object) =>
      read({ spec: { podSelector } }).spec.podSelector?.every((condition) =>
        labelsHold(condition, { app: 'web' })
      );
    expect(scopeOf({ matchExpressions: [{ key: 'app', operator: 'Gt' }] })).toBe(false);
    expect(scopeOf({ matchLabels: { app: 'web' } })).toBe(true);
    expect(read({ spec: { podSelector: {} } }).spec.podSelector).toBeNull();
  });

  test('shows whether our finalizer holds it, and its deletion', () => {
    expect(read({}, { finalizers: ['a/b'] })).toMatchObject({
      hasFinalizer: false,
      deleting: false,
    });
    const deleted = read({}, {
      finalizers: ['a/b', 'lifecycle.tidegate.dev/maintenance-completion'],
      deletionTimestamp: '2026-05-01T10:00:00Z',
      creationTimestamp: '2026-05-01T09:00:00Z',
    });
    expect(deleted).toMatchObject({
      hasFinalizer: true,
      deleting: true,
      createdMs: Date.UTC(2026, 4, 1, 9),
    });
  });

  test('NM-39: shows the targets of its nodes and the cursor of its waves', () => {
    const status = {
      observedGeneration: 2,
      stageStatuses: [
        { name: 'Cordon', startTimestamp: '2026-05-01T10:00:00Z' },
        { name: 'Pause' },
      ],
      nodeStatuses: [
        {
          nodeRef: { name: 'one' },
          state: 'Admitted',
          wave: 2,
          bootID: 'b-1',
          drainTargets: [{ podPriority: 5000, podType: 'Default' }],
          drainMessage: 'Evacuating',
          podsPendingEvacuation: 100,
          podsEvacuating: 10,
        },
        {
          nodeRef: { name: 'two' },
          yieldsTo: { owner: 'maintenance-123456789abc', node: 'one' },
        },
        {},
      ],
      waves: [{ number: 2, entriesDone: 1 }, {}],
      progress: '3/12',
      conditions: [
        { type: 'Drained', status: 'False', reason: 'Draining', message: 'm' },
        { type: 'Other', status: 'True' },
      ],
    };
    expect(read({ status }).status).toEqual({
      observedGeneration: 2,
      stages: [{ name: 'Cordon', startMs: Date.UTC(2026, 4, 1, 10) }],
      nodes: [{
        name: 'one',
        state: 'Admitted',
        wave: 2,
        bootId: 'b-1',
        drainTargets: [entryOf(5000)],
        drainMessage: 'Evacuating',
        podsPendingEvacuation: 100,
        podsEvacuating: 10,
        yieldsTo: null,
      }, {
        name: 'two',
        state: 'Waiting',
        wave: 0,
        bootId: '',
        drainTargets: [],
        drainMessage: '',
        podsPendingEvacuation: 0,
        podsEvacuating: 0,
        yieldsTo: { owner: 'maintenance-123456789abc', node: 'one' },
      }],
      waves: [{ number: 2, entriesDone: 1 }],
      progress: '3/12',
      preview: null,
      conditions: [
        { type: 'Drained', status: 'False', reason: 'Draining', message: 'm', sinceMs: 0 },
      ],
    });
  });

  test('keeps no more than its bounds', () => {
    const many = (length: number, item: object) => Array.from({ length }, () => item);
    const { spec, status } = read({
      spec: {
        nodeSelector: {
          nodeSelectorTerms: many(20, { matchExpressions: [{ key: 'a', operator: 'Exists' }] }),
        },
        drainPlan: many(50, { podPriority: 1 }),
        reason: 'x'.repeat(5000),
      },
      status: {
        preview: {
          entries: many(100, { podPriority: 1, podType: 'Default', pods: 1 }),
          findings: many(50, { reason: 'LocalData', message: 'x'.repeat(5000), pods: 1 }),
        },
        nodeStatuses: many(1100, {
          nodeRef: { name: 'n' },
          drainMessage: 'x'.repeat(5000),
          drainTargets: many(100, { podPriority: 1 }),
        }),
      },
    });
    expect(spec.nodeSelector).toHaveLength(10);
    expect(spec.drainPlan).toHaveLength(32);
    expect(spec.reason).toHaveLength(1024);
    expect(status.preview?.entries).toHaveLength(64);
    expect(status.preview?.findings).toHaveLength(20);
    expect(status.preview?.findings[0]?.message).toHaveLength(1024);
    expect(status.nodes).toHaveLength(1000);
    expect(status.nodes[0]?.drainTargets).toHaveLength(64);
    expect(status.nodes[0]?.drainMessage).toHaveLength(1024);
  });

  test('is absent without an identity, and reading never throws', () => {
    expect(projectMaintenance({ spec: {} })).toBeUndefined();
    fc.assert(fc.property(fc.anything(), fc.anything(), (spec, status) => {
      projectMaintenance(spec);
      projectMaintenance({ metadata: METADATA, spec, status });
      projectMaintenance({
        metadata: METADATA,
        status: {
          nodeStatuses: [status, spec],
          preview: { entries: [status, spec], findings: [status, spec] },
        },
      });
    }));
  });
});
