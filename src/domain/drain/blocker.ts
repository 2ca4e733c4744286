/**
 * Computes why a pod is still on its node.
 *
 * Promises: every pod that must leave has exactly one reason at any time; the text names the object
 * to look for (the budget, the policy, the finalizer). The names equal those in the registry of
 * reasons (`src/api/reasons.ts`), checked by a test. Times are wall-clock milliseconds.
 */
import { cutText } from '../text.ts';
import { rfc3339Seconds } from '../time.ts';
import type { EvictionOutcome } from './answer.ts';
import { type Budget, isProcessed } from './budget.ts';
import {
  closedText,
  neverAllows,
  neverAllowsText,
  openingChange,
  slotChange,
} from './closed-budget.ts';
import { keptBlocker } from './kept-pods.ts';
import { type DrainPod, terminatingSinceMs } from './pod.ts';
import type { InterruptedEviction } from './eviction-rank.ts';
import { type SlotNeed, slotNeed } from './slots.ts';

/** All reasons of a pod. */
export const BLOCKER_REASONS = [
  'BlockedByBudget',
  'BudgetBroken',
  'BudgetNeverAllows',
  'BudgetUnsettled',
  'CredentialsRefused',
  /** Of a drain, not of a pod: what the others lead to. */
  'DeadlineUnreachable',
  'DrainPaused',
  'EvictionRequestPending',
  'EvictionFailing',
  'EvictionForbidden',
  'EvictionRefused',
  'EvictionUnanswered',
  'Finalizer',
  'InterceptorSilent',
  'KubeletSilent',
  'LeavingBackends',
  'NamespaceTerminating',
  'PolicyRefused',
  'ServerThrottling',
  'SlotHeldByInterruptedEviction',
  'StatefulLocalVolume',
  'Terminating',
  'TerminationOverdue',
  'TwoBudgets',
  'WaitingForInterceptor',
  'WaitingForTier',
  'WaitingForTurn',
] as const;
export type BlockerReason = (typeof BLOCKER_REASONS)[number];

/** Why a pod is still there. */
export interface Blocker {
  readonly reason: BlockerReason;
  /** The details, as listed after the name of the pod. */
  readonly text: string;
  /**
   * The blocking object (a budget, a policy, …): pods with the same reason and subject share one
   * Event.
   */
  readonly subject: string;
  /** The change that lets the pod leave, when it is more exact than that of the reason. */
  readonly change?: string;
  /** The budgets that block it. */
  readonly budgets?: readonly BlockingBudget[];
}

/** A budget that blocks pods, as an Event regards it. */
export type BlockingBudget = Pick<Budget, 'key' | 'namespace' | 'name' | 'uid'>;

/** Pods blocked by one reason and subject. */
export interface BlockedPods {
  readonly blocker: Blocker;
  readonly pods: readonly string[];
}

/** The inputs of the decision about one pod. */
export interface BlockerFacts {
  readonly pod: DrainPod;
  /** The budgets that cover it. */
  readonly budgets: readonly Budget[];
  /** Interrupted evictions under its budget. */
  readonly interrupted: readonly InterruptedEviction[];
  /** The last answer to its eviction that no newer fact supersedes. */
  readonly outcome: EvictionOutcome | null;
  readonly tierStarted: boolean;
  readonly paused: boolean;
  readonly kubeletSilent: boolean;
  /** The data for which the drain keeps it; absent for a pod that leaves. */
  readonly kept?: readonly string[];
  /** What its EvictionRequest waits for. */
  readonly interception?: Blocker | undefined;
  readonly nowMs: number;
  /** How long a termination is overdue before it counts; the operator waits elsewhere (DR-42). */
  readonly overdueAfterMs?: number;
}

/** Reasons that resolve on their own and block nothing. */
const PASSING: ReadonlySet<BlockerReason> = new Set([
  'BudgetUnsettled',
  'EvictionRequestPending',
  'EvictionUnanswered',
  'LeavingBackends',
  'NamespaceTerminating',
  'Terminating',
  'WaitingForTier',
  'WaitingForTurn',
]);

/** True for a reason that blocks a pod; false while it is leaving. */
export const isBlocking = (reason: BlockerReason): boolean => !PASSING.has(reason);

const blocker = (reason: BlockerReason, text: string, subject = ''): Blocker => ({
  reason,
  text,
  subject,
});

const silent = ({ node }: DrainPod): Blocker => ({
  ...blocker('KubeletSilent', 'kubelet not responding'),
  change: `Repair or restart the machine: kubectl describe node ${node}`,
});

const describeCommand = ({ namespace, name }: DrainPod): string =>
  `kubectl describe pod ${name} -n ${namespace}`;

