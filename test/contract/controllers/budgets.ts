/** Contract of the simulated controllers: the status of a budget. */
import { expect } from 'vitest';
import { type JsonRecord, recordAt } from '../../../src/domain/json.ts';
import {
  all,
  get,
  includes,
  keep,
  like,
  merge,
  ok,
  patch,
  post,
  refused,
  type Step,
  until,
} from '../steps.ts';
import type { Area } from '../suite.ts';
import { budgeted, homePod, homeWorkload, joined, running } from './nodes.ts';

/** Budgets of three ready pods: how many must stay, and how many may be evicted. */
const ofThree = (
  spec: Readonly<Record<string, unknown>>,
  [desiredHealthy, disruptionsAllowed]: readonly [number, number],
): readonly Step[] => [
  ...running(3),
  ...budgeted(spec, {
    expectedPods: 3,
    currentHealthy: 3,
    desiredHealthy,
    disruptionsAllowed,
    observedGeneration: 1,
  }),
];

const condition = (status: string, reason: string): Step =>
  until(all(
    get('poddisruptionbudgets/b'),
    includes('status.conditions', [
      expect.objectContaining({ type: 'DisruptionAllowed', status, reason }),
    ]),
  ));

const evict = (name: string, wanted: Parameters<typeof post>[2] = 201): Step =>
  post(`pods/${name}/eviction`, { metadata: { name } }, wanted);

const TWO_NAMES: readonly Step[] = [
  get('pods'),
  keep({ one: 'items.0.metadata.name', other: 'items.1.metadata.name' }),
];

/** With a ConfigMap as its controller, whose UID is kept as `uid`. */
const ownedBy = (name: string, workload: JsonRecord): JsonRecord => ({
  ...workload,
  metadata: {
    ...recordAt(workload, 'metadata'),
    ownerReferences: [{
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      uid: '{uid}',
      controller: true,
    }],
  },
});

