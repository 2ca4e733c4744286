/** Contract: evictions, with budgets that the test sets. */
import { expect } from 'vitest';
import { budget, pod } from '../objects.ts';
import {
  absent,
  containing,
  del,
  get,
  keep,
  keepResourceVersion,
  like,
  made,
  merge,
  ok,
  patch,
  post,
  refused,
  type Step,
  unmoved,
  type Wanted,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const CONDITION = { type: 'Ready', status: 'True' };

/** A pod on a node, in this phase, ready or not. */
const running = (name = 'a', phase = 'Running', ready = true): readonly Step[] => [
  post('pods', pod(name, { nodeName: 'nowhere' })),
  patch(
    `pods/${name}/status`,
    merge({
      status: { phase, conditions: [{ ...CONDITION, status: ready ? 'True' : 'False' }] },
    }),
  ),
  keep({ uid: 'metadata.uid' }),
];

const STATUS = {
  currentHealthy: 1,
  desiredHealthy: 1,
  disruptionsAllowed: 0,
  expectedPods: 1,
  observedGeneration: 1,
};

/** A budget with a status. */
const budgeted = (
  status: object = {},
  spec: Readonly<Record<string, unknown>> = {},
  name = 'b',
) => [
  post('poddisruptionbudgets', budget(name, spec)),
  patch(`poddisruptionbudgets/${name}/status`, merge({ status: { ...STATUS, ...status } })),
];

const eviction = (name: string, deleteOptions?: object) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name, namespace: '{ns}' },
  ...(deleteOptions === undefined ? {} : { deleteOptions }),
});

const ALLOWED = made({ kind: 'Status', apiVersion: 'v1', status: 'Success' });
const EXHAUSTED = refused(429, 'TooManyRequests', {
  message: "Cannot evict pod as it would violate the pod's disruption budget.",
  details: {
    causes: [{
      reason: 'DisruptionBudget',
      message: 'The disruption budget b needs 1 healthy pods and has 1 currently',
    }],
  },
});

const evict = (wanted: Wanted = ALLOWED, options: object | undefined = undefined) =>
  post('pods/a/eviction', eviction('a', options), wanted);

const LEAVES: Step = get(
  'pods/a',
  ok({
    metadata: { deletionTimestamp: like(/Z$/), deletionGracePeriodSeconds: 30 },
  }),
);
const STAYS: readonly Step[] = [get('pods/a'), absent('metadata.deletionTimestamp')];
const UNTOUCHED: readonly Step[] = [
  get('poddisruptionbudgets/b', ok({ status: STATUS })),
  absent('status.disruptedPods.a'),
];

const FREE = { currentHealthy: 2, disruptionsAllowed: 1, expectedPods: 2 };
const unhealthy = (policy?: string) =>
  policy === undefined ? {} : { unhealthyPodEvictionPolicy: policy };

