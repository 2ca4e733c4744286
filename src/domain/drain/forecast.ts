/**
 * The forecast of a drain: whether its node will be empty by the deadline, as far as that is known
 * beforehand.
 *
 * Promises: a budget that cannot open, and two budgets on one pod, keep their pods past any
 * deadline until somebody changes them; a pod whose own grace exceeds that of the drain may stay
 * past it. Everything else is no forecast.
 */
import { rfc3339Seconds } from '../time.ts';
import { type BlockedPods, blockedSentence, type BlockerReason, podsSentence } from './blocker.ts';
import type { DrainPod } from './pod.ts';

/** The time that a drain has. */
export interface DrainTerms {
  /** On the wall clock; null without a deadline. */
  readonly deadlineMs: number | null;
  readonly graceSeconds: number;
}

/** Causes that only a person ends. */
const PERMANENT: ReadonlySet<BlockerReason> = new Set(['BudgetNeverAllows', 'TwoBudgets']);
const NAMED_MAX = 5;

const textsOf = (blocked: readonly BlockedPods[]): string => {
  const more = blocked.length - NAMED_MAX;
  const named = blocked.slice(0, NAMED_MAX).map(({ blocker: { text } }) => text).join('; ');
  return more > 0 ? `${named}; and ${more} more` : named;
};

const SHORTEN = 'Lower terminationGracePeriodSeconds of the pods, or delete them before the ' +
  'deadline';

/**
 * Why the node will not be empty by the deadline, as a blocker of the whole drain: `subject` is the
 * deadline. `undefined` while nothing is certain, or without a deadline.
 */
export const forecastOf = (
  blocked: readonly BlockedPods[],
  leaving: Iterable<DrainPod>,
  { deadlineMs, graceSeconds }: DrainTerms,
): BlockedPods | undefined => {
  if (deadlineMs === null) return undefined;
  const reason = 'DeadlineUnreachable';
  const subject = rfc3339Seconds(deadlineMs);
  const permanent = blocked.filter(({ blocker }) => PERMANENT.has(blocker.reason));
  const [first] = permanent;
  if (first !== undefined) {
    const { change } = first.blocker;
    const pods = permanent.flatMap((one) => one.pods);
    return {
      blocker: {
        reason,
        text: `will not be empty by ${subject}: ${blockedSentence(textsOf(permanent), pods)}`,
        subject,
        ...(change === undefined ? {} : { change }),
      },
      pods,
    };
  }
  const slow = [...leaving].filter((pod) => pod.graceSeconds > graceSeconds);
  if (slow.length === 0) return undefined;
  const longest = Math.max(...slow.map((pod) => pod.graceSeconds));
  const pods = slow.map(({ key }) => key);
  const text = `take up to ${longest} s to terminate, and the drain has ${graceSeconds} s`;
  return {
    blocker: {
      reason,
      text: `may not be empty by ${subject}: ${podsSentence('may ', text, pods)}`,
      subject,
      change: SHORTEN,
    },
    pods,
  };
};
