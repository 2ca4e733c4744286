/** The statecharts of the SDK, walked through every configuration. */
import { describe, expect, test } from 'vitest';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import {
  interception,
  jobRun,
  podRemoval,
  requestWatch,
  type WithoutSurge,
  workloadSurge,
} from '../../../packages/interceptor/mod.ts';
import { DEFAULT_TIMING } from '../../../packages/interceptor/src/interception-context.ts';
import {
  type ObservedRequest,
  observedRequest,
} from '../../../packages/interceptor/src/observed-request.ts';
import { NO_REPORT, type Report } from '../../../packages/interceptor/src/report.ts';
import type { Autoscaler } from '../../../packages/interceptor/src/surge/autoscaler.ts';
import {
  LOWEST_COST,
  type SurgeFacts,
} from '../../../packages/interceptor/src/surge/surge-facts.ts';
import { DEFAULT_SURGE_TIMING } from '../../../packages/interceptor/src/surge/surge-context.ts';
import { valueAt } from '../../../src/domain/json.ts';
import { chartProblems, chartProblemText } from '../../tidy/statecharts.ts';
import {
  ACTOR_B,
  B_ACTIVE,
  rawRequest,
  statusWith,
} from '../../support/eviction-requests/request-fixture.ts';
import { coverageOf } from '../../models/harness/coverage.ts';
import { must } from '../../models/harness/step-invariants.ts';
import { crashChecks, exploreModel, type Model } from '../../models/model.ts';
import { deadEnds } from '../../models/harness/dead-ends.ts';

/** The generated tests of a chart; a chart with what it owes is also crashed everywhere. */
const describeChart = <Machine extends AnyStateMachine, Status>(
  model: Model<Machine, Status>,
): void => {
  const { machine } = model;
  describe(machine.id, () => {
    const explored = exploreModel({ limit: 20_000, ...model });
    test('is explored to its end', () => expect(explored.truncated).toBe(false));
    test('reaches every state and takes every transition', () => {
      const { missingStates, missingTransitions } = coverageOf(machine, explored);
      expect([missingStates, missingTransitions]).toEqual([[], []]);
    });
    test('settles from everywhere, or waits', () => {
      expect(deadEnds(explored, model.settles)).toEqual([]);
    });
    test('keeps its invariants', () => {
      for (const { step } of explored.edges) {
        model.stepInvariant?.(step);
        model.invariant?.(step.after, step.actions);
      }
    });
    test('describes its states, and names what it waits for', () => {
      expect(chartProblems({ [machine.id]: machine }).map(chartProblemText)).toEqual([]);
    });
    if (model.crash === undefined) return;
    test('owes the same after a crash anywhere', () => {
      expect(crashChecks(model, explored)?.violations()).toEqual([]);
    });
  });
};

const requestWith = (status: object): ObservedRequest =>
  observedRequest(rawRequest({ status: { ...status } }), ACTOR_B);
const WAITING = requestWith(statusWith({ active: null }));
const ACTIVE = requestWith(B_ACTIVE);
const HANDED_OVER = requestWith(statusWith({ active: 'other', processed: [ACTOR_B] }));
const CANCELED = requestWith(statusWith({
  active: null,
  conditions: [{ type: 'Canceled', status: 'True' }],
}));
const HEARTBEAT: Report = { ...ACTIVE.report, heartbeatMs: 1000 };
const COMPLETED: Report = { ...HEARTBEAT, completionMs: 2000 };
const PROBLEM = { tag: 'Unavailable', message: 'planted', retryAfterMs: 0 } as const;

/** What an interceptor has in the cluster. */
interface Status {
  readonly request: ObservedRequest;
  readonly isGone: boolean;
  readonly podIsGone: boolean;
}

/** What is still to be done. */
const obligationsOf = (snapshot: AnyMachineSnapshot): string => {
  if (snapshot.hasTag('acting')) return 'complete the request';
  return snapshot.matches('watching') ? 'wait for its turn' : 'nothing';
};

