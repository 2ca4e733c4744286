/** How lists and watches end, as the `listWatch` statechart hears of it. */

/** What became of a list. The objects themselves went to the cache, page by page. */
export type ListOutcome =
  | { readonly _tag: 'Listed'; readonly resourceVersion: string }
  /** The pages took longer than the server remembers (410): begin again, in one page. */
  | { readonly _tag: 'Expired'; readonly why: string }
  /** A person must act: no permission, or no such resource. */
  | { readonly _tag: 'Refused'; readonly why: string }
  | { readonly _tag: 'Fault'; readonly why: string; readonly retryAfterMs: number };

/** How a watch ended. */
export type WatchEnding =
  /** End of stream: the server closes every watch after its time. */
  | { readonly _tag: 'Ended' }
  /** The server no longer knows the revision (410): list anew. */
  | { readonly _tag: 'Expired'; readonly why: string }
  | { readonly _tag: 'Refused'; readonly why: string }
  | { readonly _tag: 'Fault'; readonly why: string; readonly retryAfterMs: number };

/** What an HTTP status other than 200 means for a list or a watch. */
export type StatusMeaning = 'Expired' | 'Refused' | 'Fault';

/** A revision of the future: the server was restored from a backup, or lags behind another one. */
const FUTURE_RESOURCE_VERSION = /too large resource version/i;

/** Reads a status with its message. 429 and 5xx pass by themselves; other 4xx need a person. */
export const meaningOf = (status: number, message: string): StatusMeaning => {
  if (status === 410 || FUTURE_RESOURCE_VERSION.test(message)) return 'Expired';
  return status >= 400 && status < 500 && status !== 429 && status !== 408 ? 'Refused' : 'Fault';
};