/** The kubelet has released the terminating pod, or had the whole grace period. */
export const isOverdue = (
  { deletionGraceSeconds, deletionMs }: DrainPod,
  { nowMs, overdueAfterMs = 0 }: Pick<BlockerFacts, 'nowMs' | 'overdueAfterMs'>,
): boolean => {
  const overdueMs = deletionMs === null ? 0 : nowMs - deletionMs;
  const isReleased = deletionGraceSeconds === 0 && overdueAfterMs === 0;
  return isReleased || overdueMs > overdueAfterMs;
};

const whileTerminating = (facts: BlockerFacts): Blocker => {
  const { pod, kubeletSilent, nowMs } = facts;
  const overdue = isOverdue(pod, facts);
  if (overdue && pod.finalizers.length > 0) {
    const names = pod.finalizers.join(', ');
    const change = `Run the controller that removes ${names}: ${describeCommand(pod)}`;
    return { ...blocker('Finalizer', `finalizer ${names}`, names), change };
  }
  if (kubeletSilent) return silent(pod);
  const seconds = Math.max(0, Math.round((nowMs - (terminatingSinceMs(pod) ?? nowMs)) / 1000));
  const text = `terminating for ${seconds} s`;
  if (!overdue) return blocker('Terminating', text);
  const change = `Check why its containers do not stop: ${describeCommand(pod)}`;
  return { ...blocker('TerminationOverdue', text), change };
};

const blocking = ({ key, namespace, name, uid }: Budget): BlockingBudget => ({
  key,
  namespace,
  name,
  uid,
});

const neverOpens = (budget: Budget): Blocker => ({
  ...blocker('BudgetNeverAllows', neverAllowsText(budget), budget.key),
  change: openingChange(budget),
  budgets: [blocking(budget)],
});

/** Why no slot is possible with the current budgets. */
const withoutSlot = (
  { reason, budgets }: Extract<SlotNeed, { _tag: 'Blocked' }>,
): Blocker => {
  const keys = budgets.map(({ key }) => key).join(' and ');
  const [first] = budgets;
  const names = budgets.map(({ name }) => name).join(' ');
  const look = `kubectl -n ${first?.namespace ?? ''} get pdb ${names}`;
  switch (reason) {
    case 'TwoBudgets':
      return {
        ...blocker(reason, `two budgets: ${keys}`, keys),
        change:
          `Change a selector, or delete a budget, so that one budget selects the pod: ${look}`,
        budgets: budgets.map(blocking),
      };
    case 'BudgetNeverAllows':
      return first === undefined ? blocker(reason, keys, keys) : neverOpens(first);
    case 'BudgetBroken':
      return {
        ...blocker(reason, `budget ${keys} has an invalid status`, keys),
        change: `Check the status of the budget; delete and recreate it: ${look} -o yaml`,
      };
  }
};

const byOutcome = (outcome: EvictionOutcome): Blocker | undefined => {
  switch (outcome._tag) {
    case 'PolicyRefused':
      return blocker(
        'PolicyRefused',
        `refused by ${outcome.policy === '' ? 'a policy' : outcome.policy}: ${outcome.why}`,
        outcome.policy,
      );
    case 'Forbidden':
      return blocker('EvictionForbidden', outcome.why);
    case 'Unauthenticated':
      return blocker('CredentialsRefused', outcome.why);
    case 'Throttled':
      return blocker('ServerThrottling', `API server throttles for ${outcome.retryAfterSeconds} s`);
    case 'NamespaceTerminating':
      return blocker('NamespaceTerminating', 'its namespace is being deleted');
    case 'BudgetBroken':
      return blocker('BudgetBroken', outcome.why);
    case 'TwoBudgets':
      return blocker('TwoBudgets', 'two budgets');
    case 'Refused':
      return blocker('EvictionRefused', `refused with status ${outcome.status}: ${outcome.why}`);
    case 'Transient':
    case 'NotSent':
      return blocker('EvictionFailing', outcome.why);
    case 'Unknown':
      return blocker('EvictionUnanswered', `no answer to its eviction: ${outcome.why}`);
    case 'BudgetUnsettled':
      return blocker('BudgetUnsettled', outcome.why);
    case 'Accepted':
    case 'Gone':
    case 'OtherPod':
    case 'BudgetExhausted':
      return undefined;
  }
};

/** Why the budget that covers a pod gives it no slot now. */
export const atBudget = (
  budget: Budget,
  { interrupted }: Pick<BlockerFacts, 'interrupted'>,
): Blocker => {
  const { key } = budget;
  if (!isProcessed(budget)) {
    return blocker('BudgetUnsettled', `status of budget ${key} is being updated`, key);
  }
  if (budget.disruptionsAllowed > 0) {
    return blocker('WaitingForTurn', `in the queue of budget ${key}`, key);
  }
  const [cut] = interrupted;
  if (cut !== undefined) {
    return blocker(
      'SlotHeldByInterruptedEviction',
      `slot of budget ${key} held by an interrupted eviction until ${rfc3339Seconds(cut.untilMs)}`,
      key,
    );
  }
  if (neverAllows(budget)) return neverOpens(budget);
  return {
    ...blocker('BlockedByBudget', closedText(budget), key),
    change: slotChange(budget),
    budgets: [blocking(budget)],
  };
};

