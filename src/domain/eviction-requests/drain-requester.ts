/**
 * A drain as requester of an EvictionRequest: what it writes next, what it waits for, and when it
 * asks no more (ER-74 to ER-78).
 *
 * Promises: total and pure; the requester changes its own entry only, and deletes a request only
 * when nobody else is interested in it, or when it can never be revived (ER-16).
 */
import type { Blocker } from '../drain/blocker.ts';
import { type DrainOwner, isExactDrainOwner } from '../drain/cordon.ts';
import { quoted } from '../text.ts';
import { rfc3339Seconds } from '../time.ts';
import { conditionOf, isFinal, type ObservedRequest } from './observed-request.ts';
import { IMPERATIVE_EVICTION, isQualifiedName } from './qualified-name.ts';
import type { RequestedPod } from './requester.ts';

const REQUESTER_DOMAIN = 'tidegate.dev';
/** Requests that are made anew for one pod before its drain asks no more. */
export const RENEWALS_MAX = 5;

/** The name of an owner's entry, and of its field manager; undefined when it can have none. */
export const requesterName = (owner: DrainOwner): string | undefined => {
  const name = `${owner}.${REQUESTER_DOMAIN}`;
  return isQualifiedName(name) ? name : undefined;
};

/**
 * The owner of drains whose entry has this name; empty for any other name. The name of a
 * maintenance does not contain its owner: of "maintenance-a" it begins as owners do.
 */
export const ownerOfRequester = (name: string): DrainOwner | '' => {
  const isOurs = name.endsWith(`.${REQUESTER_DOMAIN}`);
  const owner = isOurs ? name.slice(0, -REQUESTER_DOMAIN.length - 1) : '';
  return isExactDrainOwner(owner) ? owner : '';
};

/** Whether the pod is there; a finished pod counts as gone. */
export type PodLife = 'Runs' | 'Leaves' | 'Gone';

/** Why the drain evicts the pod without asking. */
export interface Fallback {
  readonly cause:
    | 'Canceled'
    | 'Unanswered'
    | 'Refused'
    | 'Processed';
  readonly text: string;
}

/** What is known to a requester. */
export interface RequesterFacts {
  readonly requester: string;
  readonly pod: RequestedPod;
  /** The request of the pod; null when there is none. */
  readonly request: ObservedRequest | null;
  /** The drain wants the pod to leave. */
  readonly wanted: boolean;
  readonly life: PodLife;
  /** Requests that were made anew. */
  readonly renewals: number;
  readonly fallback: Fallback | null;
  /** The request did not become final in time. */
  readonly overdue: boolean;
}

/** What a write of a requester is about. */
export type RequesterBasis = Pick<RequesterFacts, 'requester' | 'pod' | 'request'>;

/** The next write of a requester. */
export type RequesterWrite =
  /** Creates the request, or adds the entry. */
  | { readonly write: 'join' }
  | { readonly write: 'leave' }
  /** Deletes the request by its UID. */
  | { readonly write: 'remove' };

/** What a requester waits for when it writes nothing. */
export type RequesterPhase =
  /** For the controller to observe the entry. */
  | 'Unanswered'
  /** For the interceptors. */
  | 'Intercepted'
  /** For the imperative eviction. */
  | 'Evicting'
  /** For the pod, which is terminating. */
  | 'Leaving'
  /** For the end of the request, to delete it. */
  | 'Ending'
  | 'Done';

/** What follows from the facts. */
export interface RequesterStep {
  readonly phase: RequesterPhase;
  readonly write: RequesterWrite | null;
}

const waits = (phase: RequesterPhase): RequesterStep => ({ phase, write: null });
const writes = (write: RequesterWrite['write'], phase: RequesterPhase): RequesterStep => ({
  phase,
  write: { write },
});

/** Whether the drain still asks, and evicts nothing itself. */
export const isAsking = (
  { wanted, life, fallback }: Pick<RequesterFacts, 'wanted' | 'life' | 'fallback'>,
): boolean => wanted && life === 'Runs' && fallback === null;

/** A request that never evicts the pod: canceled, completed, without requesters, or another's. */
const isSpent = (request: ObservedRequest, pod: RequestedPod): boolean =>
  isFinal(request) || request.requesters.length === 0 || request.pod.name !== pod.name ||
  request.pod.uid !== pod.uid;

const isObserved = ({ status, generation }: ObservedRequest): boolean =>
  status.observedGeneration >= generation;

const asking = ({ requester, pod, request }: RequesterFacts): RequesterStep => {
  if (request === null) return writes('join', 'Unanswered');
  if (request.deleting) return waits('Unanswered');
  if (isSpent(request, pod)) return writes('remove', 'Unanswered');
  if (!request.requesters.includes(requester)) return writes('join', 'Unanswered');
  if (!isObserved(request)) return waits('Unanswered');
  return waits(request.status.active === IMPERATIVE_EVICTION ? 'Evicting' : 'Intercepted');
};

