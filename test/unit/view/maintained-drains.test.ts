/**
 * Nodes that NodeMaintenances hold, in `drain status`, `explain node` and `explain pod`.
 *
 * Regression: the maintenance of a key was not read, so that a node that it only cordoned counted
 * as drained, with blocked pods; pods of DaemonSets did not count, and pods that its `podSelector`
 * leaves alone did.
 */
import { describe, expect, test } from 'vitest';
import type { CordonAnnotation } from '../../../src/domain/drain/cordon.ts';
import type { DrainPod } from '../../../src/domain/drain/pod.ts';
import { drainStatus } from '../../../src/view/drain-status.ts';
import { explainNode } from '../../../src/view/explain-node.ts';
import { explainPod } from '../../../src/view/explain-pod.ts';
import { budgetOf, podOf } from '../../support/drains/drain-facts.ts';
import { SCENE_NOW_MS, sceneAnnotation, sceneOfNode } from '../../support/drains/drain-scene.ts';
import {
  maintenanceOf,
  type MaintenanceTraits,
  nodeRaw,
} from '../../support/node-maintenance/maintenance-fixture.ts';

const UID = '01234567-89ab-cdef-0123-456789abcdef';
const OWNER = 'maintenance-0123456789ab';
const NEVER = budgetOf({
  spec: { minAvailable: undefined, maxUnavailable: 0 },
  status: { currentHealthy: 4, desiredHealthy: 4 },
});
const WEB = podOf({ name: 'web' });
const BATCH = podOf({ name: 'batch', labels: { app: 'batch' } });
const AGENT = podOf({
  name: 'agent',
  labels: {},
  controller: { kind: 'DaemonSet', name: 'agent' },
});
/** Targets that select all pods. */
const ALL_TARGETS = ['Default', 'DaemonSet'].map((podType) => ({
  podType,
  podPriority: 2_000_001_000,
}));
const BATCH_TARGETS = [{
  podType: 'Default',
  podPriority: 2_000_001_000,
  podSelector: { matchLabels: { app: 'batch' } },
}];

const key = (traits: Partial<CordonAnnotation> = {}): CordonAnnotation =>
  sceneAnnotation({ ids: ['kernel@1'], deadlineMs: null, graceSeconds: 0, ...traits });

interface Scene extends MaintenanceTraits {
  readonly pods: readonly DrainPod[];
  readonly targets?: readonly object[];
  /** Keys besides that of the maintenance. */
  readonly others?: Readonly<Record<string, CordonAnnotation>>;
  readonly own?: CordonAnnotation;
  readonly isKnown?: boolean;
}

const held = (
  { pods, targets = ALL_TARGETS, others = {}, own = key(), isKnown = true, ...traits }: Scene,
) => {
  const nodes = [nodeRaw('n1', { drainTargets: targets })];
  return sceneOfNode({
    node: { cordons: { [OWNER]: own, ...others } },
    pods,
    budgets: [NEVER],
    maintenances: isKnown
      ? [maintenanceOf('1', { stage: 'Drain', uid: UID, nodes, ...traits })]
      : [],
  });
};

const explainedPod = (name: string, scene: Scene) =>
  explainPod({
    pod: { metadata: { name, namespace: 'ns' }, spec: { nodeName: 'n1' } },
    requests: { items: [] },
    events: [],
    leases: undefined,
    drained: held(scene),
    nowMs: SCENE_NOW_MS,
  });

describe('a maintenance that only cordons', () => {
  test('NM-13: its node is Cordoned, nothing blocks it, and no budget is to be changed', () => {
    const facts = held({ stage: 'Cordon', targets: [], pods: [WEB, AGENT] });
    expect(drainStatus(facts)).toMatchObject({
      state: 'Cordoned',
      owners: [OWNER],
      pods: { left: 1, leaving: 0, blocked: 0 },
      blockers: [],
      waits: [],
      budgets: [],
      tiers: [],
      verdict: { reason: 'NotDraining', severity: 'Ok' },
    });
    const { why, waitsFor, action } = explainNode(facts);
    expect(why).toBe(
      'The NodeMaintenance "kernel" only cordons the node; Tidegate evicts no pods',
    );
    expect(waitsFor).toBe('Its NodeMaintenance to drain the node, or to release it');
    expect(action).toContain('tidegate maintenance drain kernel');
    expect(action).not.toContain('kubectl');
  });

  test('NM-13: its pods need not leave', () => {
    const { why } = explainedPod('web', { stage: 'Cordon', targets: [], pods: [WEB] });
    expect(why).not.toContain('must leave');
  });

  test.each(
    [
      { stage: 'Complete' },
      { stage: 'Drain', isDeleting: true },
    ] as const,
  )('NM-09: one that ends, %j, drains its node no more', (traits) => {
    const status = drainStatus(held({ ...traits, pods: [WEB] }));
    expect(status).toMatchObject({ state: 'Cordoned', blockers: [] });
    expect(status.verdict.sentence).toContain('"kernel" is about to release the node');
  });

  test('another owner that drains the node is shown, and comes first', () => {
    const other = 'maintenance-ffffffffffff';
    const facts = held({ stage: 'Cordon', pods: [WEB], others: { [other]: key() } });
    expect(drainStatus(facts)).toMatchObject({
      state: 'Draining',
      owners: [other, OWNER],
      pods: { left: 1, leaving: 0, blocked: 1 },
    });
    const ended = sceneAnnotation({ ended: 'Drained' });
    const reclaimed = held({ stage: 'Cordon', pods: [], others: { reclaim: ended } });
    expect(drainStatus(reclaimed)).toMatchObject({ state: 'Drained', owners: ['reclaim', OWNER] });
  });

  test('a disabled node keeps its data, although a maintenance cordons it, too', () => {
    const volumes = [{ name: 'disk', hostPath: { path: '/d' } }];
    const kept = podOf({ name: 'kept', volumes });
    const disabled = sceneAnnotation({ deadlineMs: null });
    expect(drainStatus(held({ stage: 'Cordon', pods: [kept], others: { disabled } })).blockers)
      .toMatchObject([{ reason: 'StatefulLocalVolume', pods: ['ns/kept'] }]);
  });
});

