/**
 * Whether the API server can be reached, as writes find out (DR-37).
 *
 * Promises: while no connection can be made one write at a time tries, after a pause, and the
 * others wait for what becomes of it; any answer lets everybody go on. Pure arithmetic on the time
 * that it is given.
 */

/** Between two tries. */
const PAUSE_MS = 500;
/** How soon to look again at a try that is under way, and when it is not waited for any more. */
const LOOK_MS = 50;
const TRY_MS = 20_000;

/** What became of a write that was let go. */
export type WriteTrial =
  /** It left: the API server is there, even when the answer was lost. */
  | 'Left'
  /** No connection could be made. */
  | 'Unconnected'
  /** It was held back by ourselves, and tells nothing. */
  | 'HeldBack';

/** The presence of the API server. */
export interface ServerPresence {
  /** How long the next write has to wait; 0 when it may go now. */
  readonly waitMs: (nowMs: number) => number;
  /** A write goes; says what is to be told when it has come to its end. */
  readonly letGo: (nowMs: number) => (trial: WriteTrial, nowMs: number) => void;
}

/** Taken to be there. */
export const serverPresence = (): ServerPresence => {
  let nextTryMs: number | undefined;
  let trying: { readonly sinceMs: number } | undefined;
  return {
    waitMs: (nowMs) => {
      if (nextTryMs === undefined) return 0;
      const isTrying = trying !== undefined && nowMs - trying.sinceMs < TRY_MS;
      return isTrying ? LOOK_MS : Math.max(0, nextTryMs - nowMs);
    },
    letGo: (sinceMs) => {
      const own = { sinceMs };
      if (nextTryMs !== undefined) trying = own;
      return (trial, nowMs) => {
        if (trying === own) trying = undefined;
        if (trial === 'Left') nextTryMs = undefined;
        if (trial === 'Unconnected') nextTryMs = nowMs + PAUSE_MS;
      };
    },
  };
};