/** Evictions under no, one and two budgets. */
export const evictions: Area = {
  title: 'Evictions',
  cases: {
    'without a budget a pod leaves with its grace': [...running(), evict(), LEAVES],
    'an evicted pod has a DisruptionTarget condition': [
      ...running(),
      evict(),
      get(
        'pods/a',
        ok({
          status: {
            conditions: expect.arrayContaining([
              expect.objectContaining({
                type: 'DisruptionTarget',
                status: 'True',
                reason: 'EvictionByEvictionAPI',
              }),
            ]),
          },
        }),
      ),
    ],
    'a pod without a node is gone at once': [
      post('pods', pod('a')),
      evict(),
      get('pods/a', refused(404, 'NotFound')),
    ],
    'a pod that is not there is not found': [evict(refused(404, 'NotFound'))],
    'the grace of an eviction is that of its options': [
      ...running(),
      evict(ALLOWED, { gracePeriodSeconds: 7 }),
      get('pods/a', ok({ metadata: { deletionGracePeriodSeconds: 7 } })),
    ],
    'another UID is a conflict': [
      ...running(),
      evict(refused(409, 'Conflict', { details: { kind: 'Pod', name: 'a' } }), {
        preconditions: { uid: 'other' },
      }),
      ...STAYS,
    ],
    'a matching UID precondition permits eviction': [
      ...running(),
      evict(ALLOWED, { preconditions: { uid: '{uid}' } }),
      LEAVES,
    ],
    'another revision is a conflict': [
      ...running(),
      evict(refused(409, 'Conflict'), { preconditions: { resourceVersion: '1' } }),
      ...STAYS,
    ],
    'another name in the body is a bad request': [
      ...running(),
      post('pods/a/eviction', eviction('c'), refused(400, 'BadRequest')),
      ...STAYS,
    ],
    'another kind in the body is a bad request': [
      ...running(),
      post('pods/a/eviction', pod('a'), refused(400, 'BadRequest')),
      ...STAYS,
    ],
    'a budget that allows none refuses': [...running(), ...budgeted(), evict(EXHAUSTED), ...STAYS],
    'a refusal leaves the budget as it was': [
      ...running(),
      ...budgeted(),
      evict(EXHAUSTED),
      ...UNTOUCHED,
    ],
    'a budget that allows one lets one leave': [...running(), ...budgeted(FREE), evict(), LEAVES],
    'a slot is taken when a pod leaves': [
      ...running(),
      ...budgeted(FREE),
      evict(),
      get(
        'poddisruptionbudgets/b',
        ok({
          status: {
            disruptionsAllowed: 0,
            currentHealthy: 2,
            observedGeneration: 1,
            disruptedPods: { a: like(/Z$/) },
          },
        }),
      ),
    ],
    'the pod after the last slot is refused': [
      ...running('c'),
      ...running(),
      ...budgeted(FREE),
      post('pods/c/eviction', eviction('c'), ALLOWED),
      evict(refused(429, 'TooManyRequests')),
      ...STAYS,
    ],
    'two slots let two leave': [
      ...running('c'),
      ...running(),
      ...budgeted({ currentHealthy: 3, disruptionsAllowed: 2, expectedPods: 3 }),
      post('pods/c/eviction', eviction('c'), ALLOWED),
      evict(),
      get(
        'poddisruptionbudgets/b',
        ok({
          status: { disruptionsAllowed: 0, disruptedPods: { a: like(/Z$/), c: like(/Z$/) } },
        }),
      ),
    ],
    'a pod that already leaves takes no second slot': [
      ...running(),
      ...budgeted({ currentHealthy: 3, disruptionsAllowed: 2, expectedPods: 3 }),
      evict(),
      evict(),
      get('poddisruptionbudgets/b', ok({ status: { disruptionsAllowed: 1 } })),
    ],
    'a budget whose status is behind its spec refuses with Retry-After': [
      ...running(),
      ...budgeted({ ...FREE, observedGeneration: 0 }),
      evict(refused(429, 'TooManyRequests', {
        details: {
          retryAfterSeconds: 10,
          causes: [{
            reason: 'DisruptionBudget',
            message: containing('is still being processed by the server'),
          }],
        },
      })),
      ...STAYS,
    ],
    'a spec that changed makes a status old': [
      ...running(),
      ...budgeted(FREE),
      patch('poddisruptionbudgets/b', merge({ spec: { minAvailable: 0 } })),
      evict(refused(429, 'TooManyRequests', { details: { retryAfterSeconds: 10 } })),
      ...STAYS,
    ],
    'a broken budget forbids': [
      ...running(),
      ...budgeted({ disruptionsAllowed: 0 }),
      patch('poddisruptionbudgets/b/status', merge({ status: { disruptionsAllowed: -1 } }), {
        status: 422,
        body: { reason: 'Invalid' },
      }),
    ],
    'two budgets are too many': [
      ...running(),
      ...budgeted(FREE),
      ...budgeted(FREE, {}, 'c'),
      evict({
        status: 500,
        body: {
          message: 'This pod has more than one PodDisruptionBudget, which the eviction ' +
            'subresource does not support.',
        },
      }),
      ...STAYS,
    ],
    'two budgets are too many also when both allow nothing': [
      ...running(),
      ...budgeted(),
      ...budgeted({}, {}, 'c'),
      evict({ status: 500, body: { status: 'Failure' } }),
      ...STAYS,
    ],
    'a budget of other pods does not count': [
      ...running(),
      ...budgeted({}, { selector: { matchLabels: { app: 'job' } } }),
      evict(),
      LEAVES,
    ],
    'a budget with an empty selector counts for all': [
      ...running(),
      ...budgeted({}, { selector: {} }),
      evict(EXHAUSTED),
    ],
    'a budget without a selector counts for none': [
      ...running(),
      ...budgeted({}, { selector: undefined }),
      evict(),
      LEAVES,
    ],
    'a budget with an expression applies to the pods it selects': [
      ...running(),
      ...budgeted({}, {
        selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'x'] }] },
      }),
      evict(EXHAUSTED),
    ],
    'a budget of another namespace does not count': [
      ...running(),
      post('/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget('{ns}')),
      evict(),
      LEAVES,
    ],
    'a pending pod needs no slot': [
      post('pods', pod('a')),
      ...budgeted(),
      evict(),
      ...UNTOUCHED,
    ],
    'a pending pod on a node needs no slot': [
      post('pods', pod('a', { nodeName: 'nowhere' })),
      ...budgeted(),
      evict(),
      ...UNTOUCHED,
    ],
    'a finished pod needs no slot': [
      ...running('a', 'Succeeded', false),
      ...budgeted(),
      evict(),
      ...UNTOUCHED,
    ],
    'a failed pod needs no slot': [
      ...running('a', 'Failed', false),
      ...budgeted(),
      evict(),
      ...UNTOUCHED,
    ],
    'two budgets do not stop a pending pod': [
      post('pods', pod('a')),
      ...budgeted(),
      ...budgeted({}, {}, 'c'),
      evict(),
    ],
    'an unready pod needs no slot while enough are healthy': [
      ...running('a', 'Running', false),
      ...budgeted(),
      evict(),
      LEAVES,
      ...UNTOUCHED,
    ],
    'an unready pod needs a slot while too few are healthy': [
      ...running('a', 'Running', false),
      ...budgeted({ currentHealthy: 0 }),
      evict(refused(429, 'TooManyRequests')),
      ...STAYS,
    ],
    'an unready pod needs a slot while nothing is desired': [
      ...running('a', 'Running', false),
      ...budgeted({ desiredHealthy: 0 }),
      evict(refused(429, 'TooManyRequests')),
      ...STAYS,
    ],
    'if healthy: as without a policy, while enough are healthy': [
      ...running('a', 'Running', false),
      ...budgeted({}, unhealthy('IfHealthyBudget')),
      evict(),
      ...UNTOUCHED,
    ],
    'if healthy: as without a policy, while too few are healthy': [
      ...running('a', 'Running', false),
      ...budgeted({ currentHealthy: 0 }, unhealthy('IfHealthyBudget')),
      evict(refused(429, 'TooManyRequests')),
      ...STAYS,
    ],
    'always allow: an unready pod leaves while too few are healthy': [
      ...running('a', 'Running', false),
      ...budgeted({ currentHealthy: 0 }, unhealthy('AlwaysAllow')),
      evict(),
      LEAVES,
    ],
    'always allow: a ready pod needs a slot': [
      ...running(),
      ...budgeted({}, unhealthy('AlwaysAllow')),
      evict(EXHAUSTED),
      ...STAYS,
    ],
    'always allow: an unready pod leaves before the status is processed': [
      ...running('a', 'Running', false),
      ...budgeted({ observedGeneration: 0 }, unhealthy('AlwaysAllow')),
      evict(),
      LEAVES,
    ],
    'a dry run takes no slot and moves nothing': [
      ...running(),
      ...budgeted(FREE),
      get('poddisruptionbudgets/b'),
      keepResourceVersion(),
      post('pods/a/eviction?dryRun=All', eviction('a'), ALLOWED),
      ...STAYS,
      get('poddisruptionbudgets/b'),
      unmoved(),
    ],
    'a dry run in the options takes no slot either': [
      ...running(),
      ...budgeted(FREE),
      evict(ALLOWED, { dryRun: ['All'] }),
      ...STAYS,
      get('poddisruptionbudgets/b', ok({ status: { disruptionsAllowed: 1 } })),
    ],
    'a dry run is refused as the real one would be': [
      ...running(),
      ...budgeted(),
      post('pods/a/eviction?dryRun=All', eviction('a'), EXHAUSTED),
    ],
    'another UID takes a slot all the same': [
      ...running(),
      ...budgeted(FREE),
      evict(refused(409, 'Conflict'), { preconditions: { uid: 'other' } }),
      get('poddisruptionbudgets/b', ok({ status: { disruptionsAllowed: 0 } })),
    ],
    'a pod with a finalizer stays terminating': [
      post('pods', pod('a', {}, { finalizers: ['example.com/x'] })),
      evict(),
      get('pods/a', ok({ metadata: { deletionTimestamp: like(/Z$/) } })),
    ],
    'a deleted pod of a node is evicted again without a budget': [
      ...running(),
      del('pods/a'),
      evict(),
    ],
    'a terminating namespace refuses evictions': [
      ...running(),
      del('/api/v1/namespaces/{ns}'),
      evict(refused(403, 'Forbidden', { message: containing('because it is being terminated') })),
      post('pods/c/eviction', eviction('c'), refused(403, 'Forbidden')),
    ],
    'an eviction is not read': [
      ...running(),
      get('pods/a/eviction', refused(405, 'MethodNotAllowed')),
    ],
    'an eviction without kind and version is taken': [
      ...running(),
      post('pods/a/eviction', { metadata: { name: 'a' } }, ALLOWED),
      LEAVES,
    ],
  },
};
