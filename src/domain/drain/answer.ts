/**
 * What the answer to an eviction means: one pure function, row by row of the table of the drain
 * rules.
 *
 * Promises: total; every answer has exactly one meaning; messages are read only where status and
 * causes do not tell two meanings apart.
 */
import { asText, listOrEmptyAt, numberAt, textAt } from '../json.ts';

/** What became of one eviction call. */
export type EvictionOutcome =
  /** The pod is terminating, or was deleted. */
  | { readonly _tag: 'Accepted' }
  /** There is no such pod any more. */
  | { readonly _tag: 'Gone' }
  /** Another pod has the name: ours is gone. */
  | { readonly _tag: 'OtherPod' }
  /** An admission webhook or policy says no. */
  | { readonly _tag: 'PolicyRefused'; readonly policy: string; readonly why: string }
  /** Our credentials are not taken: read them again; everyone waits. */
  | { readonly _tag: 'Unauthenticated'; readonly why: string }
  /** The budget has no slot: queue at it until a newer status. */
  | { readonly _tag: 'BudgetExhausted'; readonly why: string }
  /** The budget is not processed yet, or an unready pod changed under the call. */
  | {
    readonly _tag: 'BudgetUnsettled';
    readonly retryAfterSeconds: number;
    readonly why: string;
  }
  /** The API server's own limit: everyone waits. */
  | { readonly _tag: 'Throttled'; readonly retryAfterSeconds: number }
  | { readonly _tag: 'TwoBudgets'; readonly why: string }
  /** The namespace goes, and the pod with it. */
  | { readonly _tag: 'NamespaceTerminating' }
  | { readonly _tag: 'BudgetBroken'; readonly why: string }
  /** We lack a right; the text names the verb. */
  | { readonly _tag: 'Forbidden'; readonly why: string }
  /** It may work the next time. */
  | { readonly _tag: 'Transient'; readonly why: string }
  /** Nobody knows whether it was done: look at the cache before asking again. */
  | { readonly _tag: 'Unknown'; readonly why: string }
  /** The request did not leave: nothing happened. */
  | { readonly _tag: 'NotSent'; readonly why: string }
  /** Something this version does not know; the text is the API server's. */
  | { readonly _tag: 'Refused'; readonly status: number; readonly why: string };

/** The answer as it came. `body` is a Status object, or whatever a proxy in between wrote. */
export interface EvictionAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterSeconds?: number;
}

/** Admission that speaks in its own name, whatever status it chose. */
const POLICIES: readonly RegExp[] = [
  /admission webhook "(?<policy>[^"]*)"/,
  /failed calling webhook(?: "(?<policy>[^"]*)")?/,
  /ValidatingAdmissionPolicy '(?<policy>[^']*)'/,
];
const UID_PRECONDITION = /UID in (?:the )?precondition/;
const TWO_BUDGETS = /more than one PodDisruptionBudget/;
const BROKEN_BUDGET = /disruptions allowed is negative|DisruptedPods map too big/;
const MISSING_RIGHT = /\bcannot \S+ resource\b/;
/** The API server gave up waiting for etcd: the write may have been done. */
const STORAGE_TIMEOUT = /etcdserver: request timed out|context deadline exceeded/;

const DEFAULT_RETRY_AFTER_SECONDS = 1;

/** What is read of an answer. */
interface Reading {
  readonly status: number;
  readonly why: string;
  readonly kind: string;
  readonly causes: readonly unknown[];
  readonly retryAfterSeconds: number | undefined;
}

const read = ({ status, body, retryAfterSeconds }: EvictionAnswer): Reading => ({
  status,
  why: (textAt(body, 'message') ?? asText(body) ?? `HTTP status ${status}`).trim(),
  kind: textAt(body, 'details', 'kind') ?? '',
  causes: listOrEmptyAt(body, 'details', 'causes'),
  retryAfterSeconds: retryAfterSeconds ?? numberAt(body, 'details', 'retryAfterSeconds'),
});

const hasCause = ({ causes }: Reading, reason: string): boolean =>
  causes.some((cause) => textAt(cause, 'reason') === reason);

const policyRefusal = ({ status, why }: Reading): EvictionOutcome | undefined => {
  if (status < 400) return undefined;
  for (const pattern of POLICIES) {
    const match = pattern.exec(why);
    if (match !== null) {
      return { _tag: 'PolicyRefused', policy: match.groups?.['policy'] ?? '', why };
    }
  }
  return undefined;
};

/** What the budget says of itself; the message of the answer is always the same. */
const budgetCause = ({ causes, why }: Reading): string => {
  const cause = causes.find((entry) => textAt(entry, 'reason') === 'DisruptionBudget');
  return textAt(cause, 'message') ?? why;
};

const tooMany = (reading: Reading): EvictionOutcome => {
  const { why, retryAfterSeconds = 0 } = reading;
  if (!hasCause(reading, 'DisruptionBudget')) {
    return {
      _tag: 'Throttled',
      retryAfterSeconds: Math.max(retryAfterSeconds, DEFAULT_RETRY_AFTER_SECONDS),
    };
  }
  return retryAfterSeconds > 0
    ? { _tag: 'BudgetUnsettled', retryAfterSeconds, why }
    : { _tag: 'BudgetExhausted', why: budgetCause(reading) };
};

const forbidden = (reading: Reading): EvictionOutcome => {
  const { status, why } = reading;
  if (hasCause(reading, 'NamespaceTerminating')) return { _tag: 'NamespaceTerminating' };
  if (BROKEN_BUDGET.test(why)) return { _tag: 'BudgetBroken', why };
  if (MISSING_RIGHT.test(why)) return { _tag: 'Forbidden', why };
  return { _tag: 'Refused', status, why };
};

const conflict = ({ kind, why }: Reading): EvictionOutcome =>
  (kind === 'Pod' || kind === 'pods') && UID_PRECONDITION.test(why)
    ? { _tag: 'OtherPod' }
    : { _tag: 'Transient', why };

const serverError = ({ why }: Reading): EvictionOutcome => {
  if (TWO_BUDGETS.test(why)) return { _tag: 'TwoBudgets', why };
  return { _tag: STORAGE_TIMEOUT.test(why) ? 'Unknown' : 'Transient', why };
};

/** What the answer to an eviction means. */
export const evictionOutcome = (answer: EvictionAnswer): EvictionOutcome => {
  const reading = read(answer);
  const { status, why } = reading;
  const refusal = policyRefusal(reading);
  if (refusal !== undefined) return refusal;
  if (status >= 200 && status < 300) return { _tag: 'Accepted' };
  switch (status) {
    case 401:
      return { _tag: 'Unauthenticated', why };
    case 403:
      return forbidden(reading);
    case 404:
      return { _tag: 'Gone' };
    case 409:
      return conflict(reading);
    case 429:
      return tooMany(reading);
    case 500:
      return serverError(reading);
    case 503:
      return { _tag: 'Transient', why };
    // A proxy that lost the API server knows no more than we do.
    case 502:
    case 504:
      return { _tag: 'Unknown', why };
    default:
      return { _tag: 'Refused', status, why };
  }
};
