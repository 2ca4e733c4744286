/**
 * The status of a drain: one record per node, for tables and programs.
 *
 * Promises: derived from cluster objects only; text and JSON output print the same record.
 */
import { type CanAct, REASONS } from '../api/reasons.ts';
import type { BlockedPods, BlockerReason } from '../domain/drain/blocker.ts';
import { budgetCovers } from '../domain/drain/budget.ts';
import { isStateful, keptBlocker } from '../domain/drain/kept-pods.ts';
import type { CordonAnnotation } from '../domain/drain/cordon.ts';
import { forecastOf } from '../domain/drain/forecast.ts';
import { OWN_TIER, type TierKey, TOLERATES_TEXT, toleratingPods } from '../domain/drain/plan.ts';
import { hasStarted } from '../domain/drain/tiers.ts';
import {
  blockedVerdict,
  type DrainSituation,
  type DrainVerdict,
  drainVerdict,
} from '../domain/drain/verdict.ts';
import { compareText } from '../domain/requirements.ts';
import { rfc3339Seconds } from '../domain/time.ts';
import type { NodeFacts } from './drain-facts.ts';
import { cordonedFor, drainOn, type OwnedDrain, ownersOf } from './drain-owner.ts';
import { type PendingPod, type Recount, recountDrain } from './drain-recount.ts';
import { isForbidden } from './reported-blockers.ts';

/** A cause that blocks some pods of a node. */
export interface DrainBlocker {
  readonly reason: BlockerReason | 'ToleratesCordon';
  /** Details of the first pod. */
  readonly text: string;
  readonly canAct: CanAct;
  /** The change to make; empty when none is needed. */
  readonly change: string;
  readonly runbook: string;
  readonly pods: readonly string[];
}

/** One tier of a drain. */
export interface TierStatus {
  /** Null for the operator's own pod, which leaves last. */
  readonly priority: number | null;
  readonly started: boolean;
  readonly left: number;
  readonly leaving: number;
  readonly blocked: number;
}

/** A budget that covers pods which must leave. */
export interface BudgetStatus {
  readonly budget: string;
  readonly allowed: number;
  readonly healthy: number;
  readonly desired: number;
  /** Pods of this node that it covers and that are not terminating yet. */
  readonly waiting: number;
}

/** One node. */
export interface DrainStatus {
  readonly node: string;
  readonly state: DrainSituation;
  /** All owners of the cordon: that of the drain first, then others that drain. */
  readonly owners: readonly string[];
  readonly instructions: readonly string[];
  readonly since: string | null;
  readonly deadline: string | null;
  /** Negative after the deadline; null without a deadline or after the end. */
  readonly secondsLeft: number | null;
  readonly pods: { readonly left: number; readonly leaving: number; readonly blocked: number };
  /** The pods that are left, by what becomes of them when they leave (RS-31). */
  readonly classes: { readonly stateless: number; readonly stateful: number };
  readonly tiers: readonly TierStatus[];
  readonly budgets: readonly BudgetStatus[];
  /** The most important blocker of the lowest tier. */
  readonly blockers: readonly DrainBlocker[];
  /** What pods wait for that nothing blocks; pods at a budget come first. */
  readonly waits: readonly DrainBlocker[];
  /** The error that the drain of a failed machine left. */
  readonly lastError: string | null;
  readonly kubeletSilent: boolean;
  /** The node may get new pods. */
  readonly isSchedulable: boolean;
  /** What is the matter, who can act, and how. */
  readonly verdict: DrainVerdict;
}

/** Paused by the Node's annotation, or by a flag that only the operator and its Events show. */
const isPaused = ({ node }: NodeFacts, { pending }: Recount): boolean =>
  node.paused || pending.some(({ reason }) => reason === 'DrainPaused');

const stateOf = (
  facts: NodeFacts,
  annotation: CordonAnnotation | undefined,
  recount: Recount,
): DrainSituation => {
  const { node, nowMs } = facts;
  if (annotation === undefined) return node.unschedulable ? 'Cordoned' : 'Schedulable';
  if (annotation.ended !== null) return annotation.ended;
  if (!node.unschedulable) return 'Cancelling';
  if (annotation.deadlineMs !== null && nowMs > annotation.deadlineMs) return 'Overdue';
  return isPaused(facts, recount) ? 'Paused' : 'Draining';
};

/** Drains that have ended. */
const isOver = (state: DrainSituation): boolean =>
  state === 'Drained' || state === 'Failed' || state === 'Cancelled';

/** Groups pods by blocker, in the order of the plan. */
const blockedPodsOf = (pending: readonly PendingPod[]): readonly BlockedPods[] => {
  const groups = new Map<string, BlockedPods>();
  for (const { pod, reason, text, subject, change } of pending) {
    const key = `${reason} ${subject}`;
    const known = groups.get(key);
    const blocker = known?.blocker ??
      { reason, text, subject, ...(change === undefined ? {} : { change }) };
    groups.set(key, { blocker, pods: [...(known?.pods ?? []), pod.key] });
  }
  return [...groups.values()];
};

const drainBlocker = (blocked: BlockedPods): DrainBlocker => {
  const { blocker: { reason, text }, pods } = blocked;
  const { canAct, change, runbook } = blockedVerdict(blocked);
  return { reason, text, canAct, change, runbook, pods };
};

/** Pods that wait, and are not terminating. */
const isWaiting = ({ pod, blocks }: PendingPod): boolean => !blocks && !pod.terminating;

/** Waits at a budget or for a maintenance: the verdict names them when nothing blocks the drain. */
const isNamed = ({ reason, subject }: BlockedPods['blocker']): boolean =>
  reason === 'WaitingForTurn' && subject !== '';

