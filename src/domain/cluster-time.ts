/**
 * Time of day as the API server has it, the one clock that all replicas share.
 *
 * Promises: the machine's wall clock is read once, at the start, so a step of it moves no deadline
 * and mutes no Event; a clock that differs from the API server's is corrected by its answers, so
 * replicas agree on the deadlines in the cluster, whatever their own clocks say; between answers it
 * advances with the monotonic clock.
 */
import type { Time } from './time.ts';

/** Dates of answers have whole seconds and travel; smaller differences are no skew. */
const SKEW_MS_MAX = 5_000;
/** An answer that took longer says too little about now. */
const ROUND_TRIP_MS_MAX = 2_000;

/** The clock of an answer, and how long the exchange took. */
export interface ServerDate {
  readonly serverMs: number;
  readonly roundTripMs: number;
}

interface Observing {
  /** Corrects the time of day by an answer. */
  readonly observe: (date: ServerDate) => void;
}

/** Time of day that answers of the API server correct. */
export type ClusterTime = Time & Observing;

/** The time of day in the cluster, at first that of this machine. */
export const clusterTime = <Machine extends Pick<Time, 'now' | 'monotonic'>>(
  machine: Machine,
): Machine & Observing => {
  let offsetMs = machine.now() - machine.monotonic();
  const now = (): number => offsetMs + machine.monotonic();
  return {
    ...machine,
    now,
    observe: ({ serverMs, roundTripMs }) => {
      if (roundTripMs > ROUND_TRIP_MS_MAX || !Number.isFinite(serverMs)) return;
      if (Math.abs(serverMs - now()) <= SKEW_MS_MAX) return;
      offsetMs = serverMs - machine.monotonic();
    },
  };
};