describeChart<typeof interception, Status>({
  machine: interception,
  inputs: [WAITING, ACTIVE, CANCELED, { ...ACTIVE, report: COMPLETED }].map((request) => ({
    request,
    timing: DEFAULT_TIMING,
    seed: 1,
  })),
  events: {
    'request.observed': [ACTIVE, HANDED_OVER, CANCELED].map((request) => ({ request })),
    'xstate.done.actor.readPod': [
      { output: { _tag: 'Found' } },
      { output: { _tag: 'Absent' } },
      { output: { _tag: 'Failed', problem: PROBLEM } },
    ],
    'xstate.done.actor.applyReport': [
      { output: { _tag: 'Written', report: HEARTBEAT } },
      { output: { _tag: 'Absent', report: HEARTBEAT } },
      { output: { _tag: 'Failed', report: HEARTBEAT, problem: PROBLEM } },
    ],
    'xstate.done.actor.readProgress': [
      { output: { progress: { message: 'Copying' }, nowMs: 2000 } },
      { output: { progress: {}, nowMs: 2000 } },
      { output: { progress: null, nowMs: 2000 } },
    ],
    'xstate.done.actor.intercept': [{ output: { message: 'Done' } }],
  },
  project: ({ request, report, resumed, result, isReportDue, outcome, reason }) => [
    [request.isActive, request.ended, report.heartbeatMs, report.completionMs],
    [resumed, result, isReportDue, outcome, reason],
  ],
  // It waits for its turn, for its own work, or for an answer.
  settles: (snapshot) => snapshot.hasTag('settled'),
  stepInvariant: ({ event, before, after, actions, invokes }) => {
    const starts = actions.includes('invoke:intercept');
    must(!starts || after.context.request.isActive, 'acts only while it is active');
    must(!starts || after.context.report.heartbeatMs !== null, 'acts after its first heartbeat');
    must(!starts || before.context.report.completionMs === null, 'acts only until it completed');
    for (const { id, input } of invokes) {
      if (id !== 'applyReport') continue;
      const isComplete = valueAt(input, 'change', 'isComplete') === true;
      must(isComplete === (after.context.result !== null), 'completes when the work is done');
    }
    if (event.type === 'request.observed' && event['request'] === CANCELED) {
      must(!after.hasTag('acting'), 'does nothing once the request is canceled');
    }
  },
  crash: {
    world: { request: WAITING, isGone: false, podIsGone: false },
    record: (status, { event, answered }) => {
      const request = valueAt(event, 'request');
      const output = valueAt(event, 'output');
      switch (event.type) {
        case 'xstate.init':
          return { ...status, request: known(valueAt(event, 'input', 'request')) };
        case 'request.observed':
          return { ...status, request: kept(status.request, known(request)) };
        case 'request.vanished':
          return { ...status, isGone: true };
        case 'xstate.done.actor.readPod':
          return { ...status, podIsGone: valueAt(output, '_tag') === 'Absent' };
        case 'xstate.done.actor.applyReport':
          return written(status, valueAt(output, '_tag'), valueAt(answered, 'change'));
        default:
          return status;
      }
    },
    restart: ({ request, isGone, podIsGone }) => ({
      input: { request, timing: DEFAULT_TIMING, seed: 1 },
      events: [
        ...(podIsGone && !isGone
          ? [{ type: 'xstate.done.actor.readPod', output: { _tag: 'Absent' } }]
          : []),
        ...(isGone ? [{ type: 'request.vanished' }] : []),
      ],
    }),
    obligations: obligationsOf,
  },
});

/** The case of the events above. */
function known(request: unknown): ObservedRequest {
  const cases = [WAITING, ACTIVE, HANDED_OVER, CANCELED];
  return cases.find((one) => one === request) ?? { ...ACTIVE, report: COMPLETED };
}

/** An observation takes back no report, and nothing follows the end of a request. */
function kept(before: ObservedRequest, next: ObservedRequest): ObservedRequest {
  const isOver = before.ended !== null || before === HANDED_OVER;
  return isOver ? before : { ...next, report: before.report };
}

