/**
 * One case for every blocker and every end of a drain: the facts, and the verdict on them. The test
 * of the surfaces and the page docs/reference/verdicts.md read them.
 */
import type { EvictionOutcome } from '../../../src/domain/drain/answer.ts';
import {
  type BlockedPods,
  BLOCKER_REASONS,
  type BlockerFacts,
  blockerOf,
  type BlockerReason,
} from '../../../src/domain/drain/blocker.ts';
import { forecastOf } from '../../../src/domain/drain/forecast.ts';
import {
  blockedVerdict,
  type DrainFacts,
  type DrainVerdict,
  drainVerdict,
} from '../../../src/domain/drain/verdict.ts';
import { interceptorBlocker } from '../../../src/domain/eviction-requests/drain-requester.ts';
import type { JsonRecord } from '../../../src/domain/json.ts';
import { ACTOR_B, observedRequest, statusWith } from '../eviction-requests/request-fixture.ts';
import { budgetOf, podOf, type PodTraits } from './drain-facts.ts';
import { SCENE_NOW_MS, sceneAnnotation } from './drain-scene.ts';

/** What blocks the pod `ns/a` of the node `n1`. */
export interface BlockerCase extends Partial<Omit<BlockerFacts, 'pod' | 'nowMs'>> {
  readonly pod?: PodTraits;
  /** Other pods that the cluster has, on any node. */
  readonly others?: readonly PodTraits[];
}

const answer = (outcome: EvictionOutcome): BlockerCase => ({ outcome });
const at = (seconds: number): string => new Date(SCENE_NOW_MS + seconds * 1000).toISOString();

const FULL = { currentHealthy: 2, desiredHealthy: 2 };
const NEVER = {
  spec: { minAvailable: undefined, maxUnavailable: 0 },
  status: { currentHealthy: 4, desiredHealthy: 4 },
};
const LEAVING = { deletion: at(20), deletionGraceSeconds: 30 };
const OVERDUE = { deletion: at(-20), deletionGraceSeconds: 30 };
const CUT = { ...FULL, disruptedPods: { far: at(-60) } };

/** The request of the pod, which an interceptor holds. */
const requestedBy = (conditions: readonly JsonRecord[], active: string | null): BlockerCase => ({
  interception: interceptorBlocker(observedRequest({
    metadata: { creationTimestamp: at(-90) },
    status: { ...statusWith({ active }), conditions },
  })),
});
const SILENT = { type: 'InterceptorSilent', status: 'True', reason: 'InterceptorSilent' };

const CASES: Readonly<Record<Exclude<BlockerReason, 'DeadlineUnreachable'>, BlockerCase>> = {
  BlockedByBudget: { budgets: [budgetOf({ status: FULL })] },
  BudgetBroken: { budgets: [budgetOf({ status: { disruptionsAllowed: -1 } })] },
  BudgetNeverAllows: { budgets: [budgetOf(NEVER)] },
  BudgetUnsettled: { budgets: [budgetOf({ generation: 2, status: { observedGeneration: 1 } })] },
  CredentialsRefused: answer({ _tag: 'Unauthenticated', why: 'the token has expired' }),
  DrainPaused: { paused: true },
  EvictionFailing: answer({ _tag: 'Transient', why: 'etcd has no leader' }),
  EvictionForbidden: answer({ _tag: 'Forbidden', why: 'cannot create pods/eviction' }),
  EvictionRefused: answer({ _tag: 'Refused', status: 418, why: 'unknown' }),
  EvictionRequestPending: requestedBy([], null),
  EvictionUnanswered: answer({ _tag: 'Unknown', why: 'the connection was cut' }),
  Finalizer: { pod: { ...OVERDUE, finalizers: ['example.com/hold'] } },
  InterceptorSilent: requestedBy([SILENT], ACTOR_B),
  KubeletSilent: { kubeletSilent: true },
  LeavingBackends: { pod: { isNotServing: true } },
  NamespaceTerminating: answer({ _tag: 'NamespaceTerminating' }),
  PolicyRefused: answer({ _tag: 'PolicyRefused', policy: 'webhook "w"', why: 'not today' }),
  ServerThrottling: answer({ _tag: 'Throttled', retryAfterSeconds: 3 }),
  SlotHeldByInterruptedEviction: {
    budgets: [budgetOf({ status: CUT })],
    interrupted: [{ podName: 'far', untilMs: SCENE_NOW_MS + 60_000 }],
    others: [{ name: 'far', node: 'n2' }],
  },
  StatefulLocalVolume: { kept: ['claim "data-a"'] },
  Terminating: { pod: LEAVING },
  TerminationOverdue: { pod: OVERDUE },
  TwoBudgets: { budgets: [budgetOf({ name: 'one' }), budgetOf({ name: 'two' })] },
  WaitingForInterceptor: requestedBy([], ACTOR_B),
  WaitingForTier: {
    pod: { priority: 10 },
    tierStarted: false,
    others: [{ name: 'first', labels: {}, ...LEAVING }],
  },
  WaitingForTurn: {},
};