/** Budgets as the disruption controller keeps them. */
export const controllerBudgets: Area = {
  title: 'Simulated disruption controller',
  cases: {
    'at least 1 of 3': ofThree({ minAvailable: 1 }, [1, 2]),
    'at least 3 of 3': ofThree({ minAvailable: 3 }, [3, 0]),
    'at least 0': ofThree({ minAvailable: 0 }, [0, 3]),
    'at least more than there are': ofThree({ minAvailable: 5 }, [5, 0]),
    'at least half of 3 is 2': ofThree({ minAvailable: '50%' }, [2, 1]),
    'at least a third of 3 is 1': ofThree({ minAvailable: '33%' }, [1, 2]),
    'at least 34 % of 3 is 2': ofThree({ minAvailable: '34%' }, [2, 1]),
    'at least all': ofThree({ minAvailable: '100%' }, [3, 0]),
    'at most 1 of 3': ofThree({ maxUnavailable: 1 }, [2, 1]),
    'at most none': ofThree({ maxUnavailable: 0 }, [3, 0]),
    'at most more than there are': ofThree({ maxUnavailable: 5 }, [0, 3]),
    'at most half of 3 is 2': ofThree({ maxUnavailable: '50%' }, [1, 2]),
    'at most a tenth of 3 is 1': ofThree({ maxUnavailable: '10%' }, [2, 1]),
    'at most 0 % is none': ofThree({ maxUnavailable: '0%' }, [3, 0]),
    'at most all': ofThree({ maxUnavailable: '100%' }, [0, 3]),
    'a budget follows its spec': [
      ...ofThree({ maxUnavailable: 1 }, [2, 1]),
      patch('poddisruptionbudgets/b', merge({ spec: { maxUnavailable: 0 } })),
      until(get(
        'poddisruptionbudgets/b',
        ok({
          status: { observedGeneration: 2, desiredHealthy: 3, disruptionsAllowed: 0 },
        }),
      )),
    ],
    'a budget follows its workload': [
      ...ofThree({ maxUnavailable: '50%' }, [1, 2]),
      patch('deployments/web/scale', merge({ spec: { replicas: 5 } })),
      until(get(
        'poddisruptionbudgets/b',
        ok({
          status: {
            expectedPods: 5,
            currentHealthy: 5,
            desiredHealthy: 2,
            disruptionsAllowed: 3,
            observedGeneration: 1,
          },
        }),
      )),
    ],
    'a StatefulSet that something else owns counts by itself': [
      joined('a'),
      post('configmaps', { metadata: { name: 'database' } }),
      get('configmaps/database'),
      keep({ uid: 'metadata.uid' }),
      post('statefulsets', ownedBy('database', homeWorkload('db', { replicas: 2 }, 'StatefulSet'))),
      until(get('statefulsets/db', ok({ status: { readyReplicas: 2 } }))),
      ...budgeted({ maxUnavailable: 1 }, {
        expectedPods: 2,
        currentHealthy: 2,
        desiredHealthy: 1,
        disruptionsAllowed: 1,
      }),
    ],
    'a budget of nothing allows nothing': [
      ...budgeted({ minAvailable: 1 }, {
        expectedPods: 0,
        currentHealthy: 0,
        desiredHealthy: 1,
        disruptionsAllowed: 0,
      }),
    ],
    'a budget reports allowed disruptions': [
      ...ofThree({ maxUnavailable: 1 }, [2, 1]),
      condition('True', 'SufficientPods'),
    ],
    'a budget reports 0 allowed disruptions': [
      ...ofThree({ maxUnavailable: 0 }, [3, 0]),
      condition('False', 'InsufficientPods'),
    ],
    'pods that are not ready are not healthy': [
      joined('a'),
      homePod('one'),
      homePod('two', { nodeSelector: { of: 'nowhere' } }),
      ...budgeted({ minAvailable: 1 }, {
        expectedPods: 2,
        currentHealthy: 1,
        desiredHealthy: 1,
        disruptionsAllowed: 0,
      }),
    ],
    'pods without a controller count under an absolute minAvailable': [
      joined('a'),
      homePod('one'),
      homePod('two'),
      ...budgeted({ minAvailable: 1 }, {
        expectedPods: 2,
        currentHealthy: 2,
        disruptionsAllowed: 1,
      }),
    ],
    'pods without a controller do not count under maxUnavailable': [
      joined('a'),
      homePod('one'),
      ...budgeted({ maxUnavailable: 1 }, { expectedPods: 0, disruptionsAllowed: 0 }),
      condition('False', 'InsufficientPods'),
    ],
    'a charged slot is free again when its pod is replaced': [
      joined('a'),
      // A StatefulSet replaces a pod only after it is gone.
      post('statefulsets', homeWorkload('db', { replicas: 3, serviceName: 'db' }, 'StatefulSet')),
      until(get('statefulsets/db', ok({ status: { readyReplicas: 3 } }))),
      ...budgeted({ maxUnavailable: 1 }, { currentHealthy: 3, disruptionsAllowed: 1 }),
      patch('pods/db-0', merge({ metadata: { finalizers: ['example.com/hold'] } })),
      evict('db-0'),
      evict('db-1', refused(429, 'TooManyRequests')),
      patch('pods/db-0', merge({ metadata: { finalizers: null } })),
      until(get(
        'poddisruptionbudgets/b',
        ok({
          status: { currentHealthy: 3, disruptionsAllowed: 1 },
        }),
      )),
      evict('db-1'),
    ],
    'an evicted pod is in disruptedPods until it is gone': [
      ...ofThree({ maxUnavailable: 2 }, [1, 2]),
      ...TWO_NAMES,
      patch('pods/{one}', merge({ metadata: { finalizers: ['example.com/hold'] } })),
      evict('{one}'),
      until(get('poddisruptionbudgets/b', ok({ status: { disruptionsAllowed: 2 } }))),
      get('pods/{one}', ok({ metadata: { deletionTimestamp: like(/Z$/) } })),
      patch('pods/{one}', merge({ metadata: { finalizers: null } })),
    ],
  },
};