function written(status: Status, tag: unknown, change: unknown): Status {
  if (tag === 'Absent') return { ...status, isGone: true };
  if (tag !== 'Written') return status;
  const report = valueAt(change, 'isComplete') === true ? COMPLETED : HEARTBEAT;
  return { ...status, request: { ...status.request, report } };
}

const WATCH_ENDS = [
  { output: { resourceVersion: '5', problem: null, retryAfterMs: 0 } },
  { output: { resourceVersion: '', problem: null, retryAfterMs: 0 } },
  { output: { resourceVersion: '', problem: 'planted', retryAfterMs: 0 } },
];

describeChart({
  machine: requestWatch,
  inputs: [{ seed: 1 }],
  events: {
    'xstate.done.actor.recover': WATCH_ENDS,
    'xstate.done.actor.listRequests': WATCH_ENDS,
    'xstate.done.actor.watchRequests': WATCH_ENDS,
  },
  project: ({ resourceVersion, problem, hasRecovered }) => [resourceVersion, problem, hasRecovered],
  settles: (snapshot) => snapshot.matches('watching'),
  stepInvariant: ({ actions, before, after }) => {
    if (!actions.includes('invoke:listRequests')) return;
    must(before.matches('listing') || after.context.hasRecovered, 'lists after it has recovered');
  },
});

const POD = {
  name: 'a',
  uid: 'a',
  resourceVersion: '1',
  replicaSet: 'set',
  isAvailable: true,
  isTerminating: false,
  hasEnded: false,
  unschedulable: '',
  deletionCost: 0,
  costText: '',
  costChange: null,
};
const CHOSEN = {
  ...POD,
  deletionCost: LOWEST_COST,
  costText: `${LOWEST_COST}`,
  costChange: { before: '', isKept: true },
};
const CALM: SurgeFacts = {
  resourceVersion: '1',
  replicas: 1,
  autoscaler: null,
  maxSurge: 1,
  singleClaim: null,
  acceptsDowntime: false,
  baseline: null,
  isDeleting: false,
  creationFailure: '',
  downtimePods: [],
  pods: [POD],
};
const RAISED: SurgeFacts = {
  ...CALM,
  replicas: 2,
  baseline: { replicas: 1, raisedTo: 2, isUnaimed: false, autoscaled: null },
};
const LOWERED: SurgeFacts = {
  ...CALM,
  baseline: { replicas: 1, raisedTo: 1, isUnaimed: false, autoscaled: null },
};
const AUTOSCALER: Autoscaler = {
  kind: 'HorizontalPodAutoscaler',
  name: 'web',
  resourceVersion: '1',
  least: 1,
  most: 3,
  demanded: 1,
  held: null,
};
const SCALED_UP: SurgeFacts = {
  ...CALM,
  replicas: 2,
  autoscaler: { ...AUTOSCALER, least: 2, demanded: 2 },
  baseline: {
    replicas: 1,
    raisedTo: 2,
    isUnaimed: false,
    autoscaled: { least: 1, loweredFrom: null },
  },
};
/** The autoscaler was lowered; its Deployment has not followed. */
const BEHIND: SurgeFacts = {
  ...CALM,
  replicas: 2,
  autoscaler: AUTOSCALER,
  baseline: {
    replicas: 1,
    raisedTo: 1,
    isUnaimed: false,
    autoscaled: { least: 1, loweredFrom: 2 },
  },
};
const REPLACEMENT = { ...POD, name: 'b', uid: 'b' };
const SURGE_FACTS: readonly SurgeFacts[] = [
  CALM,
  RAISED,
  { ...RAISED, pods: [POD, REPLACEMENT] },
  { ...RAISED, pods: [CHOSEN, REPLACEMENT] },
  { ...LOWERED, pods: [CHOSEN, REPLACEMENT] },
  { ...LOWERED, pods: [REPLACEMENT] },
  // The ReplicaSet has removed the replacement.
  { ...LOWERED, pods: [CHOSEN] },
  { ...RAISED, pods: [REPLACEMENT] },
  { ...RAISED, replicas: 5, pods: [CHOSEN, REPLACEMENT] },
  { ...RAISED, replicas: 5 },
  { ...CALM, replicas: 2 },
  { ...CALM, pods: [REPLACEMENT] },
  { ...CALM, maxSurge: 0 },
  { ...CALM, maxSurge: 0, acceptsDowntime: true },
  { ...CALM, autoscaler: AUTOSCALER },
  { ...CALM, autoscaler: { ...AUTOSCALER, most: 1 } },
  { ...SCALED_UP, pods: [POD, REPLACEMENT] },
  { ...SCALED_UP, pods: [CHOSEN, REPLACEMENT] },
  { ...BEHIND, pods: [CHOSEN, REPLACEMENT] },
  { ...BEHIND, autoscaler: { ...AUTOSCALER, demanded: 2 }, pods: [CHOSEN, REPLACEMENT] },
  { ...BEHIND, replicas: 1, pods: [REPLACEMENT] },
  { ...RAISED, pods: [POD, { ...REPLACEMENT, isAvailable: false, unschedulable: 'no room' }] },
  { ...RAISED, creationFailure: 'exceeded quota' },
];
const SURGE_WRITES = [
  { output: { _tag: 'Written' } },
  { output: { _tag: 'Refused', problem: 'planted', retryAfterMs: 0 } },
  { output: { _tag: 'Failed', problem: 'planted', retryAfterMs: 0 } },
];

