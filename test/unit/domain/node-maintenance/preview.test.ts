/** What a NodeMaintenance would meet if it drained its nodes now. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asRecord } from '../../../../src/domain/json.ts';
import type { Budget } from '../../../../src/domain/drain/budget.ts';
import type { DrainPod } from '../../../../src/domain/drain/pod.ts';
import {
  type DrainPlanEntry,
  effectivePlan,
  entrySelects,
} from '../../../../src/domain/node-maintenance/drain-plan.ts';
import { POD_TYPES } from '../../../../src/domain/node-maintenance/typed-pods.ts';
import {
  type MaintenancePreview,
  maintenancePreview,
  previewBody,
  previewOf as readPreview,
} from '../../../../src/domain/node-maintenance/preview.ts';
import { budgetOf } from '../../../support/drains/drain-facts.ts';
import { entryOf, podOfType, targetsText } from '../../../support/node-maintenance/plan-runs.ts';

const podsOfApp = (app: string, count: number, priority = 0): readonly DrainPod[] =>
  Array.from({ length: count }, () => podOfType('Default', { priority, labels: { app } }));

/** A budget of an app whose pods are all healthy. */
const budgetFor = (app: string, expectedPods: number, maxUnavailable: number): Budget =>
  budgetOf({
    name: app,
    selector: { matchLabels: { app } },
    spec: { minAvailable: undefined, maxUnavailable },
    status: {
      expectedPods,
      currentHealthy: expectedPods,
      desiredHealthy: expectedPods - maxUnavailable,
      disruptionsAllowed: maxUnavailable,
    },
  });

const EVERYTHING = { scope: { podTypes: POD_TYPES, podSelector: null }, graceSeconds: null };

const PLAN = effectivePlan([entryOf(1000)], POD_TYPES);

const previewOf = (
  pods: readonly DrainPod[],
  budgets: readonly Budget[] = [],
  plan: readonly DrainPlanEntry[] = PLAN,
): MaintenancePreview =>
  maintenancePreview({ podsByNode: new Map([['one', pods]]), plan, budgets, ...EVERYTHING });

const entriesText = ({ entries }: MaintenancePreview): readonly string[] =>
  entries.map(({ entry, pods }) => `${targetsText([entry])}: ${pods}`);

describe('the preview of a maintenance', () => {
  test('counts nodes, and each pod at the first entry that selects it', () => {
    const pods = [
      ...podsOfApp('web', 3, 1000),
      ...podsOfApp('web', 2, 1001),
      podOfType('DaemonSet'),
      podOfType('Static'),
      podOfType('Default', { phase: 'Succeeded' }),
    ];
    const preview = maintenancePreview({
      podsByNode: new Map([['one', pods], ['two', podsOfApp('web', 1, 1)]]),
      plan: PLAN,
      budgets: [],
      ...EVERYTHING,
    });
    expect(preview).toMatchObject({ nodes: 2, staticPods: 1, findings: [] });
    expect(entriesText(preview)).toEqual(['1000: 4', '1000000000: 2', 'DaemonSet 1000000000: 1']);
  });

  test('leaves out pods of types that stay', () => {
    const plan = effectivePlan([], ['Default']);
    expect(entriesText(previewOf([podOfType('DaemonSet'), ...podsOfApp('web', 1)], [], plan)))
      .toEqual(['1000000000: 1']);
  });

  test('leaves out pods of labels that stay', () => {
    const preview = maintenancePreview({
      podsByNode: new Map([['one', [...podsOfApp('web', 2), ...podsOfApp('db', 1)]]]),
      plan: PLAN,
      budgets: [budgetFor('db', 1, 0)],
      ...EVERYTHING,
      scope: {
        podTypes: POD_TYPES,
        podSelector: [{ key: 'app', operator: 'NotIn', values: ['db'] }],
      },
    });
    expect(entriesText(preview)).toEqual(['1000: 2']);
    expect(preview).toMatchObject({ findings: [], rounds: 1 });
  });

  test('a grace of the maintenance takes the place of that of its pods', () => {
    const facts = {
      podsByNode: new Map([['one', podsOfApp('web', 2)]]),
      plan: PLAN,
      budgets: [budgetFor('web', 2, 1)],
      ...EVERYTHING,
    };
    expect(maintenancePreview(facts).terminationSeconds).toBe(60);
    expect(maintenancePreview({ ...facts, graceSeconds: 5 }).terminationSeconds).toBe(10);
  });

  test('NM-28: finds bare pods and local data, which hold nothing', () => {
    const pods = [
      podOfType('Default', { controller: null, volumes: [{ emptyDir: {} }] }),
      podOfType('Default', { controller: null }),
    ];
    expect(previewOf(pods)).toMatchObject({
      findings: [
        { reason: 'NoController', message: 'no controller recreates them', pods: 2 },
        { reason: 'LocalData', message: 'the content of an emptyDir is lost', pods: 1 },
      ],
      rounds: 1,
      terminationSeconds: 30,
    });
  });

  test('NM-43: names the budgets that hold pods back', () => {
    const closed = budgetFor('db', 3, 0);
    const full = {
      ...budgetFor('web', 3, 1),
      disruptionsAllowed: 0,
      currentHealthy: 2,
      desiredHealthy: 2,
    };
    const { findings, rounds } = previewOf(
      [...podsOfApp('db', 2), ...podsOfApp('web', 1)],
      [closed, full],
    );
    expect(findings).toEqual([
      {
        reason: 'BudgetNeverAllows',
        message: 'budget ns/db never allows an eviction: maxUnavailable is 0',
        pods: 2,
      },
      {
        reason: 'BlockedByBudget',
        message: 'budget ns/web allows 0 disruptions: 2 healthy, 2 required',
        pods: 1,
      },
    ]);
    expect(rounds).toBe(null);
  });

  test('NM-43: names two budgets on one pod', () => {
    const budgets = [budgetFor('web', 3, 1), { ...budgetFor('web', 3, 1), key: budgetOf().key }];
    expect(previewOf(podsOfApp('web', 1), budgets)).toMatchObject({
      findings: [{ reason: 'TwoBudgets', message: 'two budgets: ns/db and ns/web', pods: 1 }],
      rounds: null,
      terminationSeconds: null,
    });
  });

  test('bounds the rounds by the widest opening of each budget', () => {
    const pods = [...podsOfApp('web', 7), ...podsOfApp('db', 2), ...podsOfApp('db', 1, 5000)];
    const budgets = [budgetFor('web', 9, 2), budgetFor('db', 3, 1)];
    expect(previewOf(pods, budgets)).toMatchObject({ rounds: 5, terminationSeconds: 150 });
    expect(previewOf([], budgets)).toMatchObject({ rounds: 0, terminationSeconds: 0 });
  });

  test('is written without what has no bound', () => {
    const plan = effectivePlan([entryOf(1, 'Default', 'db')], ['Default']);
    const preview = previewOf(podsOfApp('db', 2), [budgetFor('db', 2, 0)], plan);
    expect(previewBody(preview)).toEqual({
      nodes: 1,
      entries: [{
        podType: 'Default',
        podPriority: 1,
        podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['db'] }] },
        pods: 2,
      }],
      staticPods: 0,
      findings: preview.findings,
    });
    expect(previewBody(previewOf(podsOfApp('web', 1))))
      .toMatchObject({ rounds: 1, terminationSeconds: 30 });
  });

  test('regards the budgets of its own namespace only', () => {
    const elsewhere = { ...budgetFor('web', 3, 0), namespace: 'elsewhere' };
    expect(previewOf(podsOfApp('web', 1), [elsewhere]).findings).toEqual([]);
  });

  test('keeps the twenty findings with the most pods', () => {
    const apps = Array.from({ length: 30 }, (_, index) => `app-${index}`);
    const { findings } = previewOf(
      apps.flatMap((app, index) => podsOfApp(app, index + 1)),
      apps.map((app) => budgetFor(app, 40, 0)),
    );
    expect(findings.map(({ pods }) => pods))
      .toEqual(Array.from({ length: 20 }, (_, index) => 30 - index));
  });
});