/** Computes why the pod is still there. */
export const blockerOf = (facts: BlockerFacts): Blocker => {
  if (facts.pod.terminating) return whileTerminating(facts);
  if (facts.kept !== undefined) return keptBlocker(facts.kept);
  if (facts.paused) return blocker('DrainPaused', 'the drain is paused');
  if (!facts.tierStarted) return blocker('WaitingForTier', 'pods of lower priority go first');
  if (facts.kubeletSilent) return silent(facts.pod);
  if (facts.interception !== undefined) return facts.interception;
  if (facts.pod.gate?.isEvicting === true) {
    return blocker('LeavingBackends', 'not serving; its Services stop sending clients to it');
  }
  const need = slotNeed(facts.pod, facts.budgets);
  if (need._tag === 'Blocked') return withoutSlot(need);
  const answered = facts.outcome === null ? undefined : byOutcome(facts.outcome);
  if (answered !== undefined) return answered;
  return need._tag === 'One'
    ? atBudget(need.budget, facts)
    : blocker('WaitingForTurn', 'eviction is next');
};

/** The maximum number of pods that a sentence names. */
const NAMED_MAX = 5;
/** The maximum length of the text about one pod: policy messages are unbounded. */
const WORDS_CHARS_MAX = 300;

/** A pod and why it remains. */
export interface RemainingPod {
  readonly key: string;
  readonly text: string;
}

const inShort = (text: string): string => {
  if (text === '') return 'unknown';
  return cutText(text, WORDS_CHARS_MAX, '…');
};

/**
 * The maximum length of an Event note; Kubernetes takes 1,024 bytes, and a character may have
 * several.
 */
export const NOTE_CHARS_MAX = 1000;
/** Room for the number of unnamed pods. */
const MORE_CHARS = 24;

/** What blocks the pods of several budgets, in one blocker (DR-42). */
export const closedBudgets = (blockers: readonly Blocker[]): Blocker => {
  const [first] = blockers;
  const names = [...new Set(blockers.map(({ subject }) => subject))];
  if (first !== undefined && names.length === 1) return { ...first, subject: '' };
  const more = names.length - NAMED_MAX;
  const rest = more > 0 ? ` and ${more} more` : '';
  const text = `${names.length} budgets allow 0 disruptions: ${
    names.slice(0, NAMED_MAX).join(', ')
  }${rest}`;
  const budgets = blockers.flatMap((one) => one.budgets ?? []);
  return { ...blocker('BlockedByBudget', text), budgets };
};

/** The Event note about pods with one blocker: whole names, as many as fit. */
export const blockedSentence = (text: string, pods: readonly string[]): string =>
  podsSentence('cannot leave: ', text, pods);

/** `2 pods`, the verb, the text, and the names. */
export const podsSentence = (verb: string, text: string, pods: readonly string[]): string => {
  const count = pods.length === 1 ? '1 pod' : `${pods.length} pods`;
  const before = `${count} ${verb}${inShort(text)} (`;
  const named: string[] = [];
  let length = before.length + MORE_CHARS;
  for (const name of pods.slice(0, NAMED_MAX)) {
    length += name.length + 2;
    if (length > NOTE_CHARS_MAX) break;
    named.push(name);
  }
  const more = pods.length - named.length;
  return `${before}${named.join(', ')}${more > 0 ? ` and ${more} more` : ''})`;
};

/** Truncates a list between two entries when an Event cannot hold it. */
export const fittingSentence = (sentence: string): string => {
  if (sentence.length <= NOTE_CHARS_MAX) return sentence;
  const end = sentence.lastIndexOf(', ', NOTE_CHARS_MAX - 3);
  return end < 0 ? cutText(sentence, NOTE_CHARS_MAX, '…') : `${sentence.slice(0, end)}, …`;
};

/**
 * `lastError` of a failed drain (DR-41): the number of remaining pods, and the first five with
 * their reasons. Pods without a reason are `unknown`.
 */
export const remainingSentence = (remaining: readonly RemainingPod[]): string => {
  if (remaining.length === 0) return 'no pods remain';
  const named = remaining.slice(0, NAMED_MAX).map(({ key, text }) => `${key} (${inShort(text)})`);
  const more = remaining.length - named.length;
  const count = remaining.length === 1 ? '1 pod remains' : `${remaining.length} pods remain`;
  return `${count}: ${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
};
