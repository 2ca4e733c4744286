/**
 * Classifies the answer to an eviction, by the table of the drain rules.
 *
 * Promises: total; every answer has exactly one class; messages are read only where status and
 * causes are ambiguous.
 */
import { asText, listOrEmptyAt, numberAt, textAt } from '../json.ts';

/** The outcome of one eviction call. */
export type EvictionOutcome =
  /** The pod is terminating, or was deleted. */
  | { readonly _tag: 'Accepted' }
  /** The pod does not exist any more. */
  | { readonly _tag: 'Gone' }
  /** Another pod has this name; the requested one is gone. */
  | { readonly _tag: 'OtherPod' }
  /** An admission webhook or policy refused. */
  | { readonly _tag: 'PolicyRefused'; readonly policy: string; readonly why: string }
  /** The credentials were rejected: they are read again; all evictions wait. */
  | { readonly _tag: 'Unauthenticated'; readonly why: string }
  /** The budget has no free slot: queue until its status changes. */
  | { readonly _tag: 'BudgetExhausted'; readonly why: string }
  /** The budget status is not current, or an unready pod changed concurrently. */
  | {
    readonly _tag: 'BudgetUnsettled';
    readonly retryAfterSeconds: number;
    readonly why: string;
  }
  /** The API server's own rate limit: all evictions wait. */
  | { readonly _tag: 'Throttled'; readonly retryAfterSeconds: number }
  | { readonly _tag: 'TwoBudgets'; readonly why: string }
  /** The namespace is being deleted, and the pod with it. */
  | { readonly _tag: 'NamespaceTerminating' }
  | { readonly _tag: 'BudgetBroken'; readonly why: string }
  /** A permission is missing; the text names the verb. */
  | { readonly _tag: 'Forbidden'; readonly why: string }
  /** Transient: a retry may succeed. */
  | { readonly _tag: 'Transient'; readonly why: string }
  /** The outcome is unknown: check the cache before a retry. */
  | { readonly _tag: 'Unknown'; readonly why: string }
  /** The request was not sent: nothing happened. */
  | { readonly _tag: 'NotSent'; readonly why: string }
  /** An answer unknown to this version; the text is the API server's. */
  | { readonly _tag: 'Refused'; readonly status: number; readonly why: string };

/** The raw answer. `body` is a Status object, or the text of a proxy. */
export interface EvictionAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterSeconds?: number;
}

/** Admission that identifies itself, with any status. */
const POLICIES: readonly RegExp[] = [
  /admission webhook "(?<policy>[^"]*)"/,
  /failed calling webhook(?: "(?<policy>[^"]*)")?/,
  /ValidatingAdmissionPolicy '(?<policy>[^']*)'/,
];
const UID_PRECONDITION = /UID in (?:the )?precondition/;
const TWO_BUDGETS = /more than one PodDisruptionBudget/;
const BROKEN_BUDGET = /disruptions allowed is negative|DisruptedPods map too big/;
const MISSING_RIGHT = /\bcannot \S+ resource\b/;
/** The API server timed out on etcd: the write may have happened. */
const STORAGE_TIMEOUT = /etcdserver: request timed out|context deadline exceeded/;

const DEFAULT_RETRY_AFTER_SECONDS = 1;

/** The fields of an answer that are read. */
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

/** The cause comes from the budget's status; the message of the answer is always the same. */
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

/** The budget may be deleted during the call; the pod is alive then. */
const notFound = ({ kind, why }: Reading): EvictionOutcome =>
  kind === '' || kind === 'pods' ? { _tag: 'Gone' } : { _tag: 'Transient', why };

const conflict = ({ kind, why }: Reading): EvictionOutcome =>
  (kind === 'Pod' || kind === 'pods') && UID_PRECONDITION.test(why)
    ? { _tag: 'OtherPod' }
    : { _tag: 'Transient', why };

const serverError = ({ why }: Reading): EvictionOutcome => {
  if (TWO_BUDGETS.test(why)) return { _tag: 'TwoBudgets', why };
  return { _tag: STORAGE_TIMEOUT.test(why) ? 'Unknown' : 'Transient', why };
};

/** Classifies the answer to an eviction. */
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
      return notFound(reading);
    case 409:
      return conflict(reading);
    case 429:
      return tooMany(reading);
    case 500:
      return serverError(reading);
    case 503:
      return { _tag: 'Transient', why };
    // A proxy that lost the API server does not have the outcome either.
    case 502:
    case 504:
      return { _tag: 'Unknown', why };
    default:
      return { _tag: 'Refused', status, why };
  }
};