const INPUTS: readonly (readonly [isRecovered: boolean, withoutSurge: WithoutSurge])[] = [
  [true, 'evict'],
  [false, 'evict'],
  [false, 'wait'],
];

describeChart({
  machine: workloadSurge,
  inputs: INPUTS.map(([isRecovered, withoutSurge]) => ({
    deployment: { namespace: 'default', name: 'web', uid: 'u' },
    requested: isRecovered ? [] : ['a'],
    isRecovered,
    timing: DEFAULT_SURGE_TIMING,
    withoutSurge,
    seed: 1,
  })),
  events: {
    'pod.requested': [{ uid: 'a' }],
    'pod.withdrawn': [{ uid: 'a' }],
    'xstate.done.actor.readFacts': [
      ...SURGE_FACTS.flatMap((facts) =>
        [1000, 61_000, 700_000].map((nowMs) => ({ output: { _tag: 'Read', facts, nowMs } }))
      ),
      { output: { _tag: 'Absent' } },
      { output: { _tag: 'Failed', problem: 'planted', retryAfterMs: 0 } },
    ],
    'xstate.done.actor.raiseReplicas': SURGE_WRITES,
    'xstate.done.actor.lowerCost': SURGE_WRITES,
    'xstate.done.actor.lowerReplicas': SURGE_WRITES,
    'xstate.done.actor.scaleDeployment': SURGE_WRITES,
    'xstate.done.actor.deletePod': SURGE_WRITES,
    'xstate.done.actor.restoreCost': SURGE_WRITES,
    'xstate.done.actor.restoreReplicas': SURGE_WRITES,
  },
  project: ({ requested, facts, step, refusal, problem }) => [
    requested,
    facts === null ? -1 : SURGE_FACTS.indexOf(facts),
    [step?._tag, refusal?.reason, problem],
  ],
  stepInvariant: ({ actions, after }) => {
    const { facts, requested, step } = after.context;
    if (actions.includes('invoke:deletePod')) {
      must(requested.includes(step.pod.uid), 'only requested pods are deleted');
      must(facts.pods.includes(REPLACEMENT), 'a pod is deleted when another one is available');
    }
    if (actions.includes('invoke:lowerCost')) {
      must(requested.includes(step.pod.uid), 'only requested pods are chosen');
      must(facts.pods.includes(REPLACEMENT), 'a pod is chosen when another one is available');
    }
    if (actions.includes('invoke:restoreCost')) {
      must(step.pod === CHOSEN, 'only what the surge has changed is restored');
    }
    if (actions.includes('invoke:lowerReplicas')) {
      const isUndone = facts.autoscaler !== null && !facts.pods.includes(CHOSEN);
      must(isUndone || facts.pods.includes(CHOSEN), 'replicas are lowered for a chosen pod');
      must(isUndone || facts.pods.includes(REPLACEMENT), 'replicas are lowered for a replaced pod');
      must(!isUndone || step.baseline.raisedTo === 1, 'an autoscaler is undone at once');
      must(step.baseline.raisedTo >= step.baseline.replicas, 'never below what was wanted');
    }
    if (actions.includes('invoke:raiseReplicas')) {
      must(step.baseline.raisedTo <= step.baseline.replicas + facts.maxSurge, 'at most maxSurge');
    }
    if (actions.includes('invoke:scaleDeployment')) {
      must(facts.autoscaler.demanded <= step.replicas, 'the Deployment follows its autoscaler');
      must(step.replicas >= facts.baseline.replicas, 'never below what was wanted');
    }
    if (actions.includes('invoke:restoreReplicas')) {
      must(facts.replicas !== 5 || step.to === 'kept', 'what somebody else wrote stays');
      must(!facts.pods.includes(CHOSEN), 'replicas are restored when no pod is chosen');
    }
  },
});