const closing = (
  { requester, life, overdue }: RequesterFacts,
  request: ObservedRequest,
): RequesterStep => {
  const { requesters } = request;
  const isIn = requesters.includes(requester);
  const isAlone = requesters.every((name) => name === requester);
  if (!isIn && !isAlone) return waits('Done');
  if (request.deleting) return waits('Ending');
  if (isFinal(request) || overdue) return writes(isAlone ? 'remove' : 'leave', 'Ending');
  if (isIn && life === 'Runs') return writes('leave', 'Ending');
  return waits(isIn && life === 'Leaves' ? 'Leaving' : 'Ending');
};

/** The next write, and what is waited for. */
export const requesterStep = (facts: RequesterFacts): RequesterStep => {
  if (isAsking(facts)) return asking(facts);
  return facts.request === null ? waits('Done') : closing(facts, facts.request);
};

/** Whether all interceptors, the imperative eviction included, have had their turn. */
const isProcessed = ({ status: { active, processed, targets } }: ObservedRequest): boolean =>
  active === null && targets.length > 0 && processed.length >= targets.length;

/** Why the request of the pod leads nowhere; null while it may. */
export const fallbackIn = (facts: RequesterFacts): Fallback | null => {
  const { requester, pod, request, renewals } = facts;
  if (!isAsking(facts) || request === null || request.deleting) return facts.fallback;
  const canceled = conditionOf(request, 'Canceled');
  if (canceled?.reason === 'ValidationFailed' && request.requesters.includes(requester)) {
    return { cause: 'Canceled', text: `its EvictionRequest was canceled: ${canceled.message}` };
  }
  if (isSpent(request, pod)) {
    return renewals < RENEWALS_MAX ? null : {
      cause: 'Canceled',
      text: `its EvictionRequest was canceled ${RENEWALS_MAX} times`,
    };
  }
  return request.requesters.includes(requester) && isProcessed(request)
    ? { cause: 'Processed', text: 'every interceptor had its turn and the pod remains' }
    : null;
};

/** After the bound, in seconds, within which a controller observes an entry. */
export const unanswered = (seconds: number): Fallback => ({
  cause: 'Unanswered',
  text: `no controller of EvictionRequests answered within ${seconds} s`,
});

/** After the bound, in seconds, within which a write of the entry lands. */
export const unwritten = (seconds: number, problem: string): Fallback => ({
  cause: 'Unanswered',
  text: `its EvictionRequest was not written for ${seconds} s: ${problem}`,
});

/** The API server refuses the request. */
export const refusedRequest = (why: string): Fallback => ({
  cause: 'Refused',
  text: `its EvictionRequest is refused: ${why}`,
});

/** Why a pod waits for the active interceptor of its open request. */
export const interceptorBlocker = (
  { status, reports, createdMs }: ObservedRequest,
): Blocker => {
  const { active, starts } = status;
  if (active === null) {
    return {
      reason: 'EvictionRequestPending',
      text: 'its eviction is requested; no interceptor is active yet',
      subject: '',
    };
  }
  const since = rfc3339Seconds(starts[active] ?? createdMs);
  const isSilent = conditionOf({ status }, 'InterceptorSilent') !== undefined;
  const message = reports.find(({ name }) => name === active)?.message ?? '';
  const report = message === '' ? '' : `: ${message}`;
  const who = `interceptor ${quoted(active)}`;
  return isSilent
    ? {
      reason: 'InterceptorSilent',
      text: `${who}, active since ${since}, is silent`,
      subject: active,
    }
    : {
      reason: 'WaitingForInterceptor',
      text: `${who} active since ${since}${report}`,
      subject: active,
    };
};

/** Why a pod waits for its request; undefined when the drain itself may evict it. */
export const requesterBlocker = (facts: RequesterFacts): Blocker | undefined => {
  if (!isAsking(facts)) return undefined;
  const { request, pod, requester } = facts;
  const isOpen = request !== null && !isSpent(request, pod) &&
    request.requesters.includes(requester);
  if (isOpen) return interceptorBlocker(request);
  return {
    reason: 'EvictionRequestPending',
    text: 'its EvictionRequest is being created',
    subject: '',
  };
};

/** How a drain lets pods leave. */
export const EVICTION_MODES = ['auto', 'eviction-requests', 'evictions'] as const;
/** `--via`. */
export type EvictionMode = (typeof EVICTION_MODES)[number];

/**
 * Whether the drain asks by EvictionRequest before it evicts the pod. No request evicts a pod of a
 * DaemonSet (ER-66): without an interceptor of its own it leaves by the drain that has reached it
 * (NM-44).
 */
export const asksByRequest = (
  mode: EvictionMode,
  { interceptors, request, isOfDaemonSet }: {
    /** Those that the pod registers, or its defaults. */
    readonly interceptors: readonly string[];
    readonly request: ObservedRequest | undefined;
    readonly isOfDaemonSet: boolean;
  },
): boolean => {
  if (isOfDaemonSet && interceptors.length === 0) return false;
  if (mode !== 'auto') return mode === 'eviction-requests';
  return interceptors.length > 0 ||
    (request !== undefined && !isFinal(request) && request.requesters.length > 0);
};
