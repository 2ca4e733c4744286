/**
 * Injects faults between a client and the embedded API server.
 *
 * Promises: a fault applies to matching requests at most `times` times; the oldest matching fault
 * applies first; a request that ran before its connection broke stays applied.
 */
import type { Time } from './values/time.ts';
import { answerOf } from './http/requests.ts';
import { type ClusterRequest, type ClusterResponse, ConnectionCut } from './api.ts';

/** What happens to a request. */
export type Trouble =
  /** Responds with this status without running the request; 429 may carry Retry-After. */
  | { readonly kind: 'refuse'; readonly status: number; readonly retryAfterSeconds?: number }
  /** Breaks the connection before or after the request ran. */
  | { readonly kind: 'cut'; readonly done: boolean }
  /** Refuses the connection. */
  | { readonly kind: 'unreachable' }
  /** Never responds: the client must time out. */
  | { readonly kind: 'hang'; readonly done: boolean }
  /** Runs the request and responds late. */
  | { readonly kind: 'slow'; readonly delayMs: number };

/** A configured fault. */
export interface Fault {
  readonly trouble: Trouble;
  /** Default: every method. */
  readonly methods?: readonly string[];
  /** A substring of the path with its query; default: every path. */
  readonly path?: string;
  /** How many requests it applies to; default: all until it is removed. */
  readonly times?: number;
}

/** The configured faults. */
export interface Faults {
  /** Adds a fault; returns a function that removes it. */
  readonly set: (fault: Fault) => () => void;
  readonly clear: () => void;
  /** The configured faults, each with how many requests it has affected. */
  readonly list: () => readonly (Fault & { readonly touched: number })[];
  /** Applies the faults to a request. */
  readonly intercept: (
    request: ClusterRequest,
    answer: (request: ClusterRequest) => ClusterResponse,
  ) => Promise<ClusterResponse>;
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

const refusal = (status: number, retryAfterSeconds: number | undefined): ClusterResponse => {
  const retry = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  const reason = REASONS[status];
  const answer = answerOf(status, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'the embedded cluster refuses this request: injected fault',
    ...(reason === undefined ? {} : { reason }),
    ...(retry === undefined ? {} : { details: retry }),
    code: status,
  });
  if (retry === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': `${retryAfterSeconds}` } };
};

interface SetFault {
  readonly fault: Fault;
  touched: number;
}

const matches = ({ fault, touched }: SetFault, { method, path }: ClusterRequest): boolean =>
  touched < (fault.times ?? Number.POSITIVE_INFINITY) &&
  (fault.methods === undefined || fault.methods.includes(method)) &&
  (fault.path === undefined || path.includes(fault.path));

const delay = (time: Time, delayMs: number): Promise<void> =>
  new Promise((resolve) => {
    time.schedule(delayMs, resolve);
  });

const never = (): Promise<never> => new Promise(() => {});

/** No faults yet. */
export const makeFaults = (time: Time): Faults => {
  const set = new Set<SetFault>();

  const troubled = async (
    { trouble }: Fault,
    request: ClusterRequest,
    answer: (request: ClusterRequest) => ClusterResponse,
  ): Promise<ClusterResponse> => {
    switch (trouble.kind) {
      case 'refuse':
        return refusal(trouble.status, trouble.retryAfterSeconds);
      case 'cut':
        if (trouble.done) answer(request);
        throw new ConnectionCut(true);
      case 'unreachable':
        throw new ConnectionCut(false);
      case 'hang':
        if (trouble.done) answer(request);
        return await never();
      case 'slow':
        await delay(time, trouble.delayMs);
        return answer(request);
    }
  };

  return {
    set: (fault) => {
      const entry = { fault, touched: 0 };
      set.add(entry);
      return () => {
        set.delete(entry);
      };
    },
    clear: () => set.clear(),
    list: () => [...set].map(({ fault, touched }) => ({ ...fault, touched })),
    intercept: (request, answer) => {
      for (const entry of set) {
        if (!matches(entry, request)) continue;
        entry.touched += 1;
        return troubled(entry.fault, request, answer);
      }
      return Promise.resolve(answer(request));
    },
  };
};
