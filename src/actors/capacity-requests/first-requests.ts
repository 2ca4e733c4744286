/**
 * The pods that have no CapacityRequest when a process begins to lead.
 *
 * Promises: `made` resolves when each of them has one, needs none, or cannot be given one, and in
 * any case after its time. Until then demand is less than what the cluster wants: pods that were
 * replaced while nobody looked have lost their requests with their predecessors, and a roll-up in
 * which they are missing would give their machines back (wire: rule 5).
 */
import type { Uid } from '../../domain/ids.ts';
import type { Time } from '../../domain/time.ts';

/**
 * How long demand is waited for: enough for thousands of pods at the default write budget; more of
 * them were never asked for before.
 */
export const FIRST_REQUESTS_MS_MAX = 60_000;

/** Those who are waited for. */
export interface FirstRequests {
  /** These are missing; only the first call counts. */
  readonly expect: (pods: Iterable<Uid>) => void;
  /** It has its request now, or needs none, or cannot be given one. */
  readonly settle: (pod: Uid) => void;
  readonly made: Promise<void>;
  readonly stop: () => void;
}

/** Nobody is known to be missing at first. `late` hears how many are when the time is over. */
export const firstRequests = (
  { schedule }: Pick<Time, 'schedule'>,
  late: (missing: number) => void,
): FirstRequests => {
  const { promise: made, resolve } = Promise.withResolvers<void>();
  const missing = new Set<Uid>();
  let cancel: (() => void) | undefined;
  const end = (): void => {
    cancel?.();
    missing.clear();
    resolve();
  };
  return {
    expect: (pods) => {
      if (cancel !== undefined) return;
      for (const pod of pods) missing.add(pod);
      cancel = schedule(FIRST_REQUESTS_MS_MAX, () => {
        late(missing.size);
        end();
      });
      if (missing.size === 0) end();
    },
    settle: (pod) => {
      if (missing.delete(pod) && missing.size === 0) end();
    },
    made,
    stop: () => cancel?.(),
  };
};