/** Pods that stay, because they would come back past the cordon; they block nothing. */
const stayingPods = ({ plan }: Recount): readonly DrainBlocker[] => {
  const pods = toleratingPods(plan).map(({ key }) => key);
  const { canAct, change, runbook } = REASONS.ToleratesCordon;
  if (pods.length === 0) return [];
  return [{ reason: 'ToleratesCordon', text: TOLERATES_TEXT, canAct, change, runbook, pods }];
};

/** Pods that stay for their data, as a person acknowledged. */
const acknowledgedPods = ({ acknowledged }: Recount): readonly DrainBlocker[] =>
  acknowledged.map(({ pod, data }) => ({
    reason: 'StatefulLocalVolume',
    text: `stays, as was acknowledged; ${keptBlocker(data).text}`,
    canAct: 'nobody',
    change: '',
    runbook: REASONS.StatefulLocalVolume.runbook,
    pods: [pod.key],
  }));

const classesOf = (
  { pending }: Recount,
  { lookup }: Pick<NodeFacts, 'lookup'>,
): DrainStatus['classes'] => {
  const stateful = pending.filter(({ pod }) => isStateful(pod, lookup)).length;
  return { stateless: pending.length - stateful, stateful };
};

/** The tier number shown to users. */
export const tierPriority = (key: TierKey): number | null => key === OWN_TIER ? null : key;

const tiersOf = ({ progress, startedTo }: Recount): readonly TierStatus[] =>
  progress.tiers.map(({ key, ...counts }) => ({
    priority: tierPriority(key),
    started: hasStarted({ startedTo, lastMovedAtMs: 0 }, key),
    ...counts,
  }));

const budgetsOf = ({ budgets }: NodeFacts, { pending }: Recount): readonly BudgetStatus[] =>
  budgets.map((budget) => ({
    budget: budget.key,
    allowed: budget.disruptionsAllowed,
    healthy: budget.currentHealthy,
    desired: budget.desiredHealthy,
    waiting: pending.filter(({ pod }) => !pod.terminating && budgetCovers(budget, pod)).length,
  })).filter(({ waiting }) => waiting > 0)
    .toSorted((left, right) => compareText(left.budget, right.budget));

/** The owner whose drain is shown comes first. */
const ownersOn = ({ node }: NodeFacts, drain: OwnedDrain | undefined): readonly string[] =>
  drain === undefined ? ownersOf(node) : [...new Set([drain.owner, ...ownersOf(node)])];

/** While a drain goes on, the machine shows its blockers there. */
const lastErrorOn = ({ machine }: NodeFacts): string | null =>
  machine === undefined || machine.lastError === '' || machine.phase === 'Draining'
    ? null
    : machine.lastError;

/** The status of one node. */
export const drainStatus = (facts: NodeFacts): DrainStatus => {
  const { node, nowMs } = facts;
  const drain = drainOn(facts);
  const annotation = drain?.annotation;
  const recount = recountDrain(facts, drain);
  const state = stateOf(facts, annotation, recount);
  const { left, leaving, blocked } = recount.progress;
  const isDrain = annotation !== undefined && state !== 'Cancelled' && state !== 'Cancelling';
  const isEmptying = isDrain && !(isOver(state) && !node.unschedulable);
  const deadlineMs = annotation?.deadlineMs ?? null;
  const isCounting = deadlineMs !== null && !isOver(state);
  const pending = isEmptying ? recount.pending : [];
  const blockedPods = blockedPodsOf(pending.filter(({ blocks }) => blocks));
  const waitingPods = blockedPodsOf(pending.filter(isWaiting));
  const named = waitingPods.filter(({ blocker }) => isNamed(blocker));
  const unnamed = waitingPods.filter(({ blocker }) => !isNamed(blocker));
  const forecast = annotation === undefined || !isEmptying || isOver(state)
    ? undefined
    : forecastOf(blockedPods, recount.pending.map(({ pod }) => pod), annotation);
  const lastError = lastErrorOn(facts);
  return {
    node: node.name,
    state,
    owners: ownersOn(facts, drain),
    instructions: annotation?.ids ?? [],
    since: annotation === undefined ? null : rfc3339Seconds(annotation.sinceMs),
    deadline: deadlineMs === null ? null : rfc3339Seconds(deadlineMs),
    secondsLeft: isCounting ? Math.round((deadlineMs - nowMs) / 1000) : null,
    pods: { left, leaving, blocked: isEmptying ? blocked : 0 },
    classes: classesOf(recount, facts),
    tiers: isEmptying ? tiersOf(recount) : [],
    budgets: isEmptying ? budgetsOf(facts, recount) : [],
    waits: isOver(state) ? [] : [...named, ...unnamed].map(drainBlocker),
    blockers: isEmptying
      ? [
        ...blockedPods.map(drainBlocker),
        ...stayingPods(recount),
        ...acknowledgedPods(recount),
      ]
      : [],
    lastError,
    kubeletSilent: node.kubeletSilent,
    isSchedulable: !node.unschedulable,
    verdict: drainVerdict({
      state,
      left,
      leaving,
      blocked: [
        ...blockedPods,
        ...(forecast === undefined ? [] : [forecast]),
        ...named,
      ],
      lastError: state === 'Failed' ? lastError ?? '' : '',
      schedulable: !node.unschedulable,
      cordonedByPerson: Object.hasOwn(node.cordons, 'person'),
      cordonedFor: cordonedFor(facts),
      isForbidden: annotation !== undefined && isForbidden(facts, annotation),
    }),
  };
};
