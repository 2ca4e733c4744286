/**
 * `drain status`: drains computed from the cluster.
 *
 * `UPDATE_GOLDEN=1` records the table anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drainEvents } from '../../../src/actors/node-drains/drain-events.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { remainingSentence } from '../../../src/domain/drain/blocker.ts';
import { projectBudget } from '../../../src/domain/drain/budget.ts';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import { projectPod } from '../../../src/domain/drain/pod.ts';
import { blockedText } from '../../../src/domain/drain/verdict.ts';
import { nodeFactsOf, projectNodeEvent } from '../../../src/view/drain-facts.ts';
import { drainOn, hasDrain, ownersOf } from '../../../src/view/drain-owner.ts';
import { statusColumns } from '../../../src/view/drain-status-table.ts';
import { drainStatus } from '../../../src/view/drain-status.ts';
import { explainNode } from '../../../src/view/explain-node.ts';
import { explanationText } from '../../../src/view/explanation-text.ts';
import { tableText } from '../../../src/view/table.ts';
import { budgetOf, podOf } from '../../support/drains/drain-facts.ts';
import { observedRequest } from '../../support/eviction-requests/request-fixture.ts';
import {
  SCENE_NOW_MS,
  sceneAnnotation,
  sceneEvent,
  sceneMachine,
  sceneNode,
  sceneOfNode,
} from '../../support/drains/drain-scene.ts';

const GOLDEN = new URL('golden/drain-status.txt', import.meta.url);
const CLOSED = budgetOf({ status: { currentHealthy: 2, desiredHealthy: 2 } });
const NEVER = budgetOf({ status: { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 } });
const terminating = { deletion: '2026-03-01T12:00:20Z', deletionGraceSeconds: 30 };

describe('the state of a node', () => {
  test.each([
    ['Draining', {}],
    ['Paused', { paused: true }],
    ['Overdue', { cordons: { reclaim: sceneAnnotation({ deadlineMs: SCENE_NOW_MS - 1 }) } }],
    ['Cancelling', { unschedulable: false }],
    ['Drained', { cordons: { reclaim: sceneAnnotation({ ended: 'Drained' as const }) } }],
    ['Failed', { cordons: { reclaim: sceneAnnotation({ ended: 'Failed' as const }) } }],
    ['Cancelled', { cordons: { reclaim: sceneAnnotation({ ended: 'Cancelled' as const }) } }],
    ['Cordoned', { cordons: { person: sceneAnnotation() } }],
    ['Cordoned', { cordons: {} }],
    ['Schedulable', { cordons: {}, unschedulable: false }],
  ])('is %s: %j', (state, node) => {
    expect(drainStatus(sceneOfNode({ node })).state).toBe(state);
  });

  test('an owner that still drains comes before one that has finished', () => {
    const node = sceneNode({
      cordons: {
        person: sceneAnnotation(),
        reclaim: sceneAnnotation({ ended: 'Drained' }),
        'maintenance-0123456789ab': sceneAnnotation({ ids: ['m-1'] }),
      },
    });
    expect(drainOn({ node, maintenances: new Map() })?.annotation.ids).toEqual(['m-1']);
    expect(ownersOf(node)).toEqual(['reclaim', 'maintenance-0123456789ab', 'person']);
  });

  test('DR-01: a key of another version counts as a drain and is not read', () => {
    const node = sceneNode({ cordons: { reclaim: '{"v":2}' } });
    expect(hasDrain(node)).toBe(true);
    expect(drainOn({ node, maintenances: new Map() })).toBeUndefined();
    expect(ownersOf(node)).toEqual(['reclaim']);
  });

  test('a cordon by a person is no drain', () => {
    expect(hasDrain(sceneNode({ cordons: { person: sceneAnnotation() } }))).toBe(false);
  });
});

describe('the pods of a drain', () => {
  test.each(
    [
      ['WaitingForInterceptor', 'surge.tidegate.dev', ['reclaim.tidegate.dev']],
      ['BudgetNeverAllows', 'imperative-eviction.k8s.io', ['reclaim.tidegate.dev']],
      ['BudgetNeverAllows', 'surge.tidegate.dev', []],
    ] as const,
  )('wait for %s while %s is active for %j', (reason, active, requesters) => {
    const request = observedRequest({
      requesters,
      status: {
        targetInterceptors: [{ name: active }],
        activeInterceptors: [active],
        interceptors: [{ name: active, message: 'Raised from 1 to 2 replicas' }],
      },
    });
    const pod = podOf({ name: 'asked', uid: request.pod.uid });
    const { blockers, waits } = drainStatus(
      sceneOfNode({ pods: [pod], budgets: [NEVER], evictionRequests: [request] }),
    );
    const [first] = [...blockers, ...waits];
    expect(first?.reason).toBe(reason);
    if (reason === 'WaitingForInterceptor') expect(first?.text).toContain('from 1 to 2 replicas');
  });

  test('DR-20: a pod that came back past the cordon is shown with its reason, and not counted', () => {
    const pods = [
      podOf({
        name: 'again',
        tolerations: [{ operator: 'Exists' }],
        created: '2099-01-01T00:00:00Z',
      }),
    ];
    const { pods: counts, blockers } = drainStatus(sceneOfNode({ pods }));
    expect(counts).toEqual({ left: 0, leaving: 0, blocked: 0 });
    expect(blockers).toMatchObject([{ reason: 'ToleratesCordon', pods: ['ns/again'] }]);
  });

  test('DR-43: a terminating pod counts as evicted', () => {
    const pods = [podOf({ name: 'a', ...terminating }), podOf({ name: 'b' })];
    expect(drainStatus(sceneOfNode({ pods })).pods).toEqual({ left: 2, leaving: 1, blocked: 0 });
  });

  test('DR-20: staying and finished pods are not counted', () => {
    const pods = [
      podOf({ name: 'ds', controller: { kind: 'DaemonSet', name: 'log' } }),
      podOf({ name: 'job', phase: 'Succeeded' }),
      podOf({ name: 'mirror', annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    ];
    expect(drainStatus(sceneOfNode({ pods })).pods.left).toBe(0);
  });

  test('pods that one budget blocks are one blocker, with who can act', () => {
    const pods = [podOf({ name: 'a' }), podOf({ name: 'b' })];
    const status = drainStatus(sceneOfNode({ pods, budgets: [CLOSED] }));
    expect(status.blockers).toEqual([{
      reason: 'BlockedByBudget',
      text: 'budget ns/db allows 0 disruptions: 2 healthy, 2 required',
      canAct: 'application',
      change: 'Make 1 more pod of the budget healthy, add replicas, or relax the budget: ' +
        'kubectl -n ns describe pdb db',
      runbook: 'blocked-by-budget',
      pods: ['ns/a', 'ns/b'],
    }]);
    expect(status.budgets).toEqual([
      { budget: 'ns/db', allowed: 0, healthy: 2, desired: 2, waiting: 2 },
    ]);
  });

  test('DR-43: a blocker that the UpcomingNode shows outlives its Event', () => {
    const blocked = [
      {
        blocker: { reason: 'PolicyRefused', text: 'refused by p: no | way', subject: 'p' } as const,
        pods: ['ns/a'],
      },
      {
        blocker: { reason: 'EvictionForbidden', text: 'cannot create', subject: '' } as const,
        pods: ['ns/b', 'ns/c'],
      },
    ];
    const machine = { ...sceneMachine(blockedText(blocked)), phase: 'Draining' as const };
    const pods = ['a', 'b', 'c'].map((name) => podOf({ name }));
    const status = drainStatus(sceneOfNode({ pods, machines: [machine] }));
    expect(status.blockers).toMatchObject([
      { reason: 'PolicyRefused', text: 'refused by p: no | way', pods: ['ns/a'] },
      { reason: 'EvictionForbidden', text: 'cannot create', pods: ['ns/b', 'ns/c'] },
    ]);
    expect(status.lastError).toBeNull();
  });

  test('DR-34: a slot held by an eviction on another node is named, with its end', () => {
    const disruptedPods = { far: '2026-03-01T11:59:00Z' };
    const budget = budgetOf({ status: { currentHealthy: 2, desiredHealthy: 2, disruptedPods } });
    const pods = [podOf({ name: 'a' }), podOf({ name: 'far', node: 'n2' })];
    expect(drainStatus(sceneOfNode({ pods, budgets: [budget] })).blockers).toMatchObject([{
      reason: 'SlotHeldByInterruptedEviction',
      text: expect.stringContaining('2026-03-01T12:01:00Z'),
      pods: ['ns/a'],
    }]);
  });

  test('DR-21: a tier that waits for an earlier one is shown as waiting', () => {
    const pods = [podOf({ name: 'low', ...terminating }), podOf({ name: 'high', priority: 9 })];
    const { tiers } = drainStatus(sceneOfNode({ pods }));
    expect(tiers).toEqual([
      { priority: 0, started: true, left: 1, leaving: 1, blocked: 0 },
      { priority: 9, started: false, left: 1, leaving: 0, blocked: 0 },
    ]);
  });

  test('DR-21: a tier without progress for the tier wait lets the next one start', () => {
    const pods = [podOf({ name: 'low' }), podOf({ name: 'high', priority: 9 })];
    const { tiers } = drainStatus(sceneOfNode({ pods, budgets: [CLOSED] }));
    expect(tiers.map(({ started }) => started)).toEqual([true, true]);
  });

  test('DR-20: the own pod of the operator is the last tier', () => {
    const pods = [podOf({ name: 'me' }), podOf({ name: 'other', priority: 9 })];
    const own = { namespace: 'ns', name: 'me' };
    expect(drainStatus(sceneOfNode({ pods, own })).tiers.map(({ priority }) => priority))
      .toEqual([9, null]);
  });

  test('DR-44: an unresponsive kubelet blocks every pod', () => {
    const pods = [podOf({ name: 'a' }), podOf({ name: 'b', ...terminating })];
    const status = drainStatus(sceneOfNode({ pods, node: { ready: 'Unknown' } }));
    expect(status.blockers).toMatchObject([{
      reason: 'KubeletSilent',
      pods: ['ns/a', 'ns/b'],
      canAct: 'provider',
    }]);
  });

  test('DR-45: a paused drain is shown as paused', () => {
    const status = drainStatus(sceneOfNode({ pods: [podOf()], node: { paused: true } }));
    expect(status).toMatchObject({ state: 'Paused', blockers: [{ reason: 'DrainPaused' }] });
  });

  test('a pod of a terminating namespace leaves on its own', () => {
    const status = drainStatus(
      sceneOfNode({ pods: [podOf()], budgets: [CLOSED], terminatingNamespaces: ['ns'] }),
    );
    expect(status.pods).toEqual({ left: 1, leaving: 0, blocked: 0 });
  });
});

describe('facts that only the operator has', () => {
  const reported = (note: string, secondsAgo = 30) =>
    drainStatus(sceneOfNode({
      pods: [podOf({ name: 'web-1' })],
      events: [sceneEvent('PolicyRefused', note, { secondsAgo })],
    })).blockers;

  test('DR-43: the newest Event that names a pod explains it', () => {
    expect(reported('ns/web-1 (refused by guard: no)')).toMatchObject([{
      reason: 'PolicyRefused',
      text: 'refused by guard: no',
      pods: ['ns/web-1'],
    }]);
  });

  test('DR-42: the Event of a drain explains the pods that it names, and the rest', () => {
    const pods = Array.from({ length: 7 }, (_, at) => podOf({ name: `p${at}`, labels: {} }));
    const text = 'refused by guard: no (not today)';
    const notes: EventNote[] = [];
    drainEvents(silentTelemetry, (note) => notes.push(note)).blocked({ name: 'n1', uid: 'u' }, {
      blocker: { reason: 'PolicyRefused', text, subject: 'guard' },
      pods: pods.map(({ key }) => key),
    }, new Set());
    const events = notes.map(({ reason, note }) => sceneEvent(reason, note));
    expect(drainStatus(sceneOfNode({ pods, events })).blockers).toMatchObject([{
      reason: 'PolicyRefused',
      text,
      pods: pods.map(({ key }) => key),
    }]);
  });

  test('DR-41: the Event of a failed drain explains why each pod remained', () => {
    const pods = [podOf({ name: 'web-1', labels: {} })];
    const lastError = remainingSentence([
      { key: 'ns/web-1', text: 'pods/eviction is forbidden (create)' },
      { key: 'ns/web-2', text: '' },
    ]);
    const events = [sceneEvent('EvictionForbidden', `Cannot empty the node: ${lastError}`)];
    expect(drainStatus(sceneOfNode({ pods, events })).blockers).toMatchObject([{
      reason: 'EvictionForbidden',
      text: 'pods/eviction is forbidden (create)',
    }]);
  });

  test('DR-45: a pause by a flag is known from its Event', () => {
    const status = drainStatus(sceneOfNode({
      pods: [podOf({ name: 'web-1' })],
      events: [sceneEvent('DrainPaused', 'Cannot evict ns/web-1 (the drain is paused)')],
    }));
    expect(status).toMatchObject({ state: 'Paused', blockers: [{ reason: 'DrainPaused' }] });
  });

  test('an Event about a pod with a longer name is ignored', () => {
    expect(reported('ns/web-12 (refused by guard: no)')).toEqual([]);
    expect(reported('other-ns/web-1 (refused by guard: no)')).toEqual([]);
  });

  test('DR-08: an Event of another reporter is ignored', () => {
    const note = 'ns/web-1 (refused by guard: no)';
    const events = [sceneEvent('PolicyRefused', note, { reporter: 'kubelet' })];
    const pods = [podOf({ name: 'web-1' })];
    expect(drainStatus(sceneOfNode({ pods, events })).blockers).toEqual([]);
    const paused = sceneEvent('DrainPaused', 'Cannot evict ns/web-1 (the drain is paused)', {
      reporter: 'kubelet',
    });
    expect(drainStatus(sceneOfNode({ pods, events: [paused] })).state).toBe('Draining');
  });

  test('an Event from before the cordon is ignored', () => {
    expect(reported('ns/web-1 (refused by guard: no)', 600)).toEqual([]);
  });

  test('a pod that the cluster explains needs no Event', () => {
    const status = drainStatus(sceneOfNode({
      pods: [podOf({ name: 'web-1' })],
      budgets: [CLOSED],
      events: [sceneEvent('PolicyRefused', 'ns/web-1 (refused by guard: no)')],
    }));
    expect(status.blockers).toMatchObject([{ reason: 'BlockedByBudget' }]);
  });
});

describe('the table of drains', () => {
  const rows = [
    drainStatus(sceneOfNode({
      pods: [podOf({ name: 'a' }), podOf({ name: 'b' }), podOf({ name: 'c', priority: 1000 })],
      budgets: [CLOSED],
    })),
    drainStatus(sceneOfNode({
      node: { name: 'n2', cordons: { reclaim: sceneAnnotation({ ids: ['i-8', 'i-9'] }) } },
      pods: [podOf({ name: 'd', node: 'n2', ...terminating })],
    })),
    drainStatus(sceneOfNode({
      node: {
        cordons: { reclaim: sceneAnnotation({ ended: 'Failed' }), person: sceneAnnotation() },
      },
      machines: [sceneMachine('1 pod remains: ns/x (two\nbudgets)')],
    })),
  ];

  test('shows one line for each node', () => {
    const text = tableText(statusColumns(SCENE_NOW_MS, false), rows);
    if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  test('-o wide adds the deadline, tiers and budgets', () => {
    const lines = tableText(statusColumns(SCENE_NOW_MS, true), rows).split('\n');
    expect(lines[0]).toContain(
      'DEADLINE               TIERS(LEFT/LEAVING/BLOCKED)   BUDGETS(FREE/WAITING)   FORECAST   BLOCKER',
    );
    expect(lines[1]).toContain('2026-03-01T12:08:00Z   0:2/0/2,1000:1/0/1');
    expect(lines[1]).toContain(' ns/db:0/3 ');
  });

  test('a passed deadline has a minus', () => {
    const node = { cordons: { reclaim: sceneAnnotation({ deadlineMs: SCENE_NOW_MS - 75_000 }) } };
    const text = tableText(statusColumns(SCENE_NOW_MS, false), [
      drainStatus(sceneOfNode({ node })),
    ]);
    expect(text).toContain(' -1m15s ');
  });
});

test('any JSON has a status, a line and an explanation', () => {
  const object = fc.record({
    metadata: fc.record({
      name: fc.constant('n1'),
      namespace: fc.constantFrom('ns', 'other'),
      uid: fc.string(),
      resourceVersion: fc.string(),
      annotations: fc.dictionary(
        fc.constantFrom('cordon.tidegate.dev/reclaim', 'tidegate.dev/pause'),
        fc.oneof(fc.string(), fc.constantFrom('{"v":1}', '{"v":1,"deadline":"2026-03-01"}')),
      ),
    }),
    spec: fc.jsonValue(),
    status: fc.jsonValue(),
    regarding: fc.jsonValue(),
  });
  const some = fc.array(object, { maxLength: 3 });
  fc.assert(
    fc.property(some, some, some, some, (nodes, pods, budgets, events) => {
      const scene = {
        nodes: nodes.flatMap((raw) => projectDrainedNode(raw) ?? []),
        pods: pods.flatMap((raw) => projectPod(raw) ?? []).map((pod) => ({ ...pod, node: 'n1' })),
        budgets: budgets.flatMap((raw) => projectBudget(raw) ?? []),
        events: events.flatMap((raw) => projectNodeEvent(raw) ?? []),
        machines: [],
        terminatingNamespaces: [],
        own: null,
        nowMs: SCENE_NOW_MS,
      };
      const facts = nodeFactsOf(scene);
      tableText(statusColumns(SCENE_NOW_MS, true), facts.map(drainStatus));
      for (const one of facts) {
        explanationText(explainNode(one), { nowMs: SCENE_NOW_MS, colors: false });
      }
    }),
    { numRuns: 500 },
  );
});
