/** The outcomes of lists and watches, for the `listWatch` statechart. */

/** The outcome of a list. The objects themselves go to the cache, page by page. */
export type ListOutcome =
  | { readonly _tag: 'Listed'; readonly resourceVersion: string }
  /** The continue token expired (410): list again, in larger pages. */
  | { readonly _tag: 'Expired'; readonly why: string }
  /** A person must act: missing permission or resource type. */
  | { readonly _tag: 'Refused'; readonly why: string }
  | { readonly _tag: 'Fault'; readonly why: string; readonly retryAfterMs: number };

/** The outcome of a watch. */
export type WatchEnding =
  /** End of stream: the server closes every watch after its timeout. */
  | { readonly _tag: 'Ended' }
  /** The resourceVersion is too old (410): list again. */
  | { readonly _tag: 'Expired'; readonly why: string }
  | { readonly _tag: 'Refused'; readonly why: string }
  | { readonly _tag: 'Fault'; readonly why: string; readonly retryAfterMs: number };

/** The outcome for an HTTP status other than 200. */
export type StatusMeaning = 'Expired' | 'Refused' | 'Fault';

/**
 * A resourceVersion from the future: the server was restored from a backup, or lags behind another
 * one.
 */
const FUTURE_RESOURCE_VERSION = /too large resource version/i;

/**
 * Classifies a status with its message. 429 and 5xx resolve on their own; other 4xx need a person.
 */
export const meaningOf = (status: number, message: string): StatusMeaning => {
  if (status === 410 || FUTURE_RESOURCE_VERSION.test(message)) return 'Expired';
  return status >= 400 && status < 500 && status !== 429 && status !== 408 ? 'Refused' : 'Fault';
};
