/**
 * Why a pod is still on its node: facts in, one reason with its particulars out.
 *
 * Promises: every pod that must leave has exactly one reason at any time; the words name what a
 * person would look for (the budget, the policy, the finalizer). The names are those of the
 * registry of reasons (`src/api/reasons.ts`), which a test compares. Times are wall-clock
 * milliseconds.
 */
import { cutText } from '../text.ts';
import { rfc3339Seconds } from '../time.ts';
import type { EvictionOutcome } from './answer.ts';
import { type Budget, isProcessed } from './budget.ts';
import { type DrainPod, terminatingSinceMs } from './pod.ts';
import type { InterruptedEviction } from './eviction-rank.ts';
import { type SlotNeed, slotNeed } from './slots.ts';

/** Every reason that a pod can have. */
export const BLOCKER_REASONS = [
  'BlockedByBudget',
  'BudgetBroken',
  'BudgetNeverAllows',
  'BudgetUnsettled',
  'CredentialsRefused',
  'DrainPaused',
  'EvictionFailing',
  'EvictionForbidden',
  'EvictionRefused',
  'EvictionUnanswered',
  'Finalizer',
  'KubeletSilent',
  'NamespaceTerminating',
  'PolicyRefused',
  'ServerThrottling',
  'SlotHeldByInterruptedEviction',
  'Terminating',
  'TerminationOverdue',
  'TwoBudgets',
  'WaitingForTier',
  'WaitingForTurn',
] as const;
export type BlockerReason = (typeof BLOCKER_REASONS)[number];

/** Why a pod is still there. */
export interface Blocker {
  readonly reason: BlockerReason;
  /** The particulars, as they stand in a list behind the name of the pod. */
  readonly text: string;
  /** What blocks (a budget, a policy, …): pods with the same reason and subject are one Event. */
  readonly subject: string;
}

/** What decides about one pod. */
export interface BlockerFacts {
  readonly pod: DrainPod;
  /** The budgets that cover it. */
  readonly budgets: readonly Budget[];
  /** Evictions under its budget that were cut short. */
  readonly interrupted: readonly InterruptedEviction[];
  /** The last answer to an eviction of it that has not been overtaken by events. */
  readonly outcome: EvictionOutcome | null;
  readonly tierStarted: boolean;
  readonly paused: boolean;
  readonly kubeletSilent: boolean;
  readonly nowMs: number;
}

/** Reasons that pass by themselves and hold nothing up. */
const PASSING: ReadonlySet<BlockerReason> = new Set([
  'BudgetUnsettled',
  'EvictionUnanswered',
  'NamespaceTerminating',
  'Terminating',
  'WaitingForTier',
  'WaitingForTurn',
]);

/** True for what holds a pod up, rather than being on its way out. */
export const isBlocking = (reason: BlockerReason): boolean => !PASSING.has(reason);

const blocker = (reason: BlockerReason, text: string, subject = ''): Blocker => ({
  reason,
  text,
  subject,
});

const SILENT = blocker('KubeletSilent', 'kubelet not responding');

/** The kubelet has let go of the pod, or had all the time that it was given. */
const isOverdue = (pod: DrainPod, nowMs: number): boolean =>
  pod.deletionGraceSeconds === 0 || (pod.deletionMs !== null && nowMs > pod.deletionMs);

const whileTerminating = ({ pod, kubeletSilent, nowMs }: BlockerFacts): Blocker => {
  const overdue = isOverdue(pod, nowMs);
  if (overdue && pod.finalizers.length > 0) {
    const names = pod.finalizers.join(', ');
    return blocker('Finalizer', `finalizer ${names}`, names);
  }
  if (kubeletSilent) return SILENT;
  const seconds = Math.max(0, Math.round((nowMs - (terminatingSinceMs(pod) ?? nowMs)) / 1000));
  const text = `terminating for ${seconds} s`;
  return blocker(overdue ? 'TerminationOverdue' : 'Terminating', text);
};

