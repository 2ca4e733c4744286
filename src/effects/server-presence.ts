/**
 * Tracks whether the API server is reachable, from the results of writes (DR-37).
 *
 * Promises: while connections fail, one write at a time probes after a pause, and the others wait
 * for its result; any answer releases all. Pure arithmetic on the given time.
 */

/** Between two probes. */
const PAUSE_MS = 500;
/** How often to check a probe in flight, and when to stop waiting for it. */
const LOOK_MS = 50;
const TRY_MS = 20_000;

/** The result of a released write. */
export type WriteTrial =
  /** It was sent: the API server is reachable, even when the answer was lost. */
  | 'Left'
  /** No connection could be made. */
  | 'Unconnected'
  /** This process withheld it: no information. */
  | 'HeldBack';

/** The reachability of the API server. */
export interface ServerPresence {
  /** How long the next write has to wait; 0 when it may go now. */
  readonly waitMs: (nowMs: number) => number;
  /** A write starts; returns the callback for its result. */
  readonly letGo: (nowMs: number) => (trial: WriteTrial, nowMs: number) => void;
}

/** Assumes a reachable server. */
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