const jobWith = (state: string) => ({
  output: { _tag: 'Found', job: { uid: 'u', state, message: '' } },
});
const READ_JOBS = [
  jobWith('Running'),
  jobWith('Succeeded'),
  jobWith('Failed'),
  { output: { _tag: 'Absent' } },
  { output: { _tag: 'Failed', problem: 'planted', retryAfterMs: 0 } },
];
const CREATED_JOBS = [
  ...READ_JOBS,
  { output: { _tag: 'Refused', problem: 'planted' } },
  { output: { _tag: 'Denied', problem: 'planted', retryAfterMs: 0 } },
];

describeChart({
  machine: jobRun,
  inputs: [{ pollMs: 5000, seed: 1 }],
  events: { 'xstate.done.actor.createJob': CREATED_JOBS, 'xstate.done.actor.readJob': READ_JOBS },
  project: ({ job, outcome, problem, denials }) => [job?.state, outcome, problem, denials],
  stepInvariant: ({ before, after, actions }) => {
    const creates = actions.includes('invoke:createJob');
    must(!creates || before.context.job === null, 'a Job that was found is not created again');
    const { job, outcome, denials } = after.context;
    const gaveUp = after.matches('failed');
    must(!gaveUp || outcome !== 'Denied' || denials === 4, 'a denial is final the fourth time');
    must(
      !gaveUp || job === null || job.state === 'Failed' || outcome === 'Absent',
      'no refusal ends a Job that runs',
    );
  },
});

const MAY = { may: true, message: 'reached', graceSeconds: 30 };
const MAY_NOT = { ...MAY, may: false };
const FAILED = { _tag: 'Failed', problem: 'planted', retryAfterMs: 0 };

describeChart({
  machine: podRemoval,
  inputs: [{ seed: 1 }],
  events: {
    'verdict.changed': [{ verdict: MAY }, { verdict: MAY_NOT }],
    'xstate.done.actor.readPod': [
      { output: { _tag: 'Found', verdict: MAY } },
      { output: { _tag: 'Found', verdict: MAY_NOT } },
      { output: { _tag: 'Absent' } },
      { output: FAILED },
    ],
    'xstate.done.actor.deletePod': [
      { output: { _tag: 'Deleted' } },
      { output: { _tag: 'Absent' } },
      { output: FAILED },
    ],
  },
  project: ({ verdict, outcome, problem }) => [verdict?.may, outcome, problem],
  settles: (snapshot) => snapshot.matches('waiting') || snapshot.hasTag('settled'),
  stepInvariant: ({ before, after, actions }) => {
    const deletes = actions.includes('invoke:deletePod');
    must(!deletes || after.context.verdict?.may === true, 'NM-44: only what may be is deleted');
    must(!deletes || !before.hasTag('settled'), 'a pod is deleted once');
  },
});

test('an interceptor without an entry has reported nothing', () => {
  expect(observedRequest(rawRequest(), ACTOR_B).report).toEqual(NO_REPORT);
});