describe('a maintenance that drains', () => {
  test('NM-41: pods of DaemonSets count, by default', () => {
    const facts = held({ pods: [AGENT] });
    expect(drainStatus(facts)).toMatchObject({
      state: 'Draining',
      pods: { left: 1, leaving: 0, blocked: 0 },
      tiers: [{ left: 1 }],
    });
    expect(explainNode(facts).waitsFor).not.toContain('record the end');
    expect(explainedPod('agent', { pods: [AGENT] }).why).toContain('It must leave the node "n1"');
  });

  test('NM-46: a pod that came to the cordoned node before the drain has not come back', () => {
    const own = key({ sinceMs: Date.parse('2025-12-01T00:00:00Z') });
    const left = (created: string) => {
      const tolerations = [{ operator: 'Exists' }];
      const controller = { kind: 'DaemonSet', name: 'agent' };
      const pods = [podOf({ name: 'agent', tolerations, controller, created })];
      // The stage Drain started with the year.
      return drainStatus(held({ own, pods, started: ['Cordon', 'Drain'] })).pods.left;
    };
    expect(left('2025-12-15T00:00:00Z')).toBe(1);
    expect(left('2026-02-01T00:00:00Z')).toBe(0);
  });

  test('NM-41: pods that its selector leaves alone are not counted, and block nothing', () => {
    const spec = { podTypes: ['Default'], podSelector: { matchLabels: { app: 'batch' } } };
    const facts = held({ spec, pods: [WEB, BATCH, AGENT] });
    expect(drainStatus(facts)).toMatchObject({
      state: 'Draining',
      pods: { left: 1, leaving: 0, blocked: 0 },
      blockers: [],
      budgets: [],
      waits: [{ reason: 'WaitingForTurn', pods: ['ns/batch'] }],
    });
    expect(explainedPod('web', { spec, pods: [WEB, BATCH] }).why).not.toContain('must leave');
  });

  test('NM-31: pods that its plan has not reached wait, and are in no tier', () => {
    expect(drainStatus(held({ targets: BATCH_TARGETS, pods: [WEB, BATCH] }))).toMatchObject({
      pods: { left: 2, leaving: 0, blocked: 0 },
      blockers: [],
      tiers: [{ left: 1 }],
      waits: [
        { reason: 'WaitingForTurn', pods: ['ns/batch'] },
        { reason: 'WaitingForTier', pods: ['ns/web'] },
      ],
      verdict: { reason: 'DrainStarted' },
    });
    const alone = held({ targets: BATCH_TARGETS, pods: [WEB] });
    const text = '1 pod waits: the plan of NodeMaintenance "kernel" has not reached it (ns/web)';
    expect(drainStatus(alone).verdict)
      .toMatchObject({ reason: 'WaitingForTurn', sentence: text, canAct: 'nobody' });
    expect(explainNode(alone).waitsFor).toBe(text);
  });

  test('a pod of it that a budget never lets go is blocked', () => {
    expect(drainStatus(held({ pods: [WEB, AGENT] }))).toMatchObject({
      pods: { left: 2, leaving: 0, blocked: 1 },
      blockers: [{ reason: 'BudgetNeverAllows', pods: ['ns/web'] }],
    });
  });

  test('without permission to read it, all pods but those of DaemonSets count', () => {
    expect(drainStatus(held({ isKnown: false, stage: 'Cordon', pods: [WEB, AGENT] })))
      .toMatchObject({
        state: 'Draining',
        pods: { left: 1, leaving: 0, blocked: 1 },
      });
  });
});