const factsOf = ({ pod, others: _, ...facts }: BlockerCase): BlockerFacts => ({
  pod: podOf(pod),
  budgets: [],
  interrupted: [],
  outcome: null,
  tierStarted: true,
  paused: false,
  kubeletSilent: false,
  nowMs: SCENE_NOW_MS,
  ...facts,
});

const blockedBy = (reason: BlockerReason): BlockedPods => {
  if (reason !== 'DeadlineUnreachable') {
    return { blocker: blockerOf(factsOf(CASES[reason])), pods: ['ns/a'] };
  }
  const forecast = forecastOf([blockedBy('BudgetNeverAllows')], [], sceneAnnotation());
  if (forecast === undefined) throw new Error('the case of the forecast has none');
  return forecast;
};

/** A blocker with its facts and its verdict. */
export interface BlockerVerdictCase {
  readonly reason: BlockerReason;
  readonly facts: BlockerCase;
  readonly blocked: BlockedPods;
  readonly verdict: DrainVerdict;
}

/** Every blocker. */
export const BLOCKER_CASES: readonly BlockerVerdictCase[] = BLOCKER_REASONS.map((reason) => {
  const blocked = blockedBy(reason);
  const facts = reason === 'DeadlineUnreachable' ? CASES.BudgetNeverAllows : CASES[reason];
  return { reason, facts, blocked, verdict: blockedVerdict(blocked) };
});

const facts = (state: DrainFacts['state'], more: Partial<DrainFacts> = {}): DrainFacts => ({
  state,
  left: 0,
  leaving: 0,
  blocked: [],
  lastError: '',
  schedulable: false,
  cordonedByPerson: false,
  ...more,
});

const POLICY = blockedBy('PolicyRefused');

const SITUATIONS: Readonly<Record<string, DrainFacts>> = {
  'It drains': facts('Draining', { left: 3, leaving: 1 }),
  'It waits for the last pods': facts('Draining', { left: 1, leaving: 1 }),
  'A policy blocks a pod': facts('Draining', { left: 1, blocked: [POLICY] }),
  'It is paused': facts('Paused', { left: 2 }),
  'The deadline passed': facts('Overdue', { left: 2, leaving: 1 }),
  'The node was uncordoned': facts('Cancelling', { left: 2 }),
  'It is drained': facts('Drained'),
  'It was drained, and the node serves again': facts('Drained', { schedulable: true }),
  'It failed': facts('Failed', {
    left: 1,
    blocked: [POLICY],
    lastError: '1 pod remains: ns/a (refused by webhook "w": not today)',
  }),
  'It failed, because the operator may not evict': facts('Failed', {
    left: 1,
    isForbidden: true,
    lastError: 'cannot create pods/eviction; 1 pod remains: ns/a (cannot create pods/eviction)',
  }),
  'It failed, and its reasons are lost': facts('Failed', { left: 2 }),
  'It was cancelled, and the node serves again': facts('Cancelled', { schedulable: true }),
  'It was cancelled, and a person keeps the cordon': facts('Cancelled', { cordonedByPerson: true }),
  'It was cancelled, and the node is cordoned': facts('Cancelled'),
  'The Node was deleted after its pods had left': facts('Gone'),
  'The Node was deleted with pods on it': facts('Gone', { left: 2 }),
  'A person cordoned the node': facts('Cordoned', { cordonedByPerson: true }),
  'A NodeMaintenance cordons the node': facts('Cordoned', {
    cordonedFor: { name: 'kernel', isReleasing: false },
  }),
  'A NodeMaintenance releases the node': facts('Cordoned', {
    cordonedFor: { name: 'kernel', isReleasing: true },
  }),
  'The node is cordoned, without the annotation of an owner': facts('Cordoned'),
  'The node is schedulable': facts('Schedulable', { schedulable: true }),
};

/** Every stage and end of a drain. */
export const SITUATION_CASES = Object.entries(SITUATIONS).map(([title, drain]) => ({
  title,
  facts: drain,
  verdict: drainVerdict(drain),
}));
