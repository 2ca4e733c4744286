/**
 * What an interceptor needs of a Kubernetes client: requests and watches.
 *
 * Promises: an HTTP status is an answer; only a missing answer is a rejection. `client-node.ts`
 * makes one from `@kubernetes/client-node`.
 */

/** One request. */
export interface KubernetesRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With its query: `/api/v1/namespaces/a/pods?limit=5`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  /** Asked right before it is sent: when false it is not, and is rejected. */
  readonly mayLeave?: () => boolean;
}

/** The answer of the API server. */
export interface KubernetesAnswer {
  readonly status: number;
  /** Parsed JSON. */
  readonly body: unknown;
  /** From `Retry-After`. */
  readonly retryAfterMs?: number;
}

/** One line of a watch. */
export interface WatchLine {
  /** `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`. */
  readonly type: string;
  readonly object: unknown;
}

/** A connection to an API server. */
export interface KubernetesClient {
  /** Rejects when no answer came. */
  readonly request: (request: KubernetesRequest) => Promise<KubernetesAnswer>;
  /** Ends when the server closes the stream; throws a `KubernetesError` when it is refused. */
  readonly watch: (path: string, signal: AbortSignal) => AsyncIterable<WatchLine>;
}

/** Why a request failed. */
export type KubernetesErrorTag =
  /** 404: the object is gone. */
  | 'NotFound'
  /** 409: it has another UID or version, or exists already. */
  | 'Conflict'
  /** 401 and 403: RBAC or a policy refuses it. */
  | 'Forbidden'
  /** 400, 413 and 422: the object is not valid. */
  | 'Invalid'
  /** 410: the resourceVersion is too old. */
  | 'Expired'
  /** 429, 5xx, or no answer: worth another attempt. */
  | 'Unavailable';

/** A request that failed. */
export class KubernetesError extends Error {
  readonly _tag: KubernetesErrorTag;
  /** 0 without an answer. */
  readonly status: number;
  readonly retryAfterMs: number;

  constructor(tag: KubernetesErrorTag, message: string, detail: Partial<KubernetesAnswer> = {}) {
    super(message);
    this.name = 'KubernetesError';
    this._tag = tag;
    this.status = detail.status ?? 0;
    this.retryAfterMs = detail.retryAfterMs ?? 0;
  }
}

/** The tag of an HTTP status. */
export const errorTagOf = (status: number): KubernetesErrorTag => {
  switch (status) {
    case 404:
      return 'NotFound';
    case 409:
      return 'Conflict';
    case 401:
    case 403:
      return 'Forbidden';
    case 410:
      return 'Expired';
    default:
      return status >= 400 && status < 500 && status !== 429 && status !== 408
        ? 'Invalid'
        : 'Unavailable';
  }
};

/** Anything that was thrown, as a `KubernetesError`. */
export const kubernetesError = (cause: unknown): KubernetesError =>
  cause instanceof KubernetesError ? cause : new KubernetesError(
    'Unavailable',
    cause instanceof Error ? cause.message : String(cause),
  );