const APPS = ['web', 'db', 'cache'] as const;
const podLists = fc.array(
  fc.tuple(fc.constantFrom(...APPS), fc.integer({ min: 0, max: 3 })),
  { maxLength: 30 },
).map((drawn) =>
  drawn.map(([app, step]) => podOfType('Default', { priority: step * 500, labels: { app } }))
);
const budgetLists = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 3 })
  .map((openings) =>
    openings.flatMap((opening, index) => budgetFor(APPS[index] ?? '', 40, opening))
  );

/** Evicts as many pods a round as the budgets allow, entry by entry; the number of rounds. */
const simulatedRounds = (pods: readonly DrainPod[], budgets: readonly Budget[]): number => {
  let rounds = 0;
  let left = pods;
  for (const entry of PLAN) {
    for (let here = left.filter((pod) => entrySelects(entry, pod)); here.length > 0;) {
      const slots = new Map(budgets.map(({ name, disruptionsAllowed }) => [
        name,
        disruptionsAllowed,
      ]));
      const gone = here.filter((pod) => {
        const free = slots.get(pod.labels['app'] ?? '') ?? Infinity;
        slots.set(pod.labels['app'] ?? '', free - 1);
        return free > 0;
      });
      left = left.filter((pod) => !gone.includes(pod));
      here = here.filter((pod) => !gone.includes(pod));
      rounds += 1;
    }
  }
  return rounds;
};

describe('random previews', () => {
  test('have as many rounds as a drain whose pods are replaced at once', () => {
    fc.assert(fc.property(podLists, budgetLists, (pods, budgets) => {
      const { rounds, terminationSeconds } = previewOf(pods, budgets);
      expect(rounds).toBe(simulatedRounds(pods, budgets));
      expect(terminationSeconds).toBe((rounds ?? 0) * 30);
    }));
  });

  test('are read as they were written', () => {
    fc.assert(fc.property(podLists, budgetLists, fc.boolean(), (pods, budgets, isBlocked) => {
      const plan = effectivePlan([entryOf(500, 'Default', 'web'), entryOf(1000)], POD_TYPES);
      const closed = isBlocked ? [budgetFor('cache', 3, 0)] : [];
      const preview = previewOf(pods, [...budgets, ...closed], plan);
      const written = asRecord(JSON.parse(JSON.stringify(previewBody(preview))));
      expect(readPreview(written)).toEqual(preview);
    }));
  });

  test('count every pod once, in any order', () => {
    fc.assert(fc.property(podLists, budgetLists, (pods, budgets) => {
      const preview = previewOf(pods, budgets);
      expect(preview.entries.reduce((sum, entry) => sum + entry.pods, 0)).toBe(pods.length);
      expect(previewOf(pods.toReversed(), budgets)).toEqual(preview);
    }));
  });
});