/** The words for a need that no count of a budget can meet. */
const withoutSlot = ({ reason, budgets }: Extract<SlotNeed, { _tag: 'Blocked' }>): Blocker => {
  const names = budgets.map(({ key }) => key).join(' and ');
  switch (reason) {
    case 'TwoBudgets':
      return blocker(reason, `two budgets: ${names}`, names);
    case 'BudgetNeverAllows':
      return blocker(reason, `budget ${names} expects no pods and never allows an eviction`, names);
    case 'BudgetBroken':
      return blocker(reason, `budget ${names} has a broken status`, names);
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
      return blocker('ServerThrottling', `the API server asks for ${outcome.retryAfterSeconds} s`);
    case 'NamespaceTerminating':
      return blocker('NamespaceTerminating', 'its namespace is being deleted');
    case 'BudgetBroken':
      return blocker('BudgetBroken', outcome.why);
    case 'TwoBudgets':
      return blocker('TwoBudgets', 'two budgets');
    case 'Refused':
      return blocker('EvictionRefused', `refused with ${outcome.status}: ${outcome.why}`);
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

const atBudget = (budget: Budget, { interrupted }: BlockerFacts): Blocker => {
  const { key } = budget;
  if (!isProcessed(budget)) {
    return blocker('BudgetUnsettled', `budget ${key} is being worked out`, key);
  }
  if (budget.disruptionsAllowed > 0) {
    return blocker('WaitingForTurn', `next slot of budget ${key}`, key);
  }
  const [cut] = interrupted;
  if (cut !== undefined) {
    return blocker(
      'SlotHeldByInterruptedEviction',
      `slot of budget ${key} held by an interrupted eviction until ${rfc3339Seconds(cut.untilMs)}`,
      key,
    );
  }
  const problem = budget.syncProblem === ''
    ? `${budget.currentHealthy} of ${budget.desiredHealthy} healthy`
    : budget.syncProblem;
  return blocker('BlockedByBudget', `budget ${key} allows no eviction: ${problem}`, key);
};

/** Why the pod is still there. */
export const blockerOf = (facts: BlockerFacts): Blocker => {
  if (facts.pod.terminating) return whileTerminating(facts);
  if (facts.paused) return blocker('DrainPaused', 'the drain is paused');
  if (!facts.tierStarted) return blocker('WaitingForTier', 'pods of lower priority go first');
  if (facts.kubeletSilent) return SILENT;
  const need = slotNeed(facts.pod, facts.budgets);
  if (need._tag === 'Blocked') return withoutSlot(need);
  const answered = facts.outcome === null ? undefined : byOutcome(facts.outcome);
  if (answered !== undefined) return answered;
  return need._tag === 'One'
    ? atBudget(need.budget, facts)
    : blocker('WaitingForTurn', 'about to be asked to leave');
};

/** Pods that a sentence names. */
const NAMED_MAX = 5;
/** Words about one pod: a policy may explain itself at any length. */
const WORDS_CHARS_MAX = 300;

/** One pod and why it is there. */
export interface RemainingPod {
  readonly key: string;
  readonly text: string;
}

const inShort = (text: string): string => {
  if (text === '') return 'unknown';
  return cutText(text, WORDS_CHARS_MAX, '…');
};

/** What an Event may say; Kubernetes takes 1,024 bytes, and a character may have several. */
const NOTE_CHARS_MAX = 1000;
/** Room for the number of pods that are not named. */
const MORE_CHARS = 24;

/** What an Event says of pods that one cause holds up: whole names, as many as there is room. */
export const blockedSentence = (text: string, pods: readonly string[]): string => {
  const before = `Pods cannot leave: ${inShort(text)} (`;
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

/** A sentence of several parts, cut between two of them when an Event cannot hold it. */
export const fittingSentence = (sentence: string): string => {
  if (sentence.length <= NOTE_CHARS_MAX) return sentence;
  const end = sentence.lastIndexOf(', ', NOTE_CHARS_MAX - 3);
  return end < 0 ? cutText(sentence, NOTE_CHARS_MAX, '…') : `${sentence.slice(0, end)}, …`;
};

/**
 * What `lastError` says of a drain that failed (DR-41): how many pods remain, the first five by
 * name and why each. Pods without words are `unknown`.
 */
export const remainingSentence = (remaining: readonly RemainingPod[]): string => {
  if (remaining.length === 0) return 'no pods remain';
  const named = remaining.slice(0, NAMED_MAX).map(({ key, text }) => `${key} (${inShort(text)})`);
  const more = remaining.length - named.length;
  const count = remaining.length === 1 ? '1 pod remains' : `${remaining.length} pods remain`;
  return `${count}: ${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
};
